import Testing
import TrawlHTTP

@testable import TrawlCommand

@Suite("Lines of lists")
struct RequestLineTests {
    private func read(_ text: String, _ form: RequestLine.Form = .list) -> RequestLine {
        Array(text.utf8).withUnsafeBytes { RequestLine($0, form) }
    }

    private func parsed(_ text: String, _ form: RequestLine.Form = .list) -> ListedRequest? {
        if case .request(let request) = read(text, form) { request } else { nil }
    }

    private func complaint(_ text: String, _ form: RequestLine.Form = .pipe) -> String? {
        if case .bad(let bad) = read(text, form) { bad.reason } else { nil }
    }

    private func lines(_ fields: FieldLines) -> [String] {
        var lines: [String] = []
        fields.forEach { name, value in
            lines.append("\(String(decoding: name, as: UTF8.self)): \(FieldLines.latin1(value))")
        }
        return lines
    }

    // MARK: Plain lines

    @Test(
        "a URL, and perhaps a file",
        arguments: [
            ("http://h/a", "http://h/a", nil), ("  http://h/a \t\r", "http://h/a", nil), ("h/a", "http://h/a", nil),
            ("http://h/a\tx/y z.txt", "http://h/a", "x/y z.txt"), ("[::1]/x", "http://[::1]/x", nil),
            ("http://h/d \tx", "http://h/d", "x"), ("http://h/a b  \tx y", "http://h/a b", "x y"),
            ("http://h/ä", "http://h/ä", nil), ("http://h/a b", "http://h/a b", nil),
        ] as [(String, String, String?)])
    func plain(text: String, url: String, out: String?) {
        #expect(read(text) == .request(ListedRequest(url: url, out: out)))
        #expect(read(text, .plain) == .request(ListedRequest(url: url, out: out)))
    }

    @Test("empty lines and comments say nothing", arguments: ["", " \t", "\r", "# http://h/", "  #"])
    func nothing(text: String) {
        #expect(read(text) == .nothing && read(text, .plain) == .nothing)
    }

    @Test("files outside are refused", arguments: ["u\t../x", "u\t/x", "u\ta//b", "u\t.", "u\ta/../b", "u\ta/\tb/.."])
    func outside(text: String) {
        #expect(complaint(text, .list) == RequestLine.badOut)
        guard case .bad(let bad) = read(text, .list) else { return }
        #expect(bad.url == "http://u")
    }

    @Test(
        "a whole number is one however it is written (RFC 8259 §6), and there are 1000 redirects at most",
        arguments: [
            ("3", 3), ("3.0", 3), ("0e0", 0), ("-0", 0), ("1e1", 10), ("2.5e1", 25), ("1000", 1000), ("1001", 1000),
            ("2147483648", 1000), ("99999999999999999999999", 1000), ("1e99", 1000), ("1e400", 1000),
        ])
    func wholeNumbers(text: String, value: Int) {
        guard case .request(let request) = read(#"{"url":"x","max_redirects":\#(text)}"#, .pipe) else {
            Issue.record("\(text) is refused")
            return
        }
        #expect(request.own?.maxRedirects == value)
    }

    @Test(
        "a time is of nanoseconds, as short as wanted, and more than ten years are ten",
        arguments: [
            ("1e-12", Duration.nanoseconds(1)), ("1.4e-9", .nanoseconds(1)), ("0.5", .milliseconds(500)),
            ("2.9", .milliseconds(2900)), ("0.3", .milliseconds(300)),
            ("1234567.000000001", .nanoseconds(1_234_567_000_000_001)), ("316224000", .seconds(316_224_000)),
            ("316224001", .seconds(316_224_000)), ("1e400", .seconds(316_224_000)),
        ] as [(String, Duration)])
    func timeouts(text: String, value: Duration) {
        for form in [RequestLine.Form.pipe, .list] {
            guard case .request(let request) = read(#"{"url":"x","timeout":\#(text)}"#, form) else {
                Issue.record("\(text) is refused")
                continue
            }
            #expect(request.own?.timeout == value)
        }
    }

