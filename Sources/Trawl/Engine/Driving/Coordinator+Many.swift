package import TrawlHTTP
import TrawlPlatform
package import TrawlProtocol

/// Many fetches driven by one thread, without a task for each.
extension Coordinator {
    /// Checks everything of a request but its URL, once for all fetches that are made from it.
    ///
    /// - Parameters:
    ///   - request: Its URL is not looked at.
    ///   - files: How bodies become files, for those that do.
    ///   - sibling: One of a request with the same body, which is kept once for both when it is long.
    package func template(
        of request: Request, files: Destination.FileOptions = .init(), sharingBodyOf sibling: RequestTemplate? = nil
    ) throws(FetchError) -> RequestTemplate {
        try planner.template(of: request, files: files, sharingBodyOf: sibling)
    }

    /// The normalised target of a URL, checked as that of a request of the template.
    package func target(of url: String, _ template: RequestTemplate) throws(FetchError) -> TargetURI {
        try planner.target(of: url, template.terms)
    }

    /// Makes a fetch of a template.
    ///
    /// - Parameters:
    ///   - target: What ``target(of:_:)`` said of the URL.
    ///   - destination: Where the body goes.
    ///   - tag: Comes back with the answer.
    ///   - answers: Where the answer goes; nil is the driver that is running.
    ///   - notes: Is told what the answer does not have; nil for nobody. The answer's head may come with that alone.
    package func prepare(
        _ target: TargetURI, _ template: RequestTemplate, into destination: consuming ManyDestination, tag: UInt64,
        answers: AnswerQueue? = nil, notes: (any FetchEventSink)? = nil
    ) -> PreparedFetch {
        let sink: FetchPlan.Target
        var path: String?
        switch consume destination {
        case .memory: sink = .memory
        case .discard: sink = .discard
        case .file(let relative, let collision):
            sink = .rooted(root: 0, path: relative, collision: collision)
            path = relative
        }
        let plan = FetchPlan(
            originalURL: target.textWithFragment, target: target, method: template.method, fields: template.fields,
            body: template.body, sink: sink, fileOptions: template.fileOptions, path: path,
            terms: planner.beginning(template.terms, at: target), wantsEvents: false)
        return PreparedFetch(
            running: RunningFetch(
                plan: plan, reply: answers.map { .queue($0, tag: tag) } ?? .driver(tag: tag), channel: notes))
    }

    /// Makes a fetch of a template into a file at any path, for the driver that is running: opened here, also beneath an
    /// output directory, as what a link leads to, a pipe or a device. It stays open until the fetch is over.
    ///
    /// - Parameter notes: Is told what the answer does not have; nil for nobody.
    /// - Throws: When the file cannot be made.
    package func prepare(
        _ target: TargetURI, _ template: RequestTemplate, intoFile path: String, tag: UInt64,
        notes: (any FetchEventSink)? = nil
    ) throws(FetchError) -> PreparedFetch {
        let opened = try OpenedDestination(path: path, replaces: template.fileOptions.replaces, resuming: nil)
        let plan = FetchPlan(
            originalURL: target.textWithFragment, target: target, method: template.method, fields: template.fields,
            body: template.body, sink: .opened(opened), fileOptions: template.fileOptions, path: path,
            terms: planner.beginning(template.terms, at: target), wantsEvents: false)
        return PreparedFetch(running: RunningFetch(plan: plan, reply: .driver(tag: tag), channel: notes))
    }

    /// Lets a driver work, and blocks the calling thread until it is done.
    ///
    /// One at a time. The driver is used on the supervisor's thread meanwhile and must not be touched. Where that has
    /// ended, it has its turns on the calling one, and all that it starts is refused.
    package func run(_ driver: any FetchDriver) {
        let done = WakeUpGate()
        if post(.drive(DriverHandover(driver: driver), done)) { return done.wait() }
        var answers: [FetchAnswer] = []
        var isFinished = false
        while !isFinished {
            let turn = driver.turn(answers, at: MonotonicClock.now(), DriverLoad())
            answers = turn.start.compactMap { $0.running.refusal() }
            isFinished = turn.isFinished
        }
    }

    /// Gives the driver that is running a turn: something came that is none of the coordinator's events.
    package func wakeDriver() {
        post(.submitAll([]))
    }

    /// Takes no more fetches: those that wait are answered with ``FetchError/Code/shutDown`` now, those in flight when
    /// they end or the grace is over; so are those that would be tried again. Returns at once; asked again, the shorter
    /// grace counts.
    package func beginShutdown(grace: Duration) {
        post(.shutDown(grace: grace))
    }

    /// Starts fetches, in their order. Each is answered once, also when the coordinator is shut down by now.
    package func submit(_ fetches: [PreparedFetch]) {
        let running = fetches.map(\.running)
        if !post(.submitAll(running)) { for fetch in running { fetch.refuse() } }
    }
}

extension RunningFetch {
    /// Refuses a fetch of a driver's.
    ///
    /// - Returns: The answer for the driver.
    fileprivate func refusal() -> FetchAnswer? {
        guard case .driver(let tag) = reply else { return nil }
        refuse()
        return answer(tag: tag, .failure(.shutDown(url: plan.target.text)))
    }
}

/// Where the body of one of many fetches goes.
package enum ManyDestination: Sendable, Hashable {
    /// Into ``Response/body``.
    case memory
    /// Nowhere.
    case discard
    /// Into a file beneath the first of ``Configuration/outputDirectories``; the path is relative to it.
    /// ``Response/file`` says which it became, relative too, or `Response.unnamed` that it is still to be named.
    case file(String, FileCollision)
}
