#!/usr/bin/env python3
"""Replays the cases of Tests/Vectors/http-cache through `trawl pipe` against an origin of its own.

    http_cache.py --trawl PATH [--vectors FILE] [--store DIR] [--only ID]... [--verbose] [--json]

What the fields of a case mean is told in Tests/Vectors/http-cache/SOURCE.md. Everything is on loopback; cases run side
by side, each with a URL of its own. Exit status: 0 when every `required` case passes, 1 when one does not, 2 for a
wrong call.
"""

import argparse
import base64
import email.utils
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DATE_FIELDS = {"date", "expires", "last-modified", "if-modified-since", "if-unmodified-since"}
PAUSE = 3
MOST_AT_ONCE = 32


def http_date(seconds, is_rfc850=False):
    if is_rfc850:
        return time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(seconds))
    return email.utils.formatdate(seconds, usegmt=True)


class Case:
    """One case as its origin sees it: the plan, and what has arrived so far."""

    def __init__(self, plan):
        self.plan = plan
        self.path = f"/test/{uuid.uuid4()}"
        self.log = []
        self.sent = {}
        self.lock = threading.Lock()

    @property
    def text(self):
        return self.path.rsplit("/", 1)[1]


class Origin(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def __init__(self):
        self.cases = {}
        super().__init__(("127.0.0.1", 0), Exchange)

    def case(self, path):
        return self.cases.get("/".join(path.split("?")[0].split("/")[:3]))


class Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one_request(self):
        """As the base class, for any method."""
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline:
            self.close_connection = True
            return
        if not self.parse_request():
            return
        self.answer()
        self.wfile.flush()

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        self.rfile.read(length)
        case = self.server.case(self.path)
        number = int(self.headers.get("Req-Num") or 0)
        if case is None or not 1 <= number <= len(case.plan["requests"]):
            self.wfile.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            return
        step = case.plan["requests"][number - 1]
        if "response_pause" in step:
            time.sleep(step["response_pause"])
        now = time.time()
        path = self.path.split("?")[0]
        fields = []
        rfc850 = {name.lower() for name in step.get("rfc850date", [])}
        for field in step.get("response_headers", []):
            name, value = field[0], field[1]
            if isinstance(value, int):
                if name.lower() in DATE_FIELDS:
                    value = http_date(now + value, name.lower() in rfc850)
                else:
                    value = str(value)
            if step.get("magic_locations") and name.lower() in ("location", "content-location"):
                value = f"{path}/{value}" if value else path
            fields.append([name, value])
        status, reason = step.get("response_status", [200, "OK"])
        with case.lock:
            previous = case.log[-1]["fields"] if case.log else []
            if step.get("expected_type", "").endswith("validated"):
                status, reason = self.validate(previous)
            entry = {
                "number": number,
                "method": self.command,
                "request": [[name, value] for name, value in self.headers.items()],
                "fields": fields,
                "case_fields": step.get("response_headers", []),
            }
            case.log.append(entry)
            numbers = " ".join(str(one["number"]) for one in case.log)
            count = len(case.log)
        if step.get("disconnect"):
            self.close_connection = True
            return
        body = (step.get("response_body", case.text) or "").encode()
        has_body = self.command != "HEAD" and status not in (204, 304)
        lines = [f"HTTP/1.1 {status} {reason}"]
        lines += [f"{name}: {value}" for name, value in fields]
        lines += [
            f"Server-Base-Url: {self.path}",
            f"Server-Request-Count: {count}",
            f"Client-Request-Count: {number}",
            f"Server-Now: {int(now * 1000)}",
            f"Request-Numbers: {numbers}",
        ]
        names = {name.lower() for name, _ in fields}
        if "content-type" not in names:
            lines.append("Content-Type: text/plain")
        if has_body and "content-length" not in names and "transfer-encoding" not in names:
            lines.append(f"Content-Length: {len(body)}")
        interim = ""
        for one in step.get("interim_responses", []):
            interim += f"HTTP/1.1 {one[0]} Interim\r\n"
            interim += "".join(f"{name}: {value}\r\n" for name, value in (one[1] if len(one) > 1 else []))
            interim += "\r\n"
        head = (interim + "\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        self.wfile.write(head + (body if has_body else b""))

    def validate(self, previous):
        """304 for a validator of the answer before, 999 for anything else."""
        sent = {name.lower(): value for name, value in previous}
        etag, modified = sent.get("etag"), sent.get("last-modified")
        if etag and self.headers.get("If-None-Match") == etag:
            return 304, "Not Modified"
        if modified and self.headers.get("If-Modified-Since") == modified:
            return 304, "Not Modified"
        return 999, "304 Not Generated"

    def log_message(self, *_):
        pass


class Pipe:
    """`trawl pipe` as a co-process; any thread may ask it."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        self.waiting = {}
        self.count = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            with self.lock:
                gate = self.waiting.pop(answer["id"])
            gate[1] = answer
            gate[0].set()

    def ask(self, request):
        gate = [threading.Event(), None]
        with self.lock:
            self.count += 1
            request["id"] = self.count
            self.waiting[self.count] = gate
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        if not gate[0].wait(60):
            raise TimeoutError("no answer from trawl pipe")
        return gate[1]

    def close(self):
        self.process.stdin.close()
        return self.process.wait(30)


class Failure(Exception):
    def __init__(self, is_setup, text):
        super().__init__(text)
        self.is_setup = is_setup


def combined(headers, name):
    values = [value for key, value in headers if key.lower() == name.lower()]
    return ", ".join(values) if values else None


def run(case, pipe, base):
    """Plays one case. Raises Failure."""
    previous = None
    for number, step in enumerate(case.plan["requests"], 1):

        def check(name, holds, text):
            if not holds:
                is_setup = step.get("setup", False) or name in step.get("setup_tests", [])
                raise Failure(is_setup, f"request {number}: {text}")

        response = exchange(case, pipe, base, number, step, previous)
        error = response.get("error")
        if error is not None:
            # An origin that hangs up is an answer the case has a say about.
            check("expected_status", step.get("expected_status", 0) is None, f"error {error}")
        headers = response["headers"]
        count = combined(headers, "Server-Request-Count")
        check_type(case, number, step, response, count, check)
        if error is None:
            check_response(case, step, response, check)
        missing = step.get("expected_response_headers_missing", [])
        for field in missing:
            if isinstance(field, str):
                check("expected_response_headers_missing", combined(headers, field) is None, f"{field} is there")
            else:
                value = combined(headers, field[0]) or ""
                check("expected_response_headers_missing", field[1] not in value, f"{field[0]} has {field[1]}")
        previous = response
        if step.get("pause_after"):
            time.sleep(PAUSE)
    check_log(case)


def exchange(case, pipe, base, number, step, previous):
    url = base + case.path
    if "filename" in step:
        url += f"/{step['filename']}"
    if "query_arg" in step:
        url += f"?{step['query_arg']}"
    headers = [["Req-Num", str(number)], ["Test-ID", case.plan["id"]]]
    rfc850 = {name.lower() for name in step.get("rfc850date", [])}
    for name, value in step.get("request_headers", []):
        if isinstance(value, int) and name.lower() in DATE_FIELDS:
            start = time.time()
            if step.get("magic_ims") and name.lower() == "if-modified-since":
                start = int(combined(previous["headers"], "Server-Now")) / 1000
            value = http_date(start + value, name.lower() in rfc850)
        headers.append([name, str(value)])
    request = {"url": url, "headers": headers, "method": step.get("request_method", "GET")}
    if "request_body" in step:
        request["body"] = step["request_body"]
    if step.get("redirect") == "manual":
        request["redirect"] = "manual"
    return pipe.ask(request)


def check_type(case, number, step, response, count, check):
    expected = step.get("expected_type")
    if expected == "cached":
        holds = (count is None and response["status"] == 304) or (count is not None and int(count) < number)
        check("expected_type", holds, f"not from the cache (count {count})")
    elif expected == "not_cached":
        arrived = any(one["number"] == number for one in case.log)
        check("expected_type", count is not None and int(count) == number and arrived, f"cached (count {count})")
    elif expected in ("etag_validated", "lm_validated"):
        name = "if-none-match" if expected == "etag_validated" else "if-modified-since"
        entries = [one for one in case.log if one["number"] == number]
        holds = bool(entries) and combined(entries[-1]["request"], name) is not None
        check("expected_type", holds, f"no {name} at the origin")


def check_response(case, step, response, check):
    headers = response["headers"]
    status = step.get("expected_status", step.get("response_status", [200])[0])
    if status is not None:
        check("expected_status", response["status"] == status, f"status {response['status']}, not {status}")
    number = combined(headers, "Client-Request-Count")
    entries = [one for one in case.log if str(one["number"]) == number]
    if entries:
        gone = {f.lower() for f in step.get("expected_response_headers_missing", []) if isinstance(f, str)}
        for name in {field[0].lower() for field in entries[-1]["case_fields"]}:
            marked = [f for f in entries[-1]["case_fields"] if f[0].lower() == name]
            # A cache makes these anew: the age it has now, the range it was asked for.
            is_generated = name == "age" or (name == "content-range" and response["from_cache"])
            if name in gone or name == "date" or is_generated or any(len(f) > 2 and f[2] is False for f in marked):
                continue
            sent, seen = combined(entries[-1]["fields"], name), combined(headers, name)
            check("response_headers", seen == sent, f"{name} is {seen!r}, sent was {sent!r}")
    for field in step.get("expected_response_headers", []):
        if isinstance(field, str):
            check("expected_response_headers", combined(headers, field) is not None, f"{field} is missing")
            continue
        value = combined(headers, field[0])
        if len(field) == 3 and field[1] == "=":
            holds = value is not None and value == combined(headers, field[2])
        elif len(field) == 3 and field[1] == ">":
            holds = value is not None and int(value) > field[2]
        elif isinstance(field[1], int) and field[0].lower() in DATE_FIELDS:
            start = int(combined(headers, "Server-Now")) / 1000
            holds = value == http_date(start + field[1])
        else:
            holds = value == str(field[1])
        check("expected_response_headers", holds, f"{field[0]} is {value!r}, wanted {field[1:]}")
    if "expected_interim_responses" in step:
        seen = response.get("interim", [])
        wanted = step["expected_interim_responses"]
        holds = [one[0] for one in seen] == [one[0] for one in wanted] and all(
            combined(have[1], name) == value
            for have, want in zip(seen, wanted)
            for name, value in (want[1] if len(want) > 1 else [])
        )
        check("expected_interim_responses", holds, f"interim {seen}")
    if step.get("check_body", True) and "expected_response_text" not in step:
        no_body = step.get("request_method") == "HEAD" or response["status"] in (204, 304)
        wanted = "" if no_body else step.get("response_body", case.text) or ""
    else:
        wanted = step.get("expected_response_text")
    if wanted is not None and step.get("check_body", True):
        body = base64.b64decode(response["body_base64"]).decode("latin-1")
        check("expected_response_text", body == wanted, f"body {body!r}, wanted {wanted!r}")


def check_log(case):
    """What the origin saw, in order; requests answered from the cache are not in it."""
    log = list(case.log)
    for number, step in enumerate(case.plan["requests"], 1):
        if step.get("expected_type") == "cached":
            continue
        if not log:
            return
        entry = log.pop(0)

        def check(name, holds, text):
            if not holds:
                is_setup = step.get("setup", False) or name in step.get("setup_tests", [])
                raise Failure(is_setup, f"request {number} at the origin: {text}")

        for field in step.get("expected_request_headers", []):
            name = field if isinstance(field, str) else field[0]
            value = combined(entry["request"], name)
            holds = value is not None and (isinstance(field, str) or value == field[1])
            check("expected_request_headers", holds, f"{name} is {value!r}, wanted {field}")
        for field in step.get("expected_request_headers_missing", []):
            name = field if isinstance(field, str) else field[0]
            value = combined(entry["request"], name)
            holds = value is None if isinstance(field, str) else value != field[1]
            check("expected_request_headers_missing", holds, f"{name} is {value!r}")
        if "expected_method" in step:
            check("expected_method", entry["method"] == step["expected_method"], f"method {entry['method']}")


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trawl", required=True)
    parser.add_argument("--vectors", default=here.parent / "Vectors" / "http-cache" / "http-cache.json")
    parser.add_argument("--store")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--json", action="store_true", help="one JSON object: outcome by case")
    arguments = parser.parse_args()

    suites = json.loads(pathlib.Path(arguments.vectors).read_text())["suites"]
    plans = [plan for suite in suites for plan in suite["tests"]]
    if arguments.only:
        plans = [plan for plan in plans if plan["id"] in arguments.only]
    origin = Origin()
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{origin.server_address[1]}"
    outcomes = {}
    with tempfile.TemporaryDirectory() as scratch:
        store = arguments.store or os.path.join(scratch, "store")
        pipe = Pipe([arguments.trawl, "pipe", "--store", store])

        # Mostly they wait, but some must be answered within a second or two, which a busy machine may not do for all of
        # them at once.
        turns = threading.Semaphore(MOST_AT_ONCE)

        def play(plan):
            case = Case(plan)
            origin.cases[case.path] = case
            try:
                with turns:
                    run(case, pipe, base)
                outcomes[plan["id"]] = ("pass", "")
            except Failure as failure:
                outcomes[plan["id"]] = ("setup" if failure.is_setup else "fail", str(failure))
            except Exception as failure:  # a mistake of this program must not look like a pass
                outcomes[plan["id"]] = ("fail", repr(failure))

        threads = [threading.Thread(target=play, args=(plan,)) for plan in plans]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        status = pipe.close()
        if status != 0:
            print(f"trawl pipe ended with status {status}", file=sys.stderr)
            return 1
    origin.shutdown()
    return report(plans, outcomes, arguments)


def report(plans, outcomes, arguments):
    if arguments.json:
        print(json.dumps({key: list(value) for key, value in outcomes.items()}))
    failed_required = False
    for kind in ("required", "optimal", "check"):
        of_kind = [plan for plan in plans if plan["kind"] == kind]
        passed = [plan for plan in of_kind if outcomes[plan["id"]][0] == "pass"]
        if not arguments.json:
            print(f"{kind}: {len(passed)} of {len(of_kind)}")
        for plan in of_kind:
            outcome, text = outcomes[plan["id"]]
            if kind == "required" and outcome != "pass":
                failed_required = True
            if not arguments.json and outcome != "pass" and (kind != "check" or arguments.verbose):
                print(f"  {outcome} {plan['id']}: {text}")
    return 1 if failed_required else 0


if __name__ == "__main__":
    sys.exit(main())
