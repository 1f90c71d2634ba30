import Foundation
import TestSupport
import Testing
import TrawlHTTP

/// The cases of `Tests/Vectors/http-cache`.
struct ReplayCase: Sendable, CustomTestStringConvertible {
    enum Kind: String, Sendable { case required, optimal, check }

    /// A header line as a case has it: a value, or seconds from now.
    struct Line: Sendable {
        var name: String
        var text: String?
        var seconds: Int64?
        var isChecked = true
    }

    /// What a case expects of a header line.
    enum Expectation: Sendable {
        case present(String)
        case equal(String, String)
        case same(String, as: String)
        case greater(String, than: Int64)
    }

    struct Exchange: Sendable {
        var method = "GET"
        var requestLines: [Line] = []
        var usesServerNow = false
        var hasRequestBody = false
        var fileName: String?
        var query: String?
        var pauses = false
        var status: UInt16 = 200
        var reason = "OK"
        var responseLines: [Line] = []
        var rfc850: Set<String> = []
        var hasMagicLocations = false
        /// Nil: the random part of the URL.
        var body: String?
        var delay: Int64 = 0
        var interims: [UInt16] = []
        var disconnects = false
        var expectedType: String?
        /// Nil: any.
        var expectedStatus: UInt16?
        var checksStatus = true
        var expectedLines: [Expectation] = []
        var unexpectedLines: [Expectation] = []
        /// Nil: the body, by default.
        var expectedText: String?
        var checksText = true
        var expectedRequestLines: [Expectation] = []
        var unexpectedRequestLines: [Expectation] = []
        var expectedMethod: String?
        var expectedInterims: [UInt16]?
        var isSetup = false
        var setupChecks: Set<String> = []
    }

    var id: String
    var name: String
    var kind: Kind
    var dependencies: [String]
    var exchanges: [Exchange]

    var testDescription: String { id }

    /// All cases, in order.
    static let all: [ReplayCase] = load()

    private static func load() -> [ReplayCase] {
        let url = URL(fileURLWithPath: Checkout.path("Tests/Vectors/http-cache/http-cache.json"))
        guard let data = try? Data(contentsOf: url),
            let root = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let suites = root["suites"] as? [[String: Any]]
        else { return [] }
        return suites.flatMap { $0["tests"] as? [[String: Any]] ?? [] }.compactMap(ReplayCase.init)
    }

    private init?(_ test: [String: Any]) {
        guard let id = test["id"] as? String, let kind = (test["kind"] as? String).flatMap(Kind.init),
            let requests = test["requests"] as? [[String: Any]]
        else { return nil }
        self.id = id
        self.kind = kind
        name = test["name"] as? String ?? id
        dependencies = test["depends_on"] as? [String] ?? []
        exchanges = requests.map(Exchange.init)
    }
}

extension ReplayCase.Exchange {
    init(_ object: [String: Any]) {
        method = object["request_method"] as? String ?? "GET"
        requestLines = Self.lines(object["request_headers"])
        usesServerNow = object["magic_ims"] as? Bool ?? false
        hasRequestBody = object["request_body"] != nil
        fileName = object["filename"] as? String
        query = object["query_arg"] as? String
        pauses = object["pause_after"] as? Bool ?? false
        if let pair = object["response_status"] as? [Any], pair.count == 2 {
            status = UInt16(pair[0] as? Int ?? 200)
            reason = pair[1] as? String ?? ""
        }
        responseLines = Self.lines(object["response_headers"])
        rfc850 = Set((object["rfc850date"] as? [String] ?? []).map { $0.lowercased() })
        hasMagicLocations = object["magic_locations"] as? Bool ?? false
        if let value = object["response_body"] { body = value as? String ?? "" }
        delay = Int64(object["response_pause"] as? Int ?? 0)
        for interim in object["interim_responses"] as? [[Any]] ?? [] {
            interims.append(UInt16(interim[0] as? Int ?? 0))
        }
        disconnects = object["disconnect"] as? Bool ?? false
        expectedType = object["expected_type"] as? String
        expectedStatus = status
        if let value = object["expected_status"] {
            checksStatus = !(value is NSNull)
            expectedStatus = (value as? Int).map(UInt16.init)
        }
        expectedLines = Self.expectations(object["expected_response_headers"])
        unexpectedLines = Self.expectations(object["expected_response_headers_missing"])
        if let value = object["expected_response_text"] {
            checksText = !(value is NSNull)
            expectedText = value as? String
        }
        if object["check_body"] as? Bool == false { checksText = false }
        expectedRequestLines = Self.expectations(object["expected_request_headers"])
        unexpectedRequestLines = Self.expectations(object["expected_request_headers_missing"])
        expectedMethod = object["expected_method"] as? String
        if let list = object["expected_interim_responses"] as? [[Any]] {
            expectedInterims = list.map { UInt16($0[0] as? Int ?? 0) }
        }
        isSetup = object["setup"] as? Bool ?? false
        setupChecks = Set(object["setup_tests"] as? [String] ?? [])
    }

    private static func lines(_ value: Any?) -> [ReplayCase.Line] {
        (value as? [[Any]] ?? []).map { entry in
            var line = ReplayCase.Line(name: entry[0] as? String ?? "")
            if let text = entry[1] as? String { line.text = text } else { line.seconds = Int64(entry[1] as? Int ?? 0) }
            if entry.count > 2, let flag = entry[2] as? Bool { line.isChecked = flag }
            return line
        }
    }

    private static func expectations(_ value: Any?) -> [ReplayCase.Expectation] {
        (value as? [Any] ?? []).compactMap { entry in
            if let name = entry as? String { return .present(name) }
            guard let list = entry as? [Any], let name = list.first as? String else { return nil }
            if list.count == 3, let sign = list[1] as? String {
                if sign == "=" { return .same(name, as: list[2] as? String ?? "") }
                return .greater(name, than: Int64(list[2] as? Int ?? 0))
            }
            if let text = list[1] as? String { return .equal(name, text) }
            // Seconds from now: a date, whose value the runner fills in.
            return .present(name)
        }
    }
}
