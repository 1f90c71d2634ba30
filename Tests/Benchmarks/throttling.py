"""A limit of bandwidth, measured on the wire (wire.py)."""
import os
import wire

RATE = 10_000_000
# Bytes, number and connections.
WORKS = {"files of 64 KiB, 16 connections": (64 << 10, 4000, 16),
         "files of 4 KiB, 64 connections": (4 << 10, 40_000, 64),
         "8 streams": (256 << 20, 8, 8)}
# How far off the average of ten seconds and each of its seconds may be.
AVERAGE, SECOND, SLOW_SECOND = 0.02, 0.10, 0.20
# Bytes that are read at once where a body is long.
PIECE = 256 << 10
RATES = [64 << 10, 1_000_000, 10_000_000, 100_000_000]
SIZES = {"4 KiB": 4 << 10, "64 KiB": 64 << 10, "streams": 1 << 40}
POOLS = [(1, 1), (4, 2), (16, 4), (64, 8), (256, 2)]
# Bytes of a body that is sent, with connections and workers.
UPLOADS = {"up": (32 << 20, [(1, 1), (16, 4), (64, 8), (256, 8)]),
           "up, 4 KiB": (4 << 10, [(4, 2), (16, 4), (64, 8), (256, 8)])}
# What must hold while workers are killed: size and rate, with these connections and workers.
KILLED = {"4 KiB": (4 << 10, 1_000_000), "streams": (1 << 40, 2_000_000)}
KILLED_POOL = (64, 8)


def possible():
    if wire.is_possible():
        return True
    print("\nSkipped: w5 needs network namespaces of its own, which are not allowed here.", flush=True)
    return False


def run(*arguments):
    from measuring import Failed
    try:
        return wire.measured(*arguments)
    except RuntimeError as error:
        raise Failed(str(error))


def w5(bench):
    """Many small files and a few large ones under a limit for all of them together."""
    from measuring import median
    from tables import table
    if not possible():
        return
    args, programs, limit = bench.args, bench.programs, str(RATE)
    for work, (size, count, connections) in WORKS.items():
        many = ["-j", str(connections), "--per-host", "0", "--limit-rate", limit, "--no-files", "--results", "/dev/null"]
        candidates = [
            ("trawl batch", None, programs.batch("LIST", *many)),
            ("trawl batch, 8 workers", None, programs.batch("LIST", *many, "--workers", "8")),
            ("aria2c", "aria2c", programs.aria2(
                connections, f"--max-overall-download-limit={RATE}", "-d", "OUT", "-i", "LIST")),
            ("wget2, a limit for each", "wget2 --limit-rate", programs.wget2(
                connections, f"--limit-rate={RATE}", "-P", "OUT", "-i", "LIST")),
            ("curl --parallel, a limit for each", "curl", programs.curl(
                "--parallel", "--parallel-max", str(connections), "--limit-rate", limit, "--config", "CURL")),
        ]
        rows = []
        for name, command in bench.chosen(candidates).items():
            runs = [run(command, RATE, size, count) for _ in range(args.runs)]
            rows.append([name] + [f"{median(r[key] for r in runs):.3f}" for key in ("average", "first", "low", "high")])
        rows.append(["must", "0.980 to 1.020", "0.900 to 1.100", "0.900", "1.100"])
        table(f"w5: a limit of {RATE:,} bytes/s, {work} (medians of {args.runs}; 1 is the limit)",
              ["", "average", "first second", "lowest second", "highest second"], rows)


