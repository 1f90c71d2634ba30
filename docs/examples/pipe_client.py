#!/usr/bin/env python3
"""Fetches URLs through `trawl pipe`. The standard library is all it needs.

    pipe_client.py [--trawl PATH] URL...

For each URL, in the order the responses come, it prints status (or error code), length of the body and final URL.
As a module: `with Pipe(["trawl", "pipe"]) as pipe: future = pipe.send("https://example.org/")`.
"""

import argparse
import base64
import json
import subprocess
import sys
import threading
from concurrent.futures import Future, as_completed


class PipeError(Exception):
    """A fetch without a response; `code` is one of docs/pipe.md."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Response:
    def __init__(self, line):
        self.url = line["url"]
        self.status = line["status"]
        self.headers = line["headers"]
        self.body = base64.b64decode(line["body_base64"])


class Pipe:
    """A running `trawl pipe`. `send` may be called from any thread."""

    def __init__(self, command):
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lock = threading.Lock()
        self._waiting = {}
        self._count = 0
        # Responses are read while requests are written: who does one after the other waits for himself in the end.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, url, **members):
        """Sends a request and returns a future of its Response. Members are those of docs/pipe.md.

        The future cannot be cancelled: the pipe has no way to take a request back.
        """
        future = Future()
        future.set_running_or_notify_cancel()
        if isinstance(members.get("body"), bytes):
            members["body_base64"] = base64.b64encode(members.pop("body")).decode("ascii")
        with self._lock:
            self._count += 1
            line = json.dumps({"id": self._count, "url": url, **members})
            self._waiting[self._count] = future
            try:
                self._process.stdin.write(line.encode("ascii") + b"\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                # The reader sees the end, too, but may have seen it before.
                self._end(self._waiting.pop(self._count))
        return future

    def close(self):
        """Waits until everything is answered; returns the exit status."""
        with self._lock:
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                # It has ended before it read everything, and the rest is written once more here.
                pass
        self._reader.join()
        self._process.stdout.close()
        return self._process.wait()

    def _read(self):
        for text in self._process.stdout:
            line = json.loads(text)
            future = self._waiting.pop(line["id"], None)
            if future is None:
                continue
            if line["error"]:
                future.set_exception(PipeError(line["error"]["code"], line["error"]["message"]))
            else:
                future.set_result(Response(line))
        with self._lock:
            for future in self._waiting.values():
                self._end(future)
            self._waiting.clear()

    @staticmethod
    def _end(future):
        future.set_exception(PipeError("cancelled", "trawl pipe has ended"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    parser = argparse.ArgumentParser(description="Fetch URLs through trawl pipe.")
    parser.add_argument("--trawl", default="trawl", help="the command")
    parser.add_argument("urls", nargs="+", metavar="URL")
    arguments = parser.parse_args()
    failed = 0
    with Pipe([arguments.trawl, "pipe"]) as pipe:
        futures = {pipe.send(url): url for url in arguments.urls}
        for future in as_completed(futures):
            try:
                response = future.result()
                print(response.status, len(response.body), response.url)
            except PipeError as error:
                failed += 1
                print(error.code, 0, futures[future])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
