"""What a program puts on the wire: run in a network namespace of its own, with the origin in another one beyond a pair of
virtual Ethernet devices, where segments are as on a real one (1500 bytes, none put together).

As a program it reads an order (JSON) and prints figures; `measured` starts it in its namespace.
"""
import bisect, json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time

HERE, BEYOND, PORT = "10.9.0.1", "10.9.0.2", 8080
DEVICE = "wire0"
# Neighbours of IPv6 that are looked for while a program starts would be taken for its first bytes.
SILENCE = [f"echo 1 > /proc/sys/net/ipv6/conf/{name}/disable_ipv6 || true" for name in ("all", "default")]
SECONDS = 10
# Seconds from one killed worker to the next.
KILL_INTERVAL = 0.2


def namespace():
    return ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]


def is_possible():
    made = "ip link add wire0 type veth peer name wire1"
    return subprocess.run([*namespace(), "sh", "-c", made], capture_output=True).returncode == 0


def measured(command, rate, size, count, uploads=False, kills=False):
    """Runs a command for at most ten seconds of traffic and tells its figures beside the rate.

    With `kills` a child of the program, one of its workers, is killed five times a second; `killed` of the figures is how many.
    In the command LIST is a list of `count` URLs, CURL the same for curl, BODY a file of `size` bytes, OUT a folder.
    """
    order = {"command": command, "rate": rate, "size": size, "count": count, "uploads": uploads,
             "kills": kills}
    run = subprocess.run([*namespace(), sys.executable, __file__], input=json.dumps(order), text=True,
                         capture_output=True, timeout=120)
    if run.returncode:
        raise RuntimeError(f"{command[0]}: {run.stderr[-500:]}")
    return json.loads(run.stdout)


def inside(order):
    work = tempfile.mkdtemp(dir="/dev/shm")
    started = []
    try:
        place = subprocess.Popen(["unshare", "-n", "sh", "-c", "echo; exec sleep 600"], stdout=subprocess.PIPE)
        started.append(place)
        place.stdout.readline()
        there = ["nsenter", "-t", str(place.pid), "-n"]
        shell(*SILENCE, "ip link set lo up", f"ip link add {DEVICE} type veth peer name wire1",
              f"ip link set wire1 netns {place.pid}", f"ip addr add {HERE}/24 dev {DEVICE}",
              f"ip link set {DEVICE} gso_max_segs 1 up")
        # Reno, since what is at work elsewhere may space segments by itself.
        shell(*SILENCE, "echo reno > /proc/sys/net/ipv4/tcp_congestion_control || true", "ip link set lo up",
              f"ip addr add {BEYOND}/24 dev wire1", "ip link set wire1 gso_max_segs 1 up", before=there)
        os.makedirs(work + "/served")
        os.makedirs(work + "/out")
        with open(work + "/served/file", "wb") as file:
            if order["size"] > 1 << 20:
                file.truncate(order["size"])
            else:
                file.write(os.urandom(order["size"]))
        started.append(subprocess.Popen(there + ["nginx", "-c", configuration(work), "-e", work + "/error.log"]))
        from origin import answers
        if not answers(started[-1], BEYOND, PORT):
            sys.exit("nginx did not start")
        name = "taken" if order["uploads"] else "file"
        pages = [f"http://{BEYOND}:{PORT}/{name}?{n}" for n in range(order["count"])]
        with open(work + "/list", "w") as file:
            file.writelines(page + "\n" for page in pages)
        with open(work + "/curl", "w") as file:
            file.writelines(f'url = "{page}"\noutput = "{work}/out/{n}"\n' for n, page in enumerate(pages))
        names = {"LIST": work + "/list", "CURL": work + "/curl", "BODY": work + "/served/file", "OUT": work + "/out"}
        command = [word.replace(name, path) for word in order["command"]
                   for name, path in [next(((n, p) for n, p in names.items() if n in word), ("\0", ""))]]
        watch = Watch()
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        started.append(program)
        killer = Killer(program.pid) if order["kills"] else None
        try:
            status = program.wait(SECONDS + 0.7)
        except subprocess.TimeoutExpired:
            status = 0
        if killer:
            killer.finish()
        watch.finish()
        if status:
            sys.exit(f"{command[0]}: status {status}")
        print(json.dumps({**watch.figures(order["rate"]), "killed": killer.killed if killer else 0}))
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM if process is not started[0] else signal.SIGKILL)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(work, ignore_errors=True)


