import Testing
import Trawl

/// An origin, coordinators and a directory that the tests of one suite share.
///
/// A suite asks for it by the trait `.bed()`; its tests find it by `Bed.current`. Everything ends with the suite.
final class Bed: Sendable {
    let origin: LoopbackOriginProcess
    /// Holds the output directory `out` and whatever else a test needs.
    let directory: TemporaryDirectory
    /// Beneath it workers create files themselves.
    let outputDirectory: String
    private let withWorkers: Coordinator
    private let inProcess: Coordinator

    @TaskLocal fileprivate static var shared: Bed?

    /// The bed of the running test's suite.
    static var current: Bed {
        get throws { try #require(shared, "the suite lacks the trait .bed()") }
    }

    fileprivate init(workers: Int) throws {
        origin = try LoopbackOriginProcess(addresses: 2)
        directory = try TemporaryDirectory()
        outputDirectory = try directory.makeDirectory("out")
        withWorkers = try Coordinator(testConfiguration(workers: workers, outputDirectories: [outputDirectory]))
        inProcess = try Coordinator(testConfiguration(workers: 0, outputDirectories: [outputDirectory]))
    }

    fileprivate func close() async {
        await withWorkers.shutdown()
        await inProcess.shutdown()
        origin.stop()
    }

    /// The coordinator with worker processes.
    var coordinator: Coordinator { withWorkers }

    /// The coordinator with one engine or the other.
    func coordinator(_ engine: Engine) -> Coordinator {
        switch engine {
        case .workers: withWorkers
        case .inProcess: inProcess
        }
    }

    /// The URL of a target of the origin.
    func url(_ target: String, address: Int = 1) -> String { origin.url(target, address: address) }

    /// Fetches a target of the origin with GET and the options given.
    func get(
        _ target: String, into destination: Destination = .memory, on engine: Engine = .workers,
        _ adjust: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> Response {
        var request = Request(url(target))
        adjust(&request.options)
        return try await coordinator(engine).send(request, into: destination)
    }
}

/// Gives a suite its ``Bed``.
struct BedTrait: SuiteTrait, TestScoping {
    let workers: Int

    /// So many suites have beds at a time.
    private static let gate = Gate(width: 3)

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        await Self.gate.enter()
        defer { Self.gate.leave() }
        let bed = try Bed(workers: workers)
        do {
            try await Bed.$shared.withValue(bed) { try await function() }
        } catch {
            await bed.close()
            throw error
        }
        await bed.close()
    }
}

extension Trait where Self == BedTrait {
    /// An origin on 127.0.0.1 and 127.0.0.2, and coordinators, for all tests of the suite.
    static func bed(workers: Int = 2) -> Self { BedTrait(workers: workers) }
}
