import Foundation
import TestSupport
import Testing
import Trawl

@Suite("docs/curl.md")
struct CurlDocumentTests {
    @Test("has the limits of time that hold without an option")
    func limits() throws {
        let rows = try String(contentsOfFile: Checkout.path("docs/curl.md"), encoding: .utf8).split(separator: "\n")
        let limits = RequestOptions().timeLimits
        for (option, limit) in [("--connect-timeout", limits.connect), ("--read-timeout", limits.inactivity)] {
            let row = rows.first { $0.hasPrefix("| ") && $0.contains("`\(option)`") }
            let here = row?.split(separator: "|").dropFirst().first
            #expect(here?.contains("\(limit.components.seconds) s") == true, "\(option)")
        }
    }
}
