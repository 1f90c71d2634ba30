import Foundation
import Glibc
import Testing

@Suite("Programs that tests start and that hang", .timeLimit(.minutes(3)))
struct ProcessLimitTests {
    /// A run that does not end by itself; that it hangs must be an issue.
    private func hangingRun(_ mark: String) -> CommandRun? {
        var run: CommandRun?
        withKnownIssue {
            run = try CommandRun(
                program: "/bin/sh", ["-c", "sleep \(mark) & sleep \(mark)"], within: .milliseconds(300))
        }
        return run
    }

    @Test("one is killed with what it started, and is an issue of its test")
    func hangs() async {
        let mark = "100000.\(getpid())"
        let run = hangingRun(mark)
        #expect(run?.wasSignalled == true && run?.status == SIGKILL)
        let isGone = await eventually { ProcessTree.count(withArgument: mark) == 0 }
        #expect(isGone)
    }

    @Test("a word of a shell is what it was, whatever it holds", arguments: ["", "a b", "it's", "$HOME \\ \"x\"\n*"])
    func shellWords(word: String) throws {
        let run = try CommandRun(program: "/bin/sh", ["-c", "printf %s \([word, word].shellWords)"])
        #expect(run.text == word + word)
    }
}
