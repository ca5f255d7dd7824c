#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
exact_calls.py FASTGATE COMPILER: `record --exact` counts every call of every function of a program,
without a project, and views show calls and instructions by call.
"""
import json
import os
import shutil
import sys

from checks import call, check, finish_in_scratch, target, write

FASTGATE, COMPILER = os.path.abspath(sys.argv[1]), sys.argv[2]
CALLS = {"main": 1, "mid": 100, "leaf": 451, "fib": 177}
SKIPPED = 77


def record(*words):
    return call(FASTGATE, "record", *words, "--", "./program")


def rows(*words):
    return json.loads(call(FASTGATE, "view", "--json", *words, check=True).stdout)["rows"]


def every_call_is_counted():
    done = record("--exact")
    check(done.returncode == 3, f"the exit code is the program's: {done}")
    found = {row["name"]: row for row in rows() if row["name"] in CALLS}
    check({name: row["calls"] for name, row in found.items()} == CALLS, f"calls: {found}")
    leaf, mid = found["leaf"], found["mid"]
    check(leaf["self_per_call"] == leaf["self"] / 451, f"by call: {leaf}")
    check(mid["total_per_call"] == mid["inclusive"] / 100, f"by call: {mid}")
    text = call(FASTGATE, "view", check=True).stdout
    check("./program\n" in text
          and all(word in text for word in (" calls ", " self/call ", " total/call ")), text)
    graph = call(FASTGATE, "view", "-V", "callgraph", check=True).stdout
    check("450/451 (99.8 %)" in graph and "1/451" in graph, f"who made the calls of leaf: {graph}")


def counts_are_the_same_each_time():
    first = {row["name"]: (row["self"], row["calls"]) for row in rows() if row["name"] in CALLS}
    record("--exact")
    second = {row["name"]: (row["self"], row["calls"]) for row in rows() if row["name"] in CALLS}
    check(first == second, f"{first} {second}")


def recording_before_is_kept_once():
    record()
    check(os.path.exists("fastgate-record.old/exact.callgrind")
          and not os.path.exists("fastgate-record/exact.callgrind"), "put aside")
    check(any(name.endswith(".fgtrace") for name in os.listdir("fastgate-record")),
          "the newest recording is one of time")
    record("--exact")
    check(os.listdir("fastgate-record.old") != []
          and not os.path.exists("fastgate-record.old/exact.callgrind"), "and its turn")
    done = record("--append")
    check(done.returncode == 2 and "nothing can be appended" in done.stderr, f"{done}")


def inapplicable_options_are_refused():
    for words in (("--rate", "100"), ("--clock", "wall"), ("--measure", "heap"),
                  ("--calls", "leaf"), ("--append",)):
        done = record("--exact", *words)
        check(done.returncode == 2 and f"{words[0]} does not apply" in done.stderr, f"{words}: {done}")
    done = call(FASTGATE, "record", "--exact", "--", "./nothing")
    check(done.returncode == 2 and "program './nothing' was not found" in done.stderr, f"{done}")


def body():
    os.environ.update(HOME=os.getcwd(), XDG_CACHE_HOME=os.path.join(os.getcwd(), "cache"))
    write("program.c", target("known_calls.c"))
    call(COMPILER, "-O1", "-g", "-o", "program", "program.c", check=True)
    every_call_is_counted()
    counts_are_the_same_each_time()
    recording_before_is_kept_once()
    inapplicable_options_are_refused()


if not shutil.which("valgrind"):
    print("skipped: valgrind is not installed")
    sys.exit(SKIPPED)
finish_in_scratch(body)
