#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
planted_files.py FASTGATE ROOT: a checkout brings a pipe or a link in place of fastgate.yml, a pipe
in place of a report, and a store with a view or a trigger that never ends. fastgate waits for none
of them, and quotes nothing from outside of the checkout.
"""
import os
import shutil
import sqlite3
import subprocess
import sys

from checks import call, check, finish_in_scratch, git, write

FASTGATE = os.path.abspath(sys.argv[1])
CONFIG = ('version: 1\nproject: planted\nbuild: { command: "true" }\nbenchmarks:\n'
          '  - { name: nothing, command: "true" }\n')
SECRET = "a-line-of-another-file"
ENDLESS = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, "
           "i AS project FROM n")


def fastgate(*words):
    """Exit code and output; None if it waits."""
    try:
        done = call(FASTGATE, *words, cwd="checkout")
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return None, "it waits"


def a_pipe_is_refused():
    os.mkfifo("checkout/fastgate.yml")
    code, words = fastgate("run")
    check(code == 2 and "fastgate.yml" in words, f"pipe: {code} {words}")
    os.remove("checkout/fastgate.yml")
    os.mkfifo("checkout/report.json")
    write("checkout/fastgate.yml", CONFIG)
    code, words = fastgate("report", "--post-from", "report.json")
    check(code == 2 and "not a regular file" in words, f"pipe as a job's report: {code} {words}")
    os.remove("checkout/fastgate.yml")


def a_link_out_of_the_checkout_is_refused():
    write("private", f"{SECRET}: [\n{SECRET}\n")
    os.symlink("../private", "checkout/fastgate.yml")
    code, words = fastgate("run")
    check(code == 2 and "leads out of the checkout" in words and SECRET not in words,
          f"link: {code} {words}")
    os.remove("checkout/fastgate.yml")
    write("checkout/ci/gate.yml", CONFIG)
    os.symlink("ci/gate.yml", "checkout/fastgate.yml")
    code, words = fastgate("run", "--pairs", "2:2")
    check(code == 0, f"link within the checkout: {code} {words}")
    os.remove("checkout/fastgate.yml")


def plant(script):
    shutil.rmtree("checkout/.fastgate", ignore_errors=True)
    code, words = fastgate("run", "--pairs", "2:2")
    check(code == 0, f"a run to store: {code} {words}")
    store = sqlite3.connect("checkout/.fastgate/store.db")
    store.executescript(script)
    store.close()


def a_store_with_code_is_refused():
    write("checkout/fastgate.yml", CONFIG)
    plant("CREATE TRIGGER late AFTER INSERT ON run BEGIN UPDATE run SET id = (SELECT max(id) FROM "
          f"({ENDLESS})); END")
    stored_is_refused(("run", "--pairs", "2:2"))
    plant(f"PRAGMA writable_schema = ON; ALTER TABLE run RENAME TO kept; CREATE VIEW run AS {ENDLESS}")
    stored_is_refused(("runs",), ("history",), ("report",), ("run", "--pairs", "2:2"))


def stored_is_refused(*commands):
    for words in commands:
        code, said = fastgate(*words)
        check(code not in (0, None) and "it has views or triggers" in said, f"{words}: {code} {said}")


def main():
    os.mkdir("checkout")
    git("init", "-q", cwd="checkout")
    git("commit", "-q", "--allow-empty", "-m", "Nothing", cwd="checkout")
    a_pipe_is_refused()
    a_link_out_of_the_checkout_is_refused()
    a_store_with_code_is_refused()


finish_in_scratch(main)
