import Foundation
import TestSupport
import Testing

/// `deploy/crawl.sh`, which `make crawl` runs, with the build that is being tested.
@Suite("make crawl", .timeLimit(.minutes(12)))
struct CrawlTests {
    /// A copy of the script, with built programs where it looks for them.
    private func scene() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let files = FileManager.default
        let repository = Checkout.path()
        _ = try directory.makeDirectory("deploy")
        try files.copyItem(atPath: repository + "/deploy/crawl.sh", toPath: directory.file("deploy/crawl.sh"))
        let products = try directory.makeDirectory(".build/release")
        for (name, path) in [
            ("trawl", try BuiltProducts.trawl()), ("LoopbackOrigin", try BuiltProducts.loopbackOrigin()),
        ] {
            try files.createSymbolicLink(atPath: products + "/" + name, withDestinationPath: path)
        }
        return directory
    }

    /// Starts it as `make` does, with nothing to be built.
    ///
    /// - Parameters:
    ///   - list: What `URLS` names; nothing is the sample site.
    ///   - variables: Beside those of the tests, as `NAME=VALUE`.
    private func crawl(
        _ directory: TemporaryDirectory, _ more: [String] = [], list: String = "", variables: [String] = []
    ) throws -> TerminalProcess {
        try TerminalProcess(
            "/usr/bin/env",
            ["SWIFT=/bin/true"] + variables + [directory.file("deploy/crawl.sh"), directory.file("out"), list] + more,
            columns: 200)
    }

    private func records(_ directory: TemporaryDirectory) -> [String] {
        String(decoding: directory.content("out/results.ndjson") ?? [], as: UTF8.self).split(separator: "\n")
            .map { String($0) }
    }

    @Test("what was in flight at Ctrl-C is finished, and the next run does the rest")
    func interrupted() async throws {
        let directory = try scene()
        let first = try crawl(directory, ["--limit-rate", "600k"])
        #expect(await eventually(within: .seconds(200)) { records(directory).count > 100 })
        first.type("\u{3}")
        #expect(await eventually(within: .seconds(200)) { first.status != nil })
        #expect(first.exitCode == 75, "\(first.text)")
        #expect(first.text.contains("the same command goes on") && !first.text.contains("crawl.sh:"), "\(first.text)")
        let before = records(directory)
        #expect(before.count < 1000 && before.allSatisfy { $0.contains(#""ok":true"#) })

        let second = try crawl(directory)
        #expect(await eventually(within: .seconds(200)) { second.status != nil })
        #expect(second.exitCode == 0, "\(second.text)")
        let all = records(directory)
        #expect(all.count > 1000 && all.allSatisfy { $0.contains(#""ok":true"#) })

        let third = try crawl(directory)
        #expect(await eventually(within: .seconds(200)) { third.status != nil })
        #expect(third.exitCode == 0 && third.text.contains("nothing was left to do"), "\(third.text)")
        #expect(records(directory) == all)
    }

    @Test("the proxy of the environment has no part in the sample site")
    func proxy() async throws {
        let proxy = try ScriptedOrigin { _ in .init(403, "<html>\n<p class=\"no\">no</p>\n") }
        defer { proxy.stop() }
        let directory = try scene()
        let variables = ["http_proxy=\(proxy.url())", "https_proxy=\(proxy.url())"]
        let run = try crawl(directory, variables: variables)
        #expect(await eventually(within: .seconds(200)) { run.status != nil })
        #expect(run.exitCode == 0, "\(run.text)")
        let all = records(directory)
        #expect(all.count > 1000 && all.allSatisfy { $0.contains(#""ok":true"#) })
        #expect(proxy.seen().isEmpty)
    }

    @Test("a list is fetched in place of the sample site, and one that cannot be read is told")
    func list() async throws {
        let directory = try scene()
        try await withOrigin { origin in
            let urls = (1...3).map { origin.url("/bytes/\($0)") }
            try directory.put("urls", Array(urls.map { $0 + "\n" }.joined().utf8))
            let run = try crawl(directory, ["-O"], list: directory.file("urls"))
            #expect(await eventually(within: .seconds(200)) { run.status != nil })
            #expect(run.exitCode == 0 && !run.text.contains("sample site"), "\(run.text)")
            #expect(records(directory).count == 3)
            for length in 1...3 {
                #expect(directory.content("out/files/\(length)") == ReferenceBytes.bytes(length))
            }
            let again = try crawl(directory, ["-O"], list: directory.file("urls"))
            #expect(await eventually(within: .seconds(200)) { again.status != nil })
            #expect(again.exitCode == 0 && again.text.contains("nothing was left to do"), "\(again.text)")
            let count = try origin.log(prefix: "/bytes").count
            #expect(count == 3)
        }
        let missing = try crawl(directory, list: directory.file("none"))
        #expect(await eventually(within: .seconds(200)) { missing.status != nil })
        #expect(missing.exitCode == 2 && missing.text.contains("crawl: cannot read "), "\(missing.text)")
    }

    @Test("wrong usage is not followed by where the files are")
    func usage() async throws {
        let directory = try scene()
        let run = try crawl(directory, ["--no-such-option"])
        #expect(await eventually(within: .seconds(200)) { run.status != nil })
        #expect(run.exitCode == 2 && !run.text.contains("files are in"), "\(run.text)")
    }
}
