"""An HTTP/2 origin that gives streams of its first connection back: for tests of what becomes of them.

    origin.py CERTIFICATE KEY END STREAMS

It prints its port, and ends at the end of its standard input. On the first connection it answers the first stream; when
STREAMS others are open it ends them all: by END, "refused" (RST_STREAM with REFUSED_STREAM), "left-out" (GOAWAY with the
first stream as the last one), "reset" (of TCP), or "failed" (RST_STREAM with INTERNAL_ERROR). Everything on other
connections is answered with 200 and "hi".
"""
import socket, ssl, struct, sys, threading

certificate, key, end, streams = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
context.set_alpn_protocols(["h2"])

# RFC 9113 §4.1 and §6.
DATA, HEADERS, RST_STREAM, SETTINGS, GOAWAY = 0, 1, 3, 4, 7
ACK, END_STREAM, END_HEADERS = 1, 1, 4
INTERNAL_ERROR, REFUSED_STREAM = 2, 7


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


def give_back(client, others):
    if end == "left-out":
        client.sendall(frame(GOAWAY, 0, 0, struct.pack(">II", 1, 0)))
    elif end == "reset":
        plain = socket.socket(fileno=client.detach())
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        plain.close()
        raise EOFError
    else:
        code = struct.pack(">I", REFUSED_STREAM if end == "refused" else INTERNAL_ERROR)
        client.sendall(b"".join(frame(RST_STREAM, 0, stream, code) for stream in others))


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
            if kind != HEADERS:
                continue
            if number == 0 and stream != 1:
                others.append(stream)
                if len(others) == streams:
                    give_back(client, others)
            else:
                # ":status: 200" of the static table, RFC 7541 appendix A.
                client.sendall(frame(HEADERS, END_HEADERS, stream, b"\x88") + frame(DATA, END_STREAM, stream, b"hi"))
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
sys.stdin.read()
