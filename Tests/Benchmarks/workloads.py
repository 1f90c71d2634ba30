"""The workloads. Each checks that every program did all of the work, and prints tables with what is wanted beside."""
import fnmatch, json, os, shutil
from measuring import Failed, count_files, measure, median, turns
from origin import SMALL_SIZE
from programs import Lists
from tables import ratio, table, verdicts


class Bench:
    """What all workloads share: the origin, the programs, folders in memory and on disk, and the options."""

    def __init__(self, origin, programs, work, shm, disk, args):
        self.origin, self.programs = origin, programs
        self.work, self.shm, self.disk, self.args = work, shm, disk, args
        self.told = set()

    def verdicts(self, columns, checks):
        """Prints figures beside what is wanted. Short runs are nearly all starting, so --quick judges nothing."""
        if columns and not self.args.quick:
            verdicts(columns, checks)

    def chosen(self, candidates):
        """Those of (name, program or programs it needs or None, action) that are wanted and can be run, by name."""
        result = {}
        for name, needs, action in candidates:
            if self.args.only and not any(fnmatch.fnmatch(name, pattern) for pattern in self.args.only):
                continue
            needs = needs if isinstance(needs, tuple) else (needs,)
            lacking = [program for program in needs if program in self.programs.missing]
            for program in lacking:
                if program not in self.told:
                    print(f"\nSkipped: {self.programs.missing[program]}.", flush=True)
                self.told.add(program)
            if not lacking:
                result[name] = action
        return result


def many(bench, where, title):
    """Many small files, 64 connections, into a new folder each time."""
    args, programs, count = bench.args, bench.programs, bench.args.requests
    base = os.path.join(where, "many")
    lists = Lists(bench.work, [(bench.origin.small(i), f"{i // 1000:03d}/{i}") for i in range(count)])
    serial = 0

    def fetched(command):
        def action():
            nonlocal serial
            serial += 1
            out = os.path.join(base, str(serial))
            results = out + ".results"
            lists.into(out)
            os.sync()
            cost = measure(command(out, results))
            right, wrong = count_files(out, SMALL_SIZE)
            if right != count or wrong:
                raise Failed(f"{right} files of {count}, and {wrong} of a wrong size: {command(out, results)}")
            if os.path.exists(results):
                with open(results) as file:
                    records = sum('"ok":true' in line for line in file)
                if records != count:
                    raise Failed(f"{records} records of {count}")
            # Some file systems make files slowly after many were deleted, so on disk all stay until the end.
            if where == bench.shm:
                shutil.rmtree(base)
            return cost
        return action

    def batch(list_path, *more):
        return fetched(lambda out, results: programs.batch(
            list_path, "-j", "64", *more, "--out", out, "--results", results))

    candidates = [
        ("C floor", None, fetched(lambda out, _: programs.floor(lists.tabs))),
        ("C floor, 2 processes", None, fetched(lambda out, _: programs.floor("-p", "2", lists.tabs))),
        ("trawl batch", None, batch(lists.relative)),
        ("trawl batch, -j 128", None, batch(lists.relative, "-j", "128", "--per-host", "8")),
        ("trawl batch, names by URL", None, batch(lists.urls)),
        ("curl --parallel", "curl", fetched(lambda out, _: programs.curl_parallel(lists.curl))),
        ("wget2", "wget2", fetched(lambda out, _: programs.wget2(64, "-x", "-P", out, "-i", lists.urls))),
        ("aria2c", "aria2c", fetched(lambda out, _: programs.aria2(64, "-d", out, "-i", lists.aria2))),
        ("aiohttp", "aiohttp", fetched(lambda out, _: programs.client("fetch_aiohttp.py", lists.tabs))),
        ("Scrapy", "scrapy", (fetched(lambda out, _: programs.client("fetch_scrapy.py", lists.tabs)), 1)),
    ]
    if args.quick or where == bench.disk:
        candidates = candidates[:-1]
    try:
        rows = turns(bench.chosen(candidates), args.runs)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    each = 1e6 / count
    rate = {name: count / median(c.wall for c in costs) for name, costs in rows.items()}
    cpu = {name: median(c.cpu for c in costs) * each for name, costs in rows.items()}
    own = {name: median(c.own for c in costs) * each for name, costs in rows.items()}
    rest = {name: median(c.children for c in costs) * each for name, costs in rows.items()}

    def parts(name):
        if not name.startswith("trawl"):
            return ["", ""]
        return [f"{rest[name]:.1f}", f"{own[name]:.1f}"]

    table(f"{title}: {count:,} bodies of 4 KiB, 64 connections (medians of {args.runs}; Scrapy: one run)",
          ["", "files/s", "lowest–highest", "CPU µs a file", "lowest–highest", "of it workers", "of it coordinator"],
          [[name, f"{rate[name]:,.0f}", spread(count / c.wall for c in costs), f"{cpu[name]:.1f}",
            spread(c.cpu * each for c in costs), *parts(name)] for name, costs in rows.items()])
    ours = [name for name in rows if name.startswith("trawl")]
    checks = []

    def check(what, must, aim, cell):
        checks.append((what, must, aim, [cell(name) for name in ours]))

    # What is measured on a disk is as much the disk's, so its ratios are told and not judged.
    judged = where == bench.shm
    for floor in ("C floor", "C floor, 2 processes"):
        if floor in rows:
            check(f"worker CPU beside {floor}", "≤ 1.4 ×" if judged else "", "1.15 ×" if judged else "",
                  lambda name: ratio(rest[name], cpu[floor], most=1.4 if judged else None))
    check("coordinator CPU a file", "≤ 5 µs", "3 µs", lambda name: (f"{own[name]:.1f} µs", own[name] <= 5))
    for peer, least in (("curl --parallel", 1.5), ("wget2", 3), ("aria2c", 3.5), ("aiohttp", 4.5), ("Scrapy", 50)):
        if peer in rows:
            check(f"files/s beside {peer}", f"≥ {least} ×" if judged else "", "",
                  lambda name: ratio(rate[name], rate[peer], least=least if judged else None))
    if "C floor, 2 processes" in rows:
        check("files/s beside C floor, 2 processes", "", "1 ×",
              lambda name: ratio(rate[name], rate["C floor, 2 processes"]))
    bench.verdicts(ours, checks)


