import Testing
import TrawlHTTP

@Suite("Monotonic instants")
struct MonotonicInstantTests {
    private let zero = MonotonicInstant(nanoseconds: 0)
    private let last = MonotonicInstant(nanoseconds: .max)
    private let some = MonotonicInstant(nanoseconds: 1_000)

    @Test("moving forth and back")
    func moving() {
        #expect(some.advanced(by: .nanoseconds(5)).nanoseconds == 1_005)
        #expect(some.advanced(by: .nanoseconds(-5)).nanoseconds == 995)
        #expect(some.advanced(by: .zero) == some)
        #expect(some.advanced(by: .microseconds(-1)) == zero)
    }

    @Test("moving stays within the range of the clock")
    func clamped() {
        #expect(last.advanced(by: .nanoseconds(1)) == last)
        #expect(last.advanced(by: .seconds(Int64.max)) == last)
        #expect(zero.advanced(by: .nanoseconds(-1)) == zero)
        #expect(some.advanced(by: .seconds(Int64.min)) == zero)
        #expect(zero.advanced(by: .nanoseconds(Int64.max)).nanoseconds == UInt64(Int64.max))
        #expect(last.advanced(by: .nanoseconds(Int64.min)).nanoseconds == UInt64(Int64.max))
    }

    @Test("the time between two instants has a sign, and is cut to 292 years")
    func difference() {
        #expect(some.duration(to: MonotonicInstant(nanoseconds: 1_500)) == .nanoseconds(500))
        #expect(MonotonicInstant(nanoseconds: 1_500).duration(to: some) == .nanoseconds(-500))
        #expect(some.duration(to: some) == .zero)
        #expect(zero.duration(to: last) == .nanoseconds(Int64.max))
        #expect(last.duration(to: zero) == .nanoseconds(-Int64.max))
    }

    @Test("instants are ordered by time")
    func order() {
        #expect(zero < some)
        #expect(some < last)
        #expect(!(some < some))
    }

    @Test(
        "nanoseconds of a duration, cut to 64 bits",
        arguments: [
            (.zero, 0), (.nanoseconds(-1), -1), (.milliseconds(1_500), 1_500_000_000),
            (.milliseconds(-1_500), -1_500_000_000),
            (.nanoseconds(Int64.max), .max), (.nanoseconds(Int64.max) + .nanoseconds(1), .max),
            (.nanoseconds(Int64.max) - .nanoseconds(1), .max - 1), (.nanoseconds(Int64.min), .min),
            (.nanoseconds(Int64.min) + .nanoseconds(1), .min + 1), (.nanoseconds(Int64.min) - .nanoseconds(1), .min),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min), (.seconds(Int64.max) * 8, .max),
            (.seconds(Int64.max) * -8, .min), (Duration(secondsComponent: 0, attosecondsComponent: 999_999_999), 0),
        ] as [(Duration, Int64)])
    func nanoseconds(duration: Duration, expected: Int64) {
        #expect(duration.clampedNanoseconds == expected)
    }

    @Test(
        "whole seconds are rounded towards zero, and cut to 64 bits",
        arguments: [
            (.zero, 0), (.milliseconds(1_999), 1), (.milliseconds(-1_999), -1), (.seconds(Int64.max), .max),
            (.seconds(Int64.max) + .milliseconds(1), .max), (.seconds(Int64.max) - .milliseconds(1), .max - 1),
            (.seconds(Int64.max) * 8, .max), (.seconds(Int64.min), .min), (.seconds(Int64.min) * 8, .min),
            (.seconds(Int64.min) + .milliseconds(1), .min + 1),
        ] as [(Duration, Int64)])
    func wholeSeconds(duration: Duration, expected: Int64) {
        #expect(duration.wholeSeconds == expected)
    }

    @Test(
        "milliseconds are rounded up, and cut to 32 bits",
        arguments: [
            (.zero, 0), (.seconds(-1), 0), (.nanoseconds(1), 1), (.milliseconds(1), 1), (.microseconds(1_001), 2),
            (.milliseconds(4_294_967_295), .max), (.milliseconds(4_294_967_296), .max), (.seconds(Int64.max), .max),
        ] as [(Duration, UInt32)])
    func milliseconds(duration: Duration, expected: UInt32) {
        #expect(duration.clampedMilliseconds == expected)
    }

    @Test(
        "seconds are rounded up, and cut to 32 bits",
        arguments: [
            (.zero, 0), (.seconds(-1), 0), (.nanoseconds(1), 1), (.seconds(60), 60), (.milliseconds(60_001), 61),
            (.seconds(4_294_967_295), .max), (.seconds(4_294_967_296), .max), (.seconds(Int64.max), .max),
        ] as [(Duration, UInt32)])
    func seconds(duration: Duration, expected: UInt32) {
        #expect(duration.clampedSeconds == expected)
    }
}
