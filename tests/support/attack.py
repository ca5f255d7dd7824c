# SPDX-License-Identifier: Apache-2.0
"""
Shared by the attacks: each gets its own server, and a client that sends exactly the given bytes.
Scripts are called with PERFDB FASTGATE MAKE_RUNS; PERFDB_TEST_URL names a PostgreSQL; without it, the
database is a file.
"""
import glob
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import deque

from checks import HUNG_S, call, check

PERFDB, FASTGATE, MAKE_RUNS = (os.path.abspath(path) for path in sys.argv[1:4])
DATABASE = os.environ.get("PERFDB_TEST_URL") or "perfdb.db"
NOBODY = ""
RUN_TYPE = "application/vnd.fastgate.run"

SAID_LINES = 500
LOG_LINES = 40
CLOCKS_APART = time.time() - time.monotonic()

for name in list(os.environ):
    if name.lower().endswith("_proxy"):
        del os.environ[name]


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        words = lines[0].split(" ")
        self.status = int(words[1]) if len(words) > 1 else 0
        self.headers = {}
        for line in lines[1:]:
            key, _, value = line.partition(":")
            self.headers[key.strip().lower()] = value.strip()

    def json(self):
        return json.loads(self.body)

    def code(self):
        return self.json()["error"]["code"]


class Server:
    """
    `perfdb serve` on a free port, or another program that reports where it serves. Requests without
    a token use the administrator's key if this is the database's first start; requests with the token
    NOBODY have no key.
    """

    def __init__(self, *options, program=None, environment=None):
        words = program or [PERFDB, "serve", "--database", DATABASE, "--listen", "127.0.0.1:0"]
        with open("server.log", "ab") as log:
            self.process = subprocess.Popen([*words, *options],
                                            stdout=log, stderr=subprocess.PIPE, text=True,
                                            errors="replace", env={**os.environ, **(environment or {})},
                                            stdin=subprocess.DEVNULL)
        said = ""
        self.url = None
        while self.url is None:
            line = self.process.stderr.readline()
            if not line:
                raise SystemExit(f"the server did not start: {said}")
            said += line
            found = re.search(r" at (https?://[^\s]+)", line)
            self.url = found.group(1) if found else None
        self.port = int(re.search(r":(\d+)/", self.url).group(1))
        first = re.search(r"#token=(fgt_[0-9a-f]{64})", said)
        self.key = first.group(1) if first else None
        self.said = deque(said.splitlines(True), SAID_LINES)
        self.listener = threading.Thread(target=lambda: self.said.extend(self.process.stderr),
                                         daemon=True)
        self.listener.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
        self.listener.join()
        self.process.stderr.close()

    def story(self):
        """
        For a failed test: whether the server is alive, the state of its threads, and the output of the
        server and PostgreSQL.
        """
        moved = time.time() - time.monotonic() - CLOCKS_APART
        told = [f"exit code {self.process.poll()}; "
                f"the wall clock was moved by {moved:.3f} s since the test began; threads:\n"]
        for folder in sorted(glob.glob(f"/proc/{self.process.pid}/task/*")):
            told.append("  " + " ".join(read_line(os.path.join(folder, name))
                                        for name in ("comm", "wchan", "syscall")) + "\n")
        told += ["standard error:\n", *self.said.copy(), "server.log:\n"]
        with open("server.log", encoding="utf-8", errors="replace") as log:
            told += deque(log, LOG_LINES)
        if DATABASE.startswith("postgresql://") and shutil.which("psql"):
            for question in ("SELECT pid, state, wait_event, xact_start, query FROM pg_stat_activity"
                             " WHERE backend_type = 'client backend'",
                             "SELECT pid, locktype, relation::regclass, objid, mode FROM pg_locks"
                             " WHERE NOT granted"):
                told.append(call("psql", "-X", "-d", DATABASE, "-c", question).stdout)
        return "".join(told)

    def say(self, data, source="127.0.0.1"):
        """
        Sends raw bytes; returns everything received until the server closes or the answer is complete.
        """
        with socket.create_connection(("127.0.0.1", self.port), HUNG_S, (source, 0)) as line:
            try:
                line.sendall(data)
            except OSError:
                pass  # refused early; the server's answer can still be read
            raw, size = bytearray(), None
            while size is None or len(raw) < size:
                try:
                    piece = line.recv(65536)
                except OSError:
                    break
                if not piece:
                    break
                raw += piece
                size = size or size_of_answer(raw)
            return Answer(bytes(raw))

    def ask(self, method, path, headers=None, body=None, source="127.0.0.1", token=None):
        lines = {"Host": f"127.0.0.1:{self.port}", **(headers or {})}
        token = self.key if token is None else token
        if token:
            lines.setdefault("Authorization", f"Bearer {token}")
        if body is not None:
            lines["Content-Length"] = len(body)
        text = "".join(f"{key}: {value}\r\n" for key, value in lines.items())
        return self.say(f"{method} {path} HTTP/1.1\r\n{text}\r\n".encode("latin-1") + (body or b""),
                        source)

    def write(self, path, value, headers=None, **more):
        return self.ask("POST", path, {"Content-Type": "application/json", **(headers or {})},
                        json.dumps(value).encode(), **more)

    def runs(self, **more):
        return [run["id"] for run in self.ask("GET", "/api/v1/runs", **more).json()["runs"]]


def read_line(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError as error:
        return f"({error.strerror})"


def size_of_answer(raw):
    """Size of the answer with its headers; None: unknown, or the headers are incomplete."""
    head, end, _ = raw.partition(b"\r\n\r\n")
    found = re.search(rb"content-length: *(\d+)", head, re.I)
    return len(head) + len(end) + int(found.group(1)) if end and found else None


def token(scope, *options):
    return subprocess.run(
        [PERFDB, "token", "create", "--database", DATABASE, "--scope", scope, *options],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.strip()


def push(server, count=2, secret=None):
    """Uploads runs of the project "tracker" with the real client."""
    subprocess.run([MAKE_RUNS, "spool", "1", str(count)], check=True)
    secret = secret or server.key
    environment = {**os.environ, "PERFDB_TOKEN": secret} if secret else os.environ
    done = subprocess.run([FASTGATE, "push", "--quiet", "--spool", "spool",
                           "--url", f"http://127.0.0.1:{server.port}"],
                          env=environment, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"the runs were not taken: {done.stderr}")


def expect(answer, status, what):
    check(answer.status == status, f"{what}: {answer.status} instead of {status}: {answer.body[:300]!r}")
    return answer


def parts(path):
    """Envelope, dictionary and values of a run in a spool."""
    with open(path, "rb") as file:
        data = file.read()
    sizes = struct.unpack("<3I", data[8:20])
    at, found = 24, []
    for size in sizes:
        found.append(data[at:at + size])
        at += size
    return found


def crc32c(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ 0x82F63B78 if i & 1 else i >> 1
        table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def parcel(envelope, dictionary, values):
    body = envelope + dictionary + values
    return b"FGRUN/1\n" + struct.pack("<4I", len(envelope), len(dictionary), len(values),
                                      crc32c(body)) + body


def send(server, data, secret):
    """Uploads a parcel."""
    return server.ask("POST", "/api/v1/runs", {"Content-Type": RUN_TYPE}, data, token=secret)
