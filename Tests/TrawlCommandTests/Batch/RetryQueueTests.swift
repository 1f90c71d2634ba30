import TestSupport
import Testing
import TrawlHTTP

@testable import Trawl
@testable import TrawlCommand

@Suite("Requests that are to be tried again")
struct RetryQueueTests {
    private func at(_ seconds: UInt64) -> MonotonicInstant { MonotonicInstant(nanoseconds: seconds * 1_000_000_000) }

    @Test("they come when they are due, the earliest first and equal ones in their order")
    func order() {
        var queue = RetryQueue()
        #expect(queue.isEmpty && queue.next == nil && queue.takeDue(at: at(9)) == nil)
        for (tag, time) in [(1, 5), (2, 3), (3, 5), (4, 1), (5, 3)] as [(UInt64, UInt64)] {
            queue.insert(tag, at: at(time))
        }
        #expect(queue.next == at(1))
        #expect(queue.takeDue(at: at(0)) == nil)
        var taken: [UInt64] = []
        while let tag = queue.takeDue(at: at(4)) { taken.append(tag) }
        #expect(taken == [4, 2, 5])
        #expect(queue.next == at(5))
        #expect(queue.removeAll().sorted() == [1, 3])
        #expect(queue.isEmpty)
    }

    private func delay(_ code: FetchError.Code, isRetryable: Bool, attempt: Int = 1) -> Duration? {
        RetryQueue.delay(
            after: .failure(FetchError(code, "", isRetryable: isRetryable)), attempt: attempt, mayRepeat: true)
    }

    @Test("waits double, to ten minutes; what cannot pass is not waited for")
    func failures() {
        #expect(delay(.timeout, isRetryable: false) == nil)
        #expect(
            [1, 2, 3, 10, 11, 900].map { delay(.cannotConnect, isRetryable: true, attempt: $0) }
                == [1, 2, 4, 512, 600, 600].map { .seconds($0) })
    }

    private func response(_ status: UInt16, _ retryAfter: String?) throws -> Result<Response, FetchError> {
        var fields = FieldLines()
        if let retryAfter { try fields.append("Retry-After", retryAfter) }
        return .success(
            Response(
                Response.Content(
                    head: TrawlHTTP.ResponseHead(status: status, version: .http1_1, reason: "", fields: fields),
                    body: ResponseBody(.bytes([])), file: nil, url: "", originalURL: "", redirects: [], interim: [],
                    trailers: Fields(), decoded: [], receivedLength: 0, source: .network, metrics: [],
                    defaultCharset: "ISO-8859-1")))
    }

    @Test("statuses that may pass are tried again, after what Retry-After says")
    func statuses() throws {
        for status in [408, 429, 500, 502, 503, 504] as [UInt16] {
            #expect(RetryQueue.delay(after: try response(status, nil), attempt: 1, mayRepeat: true) == .seconds(1))
            #expect(RetryQueue.delay(after: try response(status, nil), attempt: 1, mayRepeat: false) == nil)
        }
        for status in [200, 301, 400, 404, 501] as [UInt16] {
            #expect(RetryQueue.delay(after: try response(status, nil), attempt: 1, mayRepeat: true) == nil)
        }
        for (text, seconds) in [("7", 7), ("0", 0), ("99999", 600), ("-1", 2), ("soon", 2), ("", 2)] {
            #expect(
                RetryQueue.delay(after: try response(503, text), attempt: 2, mayRepeat: true) == .seconds(seconds))
        }
    }
}

@Suite("The table of fetches in flight")
struct FetchesInFlightTests {
    @Test("places are used again, and each tag finds its own request")
    func table() {
        var table = FetchesInFlight()
        var tags: [UInt64: Int] = [:]
        var most = 0
        for number in 0..<5000 {
            let fetch = FetchInFlight(
                ListedRequest(url: "http://h/\(number)", out: nil), line: number, at: MonotonicInstant(nanoseconds: 0))
            let tag = table.insert(fetch)
            #expect(tags.updateValue(number, forKey: tag) == nil)
            most = max(most, Int(tag))
            if number % 3 != 0, let (old, line) = tags.first {
                #expect(table[old].line == line)
                #expect(table.remove(old).line == line)
                tags[old] = nil
            }
            if tags.count > 40 {
                for (old, line) in tags { #expect(table.remove(old).line == line) }
                tags = [:]
            }
            #expect(table.count == tags.count && table.isEmpty == tags.isEmpty)
        }
        #expect(most <= 41)
    }

    @Test("they come up in the order of their times, whenever they were put in", arguments: [1, 2, 3] as [UInt64])
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = RetryQueue()
        var waiting: [UInt64] = []
        var last: UInt64 = 0
        for tag in 0..<2000 as Range<UInt64> {
            let time = last + UInt64.random(in: 0..<50, using: &generator)
            queue.insert(time << 32 | tag, at: MonotonicInstant(nanoseconds: time))
            waiting.append(time)
            if Bool.random(using: &generator) { last += 3 }
            while let taken = queue.takeDue(at: MonotonicInstant(nanoseconds: last)) {
                #expect(taken >> 32 == waiting.min())
                waiting.remove(at: waiting.firstIndex(of: taken >> 32) ?? 0)
            }
            #expect(queue.count == waiting.count)
            #expect(queue.next?.nanoseconds == waiting.min())
        }
    }

    @Test("those that wait take no place of others, within a bound")
    func room() {
        var table = FetchesInFlight()
        let request = ListedRequest(url: "http://h/", out: nil)
        func add(_ count: Int) {
            for _ in 0..<count {
                _ = table.insert(FetchInFlight(request, line: 1, at: MonotonicInstant(nanoseconds: 0)))
            }
        }
        add(100)
        #expect(!table.hasRoom(for: 100))
        #expect(table.hasRoom(for: 100, waiting: 1))
        add(16_384)
        #expect(!table.hasRoom(for: 100, waiting: 16_484))
    }
}
