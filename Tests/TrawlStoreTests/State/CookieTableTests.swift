import Glibc
import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlSession

@testable import TrawlStore

@Suite("Cookies in the tables of a store")
struct CookieTableTests {
    private let scratch = CacheScratch()

    private func withState(_ body: (StateStore) throws -> Void) throws {
        let state = try StateStore.open(store: scratch.path + "/store")
        defer { state.close() }
        try body(state)
    }

    @Test("a line that comes again takes the place of the first and keeps its age")
    func replaces() throws {
        try withState { state in
            try #expect(state.set("a=1", from: "http://x.org/") == .insert)
            try #expect(state.set("b=1", from: "http://x.org/") == .insert)
            try #expect(state.set("a=2", from: "http://x.org/", at: noon.plus(seconds: 5)) == .replace)
            #expect(state.field(for: "http://x.org/") == "a=2; b=1")
            try #expect(state.set("a=2; Max-Age=0", from: "http://x.org/") == .remove)
            try #expect(state.set("a=2; Max-Age=0", from: "http://x.org/") == .nothing)
            #expect(state.field(for: "http://x.org/") == "b=1")
        }
    }

    @Test("a line that several fetches bring at a time is written once")
    func together() throws {
        try withState { state in
            let lines = ["a=1; Max-Age=60", "a=1; Max-Age=60", "a=2; Max-Age=60", "a=1; Max-Age=60"]
            let received = try lines.map { line in try #require(receive(line, from: "http://x.org/")) }
            let changes = try state.perform(.cookies) { (transaction) throws(StoreError) in
                try CookieTable.store(received, jar: "", at: noon, in: transaction, state: state)
            }
            #expect(changes == [.insert, .nothing, .replace, .replace])
            #expect(state.field(for: "http://x.org/") == "a=1")
        }
    }

    @Test("only a secure cookie that comes anew makes others look for secure ones again")
    func secureAgain() throws {
        try withState { state in
            try state.set("a=1; Secure", from: "https://x.org/")
            let count = try #require(state.changes(of: .secureCookies))
            try #expect(state.set("a=2; Secure", from: "https://x.org/") == .replace)
            try #expect(state.set("b=; Secure; Max-Age=0", from: "https://x.org/") == .nothing)
            #expect(state.changes(of: .secureCookies) == count)
            try state.set("a=3", from: "https://x.org/")
            #expect(state.changes(of: .secureCookies) == count)
            try state.set("a=4; Secure", from: "https://x.org/")
            #expect(try #require(state.changes(of: .secureCookies)) > count)
        }
    }

    @Test("cookies go to the hosts and paths they are for")
    func matches() throws {
        try withState { state in
            try state.set("host=1", from: "http://a.x.org/")
            try state.set("domain=1; Domain=x.org", from: "http://a.x.org/")
            try state.set("path=1; Path=/p", from: "http://a.x.org/")
            try state.set("other=1", from: "http://ax.org/")
            #expect(state.field(for: "http://a.x.org/") == "host=1; domain=1")
            #expect(state.field(for: "http://b.a.x.org/p/q") == "domain=1")
            #expect(state.field(for: "http://a.x.org/p/q") == "path=1; host=1; domain=1")
            #expect(state.field(for: "http://x.org/") == "domain=1")
            #expect(state.field(for: "http://ax.org/") == "other=1")
            #expect(state.field(for: "http://org/") == nil)
        }
    }

    @Test("a secure cookie is hidden by none that came in clear: of its domain, above or below")
    func sparesSecure() throws {
        try withState { state in
            try state.set("a=secret; Secure; Domain=x.org", from: "https://w.x.org/")
            for host in ["x.org", "w.x.org", "v.w.x.org"] {
                try #expect(state.set("a=planted", from: "http://\(host)/") == nil, "\(host)")
            }
            try state.set("b=secret; Secure", from: "https://v.w.x.org/")
            try #expect(state.set("b=planted; Domain=x.org", from: "http://w.x.org/") == nil)
            try #expect(state.set("b=fine; Domain=y.org", from: "http://w.y.org/") == .insert)
            try #expect(state.set("a=new; Secure; Domain=x.org", from: "https://w.x.org/") == .replace)
        }
    }

    @Test("one that is set as if a server had is held against secure ones, and one of the program's own is not")
    func setByHand() throws {
        try withState { state in
            try state.set("a=secret; Secure", from: "https://x.org/")
            let stored = StoredCookies(state, jar: "")
            let cookies = try ["a=1", "b=2"].map { try #require(receive($0, from: "http://x.org/")) }
            try #expect(stored.receive(cookies, at: noon) == 1)
            #expect(state.field(for: "https://x.org/") == "a=secret; b=2")
            try stored.set(cookies.map(\.record), at: noon)
            #expect(state.field(for: "https://x.org/") == "a=1; b=2")
        }
    }

    @Test("a secure cookie that somebody else stores is spared by who has looked for such before")
    func sparesSecureOfOthers() throws {
        try withState { state in
            let other = try StateStore.open(store: scratch.path + "/store")
            defer { other.close() }
            try #expect(state.set("a=1", from: "http://w.x.org/") == .insert)
            try #expect(state.set("a=2", from: "http://w.x.org/") == .replace)
            try other.set("a=secret; Secure; Domain=x.org", from: "https://w.x.org/")
            try #expect(state.set("a=planted", from: "http://w.x.org/") == nil)
            try other.set("a=; Secure; Domain=x.org; Max-Age=0", from: "https://w.x.org/")
            try #expect(state.set("a=3", from: "http://w.x.org/") == .replace)
        }
    }

    @Test("a secure cookie whose removal came to nothing is spared", arguments: ["a=; Max-Age=0", "a=plain"])
    func sparesSecureOfFailedChange(line: String) throws {
        try withState { state in
            try state.set("a=secret; Secure", from: "https://x.org/")
            let removal = try #require(receive(line, from: "https://x.org/"))
            let plain = try #require(receive("b=1", from: "http://x.org/"))
            #expect(throws: StoreError.self) {
                try state.perform(.cookies) { (transaction) throws(StoreError) in
                    try CookieTable.store([removal, plain], jar: "", at: noon, in: transaction, state: state)
                    throw .abandoned
                }
            }
            try #expect(state.set("a=planted", from: "http://x.org/") == nil)
            #expect(state.field(for: "https://x.org/") == "a=secret")
        }
    }

    @Test("each cookie of a response that came in clear is held against the secure ones there are")
    func sparesSecureOfOneResponse() throws {
        try withState { state in
            try state.set("a=secret; Secure; Domain=x.org", from: "https://w.x.org/")
            try state.set("b=secret; Secure; Path=/p", from: "https://w.x.org/p/")
            let lines = [
                "c=1", "a=1", "a=1; Domain=x.org", "b=1", "b=1; Path=/p", "d=1; Domain=x.org", "c=; Max-Age=0",
            ]
            let received = try lines.map { line in try #require(receive(line, from: "http://w.x.org/")) }
            let changes = try state.perform(.cookies) { (transaction) throws(StoreError) in
                try CookieTable.store(received, jar: "", at: noon, in: transaction, state: state)
            }
            #expect(changes == [.insert, nil, nil, .insert, nil, .insert, .remove])
        }
    }

    @Test("a secure cookie that comes in between is spared by the next")
    func sparesSecureOfSameChange() throws {
        try withState { state in
            let received = [
                try #require(receive("b=1", from: "http://x.org/")),
                try #require(receive("a=secret; Secure", from: "https://x.org/")),
                try #require(receive("a=planted", from: "http://x.org/")),
            ]
            let changes = try state.perform(.cookies) { (transaction) throws(StoreError) in
                try CookieTable.store(received, jar: "", at: noon, in: transaction, state: state)
            }
            #expect(changes == [.insert, .insert, nil])
        }
    }

    @Test("of many secure cookies, those of other names than the new ones are not copied")
    func keepsNamesakesOnly() throws {
        try withState { state in
            let value = String(repeating: "v", count: 4000)
            for index in 0..<20 { try state.set("s\(index)=\(value); Secure", from: "https://x.org/") }
            let plain = try #require(receive("x=1", from: "http://x.org/"))
            for (names, count) in [(["x"], 0), (["x", "s7"], 1)] {
                let names = Set(names.map { Array($0.utf8) })
                try state.perform(.cookies) { (transaction) throws(StoreError) in
                    let (found, isPlain) = try CookieTable.secureCookies(
                        around: plain.record, names, 0, in: transaction)
                    #expect(found.count == count && !isPlain)
                }
            }
            let lines = ["x=1", "s7=1", "y=1"]
            let received = try lines.map { line in try #require(receive(line, from: "http://x.org/")) }
            let changes = try state.perform(.cookies) { (transaction) throws(StoreError) in
                try CookieTable.store(received, jar: "", at: noon, in: transaction, state: state)
            }
            #expect(changes == [.insert, nil, .insert])
        }
    }

    @Test("that a domain has no secure cookie is kept in mind, unless one was removed in the same change")
    func plainDomains() throws {
        try withState { state in
            let domain = Array("x.org".utf8).withUnsafeBytes { CookieKey.domain($0, jar: 0) }
            try state.set("a=1", from: "http://x.org/")
            try state.set("s=1; Secure", from: "https://x.org/")
            for (line, isKnown) in [("s=; Max-Age=0", false), ("a=; Max-Age=0", true)] {
                state.plainDomains.removeAll()
                let removal = try #require(receive(line, from: "https://x.org/"))
                let plain = try #require(receive("b=1", from: "http://x.org/"))
                try state.perform(.cookies) { (transaction) throws(StoreError) in
                    _ = try CookieTable.store([removal, plain], jar: "", at: noon, in: transaction, state: state)
                }
                let count = state.changes(of: .secureCookies)
                #expect(state.plainDomains.contains(domain, at: count) == isKnown, "\(line)")
            }
        }
    }

    @Test("jars are apart, each with its name")
    func jars() throws {
        try withState { state in
            try state.set("a=1", from: "http://x.org/")
            try state.set("a=2", from: "http://x.org/", jar: "one")
            try state.set("a=3", from: "http://x.org/", jar: "two")
            #expect(state.field(for: "http://x.org/") == "a=1")
            #expect(state.field(for: "http://x.org/", jar: "one") == "a=2")
            #expect(state.field(for: "http://x.org/", jar: "two") == "a=3")
            #expect(state.field(for: "http://x.org/", jar: "three") == nil)
            let names = try state.read(.cookies) { (snapshot) throws(StoreError) in try CookieTable.jars(snapshot) }
            #expect(names == ["one", "two"])
            let removed = try state.perform(.cookies) { (transaction) throws(StoreError) in
                try CookieTable.remove(from: "one", in: transaction) { _ in true }
            }
            #expect(removed == 1)
            #expect(state.field(for: "http://x.org/", jar: "one") == nil)
            #expect(state.field(for: "http://x.org/", jar: "two") == "a=3")
        }
    }

    @Test("a domain keeps to its limit: what is over goes first, then what was not used for longest")
    func perDomain() throws {
        try withState { state in
            let limits = CookieLimits(perDomain: 5, total: 100, crowded: 3)
            for index in 0..<5 {
                let line = index == 2 ? "c2=1; Max-Age=3" : "c\(index)=1"
                try state.set(line, from: "http://x.org/", at: noon.plus(seconds: Int64(index)), limits: limits)
            }
            try state.set("c5=1", from: "http://x.org/", at: noon.plus(seconds: 10), limits: limits)
            #expect(state.names == ["c0", "c1", "c3", "c4", "c5"])
            try state.set("c6=1", from: "http://x.org/", at: noon.plus(seconds: 11), limits: limits)
            #expect(state.names == ["c1", "c3", "c4", "c5", "c6"])
        }
    }

    @Test("a domain that is full makes room for a tenth of its limit, not for each cookie anew")
    func perDomainRoom() throws {
        try withState { state in
            for part in 0..<2 {
                let received = try (0..<500).map { index in
                    try #require(receive("c\(500 * part + index)=1", from: "http://x.org/"))
                }
                try state.perform(.cookies) { (transaction) throws(StoreError) in
                    _ = try CookieTable.store(received, jar: "", at: noon, in: transaction, state: state)
                }
            }
            #expect(state.names.count == CookieTable.limits.perDomain)
            try state.set("over=1", from: "http://x.org/", at: noon.plus(seconds: 1))
            #expect(state.names.count == 900)
            #expect(state.names.contains("over") && !state.names.contains("c0") && state.names.contains("c999"))
            try state.set("next=1", from: "http://x.org/", at: noon.plus(seconds: 2))
            #expect(state.names.count == 901)
        }
    }

    @Test("a domain keeps to its bytes, whether long cookies come or short ones become long")
    func bytesPerDomain() throws {
        try withState { state in
            func store(_ values: Range<Int>, of length: Int) throws {
                let received = try values.map { index in
                    let value = String(repeating: "v", count: length)
                    return try #require(receive("c\(index)=\(value)", from: "http://x.org/"))
                }
                try state.perform(.cookies) { (transaction) throws(StoreError) in
                    _ = try CookieTable.store(received, jar: "", at: noon, in: transaction, state: state)
                }
            }
            var bytes: Int {
                var sum = 0
                _ = try? state.read(.cookies) { (snapshot) throws(StoreError) in
                    try CookieTable.forEach(in: "", snapshot) { sum += $0.record.count }
                }
                return sum
            }
            for part in 0..<10 {
                try store(100 * part..<100 * part + 100, of: 4000)
                #expect(bytes > 200_000 && bytes <= CookieTable.limits.bytesPerDomain)
            }
            #expect(state.names.contains("c999") && !state.names.contains("c900"))
            try store(0..<600, of: 50)
            #expect(state.names.count > 600)
            for part in 0..<6 { try store(100 * part..<100 * part + 100, of: 4000) }
            #expect(bytes > 200_000 && bytes <= CookieTable.limits.bytesPerDomain)
            try state.set("short=1", from: "http://x.org/")
            #expect(state.names.contains("short"))
        }
    }

    @Test("of a domain with few cookies and too many bytes, those that are not secure go first")
    func bytesSpareSecure() throws {
        try withState { state in
            try state.set("s=secret; Secure", from: "https://x.org/", at: noon.plus(seconds: -10))
            let value = String(repeating: "v", count: 4000)
            let received = try (0..<80).map { index in
                try #require(receive("c\(index)=\(value)", from: "http://x.org/"))
            }
            try state.perform(.cookies) { (transaction) throws(StoreError) in
                _ = try CookieTable.store(received, jar: "", at: noon, in: transaction, state: state)
            }
            #expect(state.names.count < 80 && !state.names.contains("c0") && state.names.contains("c79"))
            #expect(state.names.contains("s"))
        }
    }

    @Test("a flood of one response keeps to the limits too, of each of its domains")
    func flood() throws {
        try withState { state in
            let limits = CookieLimits(perDomain: 5, total: 100, crowded: 3)
            try state.set("old=1", from: "http://a.x.org/", at: noon.plus(seconds: -1), limits: limits)
            let received = try (0..<20).map { index in
                let line = index % 2 == 0 ? "c\(index)=1" : "c\(index)=1; Domain=x.org"
                return try #require(receive(line, from: "http://a.x.org/"))
            }
            let changes = try state.perform(.cookies) { (transaction) throws(StoreError) in
                try CookieTable.store(received, jar: "", at: noon, in: transaction, limits: limits)
            }
            #expect(changes.count == 20 && changes.allSatisfy { if case .insert = $0 { true } else { false } })
            // The last of each: of one moment, those go first that came first.
            #expect(state.names.count == 10 && state.names.contains("c19") && !state.names.contains("old"))
        }
    }

    @Test("all together keep to theirs: domains with many lose theirs first")
    func total() throws {
        try withState { state in
            let limits = CookieLimits(perDomain: 50, total: 10, crowded: 5)
            for index in 0..<4 {
                try state.set("q\(index)=1", from: "http://quiet\(index).org/", limits: limits)
            }
            for index in 0..<8 {
                let moment = noon.plus(seconds: Int64(index) + 1)
                try state.set("l\(index)=1", from: "http://loud.org/", at: moment, limits: limits)
            }
            #expect(state.names == ["l2", "l3", "l4", "l5", "l6", "l7", "q0", "q1", "q2", "q3"])
        }
    }

    @Test("a damaged row is no cookie, and its place is taken by the next")
    func damage() throws {
        try withState { state in
            try state.set("a=1", from: "http://x.org/")
            try state.set("b=1", from: "http://x.org/")
            try state.perform(.cookies) { (transaction) throws(StoreError) in
                var rows: [(key: [UInt8], row: [UInt8])] = []
                try transaction.scan(StateSchema.cookies, from: UnsafeRawBufferPointer(start: nil, count: 0)) {
                    rows.append((Array($0), Array($1)))
                    return true
                }
                for var (key, row) in rows where row.contains(UInt8(ascii: "a")) {
                    row[20] ^= 1
                    try key.span.withUnsafeBytes { (key) throws(StoreError) in
                        try row.span.withUnsafeBytes { (row) throws(StoreError) in
                            try transaction.put(StateSchema.cookies, key, row)
                        }
                    }
                    key = []
                }
            }
            #expect(state.field(for: "http://x.org/") == "b=1")
            try #expect(state.set("a=2", from: "http://x.org/") == .insert)
            #expect(state.names == ["a", "b"])
        }
    }

    @Test("the cookies of a response are there when that is told; when they change nothing, no word rises")
    func ofResponse() throws {
        try withState { state in
            let received = [try #require(receive("a=1", from: "http://x.org/"))]
            var counts: [UInt64?] = []
            for _ in 0..<2 {
                let done = Latch(1)
                let told = Guarded(0)
                state.store(received, jar: "", at: noon, .now, enough: 1) { isStored in
                    told.withLock { $0 += isStored ? 1 : 10 }
                    done.arrive()
                }
                done.wait()
                #expect(told.withLock { $0 } == 1)
                #expect(state.field(for: "http://x.org/") == "a=1")
                counts.append(state.changes(of: .cookies))
            }
            #expect(counts[0] != 0 && counts[0] == counts[1])
        }
    }

    @Test("several writers store all of theirs")
    func writers() throws {
        try withState { state in
            let others = try (0..<4).map { _ in try StateStore.open(store: scratch.path + "/store") }
            defer { for other in others { other.close() } }
            let done = Latch(4 * 50)
            for (number, other) in others.enumerated() {
                for index in 0..<50 {
                    let received = try #require(receive("c\(number)x\(index)=1", from: "http://x\(number).org/"))
                    other.submit(.cookies, .soon) { (transaction) throws(StoreError) in
                        try CookieTable.store([received], jar: "", at: noon, in: transaction)
                    } completion: { _ in
                        done.arrive()
                    }
                }
            }
            done.wait()
            #expect(state.names.count == 200)
        }
    }
}
