import Testing
import TrawlFrontier

@testable import Trawl

@Suite("Options and requests whose texts are one to Unicode")
struct NonASCIITextsTests {
    // One to Unicode and to `==`, and not the same bytes.
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    /// An option that is or has a text.
    enum Option: String, CaseIterable {
        case defaultCharset, userAgent, omittedFields, bandwidthShare
        case resolve = "transport.resolve"
        case connectTo = "transport.connectTo"
        case proxyCAFile = "transport.proxyCAFile"
        case interface = "transport.interface"
        case caFile = "tls.caFile"
        case caDirectory = "tls.caDirectory"
        case pinFile = "tls.pinFile"
        case ciphers = "tls.ciphers"
        case ciphers13 = "tls.ciphers13"
        case mainDocumentURL = "cookies.mainDocumentURL"
        case certificate, key, identities, cache, namedJar, memoryJar, cookieName, cookieValue
        case user, password, domain, token, netrc
        case script, exceptions, proxyUser, proxyPassword

        /// Options of which this one has a text.
        func options(_ text: String) throws -> RequestOptions {
            var options = RequestOptions()
            switch self {
            case .defaultCharset: options.defaultCharset = text
            case .userAgent: options.userAgent = text
            case .omittedFields: options.omittedFields = [text]
            case .bandwidthShare: options.bandwidthShare = text
            case .resolve: options.transport.resolve = [text]
            case .connectTo: options.transport.connectTo = [text]
            case .proxyCAFile: options.transport.proxyCAFile = text
            case .interface: options.transport.interface = text
            case .caFile: options.tls.caFile = text
            case .caDirectory: options.tls.caDirectory = text
            case .pinFile: options.tls.pinFile = text
            case .ciphers: options.tls.ciphers = text
            case .ciphers13: options.tls.ciphers13 = text
            case .mainDocumentURL: options.cookies.mainDocumentURL = "http://a.test/" + text
            case .certificate: options.tls.identity = ClientIdentity(file: text)
            case .key: options.tls.identity = ClientIdentity(file: "/a", key: text)
            case .identities: options.tls.identities = ["a.test": ClientIdentity(file: text)]
            case .cache: options.caching.cache = .at("/" + text)
            case .namedJar: options.cookies.jar = .named(text)
            case .memoryJar: options.cookies.jar = .memory(text)
            case .cookieName: options.cookies.manual = [RequestCookie(text, "1")]
            case .cookieValue: options.cookies.manual = [RequestCookie("a", text)]
            case .user: options.authentication.credential = Credential(user: text, password: "")
            case .password: options.authentication.credential = Credential(user: "me", password: text)
            case .domain: options.authentication.credential = Credential(user: "me", password: "", domain: text)
            case .token: options.authentication.credential = Credential(bearer: text)
            case .netrc: options.authentication.netrc = .optional("/nonexistent/" + text)
            case .script: options.proxy = ProxyPolicy(script: text)
            case .exceptions:
                options.proxy = ProxyPolicy()
                options.proxy?.exceptions = [text]
            case .proxyUser: options.proxy = ProxyPolicy(try Proxy(.http, host: "p.test", user: text))
            case .proxyPassword:
                options.proxy = ProxyPolicy()
                options.proxy?.setUser("me", password: text)
            }
            return options
        }
    }

    private static func planner() -> FetchPlanner {
        var configuration = Configuration()
        configuration.store = .none
        let shelf = CacheShelf(configuration)
        let state = StateShelf(configuration, sessionID: shelf.sessionID)
        return FetchPlanner(
            configuration: configuration, shelf: shelf, cookies: CookieSettings(configuration, state: state),
            state: state)
    }

    @Test("no request is made by the options of an earlier one", arguments: Option.allCases)
    func plans(option: Option) throws {
        let planner = Self.planner()
        func terms(_ text: String) throws -> FetchTerms {
            let request = Request("http://a.test/", options: try option.options(text))
            return try planner.plan(request, into: .memory, wantsEvents: false).terms
        }
        let (one, other) = (try terms(Self.composed), try terms(Self.decomposed))
        #expect(one !== other)
        #expect(try terms(Self.composed) === one)
        #expect(try terms(Self.decomposed) === other)
    }

    @Test("all options that are texts by themselves are looked at")
    func complete() {
        func names(in value: Any, _ path: String) -> [String] {
            Mirror(reflecting: value).children.flatMap { child -> [String] in
                let name = path + (child.label ?? "")
                let kind: Any.Type = type(of: child.value)
                let isText = kind == String.self || kind == String?.self || kind == [String].self
                return isText ? [name] : names(in: child.value, name + ".")
            }
        }
        let found = names(in: RequestOptions(), "")
        #expect(found.count > 10)
        // A pin that is not ASCII is refused.
        let known = Set(Option.allCases.map(\.rawValue)).union(["tls.pins"])
        #expect(found.filter { !known.contains($0) } == [])
    }

    @Test("a program's certificate for a hop is the one that it chose")
    func chosen() throws {
        let planner = Self.planner()
        let plan = try planner.plan(Request("https://a.test/"), into: .memory, wantsEvents: false)
        for text in [Self.composed, Self.decomposed] {
            let terms = planner.identified(plan.terms, by: ClientIdentity(file: text))
            #expect(terms.options.tls.identity?.file.map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test("a request that waits in a queue is not kept as one before it", arguments: Option.allCases)
    func waiting(option: Option) throws {
        var machine = QueueMachine()
        var waiting = WaitingRequests()
        var kept: [(id: QueueMachine.FetchID, texts: NonASCIITexts)] = []
        for text in [Self.composed, Self.decomposed] {
            let request = Request("http://a.test/", options: try option.options(text))
            let id = machine.add()
            waiting.keep(request, .memory, for: id)
            kept.append((id, NonASCIITexts(request, .memory)))
        }
        #expect(kept[0].texts != kept[1].texts)
        for (id, texts) in kept {
            let taken = waiting.take(id)
            let (request, destination) = try #require(taken)
            #expect(NonASCIITexts(request, destination) == texts)
        }
    }

    @Test("what is kept of a part that came is not another's")
    func resumeData() {
        func texts(_ path: String) -> NonASCIITexts {
            var files = Destination.FileOptions()
            files.resumeData = ResumeData(
                url: "http://a.test/", destination: path, partPath: "/x", offset: 1, length: nil, validator: "\"v\"")
            return NonASCIITexts(Request("http://a.test/"), .file("", options: files))
        }
        #expect(texts(Self.composed) != texts(Self.decomposed))
    }
}
