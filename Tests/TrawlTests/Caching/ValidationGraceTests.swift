import Testing
import TrawlHTTP

@testable import Trawl

@Suite("The time a shutdown gives validations that nobody waits for")
struct ValidationGraceTests {
    private func at(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: 0).advanced(by: .seconds(seconds))
    }

    @Test("each that ends gives the next its time, up to three times that of one")
    func extended() {
        var grace = ValidationGrace()
        grace.begin(.seconds(1), each: .seconds(5), hasWorker: true, at: at(0))
        #expect(grace.end == at(5))
        grace.extend(by: .seconds(5), at: at(3))
        #expect(grace.end == at(8))
        grace.extend(by: .seconds(5), at: at(12))
        #expect(grace.end == at(15))
    }

    @Test("when the shutdown is asked for again the shorter time counts for all of them")
    func shortened() {
        var grace = ValidationGrace()
        grace.begin(.seconds(10), each: .seconds(5), hasWorker: true, at: at(0))
        #expect(grace.end == at(10))
        grace.shorten(to: .seconds(2), at: at(1))
        #expect(grace.end == at(3))
        grace.extend(by: .seconds(5), at: at(2))
        #expect(grace.end == at(3))
    }

    @Test("the start of the first worker costs a validation none of its time")
    func firstWorker() {
        var grace = ValidationGrace()
        grace.workerReady(.seconds(5), at: at(0))
        grace.begin(.seconds(1), each: .seconds(5), hasWorker: false, at: at(1))
        #expect(grace.end == at(16))
        grace.workerReady(.seconds(5), at: at(4))
        #expect(grace.end == at(9))
        grace.workerReady(.seconds(5), at: at(8))
        #expect(grace.end == at(9))
        grace.begin(.seconds(6), each: .seconds(5), hasWorker: false, at: at(10))
        grace.workerReady(.seconds(5), at: at(10))
        #expect(grace.end == at(16))
        grace.begin(.seconds(0), each: .seconds(5), hasWorker: false, at: at(20))
        grace.workerReady(.seconds(5), at: at(33))
        #expect(grace.end == at(35))
    }
}
