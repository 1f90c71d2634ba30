import TestSupport
import Testing
import TrawlFrontier

@Suite("Which attempts are made again, ASI-RTY-03")
struct RetryPolicyTests {
    private typealias Policy = RetryPolicy

    private func verdict(
        _ policy: RetryPolicy, _ ending: RetryPolicy.Ending, attempts: Int = 1, elapsed: Duration = .zero,
        isIdempotent: Bool = true, random: Double = 1
    ) -> RetryPolicy.Verdict {
        policy.verdict(
            after: ending, attempts: attempts, elapsed: elapsed, isIdempotent: isIdempotent, random: random)
    }

    private func response(_ status: UInt16, _ retryAfter: Duration? = nil) -> RetryPolicy.Ending {
        .response(status: status, retryAfter: retryAfter)
    }

    @Test("by default nothing is")
    func off() {
        #expect(verdict(RetryPolicy(), response(503)) == .stop(.noneLeft))
        #expect(verdict(RetryPolicy(retries: -3), response(503)) == .stop(.noneLeft))
        #expect(verdict(RetryPolicy(), response(200)) == .stop(.final))
    }

    @Test("statuses that may pass, and those that will not")
    func statuses() {
        let policy = RetryPolicy(retries: 1)
        for status in [408, 429, 500, 502, 503, 504] as [UInt16] {
            #expect(verdict(policy, response(status)) == .retry(after: .seconds(1)))
        }
        for status in [200, 204, 301, 304, 400, 401, 404, 413, 425, 501, 505, 599] as [UInt16] {
            #expect(verdict(policy, response(status)) == .stop(.final))
        }
        let all = RetryPolicy(retries: 1, retriesAllErrors: true, failsOnErrorStatus: true)
        #expect(verdict(all, response(404)) == .retry(after: .seconds(1)))
        #expect(verdict(all, response(399)) == .stop(.final))
        #expect(verdict(RetryPolicy(retries: 1, retriesAllErrors: true), response(404)) == .stop(.final))
    }

    @Test("every failure under every switch")
    func failures() {
        let failures: [RetryPolicy.Failure] = [
            .timedOut, .connectionRefused, .unreachable, .outOfTime, .lasting, .own,
        ]
        for all in [false, true] {
            for refused in [false, true] {
                let policy = RetryPolicy(retries: 1, retriesAllErrors: all, retriesRefusedConnections: refused)
                let retried = failures.filter {
                    verdict(policy, .failure($0, requestWasSent: true)) == .retry(after: .seconds(1))
                }
                var expected: [RetryPolicy.Failure] = [.timedOut, .unreachable]
                if all || refused { expected.insert(.connectionRefused, at: 1) }
                if all { expected.append(.lasting) }
                #expect(retried == expected)
            }
        }
    }

    @Test("what may have been carried out is not repeated, unless the caller says that it may be")
    func methods() {
        let policy = RetryPolicy(retries: 9, retriesAllErrors: true)
        let sent = RetryPolicy.Ending.failure(.timedOut, requestWasSent: true)
        #expect(verdict(policy, sent, isIdempotent: false) == .stop(.notRepeatable))
        #expect(verdict(policy, response(503, .zero), isIdempotent: false) == .stop(.notRepeatable))
        #expect(
            verdict(policy, .failure(.timedOut, requestWasSent: false), isIdempotent: false)
                == .retry(after: .seconds(1)))
        var any = policy
        any.repeatsAnyMethod = true
        #expect(verdict(any, sent, isIdempotent: false) == .retry(after: .seconds(1)))
    }

    @Test("waits double, as far as ten minutes, and there are no more attempts than were asked for")
    func waits() {
        let policy = RetryPolicy(retries: 12)
        let waits = (1...13).map { verdict(policy, response(500), attempts: $0) }
        #expect(
            waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600].map { .retry(after: .seconds($0)) }
                + [.stop(.noneLeft)])
        #expect(verdict(policy, response(500), attempts: 2, random: 0) == .retry(after: .seconds(1)))
        #expect(verdict(policy, response(500), attempts: .max) == .stop(.noneLeft))
    }

    @Test("a fixed wait takes the place of doubling, Retry-After that of both, up to its cap")
    func fixed() {
        let policy = RetryPolicy(retries: 9, fixedDelay: .seconds(3), longestRetryAfter: .seconds(60))
        #expect(verdict(policy, response(500), attempts: 5, random: 0) == .retry(after: .seconds(3)))
        #expect(verdict(policy, response(503, .seconds(7))) == .retry(after: .seconds(7)))
        #expect(verdict(policy, response(503, .zero)) == .retry(after: .zero))
        #expect(verdict(policy, response(503, .seconds(1 << 40))) == .retry(after: .seconds(60)))
        #expect(verdict(policy, response(503, .seconds(-1))) == .retry(after: .zero))
    }

    @Test("no attempt starts after the longest time")
    func longestTime() {
        let policy = RetryPolicy(retries: 9, longestTime: .seconds(10))
        #expect(verdict(policy, response(500), elapsed: .seconds(9)) == .retry(after: .seconds(1)))
        #expect(verdict(policy, response(500), elapsed: .milliseconds(9001)) == .stop(.outOfTime))
        #expect(verdict(policy, response(503, .seconds(11))) == .stop(.outOfTime))
        #expect(verdict(policy, response(503, .zero), elapsed: .seconds(10)) == .stop(.outOfTime))
        #expect(verdict(policy, response(503, .zero), elapsed: .seconds(1 << 50)) == .stop(.outOfTime))
    }

    @Test("nor does one start after it whose host is held back for longer than its own wait is")
    func heldBack() {
        func verdict(_ longestTime: Duration?, _ holdOff: Duration) -> RetryPolicy.Verdict {
            RetryPolicy(retries: 9, longestTime: longestTime).verdict(
                after: response(500), attempts: 1, elapsed: .seconds(4), isIdempotent: true, holdOff: holdOff,
                random: 1)
        }
        #expect(verdict(.seconds(10), .seconds(6)) == .retry(after: .seconds(1)))
        #expect(verdict(.seconds(10), .milliseconds(6001)) == .stop(.outOfTime))
        #expect(verdict(nil, .seconds(1 << 40)) == .retry(after: .seconds(1)))
    }

    @Test("whatever happens, it comes to an end")
    func ends() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            let policy = RetryPolicy(
                retries: Int.random(in: 0...20, using: &random), retriesAllErrors: true,
                retriesRefusedConnections: true,
                failsOnErrorStatus: true, repeatsAnyMethod: true)
            var attempts = 1
            var elapsed = Duration.zero
            while case .retry(let wait) = verdict(
                policy,
                random.bool() ? response(503, random.bool() ? .zero : nil) : .failure(.lasting, requestWasSent: true),
                attempts: attempts, elapsed: elapsed, random: Double.random(in: 0...1, using: &random))
            {
                #expect(wait >= .zero && wait <= .seconds(600))
                attempts += 1
                elapsed += wait
            }
            #expect(attempts == policy.retries + 1)
        }
    }
}
