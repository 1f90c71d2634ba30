import Testing
import TrawlHTTP
import TrawlPlatform
import TrawlProtocol
import TrawlURL

@testable import Trawl
@testable import TrawlCommand

@Suite("Names of a batch's files")
struct BatchNamesTests {
    private func names(_ results: String?, fromHeads: Bool = false) throws -> (FileNames, RequestSource) {
        let directory = try ScratchDirectory()
        try directory.put("list", "")
        if let results { try directory.put("results", results) }
        let file = try ResultsFile(directory.path + "/results")
        let source = try RequestSource(
            ListReader(directory.path + "/list"), into: "", file, in: ScratchPlaces(["/tmp"]), retriesFailed: false,
            console: Console(isSilent: true))
        return (FileNames(.lastPart, source, namesFromHeads: fromHeads), source)
    }

    private func fetch(_ url: String, out: String? = nil) throws -> (FetchInFlight, TargetURI) {
        let fetch = FetchInFlight(ListedRequest(url: url, out: out), line: 1, at: MonotonicInstant(nanoseconds: 0))
        return (fetch, try URLParser().parse(url))
    }

    private func record(_ file: String, _ number: Int) -> String {
        #"{"v":1,"key":"\#(RequestKey(bytes: "\(number)".utf8).hexadecimal)","ok":true,"file":"\#(file)"}"# + "\n"
    }

    @Test("a fresh run takes over nothing, and remembers where numbers go on")
    func fresh() throws {
        var (names, _) = try names(nil)
        let (a, target) = try fetch("http://h/x/a")
        #expect(try names.name(of: a, target) == ("a", .number(from: 0, adoptsIdentical: false)))
        names.collided("a", became: "a.4")
        #expect(try names.name(of: a, target) == ("a", .number(from: 5, adoptsIdentical: false)))
        names.collided("a", became: "a.2")
        names.collided("a", became: "b.9")
        names.collided("a", became: "a.x")
        #expect(try names.name(of: a, target) == ("a", .number(from: 5, adoptsIdentical: false)))
        let (own, ownTarget) = try fetch("http://h/x/a", out: "d/e")
        #expect(try names.name(of: own, ownTarget) == ("d/e", .number(from: 0, adoptsIdentical: false)))
    }

    @Test("a run that goes on asks for the first name that no record has, and for no other")
    func resumed() throws {
        var (names, source) = try names((0..<30).map { record($0 == 0 ? "a" : "a.\($0)", $0) }.joined())
        let (a, target) = try fetch("http://h/x/a")
        #expect(try names.name(of: a, target) == ("a", .onlyNumber(30)))
        #expect(source.wasRecorded(file: "a.29") && !source.wasRecorded(file: "a.30"))
        try source.record(file: "a.30")
        #expect(try names.name(of: a, target) == ("a", .onlyNumber(31)))
        let other = names.firstUnrecorded(of: "b")
        #expect(other == 0)
    }

    @Test(
        "digits at the end of a name are its own, and no number",
        arguments: ["v1.2", "lodash/4.17.20", "scan.007", "a.", "a.html", "a.999999"])
    func digits(name: String) throws {
        var (names, source) = try names(record(name, 0) + record("a.7", 1))
        let (own, target) = try fetch("http://h/x", out: name)
        for number in 1..<UInt32(40) {
            let next = names.firstUnrecorded(of: name)
            #expect(next == number)
            #expect(try names.name(of: own, target) == (name, .onlyNumber(number)))
            try source.record(file: "\(name).\(number)")
        }
    }

    @Test("names of other bytes are other names, also when they are one text to Unicode")
    func bytes() throws {
        let source = RequestSource([], nil, .plain, in: ScratchPlaces(["/tmp"]))
        var names = FileNames(.lastPart, source, namesFromHeads: false)
        #expect(try names.unused("e\u{301}") == "e\u{301}")
        #expect(try names.unused("e\u{301}") == "e\u{301}.1")
        let composed = try names.unused("\u{E9}")
        #expect(composed.utf8.elementsEqual("\u{E9}".utf8))
    }

    @Test("where a response names the file, nothing is known of the name before")
    func fromHeads() throws {
        var (fresh, _) = try names(nil, fromHeads: true)
        let (a, target) = try fetch("http://h/x/a")
        #expect(try fresh.name(of: a, target) == ("a", .number(from: 0, adoptsIdentical: false)))
        fresh.collided("a", became: "a.7")
        #expect(try fresh.name(of: a, target) == ("a", .number(from: 0, adoptsIdentical: false)))
        // Of the name that it has when the response has none, it is known.
        var (resumed, _) = try names(record("a", 1), fromHeads: true)
        #expect(try resumed.name(of: a, target) == ("a", .onlyNumber(1)))
        let (own, ownTarget) = try fetch("http://h/x/y", out: "a")
        #expect(try resumed.name(of: own, ownTarget) == ("a", .onlyNumber(1)))
    }

