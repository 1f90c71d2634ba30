import Foundation
import Glibc
import TestSupport
import Testing

/// A running httpbin, in gunicorn, from the virtual environment that `make test` makes.
final class HTTPBin: Sendable {
    static let missing: Comment = "httpbin is not installed: deploy/bootstrap.sh test installs it into .build-venv"
    static let canRun = access(python, X_OK) == 0
    private static let python = Checkout.path(".build-venv/bin/python")

    /// Ends with its standard input, so that it never outlives the tests.
    private static let script = """
        import os, signal, sys, threading
        def watch():
            os.read(0, 1)
            os.kill(os.getpid(), signal.SIGTERM)
        threading.Thread(target=watch, daemon=True).start()
        # A worker that is slow is not killed for it.
        sys.argv = [
            "gunicorn", "--bind", "127.0.0.1:0", "--threads", "16", "--timeout", "0", "--no-control-socket",
            "httpbin:app"]
        from gunicorn.app.wsgiapp import run
        run()
        """

    /// Such as `http://127.0.0.1:8000`.
    let base: String
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    init() async throws {
        let directory = try TemporaryDirectory()
        let process = try ChildProcess(
            Self.python, ["-B", "-c", Self.script],
            environment: ["HOME=\(directory.path)", "PATH=/usr/bin:/bin"], errors: directory.file("log"), isServer: true
        )
        func log() -> String { String(decoding: directory.content("log") ?? [], as: UTF8.self) }
        _ = await eventually(within: .seconds(90)) { log().contains("Booting worker") || !process.isRunning }
        guard let start = log().range(of: "Listening at: ") else {
            throw ChildProcess.Failure(description: "httpbin does not start: \(log())")
        }
        base = String(log()[start.upperBound...].prefix { $0 != " " && $0 != "\n" })
        self.process = process
        self.directory = directory
    }

    func url(_ target: String) -> String { base + target }

    /// Runs `body` with a server of its own.
    static func with<Value>(_ body: (HTTPBin) async throws -> Value) async throws -> Value {
        let server = try await HTTPBin()
        defer { server.process.end() }
        return try await body(server)
    }
}
