"""The web server that is fetched from: an nginx of the benchmark's own, on a free port of eight loopback addresses."""
import os, signal, socket, subprocess, time

SMALL_COUNT = 10_000
SMALL_SIZE = 4096


class Origin:
    """Serves /s/NN/N, 10,000 files of 4 KiB, and /big, on 127.0.0.2 to 127.0.0.9."""

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
        if big_size and not (os.path.exists(f"{self.root}/big") and os.path.getsize(f"{self.root}/big") == big_size):
            block = os.urandom(1 << 20)
            with open(f"{self.root}/big", "wb") as file:
                for _ in range(big_size >> 20):
                    file.write(block)
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
                  server {{ {listen} root {self.root}; }} }}""")
        self.process = subprocess.Popen(["nginx", "-c", conf, "-e", f"{work}/error.log"])
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.2", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.close()
        raise SystemExit(f"nginx did not start; see {work}/error.log")

    def small(self, i, query=False):
        """The i-th URL of a long list: files come around again on another address."""
        n, turn = i % SMALL_COUNT, i // SMALL_COUNT
        address = 2 + (i + 4 * turn) % 8
        return f"http://127.0.0.{address}:{self.port}/s/{n % 100:02d}/{n}" + (f"?q={i}" if query else "")

    def big(self):
        return f"http://127.0.0.2:{self.port}/big"

    def close(self):
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
