import CTrawlPAC
import Glibc
import Testing

@testable import TrawlPAC

@Suite("What a proxy script may call, ASI-PRX-05", .enabled(if: Engine.isThere, "libduktape207 is not installed"))
struct ScriptFunctionTests {
    @Test(
        "the functions of the standard, and those for IPv6",
        arguments: [
            ("isPlainHostName('www')", "true"), ("isPlainHostName('www.a.test')", "false"),
            ("dnsDomainIs('www.a.test', '.a.test')", "true"), ("dnsDomainIs('www.b.test', '.a.test')", "false"),
            ("localHostOrDomainIs('www.a.test', 'www.a.test')", "true"),
            ("localHostOrDomainIs('www', 'www.a.test')", "true"),
            ("localHostOrDomainIs('ww', 'www.a.test')", "false"),
            ("isResolvable('known.test')", "true"), ("isResolvable('unknown.test')", "false"),
            ("isInNet('known.test', '192.0.2.0', '255.255.255.0')", "true"),
            ("isInNet('198.51.100.7', '198.51.100.0', '255.255.255.248')", "true"),
            ("isInNet('198.51.100.8', '198.51.100.0', '255.255.255.248')", "false"),
            ("isInNet('unknown.test', '0.0.0.0', '0.0.0.0')", "false"),
            ("dnsResolve('known.test')", "192.0.2.5"), ("dnsResolve('unknown.test')", "null"),
            ("myIpAddress()", "192.0.2.1"), ("dnsDomainLevels('www.a.test')", "2"),
            ("shExpMatch('http://a/b.gif', '*/b.*')", "true"), ("shExpMatch('abc', 'a?c')", "true"),
            ("shExpMatch('abc', 'a?')", "false"), ("shExpMatch('a.c', 'a[.]c')", "false"),
            ("shExpMatch(Array(2000).join('a'), Array(500).join('*a') + 'b')", "false"),
            ("isResolvableEx('known.test')", "true"), ("dnsResolveEx('known.test')", "2001:db8::1;192.0.2.5"),
            ("isInNetEx('2001:db8:1::1', '2001:db8::/32')", "true"), ("isInNetEx('::1', '2001:db8::/32')", "false"),
            ("isInNetEx('192.0.2.9', '192.0.2.8/31')", "true"), ("isInNetEx('192.0.2.9', 'rubbish')", "false"),
            ("sortIpAddressList('192.0.2.9;::1;192.0.2.1')", "::1;192.0.2.1;192.0.2.9"),
            ("sortIpAddressList('x')", "false"), ("myIpAddressEx()", "2001:db8::7"), ("alert('x')", "undefined"),
            // A Wednesday, 2024-02-28, 13:30:15.
            ("weekdayRange('WED')", "true"), ("weekdayRange('MON', 'FRI')", "true"),
            ("weekdayRange('FRI', 'TUE')", "false"), ("weekdayRange('SAT', 'WED', 'GMT')", "true"),
            ("timeRange(13)", "true"), ("timeRange(9, 12)", "false"), ("timeRange(22, 14)", "true"),
            ("timeRange(13, 0, 13, 30)", "true"), ("timeRange(13, 31, 14, 0)", "false"),
            ("timeRange(13, 30, 15, 13, 30, 15)", "true"), ("timeRange('x')", "false"),
            ("dateRange(28)", "true"), ("dateRange(1, 27)", "false"), ("dateRange('FEB')", "true"),
            ("dateRange('NOV', 'MAR')", "true"), ("dateRange(2024)", "true"), ("dateRange(2020, 2023)", "false"),
            ("dateRange(27, 'FEB', 1, 'MAR')", "true"), ("dateRange('JAN', 2024, 'FEB', 2024)", "true"),
            ("dateRange(29, 'FEB', 2024, 1, 'MAR', 2024)", "false"), ("dateRange(28, 'GMT')", "true"),
            ("dateRange(1, 'FEB')", "false"), ("dateRange(28, 'FEB')", "true"), ("dateRange(27, 'FEB')", "false"),
            ("dateRange(28, 'FEB', 2024)", "true"), ("dateRange(28, 'FEB', 2023)", "false"),
            ("dateRange('FEB', 2024)", "true"), ("dateRange('FEB', 2023)", "false"),
            ("dateRange('MAR', 2024)", "false"), ("dateRange(28, 'FEB', 'GMT')", "true"),
            ("dateRange(28, 'FEB', 2024, 'GMT')", "true"), ("dateRange('FEB', 2024, 'GMT')", "true"),
            ("dateRange(2024, 'FEB')", "false"), ("typeof __ask + typeof require", "undefinedundefined"),
        ])
    func functions(expression: String, expected: String) throws {
        let clock = """
            (function () {
              var real = Date;
              Date = function () { return new real(real.UTC(2024, 1, 28, 13, 30, 15)); };
            }());
            """
        let engine = try #require(Engine())
        #expect(engine.run(clock + "function FindProxyForURL(url, host) { return String(\(expression)); }"))
        #expect(engine.find() == expected)
    }

