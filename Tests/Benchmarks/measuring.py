"""Runs a program and tells what it cost."""
import os, statistics, subprocess, tempfile, threading, time

TICK = 1 / os.sysconf("SC_CLK_TCK")
LIMIT = 900  # seconds for one run of one program


class Failed(Exception):
    """A program did not do its work; its figures would mean nothing."""


class Cost:
    """What one run took: wall and CPU seconds, CPU of the first process apart, peak memory in KiB."""

    def __init__(self, wall, cpu, own, peak, output):
        self.wall, self.cpu, self.own, self.peak, self.output = wall, cpu, own, peak, output
        self.anonymous = None

    @property
    def children(self):
        return self.cpu - self.own


def measure(command, samples=False, expects=(0,)):
    """Runs a command to its end. With `samples` the anonymous memory of its processes is watched meanwhile.

    CPU of the process and of the children it waited for is exact together (wait4), and comes in clock ticks of 10 ms
    apart (/proc/PID/stat of the zombie). User and system time are rounded down each, in both shares; where these bounds
    meet, the middle is taken. It is off by less than one tick: 0.5 us a request at 20,000 requests.
    """
    with open(os.devnull) as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=nothing, stdout=out, stderr=errors)
        memory = MemoryWatch(process.pid) if samples else None
        limit = threading.Timer(LIMIT, process.kill)
        limit.start()
        try:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        except BaseException:
            process.kill()
            raise
        finally:
            limit.cancel()
        wall = time.monotonic() - start
        if memory:
            memory.finish()
        own, children = ticks(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read(1 << 16).decode(errors="replace"))
    if process.returncode not in expects:
        raise Failed(f"{' '.join(command)}: status {process.returncode}\n{texts[0][-500:]}{texts[1][-500:]}")
    cpu = usage.ru_utime + usage.ru_stime
    low, high = max(own, cpu - children - 2 * TICK), min(own + 2 * TICK, cpu - children)
    cost = Cost(wall, cpu, max(0, (low + high) / 2) if children else cpu, usage.ru_maxrss, texts[0])
    cost.anonymous = memory and memory.peaks
    return cost


def ticks(pid):
    """CPU seconds of a process, and of the children it waited for, rounded down."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * TICK, (int(fields[13]) + int(fields[14])) * TICK


def cpu_of(pid):
    """CPU seconds so far of a running process and its descendants, to the nanosecond."""
    total = 0
    for process in tree(pid):
        try:
            for task in os.listdir(f"/proc/{process}/task"):
                with open(f"/proc/{process}/task/{task}/schedstat") as file:
                    total += int(file.read().split()[0])
        except OSError:
            pass
    return total / 1e9


class MemoryWatch(threading.Thread):
    """Peak anonymous memory (RssAnon: no files, no shared memory) of a process and its descendants, every 50 ms,
    and more often in the first second, which is all that a short run has."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.over = pid, threading.Event()
        # Peak KiB of the first process, of the largest descendant, and of all at once.
        self.peaks = {"first": 0, "child": 0, "tree": 0}
        self.start()

    def run(self):
        start = time.monotonic()
        while not self.over.wait(0.05 if time.monotonic() - start > 1 else 0.005):
            sizes = [anonymous(pid) for pid in tree(self.pid)]
            if sizes:
                now = {"first": sizes[0], "child": max(sizes[1:], default=0), "tree": sum(sizes)}
                self.peaks = {key: max(value, now[key]) for key, value in self.peaks.items()}

    def finish(self):
        self.over.set()
        self.join()


def tree(pid):
    """A process and its descendants, the process first."""
    found, todo = [], [pid]
    while todo:
        pid = todo.pop()
        found.append(pid)
        try:
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/children") as file:
                    todo += [int(child) for child in file.read().split()]
        except OSError:
            pass
    return found


def anonymous(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            for line in file:
                if line.startswith("RssAnon:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def count_files(top, size):
    """Files of the right size and others, at any depth."""
    right = wrong = 0
    todo = [top]
    while todo:
        with os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                elif entry.stat(follow_symlinks=False).st_size == size:
                    right += 1
                else:
                    wrong += 1
    return right, wrong


def turns(programs, runs):
    """Runs all programs `runs` times, taking turns, after one uncounted turn; name -> list of results.

    `programs` maps a name to an action, or to (action, runs) for one that is so slow that it runs less often and
    without a turn that does not count.
    """
    results = {name: [] for name in programs}
    for turn in range(runs + 1):
        for name, action in programs.items():
            limit = None
            if isinstance(action, tuple):
                action, limit = action
            if limit is not None and (turn == 0 or len(results[name]) >= limit):
                continue
            try:
                result = action()
            except Failed as failure:
                raise Failed(f"{name}: {failure}") from None
            if turn > 0:
                results[name].append(result)
    return results


def median(values):
    return statistics.median(list(values))
