import TrawlCache
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol

/// Downloads that go on where an earlier hop, or an earlier fetch, stopped.
extension Supervisor {
    /// Asks for the rest only, when part of the body is there.
    func askForRest(_ fetch: RunningFetch, _ fields: inout FieldLines) {
        guard let part = fetch.engine.resumable, case .opened(let destination) = fetch.plan.sink else { return }
        part.asksAgain = false
        part.offset = part.resumption == nil || fetch.engine.method != .get ? 0 : destination.length
        guard part.offset > 0, let validator = part.resumption?.validator else { return }
        do {
            // RFC 9110 §14.2, §13.1.5
            try fields.append("Range", "bytes=\(part.offset)-")
            try fields.append("If-Range", validator)
        } catch {
            // What is no field value was refused before; the whole is right in any case.
            part.resumption = nil
            part.offset = 0
        }
    }

    /// The head of a hop is known, whose transfer rests: sees to it that the body goes where it belongs.
    mutating func placeBody(_ head: TrawlHTTP.ResponseHead, _ fetch: RunningFetch) {
        guard let part = fetch.engine.resumable, case .opened(let destination) = fetch.plan.sink else { return }
        guard let resumption = part.resumption, part.offset > 0 else {
            if head.status == 200 {
                part.resumption = Resumption(head, to: fetch.engine.method, now: WallClock.time())
            }
            return
        }
        switch resumption.step(after: head, from: part.offset) {
        case .goesOn: fetch.channel?.post(.resumedAtOffset(part.offset))
        case .startsAnew:
            part.offset = 0
            part.resumption = Resumption(head, to: fetch.engine.method, now: WallClock.time())
            _ = destination.descriptorForHop()
        case .asksAgain:
            // Whatever comes of this one, nothing can be gone on with.
            part.resumption = nil
            part.asksAgain = true
        case .isOther: break
        }
    }

    /// The response of a hop was neither the rest nor the whole: asks for the whole.
    mutating func asksForWhole(_ fetch: RunningFetch) -> Bool {
        guard let part = fetch.engine.resumable, part.asksAgain, case .no = closing else { return false }
        release(fetch, .promote)
        begin(fetch, front: true)
        return true
    }

    /// A fetch is over: what has come is kept where that is of use, and else goes.
    func keepPart(_ result: Result<Response, FetchError>, _ fetch: RunningFetch) -> Result<Response, FetchError> {
        guard case .opened(let destination) = fetch.plan.sink else { return result }
        defer { destination.discard() }
        guard let part = fetch.engine.resumable, let resumption = part.resumption, destination.length > 0 else {
            return result
        }
        // A response that is no representation, such as a 503, changes nothing in what is there.
        if case .success(let response) = result {
            if response.status / 100 != 2 { _ = destination.keep() }
            return result
        }
        guard case .failure(let error) = result else { return result }
        let length = destination.length
        guard let kept = destination.keep() else { return result }
        return .failure(
            error.keeping(
                ResumeData(
                    url: fetch.plan.target.text, destination: kept.destination, partPath: kept.part, offset: length,
                    length: resumption.total, validator: resumption.validator)))
    }
}
