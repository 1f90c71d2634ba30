import Testing
import TrawlHTTP

@testable import TrawlTransfer

/// Feeds a head line by line, as libcurl does.
private func assemble(_ text: String, into assembler: inout HeadAssembler) throws -> (ResponseHead, HeadFacts)? {
    var parsed: (ResponseHead, HeadFacts)?
    // By bytes: CR LF is one Character.
    for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
        let bytes = Array(line) + [0x0A]
        if try bytes.withUnsafeBytes({ try assembler.take($0) }) { parsed = try assembler.parse() }
    }
    return parsed
}

private func parse(_ text: String, isOfTunnel: Bool = false) throws -> (ResponseHead, HeadFacts) {
    var assembler = HeadAssembler()
    assembler.isOfTunnel = isOfTunnel
    return try #require(try assemble(text, into: &assembler))
}

@Suite("Response heads, RFC 9112 §4, §5 and §6")
struct HeadAssemblerTests {
    @Test(
        "status lines",
        arguments: [
            ("HTTP/1.1 200 OK\r\n\r\n", UInt16(200), HTTPVersion.http1_1, "OK"),
            ("HTTP/1.0 404 Not Found\r\n\r\n", 404, .http1_0, "Not Found"),
            ("HTTP/1.1 200 \r\n\r\n", 200, .http1_1, ""),
            ("HTTP/1.1 200\r\n\r\n", 200, .http1_1, ""),
            ("HTTP/1.9 999 x\n\n", 999, .http1_1, "x"),
            ("HTTP/2 204 \r\n\r\n", 204, .http2, ""),
            // One character for each byte.
            ("HTTP/1.1 200 é\r\n\r\n", 200, .http1_1, "\u{C3}\u{A9}"),
        ])
    func statusLines(text: String, status: UInt16, version: HTTPVersion, reason: String) throws {
        let (head, _) = try parse(text)
        #expect(head.status == status)
        #expect(head.version == version)
        #expect(head.reason == reason)
    }

    @Test(
        "damaged heads are refused",
        arguments: [
            "HTTP/3.0 200 OK\r\n\r\n", "HTTP/1.1 099 x\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1  200 OK\r\n\r\n", "HTTP/11 200 OK\r\n\r\n", "ICY 200 OK\r\n\r\n", "HTTP/1.1 200 a\u{0}b\r\n\r\n",
            "HTTP/1.1 200 OK\r\n folded: 1\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length:\r\n 5\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "HTTP/1.1 200 OK\r\n\rA: b\r\n\r\n",
            "HTTP/1.1 200 OK\r\nA: b\r\n\r\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
        ])
    func damaged(text: String) {
        #expect(throws: HeadError.self) { try parse(text) }
    }

    @Test(
        "fields of framing in a good answer to CONNECT are ignored, RFC 9110 §9.3.6",
        arguments: [
            "Content-Length:", "Content-Length: 1\r\nContent-Length: 2", "Content-Length : 1", "Content-Length:\r\n 5",
            "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked",
        ])
    func tunnels(fields: String) throws {
        let (head, facts) = try parse("HTTP/1.1 200 OK\r\n\(fields)\r\nA: b\r\n\r\n", isOfTunnel: true)
        #expect(head.status == 200 && head.fields.values("A") == ["b"])
        #expect(facts == HeadFacts())
        // Of a refusal something may follow.
        #expect(throws: HeadError.self) { try parse("HTTP/1.1 407 Who\r\n\(fields)\r\n\r\n", isOfTunnel: true) }
    }

    @Test("white space before a colon is no part of a name, but where it would hide a framing field")
    func spaceBeforeColon() throws {
        let (head, facts) = try parse("HTTP/1.1 200 OK\r\nLocation : /x\r\nX-A\t: 1\r\nX B: 2\r\n : 3\r\n\r\n")
        #expect(head.fields.values("Location") == ["/x"] && head.fields.values("X-A") == ["1"])
        #expect(head.fields.count == 2)
        _ = facts
        for line in ["Content-Length : 1", "Transfer-Encoding\t: chunked"] {
            #expect(throws: HeadError.self) { try parse("HTTP/1.1 200 OK\r\n\(line)\r\n\r\n") }
        }
    }

