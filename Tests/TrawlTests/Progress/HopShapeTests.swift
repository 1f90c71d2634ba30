import Testing
import TrawlHTTP

@testable import Trawl

@Suite("What is known of the hop in flight")
struct HopShapeTests {
    private func head(_ status: UInt16, _ lines: [(String, String)]) throws -> Response.ResponseHead {
        var fields = FieldLines()
        for (name, value) in lines { try fields.append(name, value) }
        return Response.ResponseHead(
            TrawlHTTP.ResponseHead(status: status, version: .http1_1, reason: "", fields: fields))
    }

    private func request(_ method: TrawlHTTP.Method, bodyLength: Int? = nil) -> SentRequest {
        let target = TargetURI(
            origin: Origin(scheme: "http", host: "a.test", port: 80), path: "/", query: nil, fragment: nil, user: nil,
            password: nil, text: "http://a.test/")
        return SentRequest(
            method: method, target: target, fields: FieldLines(), bodyLength: bodyLength, passesCache: false)
    }

    @Test("an attempt sends the body of the request that was recorded last, and has no head")
    func attempts() throws {
        var hop = HopShape()
        #expect(hop.begin() == nil)
        #expect(!hop.sendsBody && !hop.hasHead)
        hop.next = request(.post, bodyLength: 7)
        #expect(!hop.sendsBody, "that is the next one")
        #expect(hop.begin() == 7)
        #expect(hop.sendsBody)
        _ = hop.size(of: try head(200, []))
        #expect(hop.hasHead)
        // A redirect without the body.
        hop.next = request(.get)
        #expect(hop.begin() == nil)
        #expect(!hop.sendsBody && !hop.hasHead)
        hop.goOn()
        #expect(hop.hasHead)
    }

    @Test(
        "a head says how many bytes follow, RFC 9110 §6.4.1, §8.6, RFC 9112 §6.1",
        arguments: [
            (200, [("Content-Length", "12")], false, 12), (200, [("content-length", "0")], false, 0),
            (200, [], false, nil), (200, [("Content-Length", "x")], false, nil),
            (200, [("Content-Length", "99999999999999999999")], false, nil),
            (200, [("Content-Length", "12"), ("Transfer-Encoding", "chunked")], false, nil),
            (200, [("Content-Length", "12")], true, 0), (204, [], false, 0),
            (304, [("Content-Length", "12")], false, 0), (404, [("Content-Length", "3")], false, 3),
        ] as [(UInt16, [(String, String)], Bool, Int64?)])
    func sizes(status: UInt16, lines: [(String, String)], isHEAD: Bool, size: Int64?) throws {
        var hop = HopShape()
        hop.next = request(isHEAD ? .head : .get)
        _ = hop.begin()
        let head = try head(status, lines)
        #expect(hop.size(of: head) == size)
        #expect(hop.hasHead)
    }
}
