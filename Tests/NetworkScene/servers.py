"""HTTP on port 8080, with bodies of N bytes at /size/N, and DNS on port 53 of all addresses.

Arguments: a file to which each question is written, and NAME=ADDRESS of names that there are. A question for an IPv6 address of
such a name has an empty answer and is not written down. NAME= is a name of which nothing is ever said. NAME=COUNT~ADDRESS is one
that is not there for so many questions.
"""
import http.server, socket, struct, sys, threading

NAMES = dict(pair.split("=") for pair in sys.argv[2:])
LOCK = threading.Lock()
ASKED = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        size = self.path.rpartition("/size/")[2]
        body = bytes(int(size)) if size.isdigit() else b"hello\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def answer(question):
    """RFC 1035 §4: a header of 12 bytes, then the name in labels, type and class."""
    labels, place = [], 12
    while question[place]:
        labels.append(question[place + 1:place + 1 + question[place]].decode())
        place += 1 + question[place]
    name, kind = ".".join(labels), struct.unpack_from(">H", question, place + 1)[0]
    end = place + 5
    if kind == 1:
        ASKED[name] = ASKED.get(name, 0) + 1
        with LOCK, open(sys.argv[1], "a") as file:
            file.write(name + "\n")
    found = NAMES.get(name)
    if found == "":
        return None
    late, _, found = (found or "").rpartition("~")
    if late and ASKED.get(name, 0) <= int(late):
        found = ""
    code = 0 if found else 3
    records = b""
    if found and kind == 1:
        records = struct.pack(">HHHIH", 0xC00C, 1, 1, 300, 4) + socket.inet_aton(found)
    flags = 0x8180 | code
    return question[:2] + struct.pack(">HHHHH", flags, 1, 1 if records else 0, 0, 0) + question[12:end] + records


def names(listener):
    while True:
        question, sender = listener.recvfrom(2048)
        reply = answer(question)
        if reply is not None:
            listener.sendto(reply, sender)


listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.bind(("0.0.0.0", 53))
threading.Thread(target=names, args=(listener,), daemon=True).start()
server = http.server.ThreadingHTTPServer(("0.0.0.0", 8080), Handler)
print("ready", flush=True)
server.serve_forever()
