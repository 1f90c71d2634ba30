import Testing
import TrawlHTTP

@testable import Trawl
@testable import TrawlCommand

@Suite("What comes of heads")
struct SeenHeadsTests {
    /// As on the wire it has 16 bytes.
    private func head(_ status: UInt16) -> Response.ResponseHead {
        Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: status, version: .http1_1, reason: "", fields: FieldLines()))
    }

    @Test("the last one counts, the bytes of all, and nothing of an attempt that is made again")
    func events() {
        var seen = SeenHeads()
        seen.note(.redirected(.init(url: "http://h/1", status: 302, location: "http://h/2", head: head(302))))
        seen.note(.interim(head(103)))
        #expect(seen.head?.status == 302 && seen.redirects == [302] && seen.length == 32 && !seen.hasAnswer)
        seen.note(.retrying(FailedAttempt(number: 1, status: 503, error: nil, delay: .zero)))
        #expect(seen.head == nil && seen.redirects.isEmpty && seen.length == 0)
        seen.note(.head(head(200)))
        #expect(seen.head?.status == 200 && seen.length == 16 && seen.hasAnswer)
        // It is the same one.
        seen.noteRefused(head(200))
        #expect(seen.length == 16)
    }

    @Test("one that no event had counts when the fetch fails in spite of it")
    func refused() {
        var seen = SeenHeads()
        seen.note(.redirected(.init(url: "http://h/1", status: 302, location: "http://h/2", head: head(302))))
        seen.noteRefused(head(303))
        seen.note(.ended(.failure(FetchError(.tooManyRedirects, ""))))
        #expect(seen.head?.status == 303 && seen.redirects == [302] && seen.length == 32)
    }
}
