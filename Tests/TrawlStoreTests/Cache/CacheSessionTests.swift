import Foundation
import Glibc
import TestSupport
import Testing
import TrawlHTTP
import TrawlPlatform

@testable import TrawlStore

@Suite("Session-scoped records, POOL-12, ASI-CACHE-12")
struct CacheSessionTests {
    private let scratch = CacheScratch()

    private func open() throws -> CacheStore { try CacheStore.open(directory: scratch.cache) }

    @Test("they end with their session, permanent ones stay")
    func ends() throws {
        let store = try open()
        defer { store.close() }
        let session = try store.beginSession()
        store.put(1, body: [1], class: .session(session.id))
        store.put(2, body: [2])
        #expect(store.endSession(session) == .removed(1))
        #expect(store.found(1) == [])
        #expect(store.found(2).map(\.body) == [[2]])
        #expect(scratch.files(in: "cache/sessions") == [])
    }

    @Test("a second coordinator does not end the first one's")
    func twoCoordinators() throws {
        let (one, other) = (try open(), try open())
        defer {
            one.close()
            other.close()
        }
        let first = try one.beginSession()
        one.put(1, body: [1], class: .session(first.id))
        #expect(other.purgeDeadSessions() == 0)
        let second = try other.beginSession()
        other.put(2, body: [2], class: .session(second.id))
        #expect(one.purgeDeadSessions() == 0)
        other.endSession(second)
        #expect(one.found(1).map(\.body) == [[1]])
        #expect(one.found(2) == [])
        one.endSession(first)
    }

    @Test("those of a coordinator that was killed are purged by the next, not before")
    func killed() throws {
        let child = try CacheChild(["cache-session", scratch.cache])
        #expect(child.line() == "ready")
        let store = try open()
        defer { store.close() }
        #expect(store.purgeDeadSessions() == 0)
        #expect(try store.statistics().sessionRecords == 5)
        child.kill()
        // Opening is not enough: a worker never purges.
        let worker = try open()
        #expect(try worker.statistics().sessionRecords == 5)
        worker.close()
        #expect(store.purgeDeadSessions() == 1)
        #expect(try store.statistics().sessionRecords == 0)
        #expect(try store.statistics().records == 0)
    }

    @Test("what could not be removed at its end is removed by the next coordinator")
    func failedEnd() throws {
        let store = try open()
        let session = try store.beginSession()
        store.put(1, body: [1], class: .session(session.id))
        store.close()
        guard case .notDone = store.endSession(session) else {
            Issue.record("a closed store removes nothing")
            return
        }
        let next = try open()
        defer { next.close() }
        #expect(scratch.files(in: "cache/sessions").count == 1)
        // It lives as long as whoever has it.
        withExtendedLifetime(session) { #expect(!next.hasUnheldSession) }
    }

    @Test("one is over with its coordinator's, although a process that is being started has a copy of its descriptor")
    func copied() throws {
        mkdir(scratch.cache, 0o700)
        let files = SessionFiles(in: scratch.cache)
        var copies: [Int32] = []
        defer { copies.forEach { close($0) } }
        do {
            let session = try files.begin(.make())
            let file = scratch.files(in: "cache/sessions").first ?? ""
            copies = try OpenDescriptors.copies(of: scratch.path + "/" + file)
            #expect(copies.count == 1)
            withExtendedLifetime(session) { #expect(!files.hasUnheld) }
        }
        #expect(files.hasUnheld)
    }

    @Test("one begins although others look at its file meanwhile")
    func lookedAt() throws {
        let directory = scratch.cache
        let isOver = Guarded(false)
        let hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let files = SessionFiles(in: directory)
            while !isOver.withLock({ $0 }) { _ = files.hasUnheld }
            hasEnded.signal()
        }
        defer {
            isOver.withLock { $0 = true }
            hasEnded.wait()
        }
        let files = SessionFiles(in: directory)
        // Who looks may be kept from going on just then.
        for _ in 0..<2000 { try files.begin(.make(), patience: .seconds(60)).end() }
    }

    @Test("records without the file of their session are looked for as well")
    func withoutFile() throws {
        let store = try open()
        defer { store.close() }
        store.put(1, body: [1])
        #expect(!store.hasUnheldSession)
        store.put(2, body: [1], class: .session(.make()))
        #expect(store.hasUnheldSession)
        #expect(store.purgeDeadSessions() == 1)
        #expect(!store.hasUnheldSession)
    }

    @Test("records of a session nobody knows are purged")
    func unknown() throws {
        let store = try open()
        defer { store.close() }
        for _ in 0..<3 {
            let session = SessionID.make()
            for number in 0..<3 { store.put(number, body: [1], class: .session(session)) }
        }
        #expect(store.sessionsWithRecords().count == 3)
        #expect(store.purgeDeadSessions() == 3)
        #expect(store.sessionsWithRecords() == [])
        #expect(try store.statistics().records == 0)
    }
}
