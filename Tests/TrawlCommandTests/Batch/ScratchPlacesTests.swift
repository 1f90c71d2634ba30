import Glibc
import Testing
import TrawlPlatform

@testable import TrawlCommand

@Suite("Where scratch files are made")
struct ScratchPlacesTests {
    /// The directories that are asked, the first of which fail with these errors; and what comes of it.
    private func asked(_ places: ScratchPlaces, failing: [Int32]) -> (asked: [String], error: Int32?) {
        var asked: [String] = []
        do throws(SystemError) {
            try places.first { directory throws(SystemError) in
                asked.append(directory)
                if asked.count <= failing.count { throw SystemError(errno: failing[asked.count - 1], call: "open") }
            }
            return (asked, nil)
        } catch {
            return (asked, error.errno)
        }
    }

    @Test("the next is asked where no file can be made, and not for want of room")
    func order() {
        let places = ScratchPlaces(["a", "b", "c"])
        let first = asked(places, failing: [])
        #expect(first.asked == ["a"] && first.error == nil)
        let last = asked(places, failing: [EACCES, EROFS])
        #expect(last.asked == ["a", "b", "c"] && last.error == nil)
        let none = asked(places, failing: [EPERM, ENOENT, EACCES])
        #expect(none.asked == ["a", "b", "c"] && none.error == EACCES)
        let full = asked(places, failing: [EACCES, ENOSPC])
        #expect(full.asked == ["a", "b"] && full.error == ENOSPC)
    }

    @Test(
        "the next is asked where a file cannot be mapped, and not for want of memory or descriptors",
        arguments: [
            (ENODEV, true), (EINVAL, true), (ENOSYS, true), (EOPNOTSUPP, true), (ENOMEM, false), (EMFILE, false),
            (EDQUOT, false), (EIO, false),
        ] as [(Int32, Bool)])
    func unmapped(number: Int32, asksNext: Bool) {
        let answer = asked(ScratchPlaces(["a", "b"]), failing: [number])
        #expect(answer.asked == (asksNext ? ["a", "b"] : ["a"]) && answer.error == (asksNext ? nil : number))
    }

    @Test("they are beside the results, with the bodies, and where scratch files are")
    func directories() {
        let failing = [Int32](repeating: EACCES, count: 5)
        let all = asked(ScratchPlaces(results: "/r/results", output: "/out"), failing: failing).asked
        #expect(all.count == 3 && Array(all.prefix(2)) == ["/r", "/out"])
        #expect(asked(ScratchPlaces(results: "-", output: "/out"), failing: failing).asked.first == "/out")
        #expect(asked(ScratchPlaces(results: nil, output: ""), failing: failing).asked.count == 1)
    }

    // In a process of its own, whose environment it changes.
    @Test("an empty TMPDIR is none")
    func empty() async {
        await #expect(processExitsWith: .exitCode(0)) {
            func last() -> String? {
                var last: String?
                let places = ScratchPlaces(results: nil, output: "")
                _ = try? places.first { directory throws(SystemError) in last = directory }
                return last
            }
            setenv("TMPDIR", "", 1)
            let empty = last()
            setenv("TMPDIR", "/elsewhere", 1)
            exit(empty == "/tmp" && last() == "/elsewhere" ? 0 : 1)
        }
    }
}
