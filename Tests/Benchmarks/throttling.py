"""A limit of bandwidth, measured on the wire of a network namespace of its own, where nothing else is sent."""
import bisect, json, os, shutil, subprocess, sys, tempfile, threading, time

RATE = 10_000_000
LIMIT = 60  # seconds for one run of one program
# Bytes, number and connections.
WORKS = {"1,600 files of 64 KiB, 16 connections": (64 << 10, 1600, 16),
         "10,000 files of 4 KiB, 64 connections": (4 << 10, 10_000, 64),
         "8 streams of 16 MiB": (16 << 20, 8, 8)}


def w5(bench):
    """Many small files and a few large ones under a limit for all of them together."""
    from measuring import Failed, median
    from tables import table
    if subprocess.run([*namespace(), "true"], capture_output=True).returncode:
        print("\nSkipped: w5 needs a network namespace of its own, which is not allowed here.", flush=True)
        return
    args, programs = bench.args, bench.programs
    limit = str(RATE)

    def lists(count):
        return os.path.join(bench.work, f"limited-{count}")

    for work, (size, count, connections) in WORKS.items():
        if args.quick:
            count = max(connections, count // 20)
        out = os.path.join(bench.shm, "limited")
        urls = lists(count)
        candidates = [
            ("trawl batch", None, programs.batch(
                urls, "-j", str(connections), "--per-host", "0", "--limit-rate", limit, "--out", out)),
            ("trawl batch, 8 workers", None, programs.batch(
                urls, "-j", str(connections), "--workers", "8", "--per-host", "0", "--limit-rate", limit, "--out", out)),
            ("aria2c", "aria2c", programs.aria2(
                connections, f"--max-overall-download-limit={RATE}", "-d", out, "-i", urls)),
            ("curl --parallel, a limit for each", "curl", programs.curl(
                "--parallel", "--parallel-max", str(connections), "--limit-rate", limit, "--config", urls + ".curl")),
        ]
        rows = []
        for name, command in bench.chosen(candidates).items():
            runs = []
            for _ in range(args.runs):
                order = {"command": command, "size": size, "count": count, "urls": urls, "out": out}
                run = subprocess.run([*namespace(), sys.executable, __file__], input=json.dumps(order), text=True,
                                     capture_output=True, timeout=LIMIT + 60)
                if run.returncode:
                    raise Failed(f"{name}: {run.stderr[-500:]}")
                runs.append(json.loads(run.stdout))
            rows.append([name] + [f"{median(r[key] for r in runs):.3f}" for key in ("average", "first", "low", "high")])
        table(f"w5: a limit of {RATE:,} bytes/s, {work} (medians of {args.runs}; 1 is the limit)",
              ["", "average", "first second", "lowest second", "highest second"], rows)


def namespace():
    return ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]


def inside(order):
    """Within the namespace: an origin, the program, and what the loopback device counts meanwhile."""
    from origin import Origin
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    work = tempfile.mkdtemp(dir="/dev/shm")
    origin = None
    try:
        origin = Origin(work, 0)
        with open(f"{origin.root}/file", "wb") as file:
            file.write(os.urandom(order["size"]))
        pages = [f"http://127.0.0.2:{origin.port}/file?{n}" for n in range(order["count"])]
        with open(order["urls"], "w") as file:
            file.writelines(page + "\n" for page in pages)
        with open(order["urls"] + ".curl", "w") as file:
            file.writelines(f'url = "{page}"\noutput = "{order["out"]}/{n}"\n' for n, page in enumerate(pages))
        shutil.rmtree(order["out"], ignore_errors=True)
        os.makedirs(order["out"])
        watch = Watch()
        program = subprocess.Popen(order["command"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            status = program.wait(LIMIT)
        except subprocess.TimeoutExpired:
            program.kill()
            status = program.wait()
        watch.finish()
        if status:
            sys.exit(f"{order['command'][0]}: status {status}")
        print(json.dumps(watch.figures()))
    finally:
        if origin:
            origin.close()
        shutil.rmtree(work, ignore_errors=True)
        shutil.rmtree(order["out"], ignore_errors=True)


class Watch(threading.Thread):
    """Samples what the loopback device has received."""

    def __init__(self):
        super().__init__(daemon=True)
        self.over, self.samples = threading.Event(), [(time.monotonic(), received())]
        self.start()

    def run(self):
        while not self.over.wait(0.005):
            self.samples.append((time.monotonic(), received()))

    def finish(self):
        self.over.set()
        self.join()

    def figures(self):
        """Rates beside the limit, between the first byte and the last."""
        start, end = self.samples[0][1], self.samples[-1][1]
        # What a connection takes to be made is not waited for.
        begun = [sample for sample in self.samples if sample[1] > start + 1500]
        times = [time for time, count in begun if count < end] or [begun[0][0]]
        first, last = times[0], times[-1]
        stamps = [time for time, _ in self.samples]

        def at(moment):
            return self.samples[max(0, bisect.bisect_right(stamps, moment) - 1)][1]

        windows, moment = [], first
        while moment + 1 <= last:
            windows.append((at(moment + 1) - at(moment)) / RATE)
            moment += 0.02
        return {"average": (end - start) / max(last - first, 0.001) / RATE, "first": (at(first + 1) - start) / RATE,
                "low": min(windows, default=0), "high": max(windows, default=0)}


def received():
    with open("/proc/net/dev") as file:
        for line in file:
            name, _, counts = line.partition(":")
            if name.strip() == "lo":
                return int(counts.split()[0])
    return 0


if __name__ == "__main__":
    inside(json.load(sys.stdin))
