import Foundation
import Testing
import Trawl

extension BuiltProducts {
    /// The worker that misbehaves.
    static func faultyWorker() throws -> String { try product("FaultyWorker") }
}

/// Runs `body` with a coordinator whose workers misbehave as the arguments say; `Tests/FaultyWorker` lists them.
func withFaultyWorkers<Value>(
    _ arguments: [String], workers: Int = 1, outputDirectories: [String] = [],
    adjust: (inout Configuration) -> Void = { _ in }, _ body: (Coordinator) async throws -> Value
) async throws -> Value {
    let executable = try BuiltProducts.faultyWorker()
    return try await withTestCoordinator(workers: workers, outputDirectories: outputDirectories) { configuration in
        configuration.workerExecutable = executable
        configuration.workerArguments = arguments
        adjust(&configuration)
    } _: {
        try await body($0)
    }
}

/// A request that a faulty worker answers with its own URL; nothing connects to that host.
///
/// It has a limit of time, so that a fetch that never ends shows as a failed test.
func fakeRequest(_ path: String, method: Request.Method = .get, seconds: Int = 100) -> Request {
    var request = Request(method, "http://fake.invalid" + path)
    request.options.timeLimits.resource = .seconds(seconds)
    return request
}

/// What a fetch came to, and how it got there.
struct Course: Sendable {
    /// How often a hop was given to a worker.
    var attempts = 0
    /// How many ends were seen; one is right.
    var ends = 0
    /// Bytes of a streamed body.
    var data: [UInt8] = []
    var result: Result<Response, FetchError>?

    /// The error's code; nil for a response.
    var code: FetchError.Code? {
        if case .failure(let error) = result { return error.code }
        return nil
    }

    /// The response, when there is one.
    var response: Response? { try? result?.get() }

    /// Which worker answered, as `SLOT.GENERATION`.
    var worker: String? { response?.fields["X-Worker"] }
}

/// Starts a fetch and follows it to its end.
func follow(_ coordinator: Coordinator, _ request: Request, into destination: Destination = .memory) async -> Course {
    await follow(coordinator.start(request, into: destination))
}

/// Follows a fetch to its end.
func follow(_ fetch: Fetch) async -> Course {
    var course = Course()
    for await event in fetch.events {
        switch event {
        case .attempt: course.attempts += 1
        case .data(let bytes): course.data += bytes
        case .ended(let result):
            course.ends += 1
            course.result = result
        default: break
        }
    }
    return course
}

/// Checks that a fetch of a faulty worker ended once, with the right body.
func expectAnswered(_ course: Course, _ request: Request, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(course.ends == 1, sourceLocation: sourceLocation)
    switch course.result {
    case .success(let response):
        #expect(String(decoding: response.body.bytes, as: UTF8.self) == request.url, sourceLocation: sourceLocation)
    case .failure(let error): Issue.record("\(request.url): \(error)", sourceLocation: sourceLocation)
    case nil: Issue.record("\(request.url): no end", sourceLocation: sourceLocation)
    }
}

/// Fetches of so many paths at once.
func followAll(_ coordinator: Coordinator, _ requests: [Request]) async -> [Course] {
    let fetches = requests.map { coordinator.start($0) }
    var courses: [Course] = []
    for fetch in fetches { courses.append(await follow(fetch)) }
    return courses
}
