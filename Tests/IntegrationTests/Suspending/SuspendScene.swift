import Foundation
import Testing
import Trawl

/// An origin with one file, whose first response stops in the middle until it is let go on.
final class SuspendScene: Sendable {
    static let content = ReferenceBytes.bytes(3_000_000, seed: 11)
    static let half = 1_000_000

    /// How the origin behaves.
    struct Site: Sendable {
        var tag: String? = "\"one\""
        var ranges: String? = "bytes"
        /// What there is from the second request on; nil is the same.
        var later: [UInt8]?
        /// The status of all responses to requests for a part; nil answers them.
        var partStatus: Int?
        /// Where the connection ends within the first response; nil is not at all.
        var breaksAt: Int?
        /// Whether the connection ends within each response for a part.
        var breaksParts = false
        /// The length that responses for a part announce; nil is the right one.
        var partLength: Int?
        /// How the end of responses for a part is told.
        var partFraming = ScriptedOrigin.Framing.length
        /// The status of the first response, which is the whole in any case.
        var firstStatus = 200
    }

    let origin: ScriptedOrigin
    let goesOn = Occasion()

    init(_ site: Site = Site()) throws {
        let goesOn = goesOn
        origin = try ScriptedOrigin { request in
            var answer = ScriptedOrigin.Answer(200)
            guard request.target.hasPrefix("/file") else { return ScriptedOrigin.Answer(200, "short") }
            let content = request.number > 1 ? site.later ?? Self.content : Self.content
            answer.fields =
                (site.ranges.map { [("Accept-Ranges", $0)] } ?? []) + (site.tag.map { [("ETag", $0)] } ?? [])
            if request.number == 1 {
                answer.status = site.firstStatus
                if site.firstStatus == 206 {
                    answer.fields.append(("Content-Range", "bytes 0-\(content.count - 1)/\(content.count)"))
                }
                answer.body = Array(content[..<Self.half])
                answer.rest = (Array(content[Self.half..<(site.breaksAt ?? content.count)]), goesOn)
                answer.announced = content.count
                return answer
            }
            if let range = request.fields["range"], let first = Int(range.dropFirst(6).dropLast()) {
                if let status = site.partStatus { return ScriptedOrigin.Answer(status, "no") }
                guard site.later == nil, request.fields["if-range"] == site.tag else {
                    answer.body = content
                    return answer
                }
                answer.status = 206
                answer.fields.append(("Content-Range", "bytes \(first)-\(content.count - 1)/\(content.count)"))
                answer.body = Array(content[first...])
                answer.announced = site.partLength
                answer.framing = site.partFraming
                if site.breaksParts {
                    answer.announced = answer.body.count
                    answer.body.removeLast(1000)
                }
                return answer
            }
            answer.body = content
            return answer
        }
    }

    deinit { stop() }

    func stop() {
        goesOn.open()
        origin.stop()
    }

    /// The requests for the file so far: the first byte asked for, nil for the whole.
    var asked: [Int?] {
        origin.seen("/file").map { request in
            request.fields["range"].flatMap { Int($0.dropFirst(6).dropLast()) }
        }
    }

    /// How many connections there are to the origin.
    var connections: Int { ProcessTree.unreadBytes(ofConnectionsTo: origin.port).count }

    /// A fetch of the file of which the first part has come.
    func halfway(
        _ coordinator: Coordinator, into destination: Destination = .memory,
        _ adjust: (inout Request) -> Void = { _ in }
    ) async throws -> (Fetch, Task<SuspendedCourse, Never>) {
        var request = Request(origin.url("/file"))
        adjust(&request)
        let fetch = coordinator.start(request, into: destination)
        let course = Task { await SuspendedCourse(of: fetch) }
        let isHalfway = await eventually { fetch.currentProgress.download.completed == Int64(Self.half) }
        try #require(isHalfway, "\(fetch.currentProgress)")
        return (fetch, course)
    }

    /// Suspends a fetch and waits until its connection is gone.
    func suspendForLong(_ fetch: Fetch) async throws {
        fetch.suspend()
        let isGone = await eventually { self.connections == 0 }
        try #require(isGone)
    }
}

/// What became of a fetch.
struct SuspendedCourse: Sendable {
    var words: [String] = []
    var streamed: [UInt8] = []
    var response: Response?
    var error: FetchError?

    init(of fetch: Fetch) async {
        for await event in fetch.events {
            switch event {
            case .progress: break
            case .data(let bytes): streamed += bytes
            case .ended(.success(let response)): self.response = response
            case .ended(.failure(let error)): self.error = error
            default: words.append(word(event))
            }
        }
    }
}