    @Test("where only objects are wanted, nothing else is taken, and where only URLs are, no object")
    func forms() {
        #expect(complaint("http://h/") == "the line is not a JSON object")
        #expect(complaint("# x") == "the line is not a JSON object")
        #expect(complaint("[1]") == "the line is not a JSON object")
        #expect(read(" ", .pipe) == .nothing)
        #expect(complaint(#"{"url":"http://h/"}"#, .plain) == "JSON lines are for trawl batch")
    }

    // MARK: Objects

    @Test("everything a line can say")
    func everything() throws {
        let text = #"""
             {"id": 1.50, "url":"http:\/\/h/\u00e4", "method":"POST",
             "headers":[["A","b"],["a","\u00ff\u0080é"],["Empty",""]],
             "body":"é\u0000", "redirect":"manual", "max_redirects":0, "timeout":2.5, "out":"a/b"}
            """#
        let request = try #require(parsed(text))
        let own = try #require(request.own)
        #expect(request.url == "http://h/ä" && own.method == "POST" && request.out == "a/b")
        #expect(request.id == RequestID(json: Array("1.50".utf8)) && request.id?.text == "1.50")
        #expect(lines(own.headers) == ["A: b", "a: \u{FF}\u{80}\u{E9}", "Empty: "])
        #expect(own.body == [0xC3, 0xA9, 0])
        #expect(own.follows == false && own.maxRedirects == 0 && own.timeout == .milliseconds(2500))
    }

    @Test(
        "what is blank around a URL is not part of it, URL Standard",
        arguments: [
            (#" http://h/a b "#, "http://h/a b"), (#"\t\r\nh\u00e4\n"#, "h\u{E4}"), (#"\u0000\u001fx\u0020"#, "x"),
            (#"\u007fx\u00a0"#, "\u{7F}x\u{A0}"),
        ])
    func blanks(json: String, url: String) {
        #expect(parsed("{\"url\":\"\(json)\"}")?.url == url)
    }

    @Test("what is not given, or null, is not there")
    func absent() throws {
        let bare = try #require(parsed(#"{"url":"x"}"#, .pipe))
        #expect(bare.url == "x" && bare.id == nil && bare.out == nil && bare.own == nil)
        #expect(bare.key == RequestKey(bits: 0))
        let nulls = try #require(
            parsed(
                #"{"url":"x","id":null,"method":null,"headers":null,"body":null,"body_base64":"aGk=","timeout":null,"auth":null}"#,
                .pipe))
        #expect(nulls.id == nil && nulls.own?.body == Array("hi".utf8))
        #expect(nulls.own?.method == nil && nulls.own?.timeout == nil && nulls.own?.headers.isEmpty == true)
        #expect(try #require(parsed(#"{"url":"x","body":""}"#)).own?.body == [])
        #expect(try #require(parsed(#"{"url":"x","redirect":"follow"}"#)).own?.follows == true)
    }

    @Test(
        "ids are echoed as they are written",
        arguments: [
            (#""a b""#, "a b"), (#""\u00e4\/""#, "ä/"), ("0", "0"), ("-0", "-0"), ("1e400", "1e400"),
            ("12345678901234567890123", "12345678901234567890123"), (#""""#, ""), (#""\ud800""#, #""\ud800""#),
        ])
    func ids(json: String, text: String) throws {
        let request = try #require(parsed("{\"id\": \(json) ,\"url\":\"x\"}"))
        #expect(request.id == RequestID(json: Array(json.utf8)))
        #expect(request.id?.text == text)
    }

    @Test(
        "what cannot be done is refused, with the reason and with the id before or behind",
        arguments: [
            (#""url":1"#, "url must be a string"), (#""url":"""#, "url is empty"), (#""x":1"#, "url is missing"),
            (#""url":" \n""#, "url is empty"),
            (#""url":"x","Method":"GET""#, "\"Method\" is not known here"),
            (#""url":"x","out":"a""#, "\"out\" is not known here"),
            (
                #""url":"x","cache_policy":"often""#,
                "cache_policy must be one of default, no-cache, reload, no-store, force-cache, only-if-cached"
            ),
            (#""url":"x","auth":{"username":"a"}"#, "auth must be an object with username and password"),
            (#""url":"x","auth":"a:b""#, "auth must be an object with username and password"),
            (#""url":"x","url":"y""#, "url is given twice"), (#""url":"x","\u0075rl":"y""#, "url is given twice"),
            (#""url":"x","method":"G T""#, "method is not a token"),
            (#""url":"x","method":"""#, "method is not a token"),
            (#""url":"x","headers":{"A":"b"}"#, "headers must be an array of [name, value]"),
            (#""url":"x","headers":[["A"]]"#, "headers must be an array of [name, value]"),
            (#""url":"x","headers":[["A","b","c"]]"#, "headers must be an array of [name, value]"),
            (#""url":"x","headers":[["A",1]]"#, "headers must be an array of [name, value]"),
            (#""url":"x","headers":["A: b"]"#, "headers must be an array of [name, value]"),
            (#""url":"x","headers":[["A b","c"]]"#, "headers: \"A…\" is not the name of a field"),
            (
                #""url":"x","headers":[["Authorization: Bearer b",""]]"#,
                "headers: \"Authorization…\" is not the name of a field"
            ),
            (#""url":"x","headers":[["","c"]]"#, "headers: \"\" is not the name of a field"),
            (#""url":"x","headers":[["A","b\r\nC: d"]]"#, "headers: the value of \"A\" holds CR, LF or NUL"),
            (#""url":"x","headers":[["A","\u0000"]]"#, "headers: the value of \"A\" holds CR, LF or NUL"),
            (#""url":"x","body":"a","body_base64":"YQ==""#, "body and body_base64 exclude each other"),
            (#""url":"x","body":1"#, "body must be a string"),
            (#""url":"x","redirect":"no""#, "redirect must be follow or manual"),
            (#""url":"x","redirect":true"#, "redirect must be a string"),
            (#""url":"x","max_redirects":-1"#, "max_redirects must be a whole number from 0 on"),
            (#""url":"x","max_redirects":1.5"#, "max_redirects must be a whole number from 0 on"),
            (#""url":"x","max_redirects":1000.5"#, "max_redirects must be a whole number from 0 on"),
            (#""url":"x","max_redirects":-1e400"#, "max_redirects must be a whole number from 0 on"),
            (#""url":"x","max_redirects":"1""#, "max_redirects must be a number"),
            (#""url":"x","timeout":0"#, "timeout must be a number of seconds above 0"),
            (#""url":"x","timeout":-1"#, "timeout must be a number of seconds above 0"),
            (#""url":"x","timeout":-1e400"#, "timeout must be a number of seconds above 0"),
            (#""url":"x","timeout":"1""#, "timeout must be a number"),
        ])
    func refused(members: String, reason: String) {
        let expected = reason == "url is missing" ? "\"x\" is not known here" : reason
        let id = RequestID(json: Array("\"i\"".utf8))
        for line in ["{\"id\":\"i\",\(members)}", "{\(members),\"id\":\"i\"}"] {
            guard case .bad(let bad) = read(line, .pipe) else {
                Issue.record("\(line) is taken")
                continue
            }
            #expect(bad.reason == expected && bad.id == id)
        }
    }

    @Test("a line that is refused names its URL when that could be read, without user information")
    func refusedURL() {
        func url(_ text: String) -> String? {
            if case .bad(let bad) = read(text, .pipe) { bad.url } else { nil }
        }
        #expect(url(#"{"url":"http://u:p@h/x","method":"A B"}"#) == "http://h/x")
        #expect(url(#"{"url":"http://h/x","method":"GET""#) == "http://h/x")
        #expect(url(#"{"url":"mailto:x@y","method":"A B"}"#) == "mailto:x@y")
        #expect(url(#"{"method":"A B","url":5}"#) == nil)
    }

    @Test(
        "a request shows its URL as it stands, without user information; a plain line's got a scheme, and is another",
        arguments: [
            (#"{"url":"mailto:x@y"}"#, "mailto:x@y"), (#"{"url":"http://u:p@h/"}"#, "http://h/"),
            (#"{"url":"u:p@h"}"#, "h"), ("mailto:x@y", "http://y"), ("data:x@y/a@b", "http://y/a@b"),
        ])
    func shownURL(text: String, url: String) {
        #expect(parsed(text)?.shownURL == url)
    }

    @Test("what is wrong within a value is told with its place")
    func places() {
        #expect(complaint("{}") == "url is missing")
        #expect(complaint(#"{"url":"\ud800"}"#) == "url: half a surrogate pair in a string at byte 9")
        #expect(complaint(#"{"url":"x","body_base64":"a"}"#) == "body_base64: not Base64 at byte 27")
        #expect(complaint(#"{"url":"x","headers":[["A","Ā"]]}"#) == "headers: a character above U+00FF at byte 29")
        #expect(complaint(#"{"url":"x""#) == "the JSON text ends too early at byte 11")
        #expect(complaint(#"{"url":"x"} {}"#) == "something follows the JSON value at byte 13")
        #expect(complaint(#"{"id":[1],"url":"x"}"#) == "id must be a string or a number")
        #expect(complaint(#"{"id":true,"url":"x"}"#) == "id must be a string or a number")
        #expect(complaint("{\"" + String(repeating: "ä", count: 100) + "\":1}")?.utf8.count ?? 0 < 200)
    }

    @Test("files of objects must stay inside", arguments: ["../x", "/x", "", "a//b", "a\\u0000b", "."])
    func objectsOutside(out: String) {
        #expect(complaint("{\"url\":\"x\",\"out\":\"\(out)\"}", .list) == "out: \(RequestLine.badOut)")
    }

    @Test(
        "files whose names are too long are refused for that",
        arguments: [
            (String(repeating: "a/", count: 2500) + "b", RequestLine.longOut),
            ("a/" + String(repeating: "b", count: 300), RequestLine.longOut),
            ("../" + String(repeating: "b", count: 300), RequestLine.badOut),
        ])
    func longNames(out: String, reason: String) {
        #expect(complaint("u\t" + out, .list) == reason)
        #expect(complaint("{\"url\":\"x\",\"out\":\"\(out)\"}", .list) == "out: \(reason)")
    }

    @Test("the longest names that a disk takes are good")
    func longestNames() {
        let part = String(repeating: "b", count: 255)
        let path = Array(repeating: part, count: 16).joined(separator: "/")
        for out in [part, path] { #expect(read("u\t" + out) == .request(ListedRequest(url: "http://u", out: out))) }
    }

    @Test("the id of a line that is cut or damaged is found when it comes first")
    func brokenLines() {
        func id(_ bytes: [UInt8]) -> RequestID? { bytes.withUnsafeBytes { RequestLine.broken($0, "no").id } }
        // What is left of it may be a whole request.
        #expect(id(Array(#"{"id":7,"url":"http://h/"}"#.utf8) + [0xFF])?.json == Array("7".utf8))
        let seven = RequestID(json: [0x37])
        #expect(id(Array(#"{"id":7,"body":"xxxxx"#.utf8)) == seven)
        #expect(id(Array(#"{"id":7,"body":""#.utf8) + [0xFF, 0x22, 0x7D]) == seven)
        #expect(id(Array(#"{"body":"xxxxx"#.utf8)) == nil)
        #expect(id(Array("{\"id\":7,\0".utf8)) == seven)
        #expect(id([]) == nil && id([0x7B]) == nil && id(Array("x".utf8)) == nil)
    }

    @Test("a line that is cut or damaged names its URL when that comes first, without user information")
    func brokenURLs() {
        func broken(_ text: String, _ end: [UInt8]) -> BadLine {
            (Array(text.utf8) + end).withUnsafeBytes { RequestLine.broken($0, "no") }
        }
        let seven = RequestID(json: [0x37])
        let known = BadLine(reason: "no", id: seven, url: "http://h/")
        #expect(broken(#"{"id":7,"url":"http://u:p@h/","body":""#, [0xFF, 0x22, 0x7D]) == known)
        // What is left of it may be a whole request.
        #expect(broken(#"{"id":7,"url":"http://u:p@h/"}"#, [0xFF]) == known)
        #expect(broken(#"{"id":7,"url":"http://u:p@h/"}"#, [0]) == known)
        // A part of a URL is none, and may end within a password.
        #expect(broken(#"{"id":7,"url":"http://u:p"#, [0xFF, 0x22, 0x7D]) == BadLine(reason: "no", id: seven))
        #expect(broken("http://h/", [0xFF]) == BadLine(reason: "no"))
    }

    @Test("cut anywhere, an object is a bad line that never traps, and has its id once that is whole")
    func truncations() {
        let text = Array(#"{"id":"ab","url":"http://h/","headers":[["A","é"]],"body":"\u00e4","timeout":1.5}"#.utf8)
        for length in 1..<text.count {
            text[..<length].withUnsafeBytes { bytes in
                let id = RequestLine.broken(bytes, "no").id
                #expect(id == (length >= 10 ? RequestID(json: Array("\"ab\"".utf8)) : nil))
            }
        }
        #expect(parsed(String(decoding: text, as: UTF8.self)) != nil)
    }
}

@Suite("Keys of requests")
struct RequestKeyTests {
    private func key(line: String) -> RequestKey { Array(line.utf8).withUnsafeBytes { RequestKey(line: $0) } }

    /// Of the request that a line of a list says.
    private func key(_ text: String) -> RequestKey? {
        let line = Array(text.utf8).withUnsafeBytes { RequestLine($0, .list) }
        if case .request(let request) = line { return request.key }
        return nil
    }

    @Test("keys are the same in every build")
    func stable() {
        // FNV-1a with 128 bits of the bytes 01 31, of 02 `http://h/`, of 02 `u` 00 `o`, of 03 `{}`; of
        // 02 `http://h/` 00 00 `u`, of 05 `{"url":"u` 00 `http://h/"}`.
        #expect(RequestKey(id: RequestID(json: [0x31])).hexadecimal == "088094590aab1be95aa073305525f0f7")
        #expect(RequestKey(url: "http://h/", out: nil).hexadecimal == "2fea3aa1d19c43ccd1c1a056aec36baa")
        #expect(RequestKey(url: "u", out: "o").hexadecimal == "66ba0c77d6757277b806e8a0ea38ec15")
        #expect(key(line: "{}").hexadecimal == "a68bb82edc8b5822836dbc78c9293362")
        #expect(RequestKey(url: "http://u:p@h/", out: nil).hexadecimal == "67128df9ba8060d1484a29d6d7e9f815")
        #expect(key(#"{"url":"http:\/\/u:p@h/"}"#)?.hexadecimal == "ad04b53dcf870e5363e7342470bdf2e3")
    }

    @Test("different requests have different keys")
    func different() {
        let keys: Set = [
            RequestKey(url: "u", out: nil), RequestKey(url: "u", out: ""), RequestKey(url: "uo", out: nil),
            RequestKey(url: "u", out: "o"), key(line: "u"), RequestKey(id: RequestID(json: [0x75])),
            RequestKey(id: RequestID(json: Array("1".utf8))), RequestKey(id: RequestID(json: Array("\"1\"".utf8))),
        ]
        #expect(keys.count == 8)
    }

    @Test("paths that begin with a combining character are no user information: their requests are two")
    func combining() {
        let urls = ["http://127.0.0.1:2/\u{301}@x", "http://127.0.0.1:3/\u{301}other@x", "http://x"]
        #expect(Set(urls.map { RequestKey(url: $0, out: nil) }).count == 3)
    }

    @Test("a key is of the id, else of URL and file, else of the line without its margins")
    func chosen() {
        #expect(key(#"{"id":1,"url":"a"}"#) == RequestKey(id: RequestID(json: [0x31])))
        #expect(key(#"{"url":"b","id": 1 }"#) == RequestKey(id: RequestID(json: [0x31])))
        #expect(key("h/\tx") == RequestKey(url: "http://h/", out: "x"))
        #expect(key(" {\"url\":\"a\"}\t\r") == self.key(line: #"{"url":"a"}"#))
    }

    @Test(
        "a secret of a line is not in its key, by which it could be guessed",
        arguments: [
            "http://u:SECRET@h/x", "http://u:SECRET@h/x\tfile", #"{"url":"http://u:SECRET@h/x"}"#,
            #"{"url":"h","auth":{"username":"u","password":"SECRET"}}"#,
            #"{"url":"h","auth":{"password":"SECRET","username":"u"},"method":"PUT"}"#,
            #"{"url":"h","headers":[["Authorization","Bearer SECRET"]]}"#,
            #"{"headers":[["X","y"],["cookie","a=SECRET"],["PROXY-AUTHORIZATION","SECRET"]],"url":"h"}"#,
        ])
    func secrets(line: String) throws {
        let keys = ["one", "another\\u0021", ""].map { key(line.replacing("SECRET", with: $0)) }
        let first = try #require(keys[0])
        #expect(keys == [first, first, first])
    }

    @Test("lines with secrets that differ otherwise have different keys")
    func otherwise() {
        let lines = [
            "http://h/x", "http://a:p@h/x", "http://b:p@h/x", "http://a:p@h/y", "http://a:p@h/x\tfile",
            "http://h/x\ta", #"{"url":"http://h/x"}"#, #"{"url":"http://a:p@h/x"}"#, #"{"url":"http://b:p@h/x"}"#,
            #"{"url":"http://a:p@h/x","method":"PUT"}"#, #"{"url":"http://a:p@h/x","out":"file"}"#,
            #"{"url":"http://h/x","auth":{"username":"a","password":"p"}}"#,
            #"{"url":"http://h/x","auth":{"username":"b","password":"p"}}"#,
            #"{"url":"http://h/y","auth":{"username":"a","password":"p"}}"#,
            #"{"url":"http://h/x","headers":[["Authorization","p"]]}"#,
            #"{"url":"http://h/x","headers":[["Cookie","p"]]}"#,
            #"{"url":"http://h/x","headers":[["Cookie","p"],["X","a"]]}"#,
            #"{"url":"http://h/x","headers":[["Cookie","p"],["X","b"]]}"#,
            #"{"url":"http://h/x","body":"a"}"#, #"{"url":"http://h/x","body":"b"}"#,
            #"{"url":"mailto:a@h"}"#, #"{"url":"mailto:b@h"}"#,
        ]
        let keys = lines.compactMap { key($0) }
        #expect(keys.count == lines.count && Set(keys).count == lines.count)
    }

    @Test("keys are written as 32 digits and read again")
    func hexadecimal() {
        let key = RequestKey(url: "u", out: nil)
        #expect(key.hexadecimal.utf8.count == 32 && RequestKey(hexadecimal: key.hexadecimal) == key)
        for text in ["", "0", String(repeating: "g", count: 32), "+" + String(repeating: "0", count: 31)] {
            #expect(RequestKey(hexadecimal: text) == nil)
        }
    }
}