    @Test("where earlier files are replaced, a name that was given is given again with a number")
    func replacing() throws {
        let source = RequestSource([], nil, .plain, in: ScratchPlaces(["/tmp"]))
        var names = FileNames(.lastPart, source, namesFromHeads: false)
        #expect(try names.unused("a") == "a")
        #expect(try names.unused("a") == "a.1")
        #expect(try names.unused("b") == "b")
        #expect(try names.unused("a") == "a.2")
        // A number that is another URL's own name is passed over.
        #expect(try names.unused("c") == "c")
        #expect(try names.unused("c.1") == "c.1")
        #expect(try names.unused("c") == "c.2")
        #expect(try names.unused("c.2") == "c.2.1")
        #expect(try names.unused("c.1") == "c.1.1")
    }

    @Test("a request that is begun again keeps the name of the earlier file that it replaces")
    func replacingAgain() throws {
        let source = RequestSource([], nil, .plain, in: ScratchPlaces(["/tmp"]))
        var names = FileNames(.lastPart, source, namesFromHeads: false)
        let first = try fetch("http://h/a").0
        let second = try fetch("http://i/a").0
        for _ in 0..<3 {
            first.path = try names.unused("a", for: first)
            second.path = try names.unused("a", for: second)
            #expect(first.path == "a" && second.path == "a.1")
        }
    }
}

@Suite("What a line says of its own")
struct OwnTermsTests {
    private let base = Request("http://h/", fields: ["A": "1", "B": "2"])

    private func changed(
        method: String? = nil, headers: FieldLines = FieldLines(), body: [UInt8]? = nil, follows: Bool? = nil,
        maxRedirects: Int? = nil, timeout: Duration? = nil, credential: Credential? = nil, of run: Request? = nil
    ) throws -> Request {
        let own = try #require(
            ListedRequest.OwnTerms(
                method: method, headers: headers, body: body, follows: follows, maxRedirects: maxRedirects,
                timeout: timeout, credential: credential))
        return (run ?? base).changed(by: own)
    }

    @Test("a field takes the place of the run's of that name")
    func fields() throws {
        var lines = FieldLines()
        try lines.append("b", "x")
        try lines.append("b", "y")
        let request = try changed(headers: lines)
        #expect(request.fields.values("B") == ["x", "y"] && request.fields.values("A") == ["1"])
    }

    @Test("who it is made as takes the place of the run's Authorization, unless the line has one, too")
    func credentials() throws {
        var run = Request("http://h/", fields: ["authorization": "Bearer R", "A": "1"])
        run.options.authentication.credential = Credential(user: "run", password: "r")
        let own = Credential(user: "me", password: "m")
        let request = try changed(credential: own, of: run)
        #expect(request.fields["Authorization"] == nil && request.fields["A"] == "1")
        #expect(request.options.authentication.credential == own)
        var lines = FieldLines()
        try lines.append("authorization", "Bearer L")
        let both = try changed(headers: lines, credential: own, of: run)
        #expect(both.fields.values("Authorization") == ["Bearer L"])
        #expect(try changed(method: "PUT", of: run).fields["Authorization"] == "Bearer R")
    }

    @Test("a Cookie takes the place of the run's cookies by hand")
    func cookies() throws {
        var run = Request("http://h/")
        run.options.cookies.manual = [RequestCookie("", "sid=0; lang=en")]
        var lines = FieldLines()
        try lines.append("cookie", "sid=1")
        let request = try changed(headers: lines, of: run)
        #expect(request.options.cookies.manual.isEmpty && request.fields.values("Cookie") == ["sid=1"])
        var others = FieldLines()
        try others.append("X", "1")
        #expect(try changed(headers: others, of: run).options.cookies.manual == run.options.cookies.manual)
    }

    @Test("a body alone leaves it GET, or what the run's method is")
    func bodies() throws {
        #expect(try changed(body: [1]).effectiveMethod == .get)
        #expect(try changed(body: [1], of: Request(.post, "http://h/", body: .text("a=b"))).effectiveMethod == .post)
        #expect(try changed(method: "GET", body: [1]).effectiveMethod == .get)
        #expect(try changed(method: "PUT").effectiveMethod == .put)
    }

    @Test("an empty body is none, in place of the run's, too")
    func emptyBodies() throws {
        let empty = try changed(body: [])
        #expect(empty.effectiveMethod == .get && empty.body == .none && !empty.options.allowsBodyOnGET)
        #expect(try changed(method: "GET", body: []).body == .none)
        let own = try #require(
            ListedRequest.OwnTerms(
                method: nil, headers: FieldLines(), body: [], follows: nil, maxRedirects: nil, timeout: nil))
        let posting = Request(.post, "http://h/", body: .text("a=b"))
        #expect(posting.changed(by: own).body == .none)
        #expect(posting.changed(by: own).effectiveMethod == .post)
    }

    @Test("redirects and time")
    func terms() throws {
        #expect(try changed(follows: false).options.redirects.mode == .manual)
        #expect(try changed(maxRedirects: 3).options.redirects.limit == 3)
        #expect(try changed(timeout: .seconds(2)).options.timeLimits.exchange == .seconds(2))
    }
}
