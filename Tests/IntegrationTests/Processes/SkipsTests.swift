import TestSupport
import Testing

/// `Tests/skips`, which `.ci/run` asks.
@Suite("The account of skipped tests", .timeLimit(.minutes(3)))
struct SkipsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func account(_ user: String, _ lines: [String]) throws -> CommandRun {
        let begun = ["◇ Test \"a line that is skipped\" started.", "✔ Test one() passed after 0.001 seconds."]
        try directory.put("log", Array((begun + lines).map { $0 + "\n" }.joined().utf8))
        return try CommandRun(program: Checkout.path("Tests/skips"), [user, directory.file("log")])
    }

    @Test("what is expected of a user is counted, each test once")
    func expected() throws {
        let line = "➜ Test \"one\" skipped: \"root may do it anyway\""
        let run = try account("root", [line, line, "➜ Suite \"long\" skipped: \"takes minutes\""])
        #expect(run.status == 0 && run.text == "2 skipped, as Tests/skip-reasons expects\n", "\(run)")
        let other = try account("user", [line])
        #expect(other.status == 1 && other.text.contains("\n  Test \"one\" skipped"), "\(other)")
    }

    @Test("what the machine does not allow is named, and is no failure")
    func machine() throws {
        let run = try account("root", ["➜ Test \"of ::1\" skipped: \"this machine has no ::1\""])
        #expect(run.status == 0 && run.text.contains("\n  Test \"of ::1\" skipped: "), "\(run)")
        #expect(run.text.contains("NOT SHOWN"))
    }

    @Test(
        "a test without a reason, or with one that is not kept, is a failure",
        arguments: ["➜ Test one() skipped.", "➜ Suite \"two\" skipped: \"nobody is here\""])
    func unexpected(line: String) throws {
        for user in ["root", "user"] {
            let run = try account(user, [line])
            #expect(run.status == 1 && run.text.hasSuffix("\n  \(line.dropFirst(2))\n"), "\(run)")
        }
    }

    @Test("logs that are not there are a failure")
    func missing() throws {
        let run = try CommandRun(program: Checkout.path("Tests/skips"), ["root", directory.file("none")])
        #expect(run.status != 0)
    }
}
