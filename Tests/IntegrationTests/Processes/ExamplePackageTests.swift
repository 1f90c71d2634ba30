import Foundation
import Glibc
import TestSupport
import Testing

/// Builds and uses a copy of the package in `Tests/ExamplePackage`, outside of this tree, which depends on this one as
/// others do.
@Suite("A package that depends on this one, POOL-10", .serialized, .timeLimit(.minutes(35)))
struct ExamplePackageTests {
    @Test("builds with its worker beside it, fetches, and passes its own tests")
    func example() async throws {
        let repository = Checkout.path()
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let place = try directory.makeDirectory("example")
        for name in ["Package.swift", "Sources", "Tests"] {
            try FileManager.default.copyItem(
                atPath: "\(repository)/Tests/ExamplePackage/\(name)", toPath: "\(place)/\(name)")
        }
        // A link leads nowhere from there.
        let linked = place + "/Sources/FetchList/FetchList.swift"
        try FileManager.default.removeItem(atPath: linked)
        try FileManager.default.copyItem(atPath: "\(repository)/docs/examples/FetchList.swift", toPath: linked)
        let manifest = try String(contentsOfFile: place + "/Package.swift", encoding: .utf8)
        let moved = manifest.replacingOccurrences(of: "\"../..\"", with: "\"\(repository)\"")
        try #require(moved != manifest)
        try moved.write(toFile: place + "/Package.swift", atomically: true, encoding: .utf8)
        // What was built once is of use the next time, where it may stay.
        let scratch = access(repository, W_OK) == 0 ? repository + "/.build-example" : directory.file("build")
        let package = ["--package-path", place, "--scratch-path", scratch]
        try await swift(["build", "--build-tests"] + package)
        let products = scratch + "/debug"
        #expect(access(products + "/trawl-worker", X_OK) == 0)
        try await withOrigin { origin in
            let program = try ChildProcess(products + "/ExampleFetch", [origin.url("/bytes/123456")])
            #expect(program.readLine() == "200 123456")
            #expect(await eventually { !program.isRunning })
            let folder = try directory.makeDirectory("pages")
            let list = try ChildProcess(
                products + "/FetchList", [folder, origin.url("/bytes/1000"), origin.url("/bytes/2000")])
            #expect([list.readLine(), list.readLine()] == ["1 of 2", "2 of 2"])
            #expect(await eventually { !list.isRunning })
            #expect(directory.content("pages/1")?.count == 1000 && directory.content("pages/2")?.count == 2000)
        }
        try await swift(["test", "--skip-build", "--disable-xctest"] + package)
    }

    /// Runs the toolchain's `swift` to its end, which must be a good one.
    private func swift(_ arguments: [String]) async throws {
        let directory = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift"] + arguments
        // Empty, as tests have it, it would put the compiler's cache of modules into the package.
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "XDG_CACHE_HOME" }
        try directory.put("log", [])
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("log")))
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = log
        process.standardError = log
        try process.run()
        let ended = await eventually(within: .seconds(1700)) { !process.isRunning }
        if !ended { process.terminate() }
        let tail = String(decoding: directory.content("log") ?? [], as: UTF8.self).suffix(4000)
        try #require(ended && process.terminationStatus == 0, "swift \(arguments.joined(separator: " ")):\n\(tail)")
    }
}
