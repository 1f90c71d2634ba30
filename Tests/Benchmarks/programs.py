"""The programs that are compared, and how a user would call them. Only the work differs between workloads."""
import os, shutil, subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


class Lists:
    """One list of URLs and files in each program's own form."""

    def __init__(self, folder, pairs):
        self.pairs = pairs
        os.makedirs(folder, exist_ok=True)
        names = ("tabs", "urls", "relative", "curl", "aria2")
        self.tabs, self.urls, self.relative, self.curl, self.aria2 = (
            os.path.join(folder, "list." + name) for name in names)
        with open(self.urls, "w") as file:
            file.writelines(url + "\n" for url, _ in pairs)
        # trawl takes names beneath its output directory.
        with open(self.relative, "w") as file:
            file.writelines(f"{url}\t{name}\n" for url, name in pairs)

    def into(self, out):
        """Names files beneath a folder, which is made with all of its own."""
        for folder in sorted({os.path.dirname(name) for _, name in self.pairs}):
            os.makedirs(os.path.join(out, folder), exist_ok=True)
        with open(self.tabs, "w") as file:
            file.writelines(f"{url}\t{out}/{name}\n" for url, name in self.pairs)
        with open(self.curl, "w") as file:
            file.writelines(f'url = "{url}"\noutput = "{out}/{name}"\n' for url, name in self.pairs)
        with open(self.aria2, "w") as file:
            file.writelines(f"{url}\n  out={name}\n" for url, name in self.pairs)


class Programs:
    """Command lines; `missing` explains those that cannot be run here."""

    def __init__(self, work, built):
        self.work, self.built = work, built
        self.floor_path = os.path.join(work, "floor")
        subprocess.run(
            ["cc", "-O2", "-o", self.floor_path, f"{HERE}/floor/floor.c", "-lcurl"], check=True)
        venv = os.path.join(TOP, ".build-bench-venv", "bin", "python")
        self.python = os.environ.get("BENCH_PYTHON") or venv
        self.missing = {}
        for name in ("curl", "wget", "wget2", "aria2c", "squid", "wrk"):
            if not shutil.which(name):
                self.missing[name] = f"{name} is not installed"
        if "limit-rate" not in self._help("wget2"):
            self.missing["wget2 --limit-rate"] = "this wget2 has no --limit-rate"
        for name in ("aiohttp", "scrapy", "requests_cache", "hishel"):
            if not self._python_has(name):
                self.missing[name] = f"{self.python} has no {name}"
        self.lmdb_path = os.path.join(work, "lmdb")
        if subprocess.run(["cc", "-O2", "-o", self.lmdb_path, f"{HERE}/lmdb/lmdb.c", "-llmdb", "-pthread"],
                          capture_output=True).returncode:
            self.missing["lmdb"] = "liblmdb-dev is not installed"

    def _help(self, name):
        if name in self.missing:
            return ""
        return subprocess.run([name, "--help"], capture_output=True, text=True).stdout

    def _python_has(self, module):
        if not os.path.exists(self.python):
            return False
        return subprocess.run([self.python, "-c", f"import {module}"], capture_output=True).returncode == 0

    def floor(self, *arguments):
        return [self.floor_path, *arguments]

    def lmdb(self, *arguments):
        return [self.lmdb_path, *arguments]

    def wrk(self, connections, seconds, address, urls):
        return ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "-s", f"{HERE}/clients/requests.lua",
                f"http://{address}", "--", urls]

    def trawl(self, *arguments):
        return [os.path.join(self.built, "trawl"), *arguments]

    def library(self, *arguments):
        return [os.path.join(self.built, "LibraryLoad"), *arguments]

    def batch(self, list_path, *arguments, store=None, budget=None):
        return self.trawl("batch", list_path, "-q", "--workers", "2", *self._caching(store, budget), *arguments)

    def get(self, *arguments, store=None, budget=None):
        return self.trawl("get", "-s", *self._caching(store, budget), *arguments)

    def _caching(self, store, budget):
        if not store:
            return ["--no-cache"]
        return ["--store", store] + (["--cache-size", str(budget)] if budget else [])

    def curl(self, *arguments):
        # -q: without the user's own configuration.
        return ["curl", "-q", "-sS", *arguments]

    def curl_parallel(self, config):
        return self.curl("--parallel", "--parallel-max", "64", "--config", config)

    def aria2(self, count, *arguments):
        return ["aria2c", "--no-conf", "--quiet", "--summary-interval=0", "--download-result=hide",
                "--show-console-readout=false", "--file-allocation=none", "--auto-save-interval=0",
                "--max-download-result=0", "--max-connection-per-server=1", "--split=1",
                f"--max-concurrent-downloads={count}", *arguments]

    def wget2(self, count, *arguments):
        return ["wget2", "--no-config", "--quiet", "--no-robots", "--no-hsts", "--tries=1",
                f"--max-threads={count}", *arguments]

    def wget(self, *arguments):
        return ["wget", "--no-config", "--quiet", *arguments]

    def client(self, name, *arguments):
        return [self.python, f"{HERE}/clients/{name}", *arguments]
