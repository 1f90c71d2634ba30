import Testing
import TrawlHTTP

@testable import Trawl

@Suite("How long a proxy script may take")
struct ScriptDeadlineTests {
    private func at(_ seconds: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 1_000_000_000).advanced(by: .seconds(seconds))
    }

    @Test("a process that has the processor to itself has five seconds")
    func alone() {
        var deadline = ScriptDeadline(at: at(0), .seconds(7))
        #expect(deadline.look == at(5))
        let isOver = deadline.isOver(at: at(5), .seconds(12))
        #expect(isOver)
    }

    @Test("one that shares it has as much of it, but no more than fifteen seconds")
    func busy() {
        var deadline = ScriptDeadline(at: at(0), .seconds(7))
        var isOver = deadline.isOver(at: at(5), .seconds(9))
        #expect(!isOver && deadline.look == at(8))
        isOver = deadline.isOver(at: at(8), .seconds(11.5))
        #expect(!isOver && deadline.look == at(8.5))
        isOver = deadline.isOver(at: at(14), .seconds(10))
        #expect(!isOver && deadline.look == at(15))
        isOver = deadline.isOver(at: at(15), .seconds(11.9))
        #expect(isOver)
    }

    @Test("what does not count puts both off")
    func postponed() {
        var deadline = ScriptDeadline(at: at(0), .zero)
        deadline.postpone(by: .seconds(3))
        #expect(deadline.look == at(8))
        var isOver = deadline.isOver(at: at(17), .seconds(1))
        #expect(!isOver && deadline.look == at(18))
        isOver = deadline.isOver(at: at(18), .seconds(1))
        #expect(isOver)
    }
}
