import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import TrawlCommand

@Suite("Members of a line, as documented")
struct MemberTableTests {
    /// All there are.
    private static let members = [
        "url", "id", "method", "headers", "body", "body_base64", "redirect", "max_redirects", "timeout", "cache_policy",
        "auth",
    ]

    /// What stands in the first column of the first table of members.
    static func documented(_ name: String) throws -> Set<String> {
        let text = try String(contentsOfFile: Checkout.path("docs/" + name), encoding: .utf8)
        var names = Set<String>()
        var isInTable = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("| member |") { isInTable = true }
            guard isInTable else { continue }
            guard line.hasPrefix("|") else { return names }
            let words = line.split(separator: "|")[0].split(separator: "`").map { String($0) }
            for word in words where word.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) { names.insert(word) }
        }
        return names
    }

    private func isTaken(_ name: String, _ form: RequestLine.Form) -> Bool {
        // A member that is null is as good as none, but its name has to be known.
        let line = name == "url" ? #"{"url":"http://h/"}"# : #"{"url":"http://h/","\#(name)":null}"#
        if case .request = Array(line.utf8).withUnsafeBytes({ RequestLine($0, form) }) { return true }
        return false
    }

    @Test("the tables have what is taken, and nothing else")
    func tables() throws {
        let pipe = try Self.documented("pipe.md")
        #expect(pipe == Set(Self.members))
        let lists = try Self.documented("lists.md")
        #expect(lists == Set(Self.members + ["out"]))
        for name in pipe { #expect(isTaken(name, .pipe), "\(name)") }
        for name in lists { #expect(isTaken(name, .list), "\(name)") }
        #expect(!isTaken("out", .pipe) && !isTaken("no_such_member", .list))
    }

    @Test("the commands' help names them all")
    func help() {
        func words(_ text: String) -> Set<String> {
            Set(text.split { !$0.isLetter && $0 != "_" && !$0.isNumber }.map { String($0) })
        }
        #expect(words(PipeCommand.configuration.discussion).isSuperset(of: Self.members))
        #expect(words(BatchCommand.configuration.discussion).isSuperset(of: Self.members + ["out"]))
    }
}