    @Test(
        "what goes wrong in a script ends there",
        arguments: [
            "function FindProxyForURL() { var a = []; for (;;) a.push('0123456789' + a.length); }",
            "function f() { f(); } function FindProxyForURL() { f(); }",
            "function FindProxyForURL() { throw 1; }", "function FindProxyForURL() { return 7; }", "var x = 1;",
            "var FindProxyForURL = 'x';", "function FindProxyForURL() { return new Array(1e9).join('x'); }",
        ])
    func failures(script: String) throws {
        let engine = try #require(Engine())
        #expect(engine.run(script))
        #expect(engine.find() == nil)
        #expect(engine.find() == nil)
    }

    @Test("what is no script is refused", arguments: ["function (", "throw 1", "\u{0}"])
    func noScript(script: String) throws {
        #expect(try #require(Engine()).run(script) == false)
    }

    @Test("frames: whole, in pieces, and none")
    func frames() throws {
        var bytes: [UInt8] = [20, 3, 0, 0, 0, 1, 2]
        #expect(try ScriptFrame.take(from: &bytes) == nil)
        bytes += [3, 9]
        #expect(try ScriptFrame.take(from: &bytes) == ScriptFrame(.result, [1, 2, 3]))
        #expect(bytes == [9])
        for bad in [[99, 0, 0, 0, 0], [20, 0, 0, 1, 0], [20, 255, 255, 255, 255]] as [[UInt8]] {
            var bad = bad
            #expect(throws: ScriptFrame.BadFrame.self) { try ScriptFrame.take(from: &bad) }
        }
    }
}

/// An engine whose questions have made-up answers.
private final class Engine {
    static var isThere: Bool { Engine() != nil }

    private let engine: OpaquePointer

    init?() {
        let made = cpac_open(
            16 << 20,
            { _, kind, name, answer, room in
                guard let name, let answer else { return -1 }
                let isKnown = strcmp(name, "known.test") == 0
                let text: String? =
                    switch UInt8(truncatingIfNeeded: kind) {
                    case UInt8(ascii: "4"): isKnown ? "192.0.2.5" : nil
                    case UInt8(ascii: "x"): isKnown ? "2001:db8::1;192.0.2.5" : nil
                    case UInt8(ascii: "m"): "192.0.2.1"
                    default: "2001:db8::7"
                    }
                guard let text, text.utf8.count < room else { return -1 }
                return text.withCString { Int32(strlen(strcpy(answer, $0))) }
            }, nil)
        guard let made else { return nil }
        engine = made
    }

    deinit { cpac_close(engine) }

    func run(_ script: String) -> Bool {
        var script = script
        return script.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { cpac_run(engine, $0.baseAddress, $0.count) == 0 }
        }
    }

    func find() -> String? {
        var result = [CChar](repeating: 0, count: 4096)
        guard cpac_find(engine, "http://www.a.test/", "www.a.test", &result, result.count) == 0 else { return nil }
        return String(decoding: result.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
