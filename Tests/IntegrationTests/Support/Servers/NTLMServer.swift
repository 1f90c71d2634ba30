import Foundation
import Glibc
import TestSupport
import Testing

/// A server that wants NTLM, made of pyspnego from the virtual environment that `make test` makes.
///
/// A connection that was proved stays that user's. `/open` asks nobody, and tells whose the connection is; all else
/// wants to know. A body is `user connection length`, with the length of the request's body. `/basic` wants Basic from
/// `me:pass`.
///
/// As a proxy it wants to know who asks with 407, passes requests on over a connection of its own for each that comes
/// in, makes tunnels, and tells in `log()` what came: connection, whose it was, method and target.
final class NTLMServer: Sendable {
    /// What it is.
    enum Role: String {
        case server, proxy
    }

    static let missing: Comment = "pyspnego is not installed: deploy/bootstrap.sh test installs it into .build-venv"
    static let canRun: Bool = {
        guard access(python, X_OK) == 0 else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-c", "import spnego"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.runToEnd()) != nil else { return false }
        return process.terminationStatus == 0
    }()
    private static let python = Checkout.path(".build-venv/bin/python")

    private static let script = """
        import base64, http.client, http.server, itertools, os, select, socket, sys, threading, urllib.parse
        import spnego
        is_proxy = sys.argv[1] == "proxy"
        status, asking, saying = (
            (407, "Proxy-Authenticate", "Proxy-Authorization") if is_proxy
            else (401, "WWW-Authenticate", "Authorization"))
        seen = []
        def watch():
            os.read(0, 1)
            os._exit(0)
        threading.Thread(target=watch, daemon=True).start()
        numbers = itertools.count(1)
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def setup(self):
                super().setup()
                self.context, self.user, self.number, self.origin = None, "", next(numbers), None
            def log_message(self, *arguments):
                pass
            def say(self, status, challenge=None, length=0, body=None):
                body = body or f"{self.user or '-'} {self.number} {length}".encode()
                self.send_response(status)
                if challenge:
                    self.send_header(asking, challenge)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            def tunnel(self):
                host, _, port = self.path.rpartition(":")
                with socket.create_connection(("127.0.0.1", int(port))) as other:
                    self.send_response(200)
                    self.end_headers()
                    ends = {self.connection: other, other: self.connection}
                    while True:
                        for end in select.select(list(ends), [], [])[0]:
                            data = end.recv(65536)
                            if not data:
                                self.close_connection = True
                                return
                            ends[end].sendall(data)
            def forward(self, body):
                place = urllib.parse.urlsplit(self.path)
                if self.origin is None:
                    self.origin = http.client.HTTPConnection("127.0.0.1", place.port)
                fields = {k: v for k, v in self.headers.items() if not k.lower().startswith("proxy-")}
                self.origin.request(self.command, place.path, body, fields)
                answer = self.origin.getresponse()
                content = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() in ("www-authenticate", "proxy-authenticate"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            def let(self, body):
                if not is_proxy:
                    return self.say(200, length=len(body))
                seen.append(f"{self.number} {self.user} {self.command} {self.path}")
                return self.tunnel() if self.command == "CONNECT" else self.forward(body)
            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                scheme, _, token = self.headers.get(saying, "").partition(" ")
                if is_proxy and self.path == "/log":
                    return self.say(200, body="\\n".join(seen).encode() or b" ")
                if self.path.startswith("/open"):
                    return self.say(200)
                if self.path.startswith("/basic"):
                    isRight = self.headers.get("Authorization") == "Basic bWU6cGFzcw=="
                    return self.say(200) if isRight else self.say(401, 'Basic realm="b"')
                if scheme == "NTLM" and token:
                    try:
                        if self.context is None:
                            self.context = spnego.server(protocol="ntlm")
                        answer = self.context.step(base64.b64decode(token))
                    except Exception:
                        self.context = None
                        return self.say(status, "NTLM")
                    if not self.context.complete:
                        return self.say(status, "NTLM " + base64.b64encode(answer).decode())
                    self.user = str(self.context.client_principal)
                if self.user:
                    return self.let(body)
                self.say(status, "NTLM")
            do_POST = do_CONNECT = do_GET
        http.server.ThreadingHTTPServer.request_queue_size = 256
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """

    private let port: String
    private let process: ChildProcess
    private let directory: TemporaryDirectory

    /// - Parameter users: Domain, user and password.
    init(_ users: [(String, String, String)], as role: Role = .server) throws {
        directory = try TemporaryDirectory()
        try directory.put("users", Array(users.map { "\($0.0):\($0.1):\($0.2)\n" }.joined().utf8))
        process = try ChildProcess(
            Self.python, ["-B", "-c", Self.script, role.rawValue],
            environment: [
                "HOME=\(directory.path)", "PATH=/usr/bin:/bin", "NTLM_USER_FILE=\(directory.file("users"))",
            ], errors: directory.file("log"), isServer: true)
        guard let line = process.readLine() else {
            throw ChildProcess.Failure(
                description: "no NTLM server: \(String(decoding: directory.content("log") ?? [], as: UTF8.self))")
        }
        port = line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func url(_ target: String) -> String { "http://127.0.0.1:\(port)\(target)" }

    /// As a proxy: its place, for `-x`.
    var place: String { "127.0.0.1:\(port)" }

    /// As a proxy: what it let through, `connection user method target`, in order.
    func log() throws -> [[String]] {
        let text = String(decoding: try PlainClient.get(port: UInt16(port) ?? 0, target: "/log"), as: UTF8.self)
        return text.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }.filter { !$0.isEmpty }
    }

    func stop() { process.end() }
}
