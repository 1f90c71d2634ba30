import Foundation
import Glibc
import Testing

@Suite("The worker executable that nobody named", .timeLimit(.minutes(2)))
struct WorkerSearchTests {
    /// What a program in a directory says that starts a coordinator with this `PATH`, or none.
    private func outcome(of program: String, _ url: String, search: String?) throws -> String? {
        let host = try ChildProcess(
            program, ["searching", url],
            environment: ["SWIFT_BACKTRACE=enable=no"] + (search.map { ["PATH=" + $0] } ?? []))
        return host.readLine()
    }

    @Test("is the one beside the program, else the first on PATH; without one the error says where it was looked for")
    func search() async throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let place = try directory.makeDirectory("program")
        let program = place + "/HostProgram"
        try BuiltProducts.copy("HostProgram", to: program)
        let worker = try BuiltProducts.trawlWorker()
        let found = try directory.makeDirectory("found")
        #expect(symlink(worker, found + "/trawl-worker") == 0)
        // What has the name and cannot be run is passed over.
        _ = try directory.makeDirectory("folder/trawl-worker")
        _ = try directory.makeDirectory("plain")
        try directory.put("plain/trawl-worker", Array("#!/bin/false\n".utf8))
        let others = "\(directory.file("folder")):\(directory.file("plain")):/nonexistent"
        try await withOrigin { origin in
            let url = origin.url("/bytes/10")
            #expect(try outcome(of: program, url, search: "\(others):\(found)") == "status 200")
            for search in [nil, "", others, "found"] {
                let said = try #require(try outcome(of: program, url, search: search))
                #expect(said.hasPrefix("error no trawl-worker beside the program (\(place)/trawl-worker) or on PATH"))
                #expect(said.contains("build the product trawl-worker"))
            }
            #expect(symlink(worker, place + "/trawl-worker") == 0)
            #expect(try outcome(of: program, url, search: others) == "status 200")
        }
    }
}