def spread(values):
    values = list(values)
    return f"{min(values):,.0f}–{max(values):,.0f}"


def w1(bench):
    many(bench, bench.shm, "w1, files in memory")


def w1disk(bench):
    many(bench, bench.disk, "w1disk, files on disk")


def w2(bench):
    """One big file."""
    programs, url, size = bench.programs, bench.origin.big(), bench.origin.big_size
    for where, name in ((bench.shm, "in memory"), (bench.disk, "on disk")):
        target = os.path.join(where, "big")
        tabs = os.path.join(bench.work, "big.tabs")
        with open(tabs, "w") as file:
            file.write(f"{url}\t{target}\n")

        def fetched(command):
            def action():
                if os.path.exists(target):
                    os.unlink(target)
                os.sync()
                cost = measure(command)
                if os.path.getsize(target) != size:
                    raise Failed(f"{os.path.getsize(target)} bytes of {size}: {command}")
                return cost
            return action

        rows = turns(bench.chosen([
            ("C floor", None, fetched(programs.floor(tabs))),
            ("C floor, 256 KiB", None, fetched(programs.floor("-b", "262144", tabs))),
            ("C floor, 512 KiB", None, fetched(programs.floor("-b", "524288", tabs))),
            ("trawl get", None, fetched(programs.get("-o", target, url))),
            ("curl", "curl", fetched(programs.curl("-o", target, url))),
            ("wget", "wget", fetched(programs.wget("-O", target, url))),
            ("wget2", "wget2", fetched(programs.wget2(1, "-O", target, url))),
            ("aria2c", "aria2c", fetched(programs.aria2(1, "-d", where, "-o", "big", url))),
        ]), bench.args.runs)
        if os.path.exists(target):
            os.unlink(target)
        wall = {key: median(c.wall for c in costs) for key, costs in rows.items()}
        cpu = {key: median(c.cpu for c in costs) for key, costs in rows.items()}
        table(f"w2, one file of {size >> 20} MiB {name} (medians of {bench.args.runs})",
              ["", "wall s", "GB/s", "CPU s"],
              [[key, f"{wall[key]:.3f}", f"{size / wall[key] / 1e9:.2f}", f"{cpu[key]:.3f}"] for key in rows])
        if "trawl get" not in rows:
            continue
        checks = []
        peers = [key for key in ("curl", "wget2") if key in rows]
        if peers:
            best = min(peers, key=wall.get)
            checks.append((f"speed beside {best}, the best of curl and wget2", "≥ 1 ×", "",
                           [ratio(wall[best], wall["trawl get"], least=1)]))
        if "curl" in rows:
            checks.append(("CPU beside curl", "≤ 1.1 ×", "", [ratio(cpu["trawl get"], cpu["curl"], most=1.1)]))
        if "C floor, 256 KiB" in rows:
            checks.append(("speed beside C floor, 256 KiB", "", "1 ×",
                           [ratio(wall["C floor, 256 KiB"], wall["trawl get"])]))
        bench.verdicts(["trawl get"], checks)


