import Trawl

/// An origin with one file, whose first response breaks off in the middle, and downloads that are kept.
enum ResumeScene {
    static let content = ReferenceBytes.bytes(400_000, seed: 5)
    static let half = 250_000

    /// What the origin has, and how it behaves.
    struct Site: Sendable {
        var content = ResumeScene.content
        var tag: String? = "\"one\""
        /// The value of Last-Modified.
        var modified: String?
        var ranges: String? = "bytes"
        var fields: [(String, String)] = []
        /// Whether the first response breaks off; else it waits for this.
        var waits: Occasion?
        /// Answers to what asks for a part, in place of the right ones.
        var other: (@Sendable (ScriptedOrigin.Seen) -> ScriptedOrigin.Answer?)?

        func answer(_ request: ScriptedOrigin.Seen) -> ScriptedOrigin.Answer {
            if let other, request.fields["range"] != nil, let answer = other(request) { return answer }
            var answer = ScriptedOrigin.Answer(200)
            answer.fields = fields + (ranges.map { [("Accept-Ranges", $0)] } ?? []) + (tag.map { [("ETag", $0)] } ?? [])
            if let modified { answer.fields.append(("Last-Modified", modified)) }
            if let range = request.fields["range"], request.fields["if-range"] == tag ?? modified,
                let first = Int(range.dropFirst(6).dropLast())
            {
                guard first < content.count else {
                    return ScriptedOrigin.Answer(416, "", [("Content-Range", "bytes */\(content.count)")])
                }
                answer.status = 206
                answer.fields.append(("Content-Range", "bytes \(first)-\(content.count - 1)/\(content.count)"))
                answer.body = Array(content[first...])
            } else if request.number == 1 {
                answer.body = Array(content[..<ResumeScene.half])
                if let waits {
                    answer.rest = (Array(content[ResumeScene.half...]), waits)
                } else {
                    answer.announced = content.count
                }
            } else {
                answer.body = content
            }
            return answer
        }
    }

    static var keeping: Destination.FileOptions {
        var options = Destination.FileOptions()
        options.keepsPart = true
        return options
    }

    struct Course {
        var words: [String] = []
        var response: Response?
        var error: FetchError?
    }

    static func follow(_ fetch: Fetch) async -> Course {
        var course = Course()
        for await event in fetch.events {
            switch event {
            case .progress: break
            case .ended(.success(let response)): course.response = response
            case .ended(.failure(let error)): course.error = error
            default: course.words.append(word(event))
            }
        }
        return course
    }

    /// Fetches until it breaks off, and returns what that leaves.
    static func broken(
        _ coordinator: Coordinator, _ url: String, _ path: String
    ) async -> (FetchError?, ResumeData?) {
        let course = await follow(coordinator.start(Request(url), into: .file(path, options: keeping)))
        return (course.error, course.error?.resumeData)
    }
}
