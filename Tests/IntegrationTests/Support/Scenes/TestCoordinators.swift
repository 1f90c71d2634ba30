import Foundation
import Testing
import Trawl

/// A coordinator's configuration with the worker that was built beside the tests.
///
/// There is no limit of connections to a host: all test servers are the same few hosts. There is no store. A worker
/// may take long to start, beside tests that leave it little of the machine.
func testConfiguration(workers: Int = 2, outputDirectories: [String] = []) throws -> Configuration {
    var configuration = Configuration()
    configuration.workers = workers
    configuration.connectionsPerHost = 0
    configuration.store = .none
    configuration.outputDirectories = outputDirectories
    configuration.tolerance.startDeadline = .seconds(60)
    if workers > 0 { configuration.workerExecutable = try BuiltProducts.trawlWorker() }
    return configuration
}

/// So many coordinators of tests live at a time, besides those of suites.
private let coordinators = Gate(width: 8)
@TaskLocal private var holdsPlace = false

/// Runs `body` with a coordinator of its own.
///
/// - Parameter adjust: Changes the configuration before the start.
func withTestCoordinator<Value>(
    workers: Int = 2, outputDirectories: [String] = [], adjust: (inout Configuration) -> Void = { _ in },
    _ body: (Coordinator) async throws -> Value
) async throws -> Value {
    var configuration = try testConfiguration(workers: workers, outputDirectories: outputDirectories)
    adjust(&configuration)
    if holdsPlace { return try await withCoordinator(configuration, body) }
    await coordinators.enter()
    defer { coordinators.leave() }
    return try await $holdsPlace.withValue(true) { try await withCoordinator(configuration, body) }
}

extension Coordinator {
    /// What `sendBlocking` gives on a thread of its own.
    func sendFromThread(_ request: Request) async throws -> Response {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                do {
                    continuation.resume(returning: try self.sendBlocking(request))
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }
}

/// What runs the transfers of a test.
enum Engine: Sendable, CaseIterable, CustomTestStringConvertible {
    case workers
    case inProcess

    var workers: Int {
        switch self {
        case .workers: 2
        case .inProcess: 0
        }
    }

    var testDescription: String {
        switch self {
        case .workers: "with worker processes"
        case .inProcess: "in this process"
        }
    }
}