def w6(bench):
    """One small URL: what starting costs."""
    programs, url = bench.programs, bench.origin.small(0)
    runs = bench.args.runs if bench.args.quick else max(bench.args.runs, 40)
    rows = turns(bench.chosen([
        ("curl", "curl", lambda: measure(programs.curl("-o", "/dev/null", url))),
        ("trawl get", None, lambda: measure(programs.get("-o", "/dev/null", url))),
    ]), runs)
    wall = {name: median(c.wall for c in costs) * 1e3 for name, costs in rows.items()}
    cpu = {name: median(c.cpu for c in costs) * 1e3 for name, costs in rows.items()}
    table(f"w6, one small URL (medians of {runs})", ["", "wall ms", "CPU ms", "largest process MiB"],
          [[name, f"{wall[name]:.1f}", f"{cpu[name]:.1f}", f"{median(c.peak for c in costs) / 1024:.1f}"]
           for name, costs in rows.items()])
    if len(rows) == 2:
        more = wall["trawl get"] - wall["curl"]
        bench.verdicts(["trawl get"], [
            ("wall beside curl", "≤ + 15 ms", "+ 8 ms", [(f"+ {more:.1f} ms", more <= 15)]),
            ("CPU beside curl", "≤ 2.5 ×", "2 ×", [ratio(cpu["trawl get"], cpu["curl"], most=2.5)])])


def w7(bench):
    """Peak anonymous memory with lists of very different length; bodies are dropped."""
    programs, folder = bench.programs, os.path.join(bench.disk, "w7")
    rows, peaks, again = [], [], []
    for count in bench.args.lengths:
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        urls, config, results = (os.path.join(folder, name) for name in ("urls", "config", "results"))
        with open(urls, "w") as plain, open(config, "w") as curl:
            for i in range(count):
                url = bench.origin.small(i, query=True)
                plain.write(url + "\n")
                curl.write(f'url = "{url}"\noutput = "/dev/null"\n')
        for name, action in bench.chosen([
            ("trawl batch", None, lambda: measure(
                programs.batch(urls, "-j", "64", "--no-files", "--results", results), samples=True)),
            ("trawl batch, again", None, lambda: measure(
                programs.batch(urls, "-j", "64", "--no-files", "--results", results), samples=True)),
            ("curl --parallel", "curl", lambda: measure(programs.curl_parallel(config), samples=True)),
        ]).items():
            cost = action()
            if name == "trawl batch":
                with open(results) as file:
                    done = sum('"ok":true' in line for line in file)
                if done != count:
                    raise Failed(f"{done} records of {count}")
            first, child, tree = (cost.anonymous[key] / 1024 for key in ("first", "child", "tree"))
            rows.append([name, f"{count:,}", f"{cost.wall:.1f}", f"{cost.cpu / count * 1e6:.1f}", f"{first:.1f}",
                         f"{child:.1f}" if child else "", f"{tree:.1f}"])
            if name == "trawl batch":
                peaks.append((count, first, child, tree))
            elif name == "trawl batch, again":
                again.append(first)
    shutil.rmtree(folder, ignore_errors=True)
    table("w7, peak anonymous memory in MiB, bodies dropped (one run each; “again” finds all done before)",
          ["", "URLs", "wall s", "CPU µs a URL", "first process", "largest child", "all"], rows)
    if not peaks:
        return
    least = peaks[0][1]
    bench.verdicts([f"{count:,} URLs" for count, *_ in peaks], [
        ("coordinator", "≤ 64 MiB", "", [(f"{first:.1f} MiB", first <= 64) for _, first, _, _ in peaks]),
        ("coordinator, more than for the shortest list", "0", "",
         [(f"{first - least:.1f} MiB", first - least <= 2) for _, first, _, _ in peaks]),
        *([("coordinator, all done before", "≤ 64 MiB", "", [(f"{first:.1f} MiB", first <= 64) for first in again])]
          if len(again) == len(peaks) else []),
        ("largest worker", "≤ 30 MiB", "", [(f"{child:.1f} MiB", child <= 30) for _, _, child, _ in peaks]),
        ("all", "", "44 MiB (curl, 200,000 URLs)", [(f"{tree:.1f} MiB", None) for *_, tree in peaks])])


