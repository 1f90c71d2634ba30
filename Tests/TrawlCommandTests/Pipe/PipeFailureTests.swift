import Testing
import Trawl
import TrawlJSON

@testable import TrawlCommand

@Suite("Failures in the words of pipe")
struct PipeFailureTests {
    @Test(
        "codes are those of the contract, the library's finer ones beneath",
        arguments: [
            (.timeout, "timeout"), (.cannotConnect, "connect"), (.hostNotFound, "dns"), (.tls, "tls"),
            (.tlsUntrusted, "tls"), (.tlsCertificateDate, "tls"), (.tlsHostMismatch, "tls"),
            (.tlsClientCertificate, "tls"), (.tlsSelfSigned, "tls"), (.tlsPin, "tls"), (.tlsNotYetValid, "tls"),
            (.tlsClientCertificateRequired, "tls"), (FetchError.Code(rawValue: "tls_of_later_versions"), "tls"),
            (.tooManyRedirects, "too_many_redirects"), (.redirectRefused, "redirect_refused"),
            (.invalidURL, "invalid_url"), (.unsupportedURL, "unsupported_url"),
            (.protocolViolation, "protocol"), (.decoding, "decoding"), (.tooLarge, "too_large"),
            (.workerLost, "worker_lost"), (.cancelled, "cancelled"), (.shutDown, "cancelled"),
            (.badRequest, "bad_request"), (.truncated, "truncated"), (.connectionLost, "connection_lost"),
            (.engineDown, "engine_down"),
        ] as [(FetchError.Code, String)])
    func codes(code: FetchError.Code, name: String) {
        let failure = PipeFailure(FetchError(code, "why"), mayHaveBeenSent: false)
        #expect(failure.code == name && failure.message == "why")
        #expect(failure.kind == (code.rawValue == name ? nil : code.rawValue))
    }

    @Test("that a request was not sent is said only where that is certain, and other kinds are said of any request")
    func sent() {
        let ended = PipeFailure(FetchError(.shutDown, "why"), mayHaveBeenSent: true)
        #expect(ended.code == "cancelled" && ended.message == "why" && ended.kind == nil)
        let untrusted = PipeFailure(FetchError(.tlsUntrusted, "why"), mayHaveBeenSent: true)
        #expect(untrusted.code == "tls" && untrusted.kind == "tls_untrusted")
    }

    @Test("a failure without words says its code")
    func noWords() {
        #expect(PipeFailure(FetchError(.timeout, ""), mayHaveBeenSent: true).message == "timeout")
    }

    @Test("an answer without a response has every member all the same")
    func line() {
        var writer = JSONWriter()
        let id = RequestID(json: Array("1.0".utf8))
        let error = FetchError(.tlsUntrusted, "self-signed")
        PipeResponse(id, url: "http://a/", .failure(error), mayHaveBeenSent: true).writeStart(to: &writer)
        writer.string("")
        writer.endObject()
        writer.endLine()
        PipeResponse(nil, url: nil, badRequest: "not JSON").writeStart(to: &writer)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == #"""
                {"id":1.0,"url":"http://a/","status":null,"reason":"","headers":[],"from_cache":false,"error":{"code":"tls","message":"self-signed","kind":"tls_untrusted"},"body_base64":""}
                {"id":null,"url":null,"status":null,"reason":"","headers":[],"from_cache":false,"error":{"code":"bad_request","message":"not JSON"},"body_base64":
                """#)
    }
}
