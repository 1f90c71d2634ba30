import CTrawlLMDB
import Foundation
import Glibc
import TestSupport
import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlSession

@testable import TrawlStore

@Suite("The state of a store, POOL-05, POOL-12")
struct StateStoreTests {
    private let scratch = CacheScratch()
    private var store: String { scratch.path + "/store" }

    @Test("opening it makes nothing but a small file, and looking at what was never stored nothing more")
    func lazy() throws {
        let state = try StateStore.open(store: store)
        defer { state.close() }
        #expect(state.changes(of: .cookies) == 0)
        #expect(try state.read(.cookies) { _ in 1 } == nil)
        #expect(scratch.files() == ["store/state/changes"])
        #expect(state.isAtHand(.cookies))
    }

    @Test("directory and files are the user's alone")
    func rights() throws {
        let state = try StateStore.open(store: store)
        try state.set("a=1", from: "http://x.org/")
        state.close()
        func mode(_ path: String) -> UInt32 {
            var facts = stat()
            return stat(path, &facts) == 0 ? facts.st_mode & 0o777 : 0
        }
        #expect(mode(store + "/state") == 0o700)
        for name in scratch.files(in: "store/state") {
            #expect(mode(scratch.path + "/" + name) == 0o600, "\(name)")
        }
    }

    @Test("what one opening stores the other sees, and the word of the topic rises for both")
    func shared() throws {
        let (one, other) = (try StateStore.open(store: store), try StateStore.open(store: store))
        defer {
            one.close()
            other.close()
        }
        #expect(other.field(for: "http://x.org/") == nil)
        let before = try #require(other.changes(of: .cookies))
        try one.set("a=1", from: "http://x.org/")
        #expect(try #require(other.changes(of: .cookies)) > before)
        #expect(other.changes(of: .hosts) == 0)
        #expect(other.field(for: "http://x.org/") == "a=1")
    }

    @Test("it is there when it is opened again, and when the file with the words was lost")
    func again() throws {
        let first = try StateStore.open(store: store)
        try first.set("a=1; Max-Age=60", from: "http://x.org/")
        first.close()
        #expect(unlink(store + "/state/changes") == 0)
        let second = try StateStore.open(store: store)
        defer { second.close() }
        #expect(second.changes(of: .cookies) != 0)
        #expect(second.field(for: "http://x.org/") == "a=1")
    }

    @Test("a newer format is refused, and what is there stays")
    func newer() throws {
        var settings = EnvironmentSettings(
            tables: StateSchema.tables, format: StateSchema.format + 1, isRebuildable: false, syncPolicy: .grouped)
        settings.mapSize = 1 << 28
        #expect(mkdir(store, 0o700) == 0)
        #expect(mkdir(store + "/state", 0o700) == 0)
        let newer = try Environment.open(directory: store + "/state", settings: settings)
        newer.close()
        let state = try StateStore.open(store: store)
        defer { state.close() }
        #expect(throws: StoreError.self) { try state.read(.cookies) { _ in 1 } }
        guard case .newerFormat? = state.problem else {
            Issue.record("\(String(describing: state.problem))")
            return
        }
    }

