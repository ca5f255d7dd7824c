#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
changed_input.py FASTGATE: after a commit that only makes an input larger, no
function is blamed and the file is named.
"""
import fcntl
import os
import pathlib
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, target, write

fastgate = os.path.abspath(sys.argv[1])
CONFIG = """version: 1
project: count
build: { command: make -s }
benchmarks: [ { name: count, command: COMMAND } ]
measure:
  schedule: abba
  warmup: 0
  pairs: { min: 12, max: 12 }
  sampler: { enabled: false }
  exact: off
report: { json: report.json }
"""


def project(name, command):
    os.makedirs(name)
    os.chdir(name)
    write(".gitignore", "/count\n.fastgate/\nreport.json\nlong.txt\n")
    write("Makefile", "count: count.c\n\tcc -O1 -o count count.c\n")
    write("count.c", target("summing.c", ADDED=0))
    write("data/words.txt", "ten bytes\n" * 1500)
    write("fastgate.yml", CONFIG.replace("COMMAND", command))
    git("init", "-q", "-b", "main", ".")
    git("add", ".")
    git("commit", "-qm", "Begin")


def commit_larger(code=False):
    write("data/words.txt", "ten bytes\n" * 3000)
    if code:
        write("count.c", target("summing.c", ADDED=1))
    git("commit", "-qam", "More words")


def measure(*options):
    done = call(fastgate, "run", "--against", "HEAD~1", "--no-post", *options)
    return done, first_benchmark() if os.path.exists("report.json") else {}


def is_confirmed(done, benchmark, where):
    notes = benchmark.get("notes", [])
    check(done.returncode == 0, f"{where}: exit code {done.returncode}: {done.stdout}{done.stderr}")
    check(notes and "data/words.txt" in notes[0], f"{where}: {notes}")
    check("data/words.txt" in done.stderr, f"{where}: {done.stderr}")


def a_changed_input_is_named_and_no_function_blamed():
    made = "sh -c 'cat data/words.txt data/words.txt >long.txt'"
    for name, command in (("opened", "./count"), ("named", "./count data/words.txt"),
                          ("made", f'./count long.txt, setup: "{made}"')):
        project(name, command)
        commit_larger()
        done, benchmark = measure()
        is_confirmed(done, benchmark, name)
        check(benchmark["verdict"] == "pass" and benchmark["identical"], f"{name}: {benchmark}")
        os.chdir("..")


def an_input_that_changed_with_code_is_named_too():
    project("both", "./count")
    commit_larger(code=True)
    done, benchmark = measure()
    is_confirmed(done, benchmark, "both")
    check(benchmark["verdict"] not in ("regression", "error"), f"both: {benchmark}")
    sizes = sorted(path.stat().st_size
                   for path in pathlib.Path(".fastgate/builds").glob("*/tree/data/words.txt"))
    check(sizes == [15000, 30000], f"each build has its own again: {sizes}")
    done, _ = measure()
    check("building" not in done.stderr, f"nothing is built again: {done.stderr}")
    os.chdir("..")


def a_changed_source_is_not_an_input():
    project("code", "./count")
    write("count.c", target("summing.c", ADDED=1))
    git("commit", "-qam", "Add one")
    done, benchmark = measure()
    check(not any("reads" in note for note in benchmark["notes"]), f"code: {benchmark['notes']}")
    check(done.returncode == 0, f"code: {done.stdout}{done.stderr}")
    os.chdir("..")


def a_baseline_in_use_is_not_changed():
    project("shared", "./count")
    commit_larger(code=True)
    measure()
    held = [open(path, encoding="utf-8") for path in pathlib.Path(".fastgate/builds").glob("*.lock")]
    for file in held:
        fcntl.flock(file, fcntl.LOCK_SH)
    done, benchmark = measure()
    check(done.returncode == 4 and benchmark["verdict"] == "error",
          f"shared: {done.stdout}{done.stderr}")
    check(benchmark["error"].startswith("inputs differ: data/words.txt"),
          f"shared: {benchmark['error']}")
    for file in held:
        file.close()
    os.chdir("..")


def all_of_it():
    a_changed_input_is_named_and_no_function_blamed()
    an_input_that_changed_with_code_is_named_too()
    a_changed_source_is_not_an_input()
    a_baseline_in_use_is_not_changed()


finish_in_scratch(all_of_it)
