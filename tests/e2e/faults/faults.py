#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
faults.py FASTGATE MAKE_STORE: files that cannot be written, and stores that cannot be used. Whatever
fails, fastgate exits with the right code and one line that names the failure; earlier reports and runs
survive, and no temporary file is left.
"""
import os
import resource
import sqlite3
import subprocess
import sys

from checks import HUNG_S, call, check, finish_in_scratch

FASTGATE, MAKE_STORE = sys.argv[1:3]
CONFIG = """version: 1
project: tracker
benchmarks:
  - { name: quick, command: "true" }
measure: { pairs: { min: 2, max: 2 }, sampler: { enabled: false } }
"""
STORE = ".fastgate/store.db"
KIB = 1024


def start(*arguments, limit=None, **more):
    def lower():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return subprocess.Popen([FASTGATE, *arguments], stdout=more.pop("stdout", subprocess.PIPE),
                            stderr=subprocess.PIPE, text=True,
                            preexec_fn=None if limit is None else lower, **more)


def end(process):
    out, err = process.communicate(timeout=HUNG_S)
    return process.returncode, out or "", err


def run(*arguments, **more):
    return end(start(*arguments, **more))


def refuses(part, *arguments, code=6, **more):
    """Runs a command that must end with `code` and one line on standard error, which contains `part`."""
    got, _, err = run(*arguments, **more)
    lines = [line for line in err.splitlines() if line.startswith("fastgate: ")]
    check(got == code and len(lines) == 1 and part in lines[0],
          f"{arguments} {more}: {got}, {err!r}, expected {code} and {part!r}")


def listed():
    code, out, err = run("runs", "--limit", "1000")
    check(code == 0, f"runs: {code} {err}")
    # indented lines belong to the row above
    return [line.split()[0] for line in out.splitlines()[1:] if not line.startswith(" ")]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def put(path, data):
    with open(path, "wb") as file:
        file.write(data)


def a_full_target_is_one_line_and_loses_no_run():
    with open("/dev/full", "w", encoding="ascii") as full:
        for arguments in (["runs"], ["report"], ["report", "--format", "json"]):
            refuses("cannot write to standard output", *arguments, stdout=full)
    refuses("No space left on device", "report", "-o", "/dev/full")
    refuses("No such file or directory", "report", "-o", "nowhere/report.html")
    # The report cannot be written, but the run is stored and shown.
    before = listed()
    refuses("No space left on device", "run", "--set", "report.json=/dev/full")
    check(len(listed()) == len(before) + 1, "a run was lost with its report")


def a_file_that_may_not_grow_stays_whole():
    """
    At every file size limit until success, the report is the new one or the old one, no other file is
    left, and no signal ends fastgate.
    """
    written = set()
    folder = "reports"
    os.mkdir(folder)
    path = os.path.join(folder, "report.html")
    for limit in (0, KIB, 8 * KIB, 33 * KIB, 48 * KIB, 64 * KIB, KIB * KIB):
        put(path, b"old")
        code, _, err = run("report", "-o", path, limit=limit)
        whole = content(path)
        check(code in (0, 6) and (code == 0) == whole.endswith(b"</html>\n"),
              f"report below {limit}: {code} {err!r}")
        check(code == 0 or whole == b"old" and err.startswith("fastgate: "),
              f"report below {limit}: {code} {err!r}")
        check(os.listdir(folder) == ["report.html"], f"report below {limit} leaves {os.listdir(folder)}")
        written.add(code)
    check(written == {0, 6}, f"the limits of report tried nothing: {written}")

    written = set()
    for limit in (0, 16 * KIB, 40 * KIB, 96 * KIB, 4096 * KIB):
        before = listed()
        code, _, err = run("run", limit=limit)
        check(code == 0 or code == 6 and "store.db' cannot be read or written" in err,
              f"run below {limit}: {code} {err!r}")
        check(set(before) <= set(listed()), f"run below {limit} lost a run")
        written.add(code)
    check(written == {0, 6}, f"the limits of run tried nothing: {written}")


def a_damaged_store_is_refused_and_left_alone(good):
    half = good[:len(good) // 3]
    middle = good[:4096] + os.urandom(20 * 4096) + good[21 * 4096:]
    for data, part in ((os.urandom(5000), "it is not an SQLite database"), (half, "is damaged"),
                       (middle, "is damaged")):
        for arguments in (["runs"], ["report"], ["run"]):
            put(STORE, data)
            refuses(part, *arguments)
            check(content(STORE) == data, f"{arguments}: a store with {part!r} was changed")

    put(STORE, good)
    with sqlite3.connect(STORE) as db:
        db.execute("UPDATE schema_version SET version = version + 1")
    db.close()
    newer = content(STORE)
    for arguments in (["runs"], ["report"], ["run"]):
        refuses("was written by a newer fastgate", *arguments)
        check(content(STORE) == newer, f"{arguments}: a newer store was changed")

    os.remove(STORE)
    os.mkdir(STORE)
    refuses("cannot be opened", "runs")
    refuses("cannot be opened", "run")
    os.rmdir(STORE)
    refuses("no store at 'nowhere.db'", "runs", "--store", "nowhere.db", code=2)
    put(STORE, good)


def a_run_that_cannot_be_kept_is_reported(good):
    """The store accepts the pairs but not the result: the measurements are still shown and reported."""
    put(STORE, good)
    with sqlite3.connect(STORE) as db:
        db.execute("DROP TABLE report")
    db.close()
    code, out, err = run("run", "--set", "report.json=kept.json")
    check(code == 6 and "no such table: report" in err and out.startswith("quick "),
          f"a run that cannot be kept: {code} {out!r} {err!r}")
    check(os.path.exists("kept.json"), "a run that cannot be kept is not reported")
    put(STORE, good)


def a_locked_store_is_read_and_not_written():
    """
    Another process holds a write lock for longer than fastgate waits: readers are not disturbed,
    and a writer gives up with one line.
    """
    before = listed()
    holder = sqlite3.connect(STORE, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    writer = start("run")
    check(listed() == before, "a locked store cannot be listed")
    code, _, err = end(writer)
    check(code == 6 and "is locked by another process" in err,
          f"run with a locked store: {code} {err!r}")
    holder.execute("ROLLBACK")
    holder.close()
    check(listed() == before, "a locked store lost something")
    check(run("run")[0] == 0 and len(listed()) == len(before) + 1,
          "the store is not usable after the lock")


def main():
    os.mkdir(".fastgate")
    put("fastgate.yml", CONFIG.encode())
    call(MAKE_STORE, STORE, check=True)
    good = content(STORE)
    a_full_target_is_one_line_and_loses_no_run()
    a_file_that_may_not_grow_stays_whole()
    a_damaged_store_is_refused_and_left_alone(good)
    a_run_that_cannot_be_kept_is_reported(good)
    a_locked_store_is_read_and_not_written()


finish_in_scratch(main)
