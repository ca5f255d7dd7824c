#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
readonly.py FASTGATE MAKE_STORE: as a user without write permission anywhere, fastgate reports that in
one line and exits with 6; commands that only read, or that must not store anything, work. As root, the
commands run as another user, because root may write everywhere.
"""
import os
import subprocess
import sys

from checks import call, failures, finish_in_scratch

FASTGATE, MAKE_STORE = (os.path.abspath(path) for path in sys.argv[1:3])
ANOTHER = 65534
CONFIG = ("version: 1\nproject: tracker\nbenchmarks:\n  - { name: quick, command: 'true' }\n"
          "measure: { pairs: { min: 2, max: 2 } }\n")


def drop_rights():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(ANOTHER)
        os.setuid(ANOTHER)


def run(*words):
    done = call(FASTGATE, *words, preexec_fn=drop_rights)
    return done.returncode, done.stdout, done.stderr


def expect(code, part, *words):
    got, out, err = run(*words)
    lines = [line for line in err.splitlines() if line.startswith("fastgate: ")]
    fine = got == code and (part in err) and (code == 0 or len(lines) == 1)
    if not fine:
        failures.append(f"{' '.join(words)}: {got}, expected {code} and {part!r}\n{out}{err}")


def main():
    work = os.getcwd()
    os.environ.update(HOME=work, XDG_CACHE_HOME=os.path.join(work, "cache"))
    os.environ.pop("TMPDIR", None)
    for name in ("fresh", "kept"):
        os.makedirs(f"{name}/.fastgate" if name == "kept" else name)
        with open(f"{name}/fastgate.yml", "w", encoding="ascii") as file:
            file.write(CONFIG)
    subprocess.run([MAKE_STORE, "kept/.fastgate/store.db"], check=True)
    for folder, _, files in os.walk(work):
        os.chmod(folder, 0o555)
        for name in files:
            os.chmod(os.path.join(folder, name), 0o444)
    if os.geteuid() == 0 and run("--version")[0] != 0:
        print("another user cannot reach the programs here")
        sys.exit(77)
    os.chdir(f"{work}/fresh")
    expect(6, "cannot create the folder", "run")
    expect(6, "cannot create the folder", "record", "--", "true")
    expect(6, "cannot create the folder", "run", "--no-store")
    os.chdir(f"{work}/kept")
    expect(0, "", "runs")
    expect(0, "", "report")
    expect(6, "cannot write", "report", "-o", "report.html")
    expect(6, "store.db", "run")


finish_in_scratch(main)
