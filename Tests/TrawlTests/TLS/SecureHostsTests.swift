import Foundation
import Testing
import TrawlHTTP
import TrawlSession
import TrawlStore

@testable import Trawl

@Suite("Hosts that take secure transport only, and what keeping them costs", .timeLimit(.minutes(10)))
struct SecureHostsTests {
    /// Runs `body` with the hosts of two coordinators of one store.
    private func withStore(
        _ body: (SecureHosts, SecureHosts, StateStore) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("trawl-hosts-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var configuration = Configuration()
        configuration.store = .directory(directory)
        let shelves = (0..<2).map { _ in
            StateShelf(configuration, sessionID: CacheShelf(configuration).sessionID)
        }
        defer { for shelf in shelves { shelf.close() } }
        let store = try #require(shelves[0].store())
        try await body(SecureHosts(in: shelves[0]), SecureHosts(in: shelves[1]), store)
    }

    private func change(_ name: String, for seconds: Int64 = 31_536_000, plus milliseconds: Int64 = 0)
        -> TransportSecurity.Change
    {
        let now = WallTime(seconds: Int64(Date().timeIntervalSince1970))
        let end = now.advanced(byMilliseconds: seconds * 1000 + milliseconds)
        return .keep(KnownSecureHost(name: name, expires: end, includesSubdomains: false))
    }

    /// How many changes have been committed. Those that were submitted before are: all are made in their order.
    private func commits(_ store: StateStore) async -> UInt64? {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            store.submit(.credentials) { _ in
            } completion: { _ in
                continuation.resume()
            }
        }
        // The count rises before a commit and after it.
        return store.changes(of: .hosts).map { $0 / 2 }
    }

    @Test("a host that says the same with each response is written once; a new one is known elsewhere at once")
    func writes() async throws {
        try await withStore { hosts, others, store in
            #expect(!hosts.isSecure("a.test") && !others.isSecure("a.test"))
            for step in 0..<40 { hosts.apply(change("a.test", plus: Int64(step))) }
            #expect(hosts.isSecure("a.test") && !hosts.isSecure("b.test"))
            #expect(await commits(store) == 1)
            #expect(others.isSecure("a.test") && !others.isSecure("b.test") && !others.isSecure("x.a.test"))
            // Known by another's word, it is not written once more either.
            others.apply(change("a.test"))
            #expect(await commits(store) == 1)
            hosts.apply(change("b.test"))
            #expect(await commits(store) == 2)
            #expect(others.isSecure("b.test") && others.isSecure("a.test"))
            #expect(others.all.map(\.name) == ["a.test", "b.test"])
            // Another end counts, and so does a host that is to be forgotten, if it is known.
            hosts.apply(change("a.test", for: 600))
            #expect(await commits(store) == 3)
            hosts.apply(.forget("a.test"))
            #expect(!hosts.isSecure("a.test"))
            hosts.apply(.forget("a.test"))
            hosts.apply(.forget("c.test"))
            #expect(await commits(store) == 4)
            #expect(!others.isSecure("a.test") && others.isSecure("b.test"))
        }
    }

    @Test("without a store they are in memory, and those that end first make room")
    func memory() {
        let hosts = SecureHosts(in: nil)
        hosts.add(
            (Int64(0)..<10_500).map { number in
                KnownSecureHost(
                    name: "h\(number).test", expires: WallTime(seconds: 4_000_000_000 + number),
                    includesSubdomains: true)
            })
        #expect(hosts.all.count == 10_000)
        #expect(!hosts.isSecure("h499.test") && hosts.isSecure("h500.test") && hosts.isSecure("x.h10499.test"))
        hosts.apply(.forget("h500.test"))
        #expect(!hosts.isSecure("h500.test"))
        hosts.apply(change("one.test"))
        #expect(hosts.isSecure("one.test") && hosts.all.count == 10_000)
        hosts.apply(change("two.test"))
        #expect(hosts.all.count == 9000)
    }
}
