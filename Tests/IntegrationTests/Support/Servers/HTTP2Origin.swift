import Foundation
import Glibc
import TestSupport
import Testing
import Trawl

/// The origin of `Tests/HTTP2Origin`: it answers the first stream of its first connection, wholly or in part,
/// and gives others back, or holds one.
final class HTTP2Origin: Sendable {
    static let canRun = RecordingOrigin.canRun
    static let missing = RecordingOrigin.missing

    /// How it ends the streams.
    enum End: String, CaseIterable {
        case refused
        case leftOut = "left-out"
        case reset
        case failed
        case cutOff = "cut-off"
        case cutRedirect = "cut-redirect"
        case held, hinted
    }

    private let process: ChildProcess
    private let port: Int

    /// - Parameter streams: How many are open, besides the first, when it ends them.
    init(_ end: End, streams: Int, in directory: TemporaryDirectory) throws {
        let script = Checkout.path("Tests/HTTP2Origin/origin.py")
        let files = try Certificate.make(in: directory)
        process = try ChildProcess(
            try #require(RecordingOrigin.python),
            [script, files.certificate, files.key, end.rawValue, String(streams)],
            errors: directory.file("origin.log"), isServer: true)
        let line = process.readLine()
        port = try #require(
            line.flatMap { Int($0) }, "\(String(decoding: directory.content("origin.log") ?? [], as: UTF8.self))")
    }

    /// A request by HTTP/2 that takes its certificate as it is.
    func request(_ method: Request.Method = .get) -> Request {
        var request = Request(method, "https://127.0.0.1:\(port)/")
        request.options.transport.version = .http2
        request.options.tls.verification = .none
        return request
    }

    /// Waits until it has the stream that it holds.
    func awaitHeld() throws { try #require(process.readLine() == "held") }

    /// Has it answer that stream.
    func release() { _ = write(process.input, "\n", 1) }

    /// Ends it.
    func stop() { process.end() }
}
