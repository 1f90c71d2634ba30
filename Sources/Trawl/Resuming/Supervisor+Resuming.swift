import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// Downloads that go on where an earlier hop, or an earlier fetch, stopped.
extension Supervisor {
    /// Asks for the rest only, when part of the body is there.
    func askForRest(_ fetch: RunningFetch, _ fields: inout FieldLines) {
        guard let part = fetch.engine.resumable else { return }
        part.asksAgain = false
        part.offset = part.resumption == nil || fetch.engine.method != .get ? 0 : part.reach(in: fetch.plan.sink)
        guard part.offset > 0, let validator = part.resumption?.validator else {
            // What comes now is of this response, whatever an earlier one said.
            part.resumption = nil
            return
        }
        do {
            // RFC 9110 §14.2, §13.1.5. Where the caller asked for a part and got the whole, it is the rest of that.
            for name in ["Range", "If-Range"] { fields.removeAll(name) }
            try fields.append("Range", "bytes=\(part.offset)-")
            try fields.append("If-Range", validator)
        } catch {
            // What is no field value was refused before; the whole is right in any case.
            part.resumption = nil
            part.offset = 0
        }
    }

    /// The head of a hop is known, whose transfer rests: sees to it that the body goes where it belongs.
    ///
    /// - Returns: Whether it is settled what becomes of the body.
    mutating func placeBody(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> Bool {
        guard let part = fetch.engine.resumable else { return false }
        guard let resumption = part.resumption, part.offset > 0 else {
            if head.status == 200, part.outlivesFetch {
                part.resumption = Resumption(head, to: fetch.engine.method, now: WallClock.time())
            }
            return false
        }
        let step = resumption.step(after: head, from: part.offset)
        // What its reader has been given is not given again, and nothing else may follow it.
        if step != .goesOn, fetch.plan.sink.isReadByOthers, !goesOnAfter(head, fetch) {
            conclude(fetch, .givenUp(fetch, "the server did not send the rest (\(head.status))"))
            return true
        }
        switch step {
        case .goesOn: fetch.channel?.post(.resumedAtOffset(part.offset))
        case .startsAnew:
            part.offset = 0
            part.startAnew()
            if case .opened(let destination) = fetch.plan.sink {
                do throws(SystemError) {
                    _ = try destination.descriptorForHop()
                } catch {
                    conclude(fetch, .file(destination.path, error.errno))
                    return true
                }
            }
            if part.outlivesFetch {
                part.resumption = Resumption(head, to: fetch.engine.method, now: WallClock.time())
            }
        case .asksAgain:
            // Whatever comes of this one, nothing can be gone on with.
            part.startAnew()
            part.asksAgain = true
            // However long its body says it is.
            dispose(fetch, .cancel)
            return true
        case .isOther: break
        }
        return false
    }

    /// Whether the response with that head is not the last one.
    private mutating func goesOnAfter(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) -> Bool {
        answersChallenge(head, fetch) || (300..<400).contains(head.status) && redirect(of: head, fetch) != nil
    }

    /// Whether the next hop asks for the rest of what came of a hop that was given up. No cache has a part in that.
    func goesOnBehindPart(_ fetch: RunningFetch) -> Bool {
        guard let part = fetch.engine.resumable, !part.outlivesFetch, part.resumption != nil else { return false }
        return fetch.engine.method == .get && part.reach(in: fetch.plan.sink) > 0
    }

    /// The response of a hop was neither the rest nor the whole, however it ended: asks for the whole.
    ///
    /// - Returns: Whether there was such a response.
    mutating func asksForWhole(_ fetch: RunningFetch) -> Bool {
        guard let part = fetch.engine.resumable, part.asksAgain else { return false }
        release(fetch, .promote)
        guard case .no = closing else {
            answer(fetch, with: .failure(.shutDown(url: fetch.engine.target.text)))
            return true
        }
        begin(fetch, front: true)
        return true
    }

    /// A fetch is over: what has come is kept where that is of use, and else goes.
    func keepPart(_ result: inout Result<Response, FetchError>, _ fetch: RunningFetch) {
        guard case .opened(let destination) = fetch.plan.sink else { return }
        defer { destination.discard() }
        guard let part = fetch.engine.resumable, part.outlivesFetch, let resumption = part.resumption,
            destination.length > 0
        else { return }
        switch result {
        case .success(let response):
            // A response that is neither the rest nor the whole, such as a 503, changes nothing in what is there. Of
            // what came in this fetch its caller would not be told.
            if response.file == nil, destination.hasKeptName { _ = destination.keep() }
        case .failure(let error):
            let length = destination.length
            guard let kept = destination.keep() else { return }
            result = .failure(
                error.keeping(
                    ResumeData(
                        url: fetch.plan.target.text, destination: kept.destination, partPath: kept.part,
                        offset: length, length: resumption.total, validator: resumption.validator)))
        }
    }
}