    @Test("a file in its place is refused at once")
    func fileInPlace() throws {
        #expect(mkdir(store, 0o700) == 0)
        close(open(store + "/state", O_CREAT | O_WRONLY, 0o600))
        #expect(throws: StoreError.unusable(path: store + "/state", reason: "is no directory")) {
            try StateStore.open(store: store)
        }
    }

    @Test("nothing is made in a directory that others may write to")
    func writableByOthers() throws {
        #expect(mkdir(store, 0o700) == 0)
        #expect(mkdir(store + "/state", 0o700) == 0 && chmod(store + "/state", 0o777) == 0)
        #expect(throws: StoreError.unusable(path: store + "/state", reason: "others may write there")) {
            try StateStore.open(store: store)
        }
        #expect(scratch.files() == [])
    }

    @Test("nor in another user's", .enabled(if: geteuid() == 0, "only root may do it"))
    func otherOwner() throws {
        #expect(mkdir(store, 0o700) == 0)
        #expect(mkdir(store + "/state", 0o700) == 0 && chown(store + "/state", 12345, 12345) == 0)
        #expect(throws: StoreError.unusable(path: store + "/state", reason: "belongs to user 12345")) {
            try StateStore.open(store: store)
        }
        #expect(scratch.files() == [])
    }

    @Test("nor in one that comes into its place while it is open")
    func replacedByUnfit() throws {
        let state = try StateStore.open(store: store)
        defer { state.close() }
        #expect(state.changes(of: .cookies) == 0)
        CacheScratch.remove(store + "/state")
        #expect(mkdir(store + "/state", 0o700) == 0 && chmod(store + "/state", 0o777) == 0)
        // That is seen within a second.
        waitUntil { state.changes(of: .cookies) != 0 }
        #expect(state.changes(of: .cookies) == nil)
        #expect(throws: StoreError.unusable(path: store + "/state", reason: "others may write there")) {
            try state.beginSession(.make())
        }
        #expect(scratch.files() == [] && access(store + "/state/sessions", F_OK) != 0)
    }

    @Test("when the whole store is removed beneath it, what comes later is kept", arguments: [false, true])
    func removed(looksFirst: Bool) throws {
        let state = try StateStore.open(store: store)
        defer { state.close() }
        try state.set("a=1; Max-Age=60", from: "http://x.org/")
        CacheScratch.remove(store)
        if looksFirst {
            // Within a second that is seen.
            waitUntil { state.changes(of: .cookies) == 0 }
            #expect(state.changes(of: .cookies) == 0)
            #expect(state.field(for: "http://x.org/") == nil)
        }
        try state.set("b=1; Max-Age=60", from: "http://x.org/")
        #expect(state.field(for: "http://x.org/") == "b=1")
        #expect(state.problem == nil)
        let other = try StateStore.open(store: store)
        defer { other.close() }
        #expect(other.changes(of: .cookies) != 0)
        #expect(other.field(for: "http://x.org/") == "b=1")
        var facts = stat()
        for path in [store, store + "/state"] {
            #expect(stat(path, &facts) == 0 && facts.st_mode & 0o777 == 0o700, "\(path)")
        }
    }

    @Test("threads that ask while other files come into the place of these see them, and nothing once it is closed")
    func askedByMany() throws {
        let state = try StateStore.open(store: store)
        try state.set("a=1; Max-Age=60", from: "http://x.org/")
        CacheScratch.remove(store)
        let threads = try (0..<4).map { _ in
            try NamedThread.start(name: "asks") {
                waitUntil { (state.changes(of: .cookies) ?? 0) == 0 }
                waitUntil { state.changes(of: .cookies) == nil }
            }
        }
        waitUntil { state.changes(of: .cookies) == 0 }
        #expect(state.changes(of: .cookies) == 0)
        state.close()
        for thread in threads { thread.join() }
        #expect(state.changes(of: .cookies) == nil)
    }

    @Test("where the store cannot be made anew, reading fails once it was open, and says why")
    func notMadeAnew() throws {
        let state = try StateStore.open(store: store)
        try state.set("a=1; Max-Age=60", from: "http://x.org/")
        CacheScratch.remove(store)
        close(open(store, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
        #expect(throws: StoreError.self) { try state.perform(.cookies) { _ throws(StoreError) in } }
        waitUntil { state.changes(of: .cookies) == nil }
        #expect(throws: StoreError.self) { try state.read(.cookies) { _ in 1 } }
        let problem = StoreError.unusable(path: store + "/state", reason: "part of the path is no directory")
        #expect(state.problem == problem)
        state.close()
        #expect(state.problem == problem)
    }

    @Test("closed, it tells nothing, refuses everything, and makes no directory anew")
    func closed() throws {
        let state = try StateStore.open(store: store)
        try state.set("a=1; Max-Age=60", from: "http://x.org/")
        state.close()
        CacheScratch.remove(store)
        #expect(state.changes(of: .cookies) == nil)
        #expect(throws: StoreError.self) { try state.perform(.cookies) { _ throws(StoreError) in } }
        #expect(access(store, F_OK) != 0)
    }

    @Test("who waits for another process that opens it gives up in time, and says so")
    func locked() throws {
        let first = try StateStore.open(store: store)
        try first.set("a=1; Max-Age=60", from: "http://x.org/")
        first.close()
        let path = store + "/state/environment.lock"
        let file = open(path, O_RDWR | O_CLOEXEC)
        defer { close(file) }
        #expect(clmdb_lock_byte(file, 0, 2, 0) == 0)
        let state = try StateStore.open(
            store: store, openingPatience: .milliseconds(20), retryPause: .seconds(3600))
        defer { state.close() }
        #expect(throws: StoreError.locked(path: path)) { try state.read(.cookies) { _ in 1 } }
        #expect(state.problem == StoreError.locked(path: path))
        // It was tried in vain a moment ago.
        #expect(!state.mustOpen(for: .cookies))
    }

    @Test("it has to be opened where something of the topic was ever stored, and once")
    func prepared() throws {
        let first = try StateStore.open(store: store)
        #expect(!first.mustOpen(for: .cookies))
        first.prepare(for: .cookies)
        #expect(scratch.files() == ["store/state/changes"])
        try first.set("a=1; Max-Age=60", from: "http://x.org/")
        #expect(!first.mustOpen(for: .cookies))
        first.close()
        #expect(!first.mustOpen(for: .cookies))
        let next = try StateStore.open(store: store)
        defer { next.close() }
        #expect(next.mustOpen(for: .cookies))
        next.prepare(for: .cookies)
        #expect(!next.mustOpen(for: .cookies) && next.isAtHand(.cookies))
    }

    /// How many descriptors of this process lead to a file of the state.
    private func openCount(of name: String) -> Int {
        (try? OpenDescriptors.leading { $0 == store + "/state/" + name })?.count ?? 0
    }

    @Test("it is closed after whoever is opening it, and nothing of it stays open")
    func closedWhileOpening() throws {
        let first = try StateStore.open(store: store)
        try first.set("a=1; Max-Age=60", from: "http://x.org/")
        first.close()
        let state = try StateStore.open(store: store, openingPatience: .seconds(3600))
        // As by a process that is stopped while it opens the files.
        let file = open(store + "/state/environment.lock", O_RDWR | O_CLOEXEC)
        defer { close(file) }
        #expect(clmdb_lock_byte(file, 0, 2, 0) == 0)
        let (isRead, isClosed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            // It may come before the close.
            _ = try? state.read(.cookies) { _ in 1 }
            isRead.signal()
        }
        waitUntil { openCount(of: "environment.lock") == 2 }
        Thread.detachNewThread {
            state.close()
            isClosed.signal()
        }
        #expect(isClosed.wait(timeout: .now() + 0.1) == .timedOut)
        #expect(clmdb_lock_byte(file, 0, 0, 0) == 0)
        isRead.wait()
        isClosed.wait()
        #expect(openCount(of: "data.mdb") == 0 && openCount(of: "environment.lock") == 1)
        #expect(throws: StoreError.closed) { try state.read(.cookies) { _ in 1 } }
    }

    @Test("cookies that end with a session go with it, or with the next coordinator's start when it died")
    func sessions() throws {
        let state = try StateStore.open(store: store)
        defer { state.close() }
        let (mine, dead) = (SessionID.make(), SessionID.make())
        let session = try state.beginSession(mine)
        for id in [mine, dead] {
            let conditions = CookieConditions(session: id.first, endsWithSession: true)
            try state.set("s\(id.first)=1", from: "http://x.org/", under: conditions)
            try state.set("p\(id.first)=1; Max-Age=600", from: "http://x.org/", under: conditions)
        }
        try state.set("kept=1", from: "http://x.org/", under: CookieConditions(session: dead.first))
        #expect(state.names.count == 5)
        #expect(state.purgeDeadSessions() == 1)
        #expect(!state.names.contains("s\(dead.first)"))
        #expect(state.names.count == 4)
        state.endSession(session)
        #expect(state.names == ["kept", "p\(dead.first)", "p\(mine.first)"].sorted())
    }

    @Test("where the sessions cannot be listed, none is taken for dead")
    func unlistedSessions() throws {
        let state = try StateStore.open(store: store)
        defer { state.close() }
        let id = SessionID.make()
        let session = try state.beginSession(id)
        let conditions = CookieConditions(session: id.first, endsWithSession: true)
        try state.set("a=1", from: "http://x.org/", under: conditions)
        let sessions = store + "/state/sessions"
        // Through a link they are not looked for.
        #expect(rename(sessions, sessions + ".there") == 0 && symlink("sessions.there", sessions) == 0)
        #expect(!state.hasUnheldSession)
        #expect(state.purgeDeadSessions() == 0)
        #expect(state.names == ["a"])
        #expect(unlink(sessions) == 0 && rename(sessions + ".there", sessions) == 0)
        #expect(state.purgeDeadSessions() == 0)
        state.endSession(session)
        #expect(state.names == [])
    }

    @Test("what is stored for a dead session after its cookies were removed is looked for once more")
    func lateCookies() throws {
        let state = try StateStore.open(store: store)
        defer { state.close() }
        let dead = SessionID.make()
        _ = try state.beginSession(dead)
        let now = Int64(time(nil))
        let conditions = CookieConditions(session: dead.first, endsWithSession: true)
        try state.set("first=1", from: "http://x.org/", under: conditions)
        #expect(state.purgeDeadSessions(at: now + 61 + 60) == 1)
        try state.set("late=1", from: "http://x.org/", under: conditions)
        #expect(state.hasUnheldSession)
        #expect(state.purgeDeadSessions(at: now) == 1)
        #expect(state.hasUnheldSession)
        #expect(state.purgeDeadSessions(at: now + 3600) == 0)
        #expect(!state.hasUnheldSession)
        #expect(state.names == [])
    }
}
