#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run leaves the spool only when a server has confirmed its id and content."""
import glob
import http.server
import json
import os
import subprocess
import threading

from attack import FASTGATE, MAKE_RUNS, Server, token
from checks import check, finish_in_scratch


class Impostor(http.server.BaseHTTPRequestHandler):
    """Stands for anything between a client and its server: it answers 200, or 201, to everything."""
    status = 200
    reply = b""

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = self.reply
        if callable(body):
            body = body(self.headers.get("Idempotency-Key", ""))
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = answer

    def log_message(self, *_):
        pass


def push(url, **more):
    return subprocess.run([FASTGATE, "push", "--quiet", "--spool", "spool", "--attempts", "1",
                           "--url", url],
                          capture_output=True, text=True, check=False, env={**os.environ, **more})


def spooled():
    return len(glob.glob("spool/*.fgrun"))


def of_run(**more):
    return lambda run: json.dumps({"run": run, "stored": True, **more}).encode()


def attack():
    subprocess.run([MAKE_RUNS, "spool", "1", "2"], check=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Impostor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    for what, status, reply in (("a login page", 200, b"<html><form>Password</form></html>"),
                                ("nothing", 200, b""), ("nothing", 201, b""),
                                ("an empty object", 201, b"{}"), ("a list", 200, b"[]"),
                                ("another run", 201, b'{"run":"x","digest":"x"}'),
                                ("the run without its digest", 201, of_run()),
                                ("the run with another digest", 201, of_run(digest="0" * 64))):
        Impostor.status, Impostor.reply = status, staticmethod(reply) if callable(reply) else reply
        done = push(url)
        check(done.returncode != 0 and "without confirming" in done.stderr,
              f"{what} is taken for a confirmation: {done.stderr}")
        check(spooled() == 2, f"{what}: a run left the spool")
    server.shutdown()
    server.server_close()
    with Server() as real:
        done = push(f"http://127.0.0.1:{real.port}", PERFDB_TOKEN=real.key)
        check(done.returncode == 0 and spooled() == 0 and len(real.runs()) == 2,
              f"a real server: {done.stderr}")
        secret = token("upload")
        subprocess.run([MAKE_RUNS, "spool", "3", "1"], check=True)
        done = push(f"http://127.0.0.1:{real.port}", PERFDB_TOKEN=secret + "\r\nX-Injected: 1")
        check(done.returncode != 0 and "line break" in done.stderr and spooled() == 1,
              f"a token with a line break: {done.stderr}")


finish_in_scratch(attack)