def hosts(bench):
    """How long the coordinator takes to find the next hop, by the number of hosts that have hops waiting."""
    counts = [1_000, 10_000] if bench.args.quick else [1_000, 10_000, 100_000]
    delays = {"no delay": 0, "a delay of 1 s": 1000}

    def measured(count, delay):
        command = bench.programs.library("hosts", str(count), str(delay))
        return lambda: json.loads(measure(command).output)["microseconds"]

    results = turns({(name, count): measured(count, delay) for name, delay in delays.items() for count in counts},
                    bench.args.runs)
    table(f"hosts: CPU µs to take a hop, end it and queue it again (medians of {bench.args.runs})",
          ["hosts"] + list(delays),
          [[f"{count:,}"] + [f"{median(results[name, count]):.2f}" for name in delays] for count in counts])


def small(bench):
    """Many small bodies through the library, without the command around it."""
    args, programs, count = bench.args, bench.programs, bench.args.requests
    files = os.path.join(bench.shm, "files")
    lists = Lists(bench.work, [(bench.origin.small(i), f"{i // 1000}/{i}") for i in range(count)])

    def measured(command):
        def action():
            shutil.rmtree(files, ignore_errors=True)
            lists.into(files)
            return json.loads(measure(command).output)
        return action

    def library(mode, in_flight, workers, *more):
        return measured(programs.library(lists.tabs, in_flight, workers, mode, *more))

    results = turns(bench.chosen([
        ("C floor, dropped", None, measured(programs.floor("-d", lists.tabs))),
        ("C floor, dropped, 2 processes", None, measured(programs.floor("-d", "-p", "2", lists.tabs))),
        ("library, dropped, 2 workers", None, library("discard", "64", "2")),
        ("library, in memory, 2 workers", None, library("memory", "64", "2")),
        ("library, dropped, answer queue, 2 workers", None, library("many", "128", "2")),
        ("C floor, files", None, measured(programs.floor(lists.tabs))),
        ("C floor, files, 2 processes", None, measured(programs.floor("-p", "2", lists.tabs))),
        ("library, files, 1 worker", None, library("files", "64", "1", files)),
        ("library, files, 2 workers", None, library("files", "64", "2", files)),
    ]), args.runs)
    shutil.rmtree(files, ignore_errors=True)
    rows = []
    for name, runs in results.items():
        def middle(key):
            return median(run[key] for run in runs)
        cells = [name, f"{middle('perSecond'):,.0f}"]
        if "microseconds" in runs[0]:
            cells += [f"{middle('microseconds'):.1f}", "–", "–"]
        else:
            cells += [f"{middle('workerMicroseconds'):.1f}", f"{middle('coordinatorMicroseconds'):.1f}",
                      f"{middle('workerPeakKiB') / 1024:.1f} / {middle('coordinatorPeakKiB') / 1024:.1f}"]
        rows.append(cells)
    table(f"small, through the library: {count:,} bodies of 4 KiB, 64 at a time (medians of {args.runs})",
          ["", "requests/s", "worker CPU µs", "coordinator CPU µs", "peak MiB worker / coordinator"], rows)