def w5cost(bench):
    """What a limit costs that is never reached, beside none: small files, and one large one in many pieces."""
    from measuring import measure, median, turns
    from programs import Lists
    from tables import table
    args, programs, count = bench.args, bench.programs, bench.args.requests
    unreached = ["--limit-rate", "100G"]
    lists = Lists(os.path.join(bench.work, "cost"), [(bench.origin.small(i), str(i)) for i in range(count)])

    def small(*more):
        return lambda: measure(programs.batch(
            lists.urls, "-j", "64", "--no-files", "--results", "/dev/null", *more)).cpu / count

    def big(*more):
        return lambda: measure(programs.get(bench.origin.big(), "-o", "/dev/null", *more)).cpu / (
            bench.origin.big_size / PIECE)

    results = turns(bench.chosen([
        ("4 KiB, no limit", None, small()), ("4 KiB, a limit of 100 GB/s", None, small(*unreached)),
        ("1 GiB, no limit", None, big()), ("1 GiB, a limit of 100 GB/s", None, big(*unreached)),
    ]), args.runs)
    table(f"w5cost: {count:,} bodies of 4 KiB, and one of 1 GiB by 256 KiB (medians of {args.runs})",
          ["", "CPU µs a piece", "lowest"],
          [[name, f"{median(runs) * 1e6:.1f}", f"{min(runs) * 1e6:.1f}"] for name, runs in results.items()])


def w5matrix(bench):
    """Rates, sizes, connections and workers, each for ten seconds: every figure beside what it must be."""
    from measuring import Failed
    from tables import table
    if not possible():
        return
    args, programs, missed = bench.args, bench.programs, 0
    rates = [int(rate) for rate in args.rates.split(",")] if args.rates else RATES[:1] if args.quick else RATES
    for rate in rates:
        rows = []
        cases = [(name, size, pool, False) for name, size in SIZES.items() for pool in POOLS]
        cases += [(name, size, pool, True) for name, (size, pools) in UPLOADS.items() for pool in pools]
        cases = [case for case in cases if reaches(rate, case[1], case[2])]
        second = SECOND if rate >= 1_000_000 else SLOW_SECOND
        for name, size, pool, uploads in cases[::5] if args.quick else cases:
            count = max(pool[0], 14 * rate // size)
            result = run(limited(programs, rate, pool, uploads), rate, min(size, 1 << 36), count, uploads)
            missed += add(rows, name, pool, result, second)
        table(f"w5matrix: {rate:,} bytes/s; average within {AVERAGE:.0%}, seconds within {second:.0%}", HEADS, rows)
    rows = []
    for name, (size, rate) in KILLED.items():
        if (args.rates or args.quick) and rate not in rates:
            continue
        # What meets two dead workers has failed: others take its place.
        count = max(16 * KILLED_POOL[0], 28 * rate // size)
        result = run(limited(programs, rate, KILLED_POOL, False), rate, min(size, 1 << 36), count, False, True)
        if result["killed"] < wire.SECONDS / wire.KILL_INTERVAL / 2:
            raise Failed(f"only {result['killed']} workers were killed")
        missed += add(rows, f"{name}, {rate:,} bytes/s, {result['killed']} killed", KILLED_POOL, result, SLOW_SECOND)
    if rows:
        table(f"w5matrix: a worker killed every {wire.KILL_INTERVAL} s; average within {AVERAGE:.0%}, seconds within "
              f"{SLOW_SECOND:.0%}", HEADS, rows)
    if missed and not args.quick:
        raise Failed(f"{missed} missed")


HEADS = ["", "connections", "workers", "average", "first second", "lowest second", "highest second", ""]


def limited(programs, rate, pool, uploads):
    """The command of a cell."""
    return programs.batch(
        "LIST", "-j", str(pool[0]), "--workers", str(pool[1]), "--per-host", "0", "--limit-rate", str(rate), "--no-files",
        "--results", "/dev/null", *(["-X", "POST", "--data-binary", "@BODY"] if uploads else []))


def add(rows, name, pool, result, second):
    """Adds a cell's row, and tells whether it missed what it must."""
    good = abs(result["average"] - 1) <= AVERAGE and all(
        abs(result[key] - 1) <= second for key in ("first", "low", "high"))
    rows.append([name, str(pool[0]), str(pool[1])]
                + [f"{result[key]:.3f}" for key in ("average", "first", "low", "high")]
                + ["" if good else "**missed**"])
    return not good


def reaches(rate, size, pool):
    """Whether a machine of two cores can be expected to come to the limit at all."""
    if rate <= 1_000_000 or size > 1 << 20:
        return True
    return size * pool[0] * (2000 if size > 4096 else 1000) > rate and (rate <= RATE or size > 4096)
