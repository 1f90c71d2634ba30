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
}
