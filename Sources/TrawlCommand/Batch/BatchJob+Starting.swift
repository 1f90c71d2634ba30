import Trawl
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// Reading lines and making fetches of them.
extension BatchJob {
    /// Starts fetches as long as there is room and input that does not have to be waited for.
    mutating func startMore(_ turn: inout DriverTurn, _ load: DriverLoad) {
        if isStopping {
            // Who has as many in flight as may be read ahead has not looked for the end.
            if !isInputOver { isInputOver = source.isExhausted() }
            if !isInputOver || !shortages.isEmpty || aside?.isEmpty == false { leavesRequests = true }
            isInputOver = true
            aside = nil
            for tag in shortages.removeAll() { table.remove(tag) }
            return
        }
        while let tag = shortages.takeDue(at: now) { prepare(table[tag], tag, nil, into: &turn.start) }
        if aside != nil { startSetAside(into: &turn.start) }
        // Lines that are aside may be left for that alone.
        if outputs.waiting >= TurnLimit.bytes { turn.wakeAt = now }
        let began = aside == nil ? now : MonotonicClock.now()
        defer { endReading(since: began, &turn) }
        var limit = TurnLimit(bytesRead: source.bytesRead)
        // Without room in the outputs, a turn comes when there is some again.
        while !isInputOver, aside == nil ? hasRoom : mayOvertake(load, turn), outputs.hasRoom(), !tally.outputIsBroken {
            guard limit.mayRead(bytesRead: source.bytesRead, waiting: outputs.waiting) else {
                turn.wakeAt = now
                return
            }
            switch source.next() {
            case .nothing: break
            case .request(let request, let line, let isAgain):
                let fetch = FetchInFlight(request, line: line, isAgain: isAgain, at: now)
                if aside == nil { start(fetch, into: &turn.start) } else { startOrSetAside(fetch, into: &turn.start) }
            case .bad(let bad, let line, let isAgain): refuse(bad, line, isAgain)
            case .skipped(let ending):
                tally.skipped += 1
                if ending == .failed { tally.failedBefore += 1 }
            case .wait:
                turn.input = source.descriptor
                return
            case .end:
                isInputOver = true
            case .unreadable(let message):
                console.failure(message)
                tally.failed += 1
                isInputOver = true
            }
        }
    }

    /// Takes a request among those in flight.
    ///
    /// - Parameter target: What its URL is, if that is known.
    mutating func start(_ fetch: FetchInFlight, _ target: TargetURI? = nil, into prepared: inout [PreparedFetch]) {
        prepare(fetch, table.insert(fetch), target, into: &prepared)
    }

    /// Makes the fetch of a request, or ends it when it cannot be one.
    private mutating func prepare(
        _ fetch: FetchInFlight, _ tag: UInt64, _ target: TargetURI?, into prepared: inout [PreparedFetch]
    ) {
        do throws(FetchError) {
            let template = try templates.template(for: fetch.request.own, isNamed: fetch.request.out != nil)
            let known: TargetURI
            if let target {
                known = target
            } else {
                known = try coordinator.target(of: fetch.request.url, template)
            }
            prepared.append(try prepare(fetch, known, template, tag))
        } catch {
            remove(tag)
            if isUnfinished(error) { leavesRequests = true } else { end(fetch, .failure(error)) }
        }
    }

    /// Decides where the body goes.
    private mutating func prepare(
        _ fetch: FetchInFlight, _ target: TargetURI, _ template: RequestTemplate, _ tag: UInt64
    ) throws(FetchError) -> PreparedFetch {
        if plan.writeOut != nil { fetch.notes = FetchNotes() }
        let destination: ManyDestination
        switch plan.files {
        case .none: destination = .discard
        case .new:
            let name = try names.name(of: fetch, target)
            fetch.path = name.path
            destination = .file(name.path, name.collision)
        case .replacing:
            let name = fetch.request.out ?? FileName.ofURL(fetch.request.url)
            let unused = try names.unused(name, for: fetch)
            if unused != name, fetch.path == nil { messages.note(fetch, "written to \(unused.terminalSafe)") }
            fetch.path = unused
            // A link is followed, a pipe written to, what may not be written to left alone: as with a file of `-o`.
            guard LocalPath.isReplaceable(absolute(unused)) else {
                return try coordinator.prepare(
                    target, template, intoFile: absolute(unused), tag: tag, notes: fetch.notes)
            }
            destination = .file(unused, .replace)
        case .named:
            let name = fetch.request.out ?? ""
            fetch.path = name
            return try coordinator.prepare(target, template, intoFile: absolute(name), tag: tag, notes: fetch.notes)
        }
        return coordinator.prepare(target, template, into: destination, tag: tag, notes: fetch.notes)
    }

    private mutating func refuse(_ bad: BadLine, _ line: Int, _ isAgain: Bool) {
        tally.failed += 1
        messages.failed(line: line, bad.reason.terminalSafe)
        guard outputs.results != nil else { return }
        ResultRecord.write(bad, line: line, isAgain: isAgain, time: time, to: &outputs.records)
    }
}
