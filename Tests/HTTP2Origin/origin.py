"""An HTTP/2 origin that gives streams of its first connection back: for tests of what becomes of them.

    origin.py CERTIFICATE KEY END STREAMS

It prints its port, and ends at the end of its standard input. On the first connection it answers the first stream; when
STREAMS others are open it ends them all: by END, "refused" (RST_STREAM with REFUSED_STREAM), "left-out" (GOAWAY with the
first stream as the last one), "reset" (of TCP), or "failed" (RST_STREAM with INTERNAL_ERROR). Everything on other
connections is answered with 200 and "hi".

With two ENDs the first stream is answered by half of a body, and the connection ends in order: "cut-off" when STREAMS
others are open, and everything on other connections is answered by the other half, with 206; "cut-redirect" at once, and
what was cut off is a redirect.

With "held" the first stream of the first connection is answered in part and the second one not at all, of which it
prints "held". The third is answered, and behind a line of its input the second and the rest of the first follow; with
"hinted" there is an interim response in front of the second's.
"""
import socket, ssl, struct, sys, threading

certificate, key, end, streams = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["h2"])

# RFC 9113 §4.1 and §6.
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY, CONTINUATION = 0, 1, 3, 4, 7, 9
ACK, END_STREAM, END_HEADERS = 1, 1, 4
INTERNAL_ERROR, REFUSED_STREAM = 2, 7
# Of the static table, RFC 7541 appendix A.
STATUS, ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG, LINK, LOCATION = 8, 18, 28, 30, 34, 45, 46

CONTENT = b"0123456789"
released = threading.Event()


def fields(*pairs):
    """Literal fields without indexing, RFC 7541 §6.2.2."""
    block = b""
    for index, value in pairs:
        block += bytes([index] if index < 15 else [15, index - 15]) + bytes([len(value)]) + value
    return block


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def read(client, count):
    data = b""
    while len(data) < count:
        piece = client.recv(count - len(data))
        if not piece:
            raise EOFError
        data += piece
    return data


def close(client):
    """Ends TLS and then TCP; what still comes is read, so that no reset overtakes the end."""
    try:
        client.unwrap()
    except OSError:
        pass
    plain = socket.socket(fileno=client.detach())
    plain.shutdown(socket.SHUT_WR)
    while plain.recv(65536):
        pass
    raise EOFError


def answer(client, number, stream):
    half = len(CONTENT) // 2
    length, tag, ranges = (CONTENT_LENGTH, b"%d" % len(CONTENT)), (ETAG, b'"one"'), (ACCEPT_RANGES, b"bytes")
    if number == 0 and end == "cut-off":
        block, data, flags = fields((STATUS, b"200"), length, tag, ranges), CONTENT[:half], 0
    elif number == 0 and end == "cut-redirect":
        block, data, flags = fields((STATUS, b"302"), length, (LOCATION, b"/target")), CONTENT[:half], 0
    elif end == "cut-off":
        part = b"bytes %d-%d/%d" % (half, len(CONTENT) - 1, len(CONTENT))
        block, data = fields((STATUS, b"206"), (CONTENT_RANGE, part), tag, ranges), CONTENT[half:]
        flags = END_STREAM
    else:
        block, data, flags = fields((STATUS, b"200")), b"hi", END_STREAM
    client.sendall(frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, flags, stream, data))
    if number == 0 and end == "cut-redirect":
        close(client)


def give_back(client, others):
    if end == "cut-off":
        close(client)
    elif end == "left-out":
        client.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", 1, 0)))
    elif end == "reset":
        plain = socket.socket(fileno=client.detach())
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        plain.close()
        raise EOFError
    else:
        code = struct.pack(">I", REFUSED_STREAM if end == "refused" else INTERNAL_ERROR)
        client.sendall(b"".join(frame(RST_STREAM, 0, stream, code) for stream in others))


def hold(client, stream):
    if stream == 1:
        head = fields((STATUS, b"200"))
        client.sendall(frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, 0, stream, b"begun, "))
    elif stream == 3:
        print("held", flush=True)
    else:
        answer(client, 0, stream)
        released.wait()
        hint = fields((STATUS, b"103"), (LINK, b"</x>"))
        head = fields((STATUS, b"200"), (ETAG, b'"one"'), (CONTENT_LENGTH, b"5"))
        client.sendall((frame(HEADERS, END_HEADERS, 3, hint) if end == "hinted" else b"")
                       + frame(HEADERS, END_HEADERS, 3, head) + frame(DATA, END_STREAM, 3, b"whole")
                       + frame(DATA, END_STREAM, 1, b"done"))


def serve(plain, number):
    others = []
    try:
        client = context.wrap_socket(plain, server_side=True)
        # The preface, RFC 9113 §3.4.
        read(client, 24)
        client.sendall(frame(SETTINGS, 0, 0))
        while True:
            head = read(client, 9)
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF
            read(client, int.from_bytes(head[:3], "big"))
            if kind == SETTINGS and not flags & ACK:
                client.sendall(frame(SETTINGS, ACK, 0))
            # A long head goes on in other frames.
            if kind not in (HEADERS, CONTINUATION) or not flags & END_HEADERS:
                continue
            if number == 0 and end in ("held", "hinted"):
                hold(client, stream)
            elif number == 0 and stream != 1:
                others.append(stream)
                if len(others) == streams:
                    give_back(client, others)
            else:
                answer(client, number, stream)
    except (EOFError, OSError):
        pass


def accept():
    number = 0
    while True:
        plain, _ = server.accept()
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(plain, number), daemon=True).start()
        number += 1


server = socket.create_server(("127.0.0.1", 0), backlog=128)
print(server.getsockname()[1], flush=True)
threading.Thread(target=accept, daemon=True).start()
for _ in sys.stdin:
    released.set()
