"""The workloads of the cache. Beside what the others check, each counts what the origin was asked meanwhile."""
import contextlib, json, os, random, re, shutil
import caches
from measuring import Failed, count_files, measure, median, turns
from origin import SMALL_SIZE
from programs import Lists
from tables import ratio, table, verdicts
from workloads import spread

MIB = 1 << 20


def asking(bench, wanted, action):
    """The action, void unless the origin was asked as often as `wanted` says of its result: (least, most)."""
    def counted():
        before = bench.origin.requests()
        result = action()
        seen = bench.origin.requests() - before
        least, most = wanted(result)
        if not least <= seen <= most:
            raise Failed(f"the origin was asked {seen} times, not {least} to {most}")
        return result
    return counted


class Repeated:
    """One list that is fetched again and again by programs that have its responses already."""

    def __init__(self, bench, stack, under, wanted):
        self.bench, self.stack, self.under, self.wanted = bench, stack, under, wanted
        self.count = bench.args.requests
        self.base = os.path.join(bench.shm, "repeated")
        os.makedirs(self.base)
        stack.callback(shutil.rmtree, self.base, ignore_errors=True)
        pairs = [(bench.origin.small(i, under=under), f"{i // 1000:03d}/{i}") for i in range(self.count)]
        self.stored = Lists(os.path.join(bench.work, "stored"), pairs)
        # Read in another order than stored in.
        pairs = list(pairs)
        random.Random(1).shuffle(pairs)
        self.lists = Lists(os.path.join(bench.work, "read"), pairs)

    def folder(self, name):
        return os.path.join(self.base, name)

    def unasked(self, action):
        """For a program whose cache is filled: asks nothing where all is fresh, and once for each URL where not."""
        times = 0 if self.wanted == "hits" else self.count
        # A request may have to be sent again, on a new connection.
        return asking(self.bench, lambda _: (times, times + times // 1000), action)

    def batch(self, *more, files=True):
        """trawl batch, its store filled by its first run."""
        programs, store = self.bench.programs, self.folder("store")
        out, results = self.folder("out"), self.folder("results")

        def run(lists, *options):
            cost = measure(programs.batch(
                lists.relative, "-j", "64", *options, "--results", results, store=store))
            with open(results) as file:
                done = sum('"ok":true' in line for line in file)
            if done != self.count:
                raise Failed(f"{done} records of {self.count}")
            os.unlink(results)
            return cost

        def action():
            if not os.path.exists(store):
                asking(self.bench, lambda _: (self.count, self.count), lambda: run(self.stored, "--no-files"))()
            to = ["--out", out] if files else ["--no-files"]
            cost = self.unasked(lambda: run(self.lists, *more, *to))()
            if files:
                right, wrong = count_files(out, SMALL_SIZE)
                if right != self.count or wrong:
                    raise Failed(f"{right} files of {self.count}, and {wrong} of a wrong size")
                shutil.rmtree(out)
            return figures(cost, self.count)
        return action

    def library(self, callers):
        """Hits through the library, from the store that trawl batch has filled."""
        programs, store = self.bench.programs, self.folder("store")

        def action():
            cost = measure(programs.library(
                self.lists.urls, str(callers), "1", "hits", str(self.count * 10), "--store", store))
            last = json.loads(cost.output)["passes"][-1]
            return {"rate": last["perSecond"], "cpu": last["microseconds"], "written": last["written"],
                    "whose": "the loop alone"}
        return self.unasked(action)

    def python(self, library):
        """A caching library of Python, one request after the other."""
        programs, store = self.bench.programs, self.folder(library)

        def run(wanted):
            cost = measure(programs.client("fetch_cached.py", library, store, self.lists.urls, wanted))
            return json.loads(cost.output)

        def action():
            if not os.path.exists(store):
                run("fills")
            result = self.unasked(lambda: run(self.wanted))()
            return {"rate": result["perSecond"], "cpu": result["microseconds"], "whose": "the loop alone"}
        return action

    def proxy(self, kind):
        """A caching proxy, asked by wrk over 64 connections."""
        bench, running = self.bench, []

        def start():
            running.append(self.stack.enter_context(contextlib.closing(kind(bench.shm))))
            config = os.path.join(bench.work, "filling")
            with open(config, "w") as file:
                file.writelines(f'url = "{url}"\noutput = "/dev/null"\n' for url, _ in self.stored.pairs)
            measure(bench.programs.curl(
                "-f", "--parallel", "--parallel-max", "64", "-x", f"http://{running[0].address}", "--config", config))

        def drive():
            before = running[0].cpu()
            cost = measure(bench.programs.wrk(64, 1 if bench.args.quick else 4, running[0].address, self.lists.urls))
            used = running[0].cpu() - before
            found = re.search(r"(\d+) requests in ([\d.]+)s", cost.output)
            if not found or "Non-2xx" in cost.output or "Socket errors" in cost.output:
                raise Failed(f"wrk: {cost.output}")
            count = int(found[1])
            return {"count": count, "rate": count / float(found[2]), "cpu": used / count * 1e6,
                    "whose": "the proxy alone"}

        def action():
            if not running:
                start()
            # What wrk has asked and not read at its end is not in its count.
            few = (lambda result: (0, 0)) if self.wanted == "hits" else (
                lambda result: (result["count"], result["count"] + 100))
            return asking(bench, few, drive)()
        return action

    def lmdb(self, threads):
        """Reads of LMDB, with nothing around them."""
        def action():
            folder = self.folder("lmdb")
            os.makedirs(folder, exist_ok=True)
            result = json.loads(measure(
                self.bench.programs.lmdb(folder, str(self.count), str(self.count * 10), str(threads))).output)
            return {"rate": result["perSecond"], "cpu": result["again"], "whose": "the loop alone"}
        return action

    def floor(self, *options):
        """The C program, which fetches: what there would be without a cache, or with the entity tags at hand."""
        def action():
            out = self.folder("out")
            self.lists.into(out)
            cost = measure(self.bench.programs.floor(*options, self.lists.tabs))
            shutil.rmtree(out)
            return figures(cost, self.count)
        return asking(self.bench, lambda _: (self.count, self.count), action)

    def wget2(self):
        """wget2 with the files of its first run."""
        out = self.folder("wget2")
        command = self.bench.programs.wget2(64, "-N", "-x", "-P", out, "-i", self.lists.urls)

        def action():
            if not os.path.exists(out):
                measure(command)
                right, wrong = count_files(out, SMALL_SIZE)
                if right != self.count or wrong:
                    raise Failed(f"{right} files of {self.count}, and {wrong} of a wrong size: {command}")
            return figures(measure(command), self.count)
        return asking(self.bench, lambda _: (self.count, 2 * self.count), action)

    def table(self, title, rows):
        cells = []
        for name, runs in rows.items():
            parts = ["", ""]
            if "workers" in runs[0]:
                parts = [f"{median(run[key] for run in runs):.1f}" for key in ("workers", "own")]
                if not name.startswith("trawl"):
                    parts = ["", ""]
            cells.append([name, f"{median(run['rate'] for run in runs):,.0f}", spread(run["rate"] for run in runs),
                          f"{median(run['cpu'] for run in runs):.1f}", tenths(run["cpu"] for run in runs), *parts,
                          runs[0]["whose"]])
        table(title, ["", "answers/s", "lowest–highest", "CPU µs each", "lowest–highest", "of it workers",
                      "of it coordinator", "whose CPU"], cells)


def figures(cost, count):
    each = 1e6 / count
    return {"rate": count / cost.wall, "cpu": cost.cpu * each, "workers": cost.children * each,
            "own": cost.own * each, "whose": "the whole program"}


def tenths(values):
    values = list(values)
    return f"{min(values):.1f}–{max(values):.1f}"


def middle(rows, name, key):
    return median(run[key] for run in rows[name])


def few(bench, action):
    """An action that takes so long that it runs once or twice."""
    return (action, min(bench.args.runs, 2))


def w3(bench):
    """All is fresh."""
    with contextlib.ExitStack() as stack:
        work = Repeated(bench, stack, "/fresh", "hits")
        rows = turns(bench.chosen([
            ("trawl batch", None, work.batch()),
            ("trawl batch, bodies dropped", None, work.batch(files=False)),
            ("library, 1 caller", None, work.library(1)),
            ("library, 8 callers", None, work.library(8)),
            ("library, 64 callers", None, work.library(64)),
            ("LMDB alone, 1 thread", "lmdb", work.lmdb(1)),
            ("LMDB alone, 8 threads", "lmdb", work.lmdb(8)),
            ("nginx proxy_cache", ("wrk", "curl"), work.proxy(caches.Nginx)),
            ("squid", ("squid", "wrk", "curl"), work.proxy(caches.Squid)),
            ("requests-cache", "requests_cache", few(bench, work.python("requests-cache"))),
            ("hishel", "hishel", few(bench, work.python("hishel"))),
            ("C floor, nothing cached", None, work.floor()),
        ]), bench.args.runs)
    work.table(f"w3, all fresh: {work.count:,} bodies of 4 KiB (medians of {bench.args.runs}; Python: 2)", rows)
    ours = [name for name in rows if name.startswith("library")]
    if ours:
        cpu = {name: middle(rows, name, "cpu") for name in ours}
        written = {name: middle(rows, name, "written") for name in ours}
        bench.verdicts(ours, [
            ("CPU of a hit", "≤ 10 µs", "4 µs", [(f"{cpu[name]:.1f} µs", cpu[name] <= 10) for name in ours]),
            ("bytes written for a hit", "0", "", [(f"{written[name]:.2f}", written[name] < 0.5) for name in ours])])
    by_entries(bench)


def by_entries(bench):
    """Hits from stores of very different size."""
    args, programs = bench.args, bench.programs
    candidates = [("library", None, None), ("LMDB alone", "lmdb", None)]
    chosen = bench.chosen(candidates)
    reads = 1000 if args.quick else 200_000
    rows, costs = [], {}
    for entries in args.entries:
        # A record of 4 KiB and its head take two or three pages.
        free = shutil.disk_usage(bench.shm).free
        base = os.path.join(bench.shm if free > entries * 3 * 16384 else bench.disk, "entries")
        try:
            os.makedirs(base)
            if "library" in chosen:
                urls, store = os.path.join(base, "urls"), os.path.join(base, "store")
                with open(urls, "w") as file:
                    file.writelines(bench.origin.small(i, query=True, under="/fresh") + "\n" for i in range(entries))
                asking(bench, lambda _: (entries, entries), lambda: measure(
                    programs.library(urls, "128", "2", "many", "--store", store)))()
                for callers in (1, 8, 64):
                    runs = [json.loads(asking(bench, lambda _: (0, 0), lambda: measure(
                        programs.library(urls, str(callers), "1", "hits", str(reads), "--store", store)))().output)
                        for _ in range(1 if args.quick else 3)]
                    first, again = ([run["passes"][n] for run in runs] for n in (0, -1))
                    costs[entries, callers] = median(run["microseconds"] for run in again)
                    rows.append([f"library, {callers} caller" + "s" * (callers > 1), f"{entries:,}",
                                 *(f"{median(run[key] for run in kind):.{digits}f}" for kind in (first, again)
                                   for key, digits in (("microseconds", 1), ("faults", 2))),
                                 f"{median(run['perSecond'] for run in again):,.0f}"])
                shutil.rmtree(store)
            if "LMDB alone" in chosen:
                runs = [json.loads(measure(programs.lmdb(base, str(entries), str(reads), "1")).output)
                        for _ in range(1 if args.quick else 3)]
                rows.append(["LMDB alone", f"{entries:,}", f"{median(run['first'] for run in runs):.1f}", "",
                             f"{median(run['again'] for run in runs):.1f}", "",
                             f"{median(run['perSecond'] for run in runs):,.0f}"])
        finally:
            shutil.rmtree(base, ignore_errors=True)
    if not rows:
        return
    table(f"w3, hits by entries: {reads:,} reads of random ones (medians of 3)",
          ["", "entries", "CPU µs, first pass", "page faults", "CPU µs, again", "page faults", "hits/s"], rows)
    if costs:
        least = min(args.entries)
        bench.verdicts([f"{entries:,}" for entries in args.entries], [
            (f"CPU of a hit, {callers} caller" + "s" * (callers > 1), "≤ 10 µs", "4 µs",
             [(f"{costs[entries, callers]:.1f} µs, {costs[entries, callers] / costs[least, callers]:.2f} ×",
               costs[entries, callers] <= 10) for entries in args.entries]) for callers in (1, 8, 64)])


def w4(bench):
    """All is stale, and has an entity tag."""
    with contextlib.ExitStack() as stack:
        work = Repeated(bench, stack, "/stale", "checks")
        rows = turns(bench.chosen([
            ("trawl batch", None, work.batch()),
            ("trawl batch, bodies dropped", None, work.batch(files=False)),
            ("trawl batch, -j 128", None, work.batch("-j", "128", "--per-host", "16")),
            ("C floor, If-None-Match", None, work.floor("-e", bench.origin.entity_tag)),
            ("C floor, If-None-Match, 2 processes", None, work.floor("-p", "2", "-e", bench.origin.entity_tag)),
            ("wget2 -N", "wget2", work.wget2()),
            ("squid", ("squid", "wrk", "curl"), work.proxy(caches.Squid)),
            ("requests-cache", "requests_cache", few(bench, work.python("requests-cache"))),
            ("hishel", "hishel", few(bench, work.python("hishel"))),
            ("C floor, nothing cached", None, work.floor()),
        ]), bench.args.runs)
    work.table(f"w4, all stale: {work.count:,} times 304 (medians of {bench.args.runs}; Python: 2)", rows)
    ours = [name for name in rows if name.startswith("trawl")]
    bench.verdicts(ours, [
        ("answers/s", "≥ 25,000", "", [(f"{middle(rows, name, 'rate'):,.0f}", middle(rows, name, "rate") >= 25000)
                                       for name in ours]),
        ("CPU each", "≤ 45 µs", "30 µs", [(f"{middle(rows, name, 'cpu'):.1f} µs", middle(rows, name, "cpu") <= 45)
                                          for name in ours])])


def wfill(bench):
    """What storing costs: the cache off, filling, and full."""
    args, programs, count = bench.args, bench.programs, bench.args.requests
    base, store, full = (os.path.join(bench.shm, name) for name in ("fill", "store", "full"))
    budget = max(count * 8192 // 4, 8 * MIB)
    serial = 0

    def fetched(command, before=lambda: None):
        """A list that nobody has fetched yet, into a new folder."""
        def action():
            nonlocal serial
            serial += 1
            before()
            out, results = os.path.join(base, "out"), os.path.join(base, "results")
            lists = Lists(bench.work, [
                (f"{bench.origin.small(i, under='/fresh')}?q={serial}-{i}", f"{i // 1000:03d}/{i}")
                for i in range(count)])
            lists.into(out)
            cost = measure(command(lists, "-j", "64", "--out", out, "--results", results))
            right, wrong = count_files(out, SMALL_SIZE)
            if right != count or wrong:
                raise Failed(f"{right} files of {count}, and {wrong} of a wrong size")
            shutil.rmtree(base)
            return figures(cost, count)
        return asking(bench, lambda _: (count, count), action)

    def trawl(before=lambda: None, **caching):
        return fetched(lambda lists, *options: programs.batch(lists.relative, *options, **caching), before)

    candidates = [
        ("C floor", None, fetched(lambda lists, *_: programs.floor(lists.tabs))),
        ("C floor, 2 processes", None, fetched(lambda lists, *_: programs.floor("-p", "2", lists.tabs))),
        ("trawl batch, cache off", None, trawl()),
        ("trawl batch, filling", None, trawl(lambda: shutil.rmtree(store, ignore_errors=True), store=store)),
        ("trawl batch, full", None, trawl(store=full, budget=budget)),
    ]
    chosen = bench.chosen(candidates)
    try:
        if "trawl batch, full" in chosen:
            for _ in range(2):
                chosen["trawl batch, full"]()
        rows = turns(chosen, args.runs)
        sizes = {name: used(folder) for name, folder in (("filled", store), ("full", full)) if os.path.exists(folder)}
    finally:
        for folder in (base, store, full):
            shutil.rmtree(folder, ignore_errors=True)
    table(f"wfill, storing: {count:,} bodies of 4 KiB to files, 64 connections (medians of {args.runs})",
          ["", "files/s", "lowest–highest", "CPU µs a file", "lowest–highest", "of it workers",
           "of it coordinator"],
          [[name, f"{middle(rows, name, 'rate'):,.0f}", spread(run["rate"] for run in runs),
            f"{middle(rows, name, 'cpu'):.1f}", tenths(run["cpu"] for run in runs),
            *([f"{middle(rows, name, 'workers'):.1f}", f"{middle(rows, name, 'own'):.1f}"]
              if name.startswith("trawl") else ["", ""])] for name, runs in rows.items()])
    for name, size in sizes.items():
        of = f" of {budget / MIB:,.0f}" if name == "full" else ""
        print(f"\nThe {name} store takes {size / MIB:,.0f} MiB{of}.")
    bounds = {
        "trawl batch, cache off": (1.4, 1.15), "trawl batch, filling": (1.7, 1.4), "trawl batch, full": (2.2, 1.8)}
    ours = [name for name in bounds if name in rows]
    floors = [name for name in ("C floor", "C floor, 2 processes") if name in rows]

    def beside(floor, name):
        most, aim = bounds[name]
        text, met = ratio(middle(rows, name, "workers"), middle(rows, floor, "cpu"), most=most)
        return f"{text} (≤ {most}, aim {aim})", met

    bench.verdicts(ours, [
        *((f"worker CPU beside {floor}", "as told", "", [beside(floor, name) for name in ours]) for floor in floors),
        ("coordinator CPU a file", "≤ 5 µs", "3 µs", [(f"{middle(rows, name, 'own'):.1f} µs",
                                                      middle(rows, name, "own") <= 5) for name in ours])])
    if "trawl batch, cache off" in rows:
        more = [name for name in ours if name != "trawl batch, cache off"]
        off = middle(rows, "trawl batch, cache off", "cpu")
        bench.verdicts(more, [("CPU more than with the cache off (the store alone: ≤ 8; 20 µs)", "", "", [
            (f"{middle(rows, name, 'cpu') - off:.1f} µs", None) for name in more])])


def used(folder):
    """Bytes that a folder takes, at any depth."""
    return sum(os.lstat(os.path.join(top, name)).st_blocks * 512 for top, _, names in os.walk(folder) for name in names)


def wbig(bench):
    """One big body into the cache, and from it."""
    programs, url, size = bench.programs, bench.origin.big("/fresh"), bench.origin.big_size
    for where, title in ((bench.shm, "in memory"), (bench.disk, "on disk")):
        store, target = os.path.join(where, "bigstore"), os.path.join(where, "big")
        caching = {"store": store, "budget": 16 * size}

        def fetched(times, before=lambda: None, **caching):
            def action():
                before()
                if os.path.exists(target):
                    os.unlink(target)
                os.sync()
                cost = measure(programs.get("-o", target, url, **caching), samples=True)
                if os.path.getsize(target) != size:
                    raise Failed(f"{os.path.getsize(target)} bytes of {size}")
                return cost
            return asking(bench, lambda _: (times, times), action)

        try:
            rows = turns(bench.chosen([
                ("trawl get, cache off", None, fetched(1)),
                ("trawl get, filling", None, fetched(1, lambda: shutil.rmtree(store, ignore_errors=True), **caching)),
                ("trawl get, hit", None, fetched(0, **caching)),
            ]), min(bench.args.runs, 3))
        finally:
            shutil.rmtree(store, ignore_errors=True)
            if os.path.exists(target):
                os.unlink(target)
        peaks = {name: {key: max(cost.anonymous[key] for cost in costs) / 1024 for key in ("first", "child")}
                 for name, costs in rows.items()}
        table(f"wbig, one body of {size >> 20} MiB {title} (medians of {min(bench.args.runs, 3)}; memory: the most)",
              ["", "wall s", "GB/s", "CPU s", "coordinator MiB", "worker MiB"],
              [[name, f"{median(c.wall for c in costs):.3f}", f"{size / median(c.wall for c in costs) / 1e9:.2f}",
                f"{median(c.cpu for c in costs):.3f}", f"{peaks[name]['first']:.1f}", f"{peaks[name]['child']:.1f}"]
               for name, costs in rows.items()])
        names = list(rows)
        bench.verdicts(names, [
            ("anonymous memory, coordinator", "≤ 64 MiB", "", [(f"{peaks[name]['first']:.1f} MiB",
                                                                peaks[name]["first"] <= 64) for name in names]),
            ("anonymous memory, worker", "≤ 30 MiB", "", [(f"{peaks[name]['child']:.1f} MiB",
                                                           peaks[name]["child"] <= 30) for name in names])])