def shell(*commands, before=()):
    subprocess.run([*before, "sh", "-c", "; ".join(commands)], check=True, stderr=subprocess.DEVNULL)


def configuration(work):
    path = work + "/nginx.conf"
    user = "user root;" if os.geteuid() == 0 else ""
    with open(path, "w") as file:
        file.write(f"""{user} daemon off; worker_processes 1; pid {work}/nginx.pid; error_log {work}/error.log;
            events {{ worker_connections 4096; }}
            http {{ access_log off; sendfile on; keepalive_requests 1000000000; client_max_body_size 0;
              client_body_temp_path {work}/t1; proxy_temp_path {work}/t2; fastcgi_temp_path {work}/t3;
              uwsgi_temp_path {work}/t4; scgi_temp_path {work}/t5;
              server {{ listen {PORT} backlog=4096; root {work}/served; location /taken {{ return 204; }} }} }}""")
    return path


class Watch(threading.Thread):
    """Samples what the device has carried."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over, self.samples = threading.Event(), [(time.monotonic(), carried())]
        self.start()

    def run(self):
        while not self.over.wait(0.005):
            self.samples.append((time.monotonic(), carried()))

    def finish(self):
        self.over.set()
        self.join()

    def figures(self, rate):
        """Rates beside the limit, from the first byte on: ten seconds, the first, and the extremes of all."""
        start = self.samples[0][1]
        begun = [sample for sample in self.samples if sample[1] > start + 400]
        times = [moment for moment, count in begun if count < begun[-1][1]] or [begun[0][0]]
        first, last = times[0], min(times[-1], times[0] + SECONDS)
        stamps = [moment for moment, _ in self.samples]

        def at(moment):
            return self.samples[max(0, bisect.bisect_right(stamps, moment) - 1)][1]

        windows, moment = [], first
        while moment + 1 <= last + 0.001:
            windows.append((at(moment + 1) - at(moment)) / rate)
            moment += 0.02
        span = max(last - first, 0.001)
        return {"span": span, "average": (at(last) - start) / span / rate, "first": (at(first + 1) - start) / rate,
                "low": min(windows, default=0), "high": max(windows, default=0)}


class Killer(threading.Thread):
    """Kills one child of a process after the other, each by its own process number."""

    def __init__(self, parent):
        super().__init__(daemon=True)
        self.parent, self.over, self.killed = parent, threading.Event(), 0
        self.start()

    def run(self):
        while not self.over.wait(KILL_INTERVAL):
            children = [int(name) for name in os.listdir("/proc") if name.isdigit() and self.is_child(name)]
            if children:
                self.kill(random.choice(children))

    def kill(self, child):
        try:
            descriptor = os.pidfd_open(child)
        except ProcessLookupError:
            return
        try:
            # The number may be another's by now; the descriptor stays that of one process.
            if self.is_child(child):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                self.killed += 1
        except ProcessLookupError:
            pass
        finally:
            os.close(descriptor)

    def is_child(self, number):
        """Whether it runs, and the process started it."""
        try:
            with open(f"/proc/{number}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state != b"Z" and int(parent) == self.parent

    def finish(self):
        self.over.set()
        self.join()


def carried():
    with open("/proc/net/dev") as file:
        for line in file:
            name, _, counts = line.partition(":")
            if name.strip() == DEVICE:
                counts = counts.split()
                return int(counts[0]) + int(counts[8])
    return 0


if __name__ == "__main__":
    inside(json.load(sys.stdin))
