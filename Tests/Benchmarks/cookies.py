"""What cookies cost: requests that carry them, and responses that set them, beside the same without a jar."""
import os, shutil
from measuring import Failed, measure, median, turns
from tables import table

HOSTS = 64          # that are asked
JAR = 10_000        # cookies stored
EACH = 10           # of them for each host
MOST = {"coordinator": 3.0, "worker": 5.0}


def wcookie(bench):
    """One worker, cache off, 64 in flight; a jar of 10,000 cookies, 10 for each host."""
    args, programs, count = bench.args, bench.programs, bench.args.requests
    folder = os.path.join(bench.shm, "cookies")
    os.makedirs(folder)
    full = os.path.join(folder, "full")
    text = os.path.join(folder, "cookies.txt")
    with open(text, "w") as file:
        for n in range(JAR):
            file.write(f"h{n // EACH}.localhost\tFALSE\t/\tFALSE\t4000000000\tname{n % EACH}\tvalue-of-{n:010d}\n")
    measure(programs.trawl("cookies", "import", "--store", full, text))

    def listed(kind):
        path = os.path.join(folder, kind)
        with open(path, "w") as file:
            for i in range(count):
                file.write(f"http://h{i % HOSTS}.localhost:{bench.origin.port}/{kind}/{i}\n")
        return path

    lists = {kind: listed(kind) for kind in ("plain", "sets", "same")}

    def batch(kind, *more):
        def action():
            # Each run finds the jar as it was, and nothing done.
            store = os.path.join(folder, "store")
            shutil.copytree(full, store)
            results = os.path.join(store, "results")
            try:
                cost = measure(programs.trawl(
                    "batch", lists[kind], "-q", "--workers", "1", "-j", "64", "--store", store, "--no-cache",
                    "--no-files", "--results", results, *more))
                with open(results) as file:
                    right = sum('"ok":true' in line for line in file)
            finally:
                shutil.rmtree(store, ignore_errors=True)
            if right != count:
                raise Failed(f"{right} fetched of {count}")
            return cost
        return action

    cases = [("requests carry 10 cookies", "plain"), ("each response sets one anew", "sets"),
             ("each response sets the same one", "same")]
    candidates = []
    for name, kind in cases:
        candidates += [(f"{name}, no jar", None, batch(kind, "--no-cookies")), (name, None, batch(kind))]
    try:
        rows = turns(bench.chosen(candidates), args.runs)
    finally:
        shutil.rmtree(folder, ignore_errors=True)

    def figures(name, part):
        return [(cost.own if part == "coordinator" else cost.children) * 1e6 / count for cost in rows[name]]

    shown, checked = [], []
    for name, _ in cases:
        if name not in rows or f"{name}, no jar" not in rows:
            continue
        without = {part: median(figures(f"{name}, no jar", part)) for part in MOST}
        # Turn by turn, since a machine that is used by others changes its speed.
        added = {part: median(there - here for here, there in zip(figures(f"{name}, no jar", part), figures(name, part)))
                 for part in MOST}
        shown.append([name] + [f"{without[part]:.1f} + {added[part]:.1f}" for part in MOST])
        checked.append((name, [(f"{added[part]:.1f} µs", added[part] <= MOST[part]) for part in MOST]))
    table(f"wcookie: {count:,} requests to {HOSTS} hosts, {JAR:,} cookies in the jar (medians of {args.runs})",
          ["", "coordinator, CPU µs a request", "worker, CPU µs a request"], shown)
    bench.verdicts(list(MOST), [(name, "≤ 3 and 5 µs", "", cells) for name, cells in checked])
