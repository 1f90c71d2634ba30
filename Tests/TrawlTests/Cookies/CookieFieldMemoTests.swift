import Testing
import TrawlHTTP

@testable import Trawl

@Suite("Cookie fields that were made lately")
struct CookieFieldMemoTests {
    private let origin = Origin(scheme: "http", host: "a.test", port: 80)
    private let start = WallTime(milliseconds: 1_000_000)

    private func time(_ milliseconds: Int64) -> WallTime { start.advanced(byMilliseconds: milliseconds) }

    @Test("hold for their origin and count of changes, and for a second")
    func holds() {
        let memo = CookieFieldMemo()
        memo.keep([1], for: origin, at: 7, start, steadyUntil: nil)
        #expect(memo.entry(for: origin, at: 7, start)?.field == [1])
        #expect(memo.entry(for: origin, at: 7, time(999))?.field == [1])
        #expect(memo.entry(for: origin, at: 7, time(1000)) == nil)
        #expect(memo.entry(for: origin, at: 7, time(-1)) == nil)
        #expect(memo.entry(for: origin, at: 8, start) == nil)
        #expect(memo.entry(for: Origin(scheme: "https", host: "a.test", port: 80), at: 7, start) == nil)
        memo.keep(nil, for: origin, at: 8, start, steadyUntil: nil)
        let none = memo.entry(for: origin, at: 8, start)
        #expect(none != nil && none?.field == nil)
    }

    @Test("end with a cookie in them")
    func ends() {
        let memo = CookieFieldMemo()
        memo.keep([1], for: origin, at: 7, start, steadyUntil: time(10))
        #expect(memo.entry(for: origin, at: 7, time(9)) != nil)
        #expect(memo.entry(for: origin, at: 7, time(10)) == nil)
        // One whose access is to be noted is looked up again.
        memo.keep([2], for: origin, at: 8, start, steadyUntil: start)
        #expect(memo.entry(for: origin, at: 8, start) == nil)
    }

    @Test("take no more room than there is")
    func room() {
        let memo = CookieFieldMemo()
        for number in 0..<1500 {
            memo.keep(
                [UInt8](repeating: 0, count: 10), for: Origin(scheme: "http", host: "\(number)", port: 80), at: 7,
                start,
                steadyUntil: nil)
        }
        func known() -> Int {
            (0..<1500).count { memo.entry(for: Origin(scheme: "http", host: "\($0)", port: 80), at: 7, start) != nil }
        }
        #expect(known() == 1500 - 1024)
        memo.keep([UInt8](repeating: 0, count: 1 << 20), for: origin, at: 7, start, steadyUntil: nil)
        #expect(known() == 0)
        memo.keep([1], for: origin, at: 7, start, steadyUntil: nil)
        #expect(memo.entry(for: origin, at: 7, start)?.field == [1])
    }
}
