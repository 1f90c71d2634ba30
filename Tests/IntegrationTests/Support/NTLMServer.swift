import Foundation
import Glibc
import Testing

/// A server that wants NTLM, made of pyspnego from the virtual environment that `make test` makes.
///
/// A connection that was proved stays that user's. `/open` asks nobody, and tells whose the connection is; all else wants to
/// know. A body is `user connection length`, with the length of the request's body.
final class NTLMServer: Sendable {
    static let missing: Comment = "pyspnego is not installed: deploy/bootstrap.sh test installs it into .build-venv"
    static let canRun: Bool = {
        guard access(python, X_OK) == 0 else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-c", "import spnego"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
    private static let python = URL(fileURLWithPath: #filePath)
        .appending(path: "../../../../.build-venv/bin/python").standardizedFileURL.path

    private static let script = """
        import base64, http.server, itertools, os, sys, threading
        import spnego
        def watch():
            os.read(0, 1)
            os._exit(0)
        threading.Thread(target=watch, daemon=True).start()
        numbers = itertools.count(1)
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def setup(self):
                super().setup()
                self.context, self.user, self.number = None, "", next(numbers)
            def log_message(self, *arguments):
                pass
            def say(self, status, challenge=None, length=0):
                body = f"{self.user or '-'} {self.number} {length}".encode()
                self.send_response(status)
                if challenge:
                    self.send_header("WWW-Authenticate", challenge)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                scheme, _, token = self.headers.get("Authorization", "").partition(" ")
                if self.path.startswith("/open"):
                    return self.say(200)
                if scheme == "NTLM" and token:
                    try:
                        if self.context is None:
                            self.context = spnego.server(protocol="ntlm")
                        answer = self.context.step(base64.b64decode(token))
                    except Exception:
                        self.context = None
                        return self.say(401, "NTLM")
                    if not self.context.complete:
                        return self.say(401, "NTLM " + base64.b64encode(answer).decode())
                    self.user = str(self.context.client_principal)
                if self.user:
                    return self.say(200, length=len(body))
                self.say(401, "NTLM")
            do_POST = do_GET
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.request_queue_size = 256
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    private let port: String
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    /// - Parameter users: Domain, user and password.
    init(_ users: [(String, String, String)]) throws {
        directory = try TemporaryDirectory()
        try directory.put("users", Array(users.map { "\($0.0):\($0.1):\($0.2)\n" }.joined().utf8))
        process = try ChildProcess(
            Self.python, ["-B", "-c", Self.script],
            environment: [
                "HOME=\(directory.path)", "PATH=/usr/bin:/bin", "NTLM_USER_FILE=\(directory.file("users"))",
            ], errors: directory.file("log"))
        guard let line = process.readLine() else {
            throw ChildProcess.Failure(
                description: "no NTLM server: \(String(decoding: directory.content("log") ?? [], as: UTF8.self))")
        }
        port = line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

    func stop() { process.end() }
}
