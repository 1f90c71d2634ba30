import Foundation
import Glibc
import TestSupport
import Testing

/// `deploy/bootstrap.sh` as an ordinary user meets it, with a list of packages of the tests' own: nothing is installed.
@Suite("The script that installs packages", .timeLimit(.minutes(2)))
struct BootstrapTests {
    private static let list = """
        # Packages.
        [build]
        libone-dev
        libtwo-dev | libthree-dev   # either will do
        libfour

        [test]
        libfive

        """

    private struct Run {
        let status: Int32
        let said: String
    }

    /// A tree with the script and that list, and programs in the place of those of Debian.
    private final class Scene {
        let directory: TemporaryDirectory
        private let search: String

        /// - Parameter installed: What `dpkg-query` says.
        init(installed: [String], list: String = BootstrapTests.list) throws {
            let directory = try TemporaryDirectory()
            // Another user is to read it.
            _ = chmod(directory.path, 0o755)
            let repository = Checkout.path()
            _ = try directory.makeDirectory("deploy")
            try FileManager.default.copyItem(
                atPath: repository + "/deploy/bootstrap.sh", toPath: directory.file("deploy/bootstrap.sh"))
            try directory.put("deploy/packages.txt", Array(list.utf8))
            _ = chmod(directory.file("deploy/packages.txt"), 0o644)
            let search = try directory.makeDirectory("bin")
            try FileManager.default.createSymbolicLink(
                atPath: search + "/dirname", withDestinationPath: "/usr/bin/dirname")
            let lines = installed.map { "echo '\($0) installed'" } + ["echo 'libremoved config-files'"]
            for (name, script) in [("dpkg-query", lines.joined(separator: "\n")), ("apt-get", "echo apt-get ran >&2")] {
                try directory.put("bin/" + name, Array("#!/bin/bash\n\(script)\n".utf8))
                _ = chmod(search + "/" + name, 0o755)
            }
            self.directory = directory
            self.search = search
        }

        /// Runs the script as a user who may install nothing.
        func run(_ purposes: [String], _ environment: [String: String] = [:]) throws -> Run {
            var command = ["/bin/bash", directory.file("deploy/bootstrap.sh")] + purposes
            if geteuid() == 0 {
                command = ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] + command
            }
            try directory.put("log", [])
            let log = try FileHandle(forWritingTo: URL(fileURLWithPath: directory.file("log")))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: command[0])
            process.arguments = Array(command.dropFirst())
            process.environment = ["PATH": search].merging(environment) { $1 }
            process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = log
            process.standardError = log
            try process.runToEnd()
            let said = String(decoding: directory.content("log") ?? [], as: UTF8.self)
            return Run(status: process.terminationStatus, said: said)
        }
    }

    @Test("prints the line that installs what is missing, and nothing else, where it may not do it itself")
    func missing() throws {
        let scene = try Scene(installed: ["libone-dev", "libthree-dev"])
        let cases: [(purposes: [String], packages: String)] = [
            ([], "libfour"), (["build"], "libfour"), (["build", "test"], "libfour libfive"),
        ]
        for (purposes, packages) in cases {
            let run = try scene.run(purposes)
            #expect(run.status == 77)
            let lines = [
                "bootstrap: missing: \(packages)", "bootstrap: run this, then try again:",
                "    sudo apt-get update && sudo apt-get install --no-install-recommends \(packages)", "",
            ]
            #expect(run.said == lines.joined(separator: "\n"))
        }
    }

    @Test("of alternatives none of which is there it names the first")
    func alternatives() throws {
        let run = try Scene(installed: ["libone-dev", "libfour"]).run([])
        #expect(run.status == 77)
        #expect(run.said.contains("sudo apt-get install --no-install-recommends libtwo-dev\n"))
    }

    @Test("public suffixes are there under the name that later systems have for their library")
    func laterName() throws {
        let list = try String(contentsOfFile: Checkout.path("deploy/packages.txt"), encoding: .utf8)
        let build = list.components(separatedBy: "[build]\n").last?.components(separatedBy: "\n\n").first ?? ""
        let names = build.split(separator: "\n").compactMap { $0.split(separator: " ").first.map { String($0) } }
        #expect(names.contains("libpsl5"))
        let scene = try Scene(installed: names.filter { $0 != "libpsl5" } + ["libpsl5t64"], list: list)
        let run = try scene.run(["build"], ["SWIFT": "/bin/true"])
        #expect(run.status == 0 && run.said == "", "\(run.said)")
    }

    @Test("asks for nothing when all packages are there, when it is told not to, or when it does not understand")
    func nothingMissing() throws {
        let scene = try Scene(installed: ["libone-dev", "libtwo-dev", "libfour"])
        let ready = try scene.run([])
        #expect(ready.status == 69 && ready.said.contains("no swift is on PATH"))
        let elsewhere = try scene.run([], ["SWIFT": "/bin/true"])
        #expect(elsewhere.status == 0 && elsewhere.said == "")
        let none = try Scene(installed: [])
        let skipped = try none.run(["build", "test"], ["TRAWL_SKIP_BOOTSTRAP": "1"])
        #expect(skipped.status == 0 && skipped.said == "")
        #expect(try none.run(["everything"]).status == 2)
    }
}
