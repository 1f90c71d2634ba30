"""The web server that is fetched from: an nginx of the benchmark's own, on a free port of eight loopback addresses."""
import os, signal, socket, subprocess, time, urllib.request

SMALL_COUNT = 10_000
SMALL_SIZE = 4096
MODIFIED = 1_600_000_000


class Origin:
    """Serves /s/NN/N, 10,000 files of 4 KiB, and /big, on 127.0.0.2 to 127.0.0.9.

    The same beneath /fresh may be reused for an hour, and beneath /stale must be validated each time. All small files
    have one entity tag, since nginx makes it from their time and size. On localhost and all names below it is a body of 4 KiB
    for every path: beneath /sets with a cookie whose value is new each time, beneath /same with one that stays as it is.
    """

    def __init__(self, work, big_size):
        self.root = os.path.join(work, "root")
        self.big_size = big_size
        for folder in range(100):
            os.makedirs(f"{self.root}/s/{folder:02d}", exist_ok=True)
        for n in range(SMALL_COUNT):
            path = f"{self.root}/s/{n % 100:02d}/{n}"
            if not os.path.exists(path):
                with open(path, "wb") as file:
                    file.write(n.to_bytes(4, "big") * (SMALL_SIZE // 4))
            os.utime(path, (MODIFIED, MODIFIED))
        if big_size and not (os.path.exists(f"{self.root}/big") and os.path.getsize(f"{self.root}/big") == big_size):
            block = os.urandom(1 << 20)
            with open(f"{self.root}/big", "wb") as file:
                for _ in range(big_size >> 20):
                    file.write(block)
        self.entity_tag = f'"{MODIFIED:x}-{SMALL_SIZE:x}"'
        self.port = free_port()
        listen = "".join(f"listen 127.0.0.{i}:{self.port} backlog=4096;" for i in range(2, 10))
        conf = os.path.join(work, "nginx.conf")
        user = "user root;" if os.geteuid() == 0 else ""
        with open(conf, "w") as file:
            file.write(f"""{user} daemon off; worker_processes 1; pid {work}/nginx.pid; error_log {work}/error.log;
                events {{ worker_connections 4096; }}
                http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
                  keepalive_timeout 600s; open_file_cache max=12000 inactive=600s; open_file_cache_valid 600s;
                  client_body_temp_path {work}/t1; proxy_temp_path {work}/t2; fastcgi_temp_path {work}/t3;
                  uwsgi_temp_path {work}/t4; scgi_temp_path {work}/t5;
                  server {{ {listen} root {self.root};
                    location /fresh/ {{ alias {self.root}/; add_header Cache-Control max-age=3600; }}
                    location /stale/ {{ alias {self.root}/; add_header Cache-Control max-age=0; }}
                    location = /status {{ stub_status; }} }}
                  server {{ listen 127.0.0.1:{self.port} backlog=4096; root {self.root};
                    rewrite ^/plain/ /s/00/0 last; rewrite ^/sets/ /cookie/sets/s/00/0 last;
                    rewrite ^/same/ /cookie/same/s/00/0 last;
                    location /cookie/sets/ {{ alias {self.root}/;
                      add_header Set-Cookie "name0=$request_id; Path=/; Max-Age=86400"; }}
                    location /cookie/same/ {{ alias {self.root}/; add_header Set-Cookie "session=as-it-was; Path=/"; }} }} }}""")
        self.process = subprocess.Popen(["nginx", "-c", conf, "-e", f"{work}/error.log"])
        if not answers(self.process, "127.0.0.2", self.port):
            self.close()
            raise SystemExit(f"nginx did not start; see {work}/error.log")

    def small(self, i, query=False, under=""):
        """The i-th URL of a long list: files come around again on another address."""
        n, turn = i % SMALL_COUNT, i // SMALL_COUNT
        address = 2 + (i + 4 * turn) % 8
        return f"http://127.0.0.{address}:{self.port}{under}/s/{n % 100:02d}/{n}" + (f"?q={i}" if query else "")

    def big(self, under=""):
        return f"http://127.0.0.2:{self.port}{under}/big"

    def requests(self):
        """Requests answered so far; this question is not counted."""
        with urllib.request.urlopen(f"http://127.0.0.2:{self.port}/status") as answer:
            total = int(answer.read().split()[9])
        self.asked = getattr(self, "asked", 0) + 1
        return total - self.asked

    def close(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()


def answers(process, address, port):
    """Waits until a server that was just started takes connections; false when it does not within 10 seconds."""
    for _ in range(200):
        if process.poll() is not None:
            return False
        try:
            socket.create_connection((address, port), 1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
