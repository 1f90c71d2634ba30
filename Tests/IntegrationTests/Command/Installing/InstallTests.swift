import Foundation
import Glibc
import TestSupport
import Testing

/// `make install` into a directory of the tests' own, with the build that is being tested.
@Suite("An installation", .timeLimit(.minutes(3)))
struct InstallTests {
    private struct Run {
        let status: Int32
        let text: String
    }

    private static let mandoc = "/usr/bin/mandoc"
    private static let subcommands = ["get", "batch", "pipe", "cache", "cookies", "auth", "status", "top"]

    /// Runs a program in a directory that has nothing to do with this repository.
    ///
    /// - Parameter search: Its `PATH`; nothing else is in its environment but that there is to be no store.
    private func run(
        _ program: String, _ arguments: [String], in directory: TemporaryDirectory, search: String = "/nonexistent"
    ) throws -> Run {
        let log = directory.file("log")
        _ = FileManager.default.createFile(atPath: log, contents: nil)
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ["PATH": search, "LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": ""]
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.runToEnd()
        let text = String(decoding: directory.content("log") ?? [], as: UTF8.self)
        return Run(status: process.terminationReason == .exit ? process.terminationStatus : -1, text: text)
    }

    /// Runs a target of the Makefile with everything going beneath `root`.
    ///
    /// - Parameter tools: A directory with programs in place of those of the system.
    private func make(
        _ target: String, into root: String, in directory: TemporaryDirectory, tools: String? = nil
    ) throws {
        let repository = Checkout.path()
        let arguments = [
            "-C", repository, "-s", target, "PREFIX=/usr", "DESTDIR=\(root)", "BUILT=\(try BuiltProducts.directory())",
        ]
        let usual = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let search = tools.map { "\($0):\(usual)" } ?? usual
        let run = try run("/usr/bin/env", ["make"] + arguments, in: directory, search: search)
        try #require(run.status == 0, "make \(target): \(run.text)")
    }

    /// The directories it works in and installs to.
    private func installed() throws -> (directory: TemporaryDirectory, root: String) {
        let directory = try TemporaryDirectory()
        let root = try directory.makeDirectory("root")
        try make("install-built", into: root, in: directory)
        return (directory, root + "/usr")
    }

    private func files(beneath root: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root).filter { path in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted()
    }

    @Test("has one program, which fetches by itself where nothing else of this package is")
    func program() async throws {
        let (directory, root) = try installed()
        #expect(try FileManager.default.contentsOfDirectory(atPath: root + "/bin") == ["trawl"])
        let trawl = root + "/bin/trawl"
        #expect(try run(trawl, ["--version"], in: directory).text.hasPrefix("trawl "))
        try await withOrigin { origin in
            let get = try run(trawl, ["-sS", "-o", "one", origin.url("/bytes/5000")], in: directory)
            #expect(get.status == 0 && get.text.isEmpty, "\(get.text)")
            #expect(directory.content("one") == ReferenceBytes.bytes(5000))
            let list = (1...20).map { origin.url("/bytes/100?seed=\($0)") + "\t\($0)\n" }.joined()
            try directory.put("list", Array(list.utf8))
            let batch = try run(trawl, ["batch", "list", "--out", "files", "--workers", "2", "-q"], in: directory)
            #expect(batch.status == 0, "\(batch.text)")
            #expect(directory.content("files/20") == ReferenceBytes.bytes(100, seed: 20))
        }
    }

    @Test(
        "has a man page for the command and each subcommand, without complaints of a checker",
        .enabled(if: access(mandoc, X_OK) == 0, "mandoc is not installed"))
    func pages() throws {
        let (directory, root) = try installed()
        let pages = root + "/share/man/man1"
        let names = ["trawl.1"] + Self.subcommands.map { "trawl-\($0).1" }
        #expect(try FileManager.default.contentsOfDirectory(atPath: pages).sorted() == names.sorted())
        for name in names {
            let lint = try run(Self.mandoc, ["-Tlint", "-W", "style", pages + "/" + name], in: directory)
            #expect(lint.status == 0 && lint.text.isEmpty, "\(lint.text)")
        }
        let batch = try run(Self.mandoc, ["-Tascii", pages + "/trawl-batch.1"], in: directory)
        // Bold is a letter, a backspace and the letter again.
        let text = batch.text.replacingOccurrences(of: ".\u{8}", with: "", options: .regularExpression)
        for heading in ["SYNOPSIS", "--results", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "trawl-pipe(1)"] {
            #expect(text.contains(heading), "\(heading)")
        }
    }

