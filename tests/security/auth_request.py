#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The recipe of docs/perfdb-access.md in a real nginx: a separate service decides who is signed in, and
names claimed by clients are not passed on.
"""
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request

from attack import DATABASE, PERFDB, Server, push, token
from checks import call, check, finish_in_scratch

os.environ["PATH"] += ":/usr/sbin"
RECIPE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "perfdb",
                      "nginx-people.conf")
if not shutil.which("nginx"):
    print("skipped: nginx is not installed")
    sys.exit(77)


class SignIn(http.server.BaseHTTPRequestHandler):
    """Stands in for oauth2-proxy: a cookie names the person."""

    def do_GET(self):
        who = (self.headers.get("Cookie") or "").removeprefix("who=")
        self.send_response((202 if who else 401) if self.path == "/oauth2/auth" else 200)
        if who and self.path == "/oauth2/auth":
            self.send_header("X-Auth-Request-Email", f"{who}@example.org")
            self.send_header("X-Auth-Request-Groups", "staff" if who == "ann" else "")
        self.send_header("Content-Length", "12")
        self.end_headers()
        self.wfile.write(b"sign in here")

    def log_message(self, *_):
        pass


def start_nginx(server, service):
    """Takes a free port; another program may take it first, so the caller tries a few times."""
    with open(RECIPE, encoding="utf-8") as file:
        recipe = file.read().replace("127.0.0.1:4180", f"127.0.0.1:{service.server_port}")
    here = os.getcwd()
    folders = " ".join(f"{kind}_temp_path {here}/{kind};"
                       for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    for _ in range(3):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        with open("nginx.conf", "w", encoding="utf-8") as file:
            file.write("daemon off; master_process off; "
                       f"error_log {here}/error.log; pid {here}/nginx.pid; events {{}}\n"
                       f"http {{ access_log off; {folders}\n"
                       f"upstream perfdb {{ server 127.0.0.1:{server.port}; }}\n"
                       f"server {{ listen 127.0.0.1:{port};\n{recipe}}} }}\n")
        nginx = subprocess.Popen(["nginx", "-p", here, "-c", f"{here}/nginx.conf"],
                                 stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        while nginx.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return nginx, port
            except OSError:
                continue
    with open("error.log", encoding="utf-8") as file:
        raise SystemExit(f"nginx does not take the recipe: {file.read()}")


def ask(port, path="/api/v1/runs?project=tracker", **headers):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def attempt(port, secret):
    check(ask(port) == (200, b"sign in here"), f"a stranger: {ask(port)}")
    check(ask(port, Cookie="who=ann")[0] == 200, f"ann, by her group: {ask(port, Cookie='who=ann')}")
    check(ask(port, Cookie="who=eve")[0] == 403, f"eve, who has no role: {ask(port, Cookie='who=eve')}")
    for claimed in ({"X_User": "root@example.org"}, {"X_Groups": "staff"},
                    {"X_User": "root@example.org", "X_Groups": "staff"}):
        check(ask(port, Cookie="who=eve", **claimed)[0] == 403, f"eve claims {claimed}")
        check(ask(port, Authorization="Bearer x", **claimed)[0] == 401,
              f"somebody without a token claims {claimed}")
        check(ask(port, **claimed)[1] == b"sign in here", f"a stranger claims {claimed}")
    check(ask(port, Authorization=f"Bearer {secret}")[0] == 200, "a token works as well")


def attack():
    secret = token("admin")
    for words in (("root@example.org", "--scope", "admin"),
                  ("--group", "staff", "--scope", "read", "--project", "tracker")):
        check(call(PERFDB, "role", "add", "--database", DATABASE, *words).returncode == 0,
              f"role add {words}")
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SignIn)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    with Server("--behind-proxy", "--trust-proxy", "127.0.0.1", "--user-header", "X-User",
                "--groups-header", "X-Groups") as server:
        push(server, secret=secret)
        nginx, port = start_nginx(server, service)
        try:
            attempt(port, secret)
        finally:
            nginx.terminate()
            nginx.wait()
    service.shutdown()


finish_in_scratch(attack)
