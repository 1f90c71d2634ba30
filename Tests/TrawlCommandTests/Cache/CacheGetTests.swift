import ArgumentParser
import Foundation
import TestSupport
import Testing
import TrawlStore

@testable import TrawlCommand

@Suite("trawl cache get")
struct CacheGetTests {
    @Test(
        "a damaged body is told of, whether it lies in the tables or in a file of its own, and then there is none",
        arguments: [5000, 20_000])
    func damaged(length: Int) throws {
        let fixture = try StoreFixture()
        var random = SeededGenerator(seed: 5)
        let body = random.bytes(length)
        try fixture.store("http://h/a", body)
        try fixture.damage(body)
        let output = fixture.path + "/body"
        for (status, reason) in [
            (ExitStatus.dataError, "the stored body was damaged, and is removed"),
            (ExitStatus.someFailed, "nothing is stored"),
        ] {
            let command = try CacheGetCommand.parse(["http://h/a", "-o", output])
            // Closing it waits for what is removed.
            let store = try CacheAtHand(fixture.path + "/store", budget: nil)
            defer { store.close() }
            let error = #expect(throws: CommandError.self) { try command.execute(on: store) }
            #expect(error == CommandError("http://h/a: \(reason)", status: status))
            #expect(access(output, F_OK) != 0)
        }
    }

    @Test("where the newest is damaged, what was stored before it is written")
    func nextBest() throws {
        let fixture = try StoreFixture()
        var random = SeededGenerator(seed: 6)
        let (older, newest) = (random.bytes(5000), random.bytes(5000))
        for (body, type) in [(older, "a"), (newest, "b")] {
            try fixture.store(
                "http://h/a", body, [("Cache-Control", "max-age=60"), ("Vary", "Accept")], request: [("Accept", type)])
        }
        try fixture.damage(newest)
        let output = fixture.path + "/body"
        let command = try CacheGetCommand.parse(["http://h/a", "-o", output])
        let store = try CacheAtHand(fixture.path + "/store", budget: nil)
        defer { store.close() }
        #expect(try command.execute(on: store) == ExitStatus.success)
        #expect(FileManager.default.contents(atPath: output) == Data(older))
    }
}
