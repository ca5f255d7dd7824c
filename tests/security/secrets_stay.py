#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No program under test gets a secret, and a checkout cannot name one to be sent somewhere."""
import glob
import http.server
import os
import subprocess
import threading

from attack import FASTGATE, MAKE_RUNS, Server, token
from checks import check, finish_in_scratch

# What a hostile benchmark does: it writes down its environment, and that of those who started it.
SPY = """#!/bin/sh
exec >>spied
env
process=$$
for level in 1 2 3 4 5 6; do
	process=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$process/status)
	[ "$(basename "$(readlink /proc/$process/exe)")" = fastgate ] || continue
	tr '\\0' '\\n' </proc/$process/environ
	echo "SEEN=fastgate"
done
"""
CONFIG = """version: 1
project: tracker
benchmarks:
  - { name: spy, command: ./spy }
measure: { pairs: { min: 3, max: 3 } }
"""


def write_config(perfdb):
    with open("fastgate.yml", "w", encoding="utf-8") as file:
        file.write(CONFIG + f"perfdb: {perfdb}\n")


def programs_under_test(url, secret):
    with open("spy", "w", encoding="utf-8") as file:
        file.write(SPY)
    os.chmod("spy", 0o755)
    write_config(f'{{ url: "{url}", token_env: PERFDB_OWN, upload: required }}')
    secrets = {"PERFDB_OWN": secret, "PERFDB_TOKEN": "secret-1", "GITHUB_TOKEN": "secret-2", "GITLAB_TOKEN": "secret-3", "CI_JOB_TOKEN": "secret-4"}
    done = subprocess.run([FASTGATE, "run"], env={**os.environ, **secrets, "INNOCENT": "kept"}, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"the run, with its upload: {done.returncode} {done.stderr}")
    with open("spied", encoding="utf-8") as file:
        spied = file.read()
    check("INNOCENT=kept" in spied and "SEEN=fastgate" in spied, "the benchmark did not spy")
    for name, value in secrets.items():
        check(value not in spied, f"${name} reached the benchmark")


class Thief(http.server.BaseHTTPRequestHandler):
    seen = []

    def answer(self):
        Thief.seen.append(str(self.headers))
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_HEAD = do_POST = answer

    def log_message(self, *_):
        pass


def foreign_checkout():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Thief)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    subprocess.run([MAKE_RUNS, "spool", "1", "1"], check=True)

    def push(*words, **more):
        Thief.seen.clear()
        environment = {**os.environ, "CLOUD_KEY": "cloud-secret", "GITHUB_TOKEN": "github-secret", "PERFDB_TOKEN": "perfdb-secret", **more}
        return subprocess.run([FASTGATE, "push", "--spool", "spool", "--attempts", "1", *words], env=environment, capture_output=True, text=True, check=False)

    for name in ("CLOUD_KEY", "GITHUB_TOKEN", "HOME", "XPERFDB_TOKEN"):
        write_config(f'{{ url: "{url}", token_env: {name} }}')
        done = push()
        check(done.returncode == 2 and f"FASTGATE_TRUSTED_VARIABLES={name}" in done.stderr, f"{name}: {done.returncode} {done.stderr}")
        check(not Thief.seen, f"{name}: the thief was asked")
    write_config(f'{{ url: "{url}", token_env: CLOUD_KEY }}')
    push(FASTGATE_TRUSTED_VARIABLES="OTHER, CLOUD_KEY")
    check("cloud-secret" in "".join(Thief.seen), "what the user allows is not sent")
    write_config(f'{{ url: "{url}" }}')
    push(PERFDB_URL="https://perfdb.example.org")
    check(not Thief.seen, "the checkout's server is asked although the user has another")
    push(PERFDB_URL=url)
    check("perfdb-secret" in "".join(Thief.seen), "the user's own server gets no token")
    push("--url", url, "--token-env", "CLOUD_KEY", PERFDB_URL="https://perfdb.example.org")
    check("cloud-secret" in "".join(Thief.seen), "the command line is not obeyed")
    check(len(glob.glob("spool/*.fgrun")) == 1, "the run left the spool")
    server.shutdown()
    server.server_close()


def attack():
    secret = token("upload")
    with Server() as server:
        programs_under_test(f"http://127.0.0.1:{server.port}", secret)
    foreign_checkout()


finish_in_scratch(attack)