    @Test("has completions, which know subcommands and their options and do not show the worker")
    func completions() throws {
        let (directory, root) = try installed()
        let bash = root + "/share/bash-completion/completions/trawl"
        let script = """
            source '\(bash)'
            ask() {
                COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMPREPLY=()
                COMP_POINT=${#COMP_LINE}
                _trawl trawl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" >/dev/null
                printf '%s\\n' "${COMPREPLY[@]}"
            }
            ask trawl b
            ask trawl w
            ask trawl batch --resu
            """
        let answers = try run("/bin/bash", ["--norc", "-c", script], in: directory, search: "/usr/bin:/bin")
        #expect(answers.text.split(separator: "\n") == ["batch", "--results"], "\(answers.text)")
        for (shell, path) in [("zsh", "zsh/site-functions/_trawl"), ("fish", "fish/vendor_completions.d/trawl.fish")] {
            let text = try String(contentsOfFile: root + "/share/" + path, encoding: .utf8)
            #expect(Self.subcommands.allSatisfy { text.contains($0) }, "\(shell)")
            guard access("/usr/bin/" + shell, X_OK) == 0 else { continue }
            let check = try run("/usr/bin/" + shell, ["-n", root + "/share/" + path], in: directory)
            #expect(check.status == 0 && check.text.isEmpty, "\(shell): \(check.text)")
        }
    }

    @Test(
        "finds each library it is linked with in the image of deploy/Dockerfile",
        .enabled(if: access("/usr/bin/dpkg", X_OK) == 0, "dpkg is not installed"))
    func image() throws {
        let directory = try TemporaryDirectory()
        let path = Checkout.path("deploy/Dockerfile")
        let words = Set(try String(contentsOfFile: path, encoding: .utf8).split { $0.isWhitespace }.map { String($0) })
        let system = "/usr/sbin:/usr/bin:/sbin:/bin"
        let linked = try run("/usr/bin/ldd", [try BuiltProducts.trawl()], in: directory, search: system)
        #expect(linked.status == 0, "\(linked.text)")
        var missing: [String] = []
        for line in linked.text.split(separator: "\n") {
            let parts = line.split { $0.isWhitespace }.map { String($0) }
            guard parts.count > 2, parts[1] == "=>", parts[2].hasPrefix("/") else { continue }
            // By the last folder and the name: a package may have them beneath /usr, and the linker find them beneath
            // /.
            let pattern = "*/" + parts[2].split(separator: "/").suffix(2).joined(separator: "/")
            let owner = try run("/usr/bin/dpkg", ["-S", pattern], in: directory, search: system)
            // The Swift runtime, which is no package here and part of what is installed.
            guard owner.status == 0 else { continue }
            let packages = owner.text.split(separator: "\n").compactMap { line in
                line.split(separator: ":").first.map { String($0) }
            }
            // These two are in every Debian.
            let there = words.union(["libc6", "libgcc-s1"])
            if !packages.contains(where: { there.contains($0) }) { missing.append("\(parts[0]) of \(packages)") }
        }
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test("has each document that its documents name")
    func documents() throws {
        let (directory, root) = try installed()
        defer { withExtendedLifetime(directory) {} }
        let documents = root + "/share/doc/trawl"
        let names = try files(beneath: documents)
        #expect(names.contains("pipe.md") && names.contains("examples/pipe_client.py") && names.contains("LICENSE"))
        var missing = Set<String>()
        for name in names where name.hasSuffix(".md") {
            let text = try String(contentsOfFile: documents + "/" + name, encoding: .utf8)
            for part in text.components(separatedBy: "`docs/").dropFirst() {
                let named = String(part.prefix { $0 != "`" })
                if !FileManager.default.fileExists(atPath: documents + "/" + named) {
                    missing.insert("\(name): \(named)")
                }
            }
        }
        #expect(missing.isEmpty, "\(missing.sorted())")
    }

    @Test("has its program stripped before that takes its place")
    func stripped() throws {
        let directory = try TemporaryDirectory()
        let root = try directory.makeDirectory("root")
        let tools = try directory.makeDirectory("tools")
        let script = """
            #!/bin/bash
            printf '%s\\n' "$@" >>'\(directory.file("stripped"))'
            PATH=${PATH#*:}
            exec strip "$@"

            """
        try directory.put("tools/strip", Array(script.utf8))
        #expect(chmod(tools + "/strip", 0o755) == 0)
        try make("install-built", into: root, in: directory, tools: tools)
        let stripped = String(decoding: directory.content("stripped") ?? [], as: UTF8.self)
        #expect(!stripped.isEmpty && !stripped.contains(root), "\(stripped)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: root + "/usr/bin") == ["trawl"])
    }

    @Test("is removed without a file left")
    func removal() throws {
        let (directory, root) = try installed()
        #expect(try files(beneath: root).count > 8)
        try make("uninstall", into: directory.file("root"), in: directory)
        #expect(try files(beneath: root).isEmpty)
    }
}