    @Test("fields keep order and spelling, folded ones become one line, bad names are dropped")
    func fields() throws {
        let (head, _) = try parse("HTTP/1.1 200 OK\r\nB: 1\r\na:  x \r\n\ty\r\nB:2\r\nE:\r\nbad name: 1\r\n\r\n")
        var lines: [String] = []
        head.fields.forEach { lines.append(FieldLines.text($0) + "=" + FieldLines.text($1)) }
        #expect(lines == ["B=1", "a=x y", "B=2", "E="])
    }

    @Test("heads follow one another, and only lines after a complete one start anew")
    func several() throws {
        var assembler = HeadAssembler()
        let first = try #require(try assemble("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", into: &assembler))
        #expect(first.0.isInterim)
        let second = try #require(try assemble("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", into: &assembler))
        #expect(second.0.status == 200)
        #expect(second.0.fields.count == 1)
    }

    @Test("limits of bytes and of fields hold")
    func limits() throws {
        var assembler = HeadAssembler()
        assembler.maximumBytes = 40
        #expect(throws: HeadError.self) {
            try assemble("HTTP/1.1 200 OK\r\nA: 0123456789012345678901234567890\r\n\r\n", into: &assembler)
        }
        var other = HeadAssembler()
        other.maximumFields = 2
        #expect(throws: HeadError.self) {
            try assemble("HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n", into: &other)
        }
    }

    @Test(
        "where a body ends",
        arguments: [
            ("Content-Length: 5\r\n", UInt16(200), false, HeadFacts.Framing.length(5), true),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", 200, false, .length(5), true),
            ("Content-Length: 5, 5\r\n", 200, false, .length(5), true),
            ("Transfer-Encoding: chunked\r\n", 200, false, .chunked, true),
            ("Transfer-Encoding: ,Chunked ,\r\n", 200, false, .chunked, true),
            ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 200, false, .chunked, false),
            ("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", 200, false, .length(5), false),
            ("", 200, false, .untilClose, false),
            ("Content-Length: 5\r\n", 304, false, .none, true),
            ("Content-Length: 5\r\n", 204, false, .none, true),
            ("Content-Length: 5\r\n", 200, true, .none, true),
        ])
    func framing(fields: String, status: UInt16, isHead: Bool, expected: HeadFacts.Framing, keeps: Bool) throws {
        let (_, facts) = try parse("HTTP/1.1 \(status) X\r\n\(fields)\r\n")
        let (framing, keepsConnection) = facts.framing(status: status, version: .http1_1, isHead: isHead)
        #expect(framing == expected)
        #expect(keepsConnection == keeps)
    }

    @Test(
        "Connection: close is read wherever it stands",
        arguments: [
            ("Connection: close", true), ("CONNECTION:CLOSE", true), ("Connection : close", true),
            ("Connection:\r\n close", true), ("Connection: keep-alive, close", true),
            ("Connection: keep-alive\r\nConnection: x , Close", true), ("Connection: closed", false),
            ("Connection: keep-alive", false), ("Connection:", false), ("Proxy-Connection: close", false),
        ])
    func connectionClose(lines: String, closes: Bool) throws {
        let (_, facts) = try parse("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n")
        #expect(facts.closesConnection == closes)
    }

    @Test("Keep-Alive is read, and HTTP/1.0 with chunks is not trusted further")
    func keepAlive() throws {
        let (_, facts) = try parse(
            "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=15, max=3\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(facts.keepAliveTimeout == 15)
        #expect(facts.keepAliveRequests == 3)
        #expect(facts.framing(status: 200, version: .http1_0, isHead: false) == (.chunked, false))
    }
}
