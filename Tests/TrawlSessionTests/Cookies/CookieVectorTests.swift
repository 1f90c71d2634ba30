import Foundation
import TestSupport
import Testing
import TrawlHTTP

@testable import TrawlSession

/// A case of `Tests/Vectors/cookies/cookies.json`.
struct CookieCase: Decodable, Sendable, CustomTestStringConvertible {
    var id: String
    var set_url: String
    var set_cookie: [String]
    var then_url: String
    var cookie: String?
    var or: [String?]?

    var testDescription: String { id }
}

struct CookieDateCase: Decodable, Sendable, CustomTestStringConvertible {
    var id: String
    var text: String
    var date: String?

    var testDescription: String { id }
}

private func vectors<Case: Decodable>(_ name: String) -> [Case] {
    let file = URL(fileURLWithPath: Checkout.path("Tests/Vectors/cookies/\(name)"))
    guard let data = try? Data(contentsOf: file) else { return [] }
    return (try? JSONDecoder().decode([Case].self, from: data)) ?? []
}

@Suite("The cases of Tests/Vectors/cookies, ASI-COOK-07")
struct CookieVectorTests {
    static let cases: [CookieCase] = vectors("cookies.json")
    static let dates: [CookieDateCase] = vectors("cookie-dates.json")

    @Test("there are as many as their source says")
    func counts() {
        #expect(Self.cases.count == 252)
        #expect(Self.dates.count == 38)
    }

    @Test("lines make the field that has to follow", arguments: cases)
    func play(_ test: CookieCase) {
        var jar = CookieJar()
        for line in test.set_cookie {
            jar.receive(line, from: test.set_url, under: CookieConditions(suffixes: suffixes))
        }
        #expect(([test.cookie] + (test.or ?? [])).contains(jar.field(for: test.then_url)))
    }

    @Test("dates mean what they have to", arguments: dates)
    func parse(_ test: CookieDateCase) {
        let found = test.text.latin1.withUnsafeBytes(CookieDate.parse)
        #expect(found.map(HTTPDate.format) == test.date)
    }
}
