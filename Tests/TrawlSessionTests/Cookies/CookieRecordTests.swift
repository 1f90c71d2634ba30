import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlSession

@Suite("The record of a cookie")
struct CookieRecordTests {
    private func random(_ random: inout SeededGenerator) -> Cookie {
        func text(_ limit: Int) -> [UInt8] {
            random.bytes(upTo: limit).map { $0 < 0x21 || $0 == 0x7F || $0 == 0x3B || $0 == 0x3D ? 0x61 : $0 }
        }
        return Cookie(
            name: [0x6E] + text(40), value: text(200), domain: random.pick(["a.org", "b.a.org", "10.0.0.1", "[::1]"]),
            isHostOnly: true, path: random.pick(["/", "/a", "/a/ü", "/a;b"]), isSecure: random.bool(),
            isHTTPOnly: random.bool(),
            sameSite: random.pick(SameSite.allCases),
            expiry: random.bool() ? WallTime(milliseconds: Int64(bitPattern: random.integer())) : nil,
            creation: WallTime(milliseconds: Int64(bitPattern: random.integer())),
            lastAccess: WallTime(milliseconds: Int64(bitPattern: random.integer())), session: random.integer())
    }

    @Test("what goes in comes out")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let cookie = random(&generator)
            let record = try cookie.record(suffixes)
            let copy = try CookieRecord(bytes: record.bytes)
            #expect(copy.withView { Cookie($0) } == cookie)
            #expect(copy.withView { CookieRecord($0) } == record)
        }
    }

    @Test(
        "a domain as people write it",
        arguments: [
            ("Example.ORG", "example.org", true), (".Example.ORG", "example.org", false), ("::1", "[::1]", true),
            (".::1", "[::1]", true), ("2001:DB8::A", "[2001:db8::a]", true), ("[::1]", "[::1]", true),
            (".10.0.0.1", "10.0.0.1", true), ("a:b", "a:b", true),
        ])
    func domains(domain: String, kept: String, isHostOnly: Bool) throws {
        let record = try Cookie(name: [97], value: [98], domain: domain, creation: noon).record(suffixes)
        #expect(record.withView { Cookie($0).domain } == kept)
        #expect(record.withView { $0.flags.contains(.hostOnly) } == isHostOnly)
    }

    @Test("its form is fixed")
    func form() throws {
        var record = try Cookie(
            name: Array("n".utf8), value: Array("vv".utf8), domain: "a.org", path: "/p", isSecure: true, sameSite: .lax,
            expiry: WallTime(milliseconds: 5), creation: WallTime(milliseconds: 1),
            lastAccess: WallTime(milliseconds: 3), session: 6
        ).record(suffixes)
        record.takeOrder(2)
        func word(_ value: UInt8) -> [UInt8] { [value, 0, 0, 0, 0, 0, 0, 0] }
        var expected: [UInt8] = [1, 2, 11, 0, 1, 0, 2, 0, 5, 0, 2, 0, 0, 0, 0, 0]
        for value in [1, 2, 3, 5, 6] as [UInt8] { expected += word(value) }
        #expect(record.bytes == expected + Array("nvva.org/p".utf8))
    }

    @Test("cut short anywhere it is no record, nor with a byte more")
    func truncation() throws {
        var generator = SeededGenerator(seed: 2)
        let bytes = try random(&generator).record(suffixes).bytes
        for count in 0..<bytes.count {
            #expect(throws: CookieRecordError.truncated) { try CookieRecord(bytes: Array(bytes[..<count])) }
        }
        #expect(throws: CookieRecordError.invalid) { try CookieRecord(bytes: bytes + [0x61]) }
        #expect(throws: CookieRecordError.version) { try CookieRecord(bytes: [2] + bytes.dropFirst()) }
    }

    @Test("whatever is changed in it, what is read can be sent and written again")
    func damage() throws {
        var generator = SeededGenerator(seed: 3)
        var taken = 0
        for _ in 0..<20_000 {
            var bytes = try random(&generator).record(suffixes).bytes
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            taken += check(bytes) ? 1 : 0
        }
        #expect(taken > 1000)
    }

    @Test("random bytes do not trap")
    func garbage() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<50_000 {
            var bytes = generator.bytes(upTo: 120)
            if !bytes.isEmpty, generator.bool() { bytes[0] = 1 }
            _ = check(bytes)
        }
    }

    /// Whether the bytes are taken; if so, that what they hold keeps to the rules.
    private func check(_ bytes: [UInt8]) -> Bool {
        guard let record = try? CookieRecord(bytes: bytes) else { return false }
        record.withView { view in
            let sent = Array(view.name) + Array(view.value)
            #expect(!sent.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F || $0 == 0x3B })
            #expect(view.path.first == 0x2F && !view.domain.isEmpty)
            #expect(CookieRecord(view).bytes == bytes)
            _ = Cookie(view)
        }
        return true
    }
}
