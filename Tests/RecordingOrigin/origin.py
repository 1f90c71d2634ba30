"""An origin with several listeners that remembers every request: for tests of what is sent to whom.

    origin.py LISTENER...

A listener is a JSON object: "name", "address" (127.0.0.1), "certificate" and "key" (PEM; without them it is in clear),
"clients" (PEM of an authority: client certificates are asked for), "required" (without one nobody is let in), "maximum"
("1.2"). It prints one JSON line with the ports by name, and ends at the end of its standard input. There a line "log"
is answered by one JSON line with all requests since the last "reset" (answered by "{}").

A request is {listener, connection, number (on its connection), method, target, fields, length, member (the subject's
common name of the client's certificate, or null)}; bytes that never became a request are {listener, connection, bytes}.
A line "release" lets the answers go that are held back, and those to come (answered by "{}").

Targets: the query says what is answered. `status` (200), `to` (Location), `cache` (Cache-Control), `cookie` (Set-Cookie),
`challenge` (WWW-Authenticate with 401 while the request has no Authorization), `hsts` (Strict-Transport-Security), `clear`
(Clear-Site-Data), `etag` (ETag, and 304 to a request that names it, with `hsts304` in place of `hsts`), `body`, `close` (the connection ends), `sleep` (so many seconds before the answer), `hold` (no answer before the
release). As a proxy it takes absolute targets of http and answers them itself; CONNECT leads to the listener of that port;
`Proxy-Authenticate` with 407 is sent as long as `--proxy-auth` is among the arguments and no Proxy-Authorization came.
"""
import json, select, socket, ssl, sys, threading, time
from urllib.parse import parse_qsl, urlsplit

lock = threading.Lock()
records = []
connections = [0]
released = threading.Event()
ports = {}


def record(entry):
    with lock:
        records.append(entry)


def read_head(stream, waiting, seen):
    """A head; what came behind it waits."""
    while b"\r\n\r\n" not in waiting:
        # A byte tells the start of TLS, in clear, of which no more is read.
        piece = stream.recv(65536 if waiting else 1)
        if not piece:
            seen.append(len(waiting))
            return None
        waiting += piece
        if waiting[0] == 0x16 or len(waiting) > 1 << 20:
            return None
    end = waiting.index(b"\r\n\r\n") + 4
    head = waiting[:end].decode("latin-1")
    del waiting[:end]
    return head


def read_body(stream, waiting, fields):
    length = int(next((v for n, v in fields if n.lower() == "content-length"), "0"))
    left = length - min(length, len(waiting))
    del waiting[:length]
    while left > 0:
        piece = stream.recv(min(left, 65536))
        if not piece:
            break
        left -= len(piece)
    return length


def member_of(stream):
    if not isinstance(stream, ssl.SSLSocket):
        return None
    certificate = stream.getpeercert()
    for part in (certificate or {}).get("subject", ()):
        for name, value in part:
            if name == "commonName":
                return value
    return None


def tunnel(client, port, prefix):
    there = socket.create_connection(("127.0.0.1", port))
    if prefix:
        there.sendall(prefix)
    pair = [client, there]
    try:
        while True:
            ready, _, _ = select.select(pair, [], [], 30)
            if not ready:
                return
            for one in ready:
                data = one.recv(65536)
                if not data:
                    return
                (there if one is client else client).sendall(data)
    except OSError:
        return
    finally:
        there.close()


def answer(spec, fields, target, method):
    query = dict(parse_qsl(urlsplit(target).query, keep_blank_values=True))
    status = int(query.get("status", "200"))
    time.sleep(float(query.get("sleep", "0")))
    if "hold" in query:
        released.wait()
    head = []
    names = {n.lower() for n, _ in fields}
    if "challenge" in query and "authorization" not in names:
        status = 401
        head.append(("WWW-Authenticate", query["challenge"]))
    elif "to" in query:
        head.append(("Location", query["to"]))
    tags = [v for n, v in fields if n.lower() == "if-none-match"]
    if "etag" in query and query["etag"] in tags:
        status = 304
    for name, field in (
        ("cache", "Cache-Control"), ("cookie", "Set-Cookie"), ("etag", "ETag"), ("clear", "Clear-Site-Data"),
        ("hsts304" if status == 304 else "hsts", "Strict-Transport-Security"),
    ):
        if name in query:
            head.append((field, query[name]))
    body = query.get("body", "%s %s" % (spec["name"], status)).encode()
    if "close" in query:
        head.append(("Connection", "close"))
    if status == 304:
        body = b""
    else:
        head.append(("Content-Length", str(len(body))))
    text = "HTTP/1.1 %d X\r\n%s\r\n" % (status, "".join("%s: %s\r\n" % line for line in head))
    return text.encode() + (b"" if method == "HEAD" else body), "close" in query


def serve(spec, context, plain):
    with lock:
        connections[0] += 1
        connection = connections[0]
    stream = plain
    try:
        if context:
            stream = context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
            try:
                stream.do_handshake()
            except ssl.SSLError:
                # The alert is on its way; a reset for what the client has sent meanwhile would overtake it.
                stream = socket.socket(fileno=stream.detach())
                stream.shutdown(socket.SHUT_WR)
                stream.settimeout(5)
                while stream.recv(65536):
                    pass
                return
        number = 0
        # What came and was not taken yet.
        waiting = bytearray()
        while True:
            seen = []
            head = read_head(stream, waiting, seen)
            if head is None:
                if seen and seen[0]:
                    record({"listener": spec["name"], "connection": connection, "bytes": seen[0]})
                return
            lines = head.split("\r\n")
            method, target, _ = lines[0].split(" ")
            fields = [line.split(":", 1) for line in lines[1:] if line]
            fields = [[n, v.strip()] for n, v in fields]
            length = read_body(stream, waiting, fields)
            number += 1
            record({
                "listener": spec["name"], "connection": connection, "number": number, "method": method,
                "target": target, "fields": fields, "length": length, "member": member_of(stream),
            })
            names = {n.lower() for n, _ in fields}
            if "proxy" in spec and spec["proxy"] and "proxy-authorization" not in names:
                stream.sendall(b"HTTP/1.1 407 X\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n")
                continue
            if method == "CONNECT":
                stream.sendall(b"HTTP/1.1 200 X\r\n\r\n")
                tunnel(stream, int(target.rsplit(":", 1)[1]), bytes(waiting))
                return
            response, closes = answer(spec, fields, target, method)
            stream.sendall(response)
            if closes:
                return
    except (OSError, ValueError):
        return
    finally:
        try:
            stream.close()
        except OSError:
            pass


def listen(spec):
    server = socket.create_server((spec.get("address", "127.0.0.1"), spec.get("port", 0)), backlog=128)
    ports[spec["name"]] = server.getsockname()[1]
    context = None
    if "certificate" in spec:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(spec["certificate"], spec["key"])
        if "clients" in spec:
            context.load_verify_locations(spec["clients"])
            context.verify_mode = ssl.CERT_REQUIRED if spec.get("required") else ssl.CERT_OPTIONAL
        if spec.get("maximum") == "1.2":
            context.maximum_version = ssl.TLSVersion.TLSv1_2

    def accept():
        while True:
            try:
                plain, _ = server.accept()
            except OSError:
                return
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=serve, args=(spec, context, plain), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


for argument in sys.argv[1:]:
    listen(json.loads(argument))
print(json.dumps(ports), flush=True)
for line in sys.stdin:
    with lock:
        if line.strip() == "log":
            print(json.dumps(records), flush=True)
        elif line.strip() == "release":
            released.set()
            print("{}", flush=True)
        else:
            records.clear()
            print("{}", flush=True)
