import TestSupport
import Testing
import TrawlFrontier

@Suite("Waits that double")
struct BackoffTests {
    @Test("they double from the first to the longest")
    func doubling() {
        let backoff = Backoff(first: .seconds(1), longest: .seconds(600), jitter: .none)
        let waits = [-5, 0, 1, 2, 3, 10, 11, 64, 65, .max].map { backoff.delay(afterFailures: $0, random: 0.3) }
        #expect(waits == [1, 1, 1, 2, 4, 512, 600, 600, 600, 600].map { .seconds($0) })
    }

    @Test("chance keeps within its bounds")
    func jitter() {
        var random = SeededGenerator(seed: 1)
        for failures in 1...12 {
            let whole = Backoff(first: .milliseconds(10), longest: .seconds(5), jitter: .none)
                .delay(afterFailures: failures, random: 0)
            for _ in 0..<100 {
                let draw = Double.random(in: 0...1, using: &random)
                let equal = Backoff(first: .milliseconds(10), longest: .seconds(5), jitter: .equal)
                    .delay(afterFailures: failures, random: draw)
                #expect(equal <= whole && equal >= whole / 2 - .nanoseconds(1))
                let full = Backoff(first: .milliseconds(10), longest: .seconds(5), jitter: .full)
                    .delay(afterFailures: failures, random: draw)
                #expect(full <= whole && full >= .zero)
            }
        }
    }

    @Test("bounds that make no sense, and random numbers that are none, give waits within the bounds")
    func odd() {
        let longest = Duration.seconds(1 << 62)
        for random in [-1, 0, 0.5, 1, 2, .nan, .infinity, -.infinity] as [Double] {
            for jitter in [.none, .equal, .full] as [Backoff.Jitter] {
                #expect(
                    Backoff(first: .seconds(-1), longest: .seconds(3), jitter: jitter)
                        .delay(afterFailures: 3, random: random) == .zero)
                #expect(
                    Backoff(first: .seconds(9), longest: .seconds(-3), jitter: jitter)
                        .delay(afterFailures: 3, random: random) == .zero)
                let wait = Backoff(first: longest, longest: longest, jitter: jitter)
                    .delay(afterFailures: 100, random: random)
                #expect(wait >= .zero && wait <= .nanoseconds(Int64.max))
            }
        }
        #expect(
            Backoff(first: .seconds(9), longest: .seconds(3), jitter: .none)
                .delay(afterFailures: 1, random: 0) == .seconds(3))
    }
}
