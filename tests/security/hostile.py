#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
hostile.py FASTGATE ROOT HOSTILE: a candidate that is 50 % slower harms its baseline to look fast.
None of its attacks makes the gate pass: a killed baseline is an error, processes left running
during a duet set its pairs aside, and damaged traces are reported.
"""
import json
import os
import pathlib
import shutil
import sys

from checks import call, check, finish_in_scratch, write

FASTGATE, HOSTILE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3])
ERROR = 4


def duel(schedule, candidate, baseline="./victim 60"):
    """Exit code, benchmark in the report, and output."""
    done = call(FASTGATE, "duel", "--json", "--pairs", "6:8", "--schedule", schedule,
                baseline, candidate)
    return done.returncode, json.loads(done.stdout)["benchmarks"][0], done.stdout + done.stderr


def a_killed_baseline_is_an_error():
    code, benchmark, words = duel("duet", "./culprit 90 kill victim")
    check(code == ERROR and benchmark["verdict"] == "error", f"killed: {code} {words}")
    check("was killed by signal 9" in words and "./victim" in words,
          f"killed: the reason is missing: {words}")


def a_killed_gate_does_not_pass():
    done = call(FASTGATE, "duel", "--pairs", "6:8", "--schedule", "duet", "./victim 60",
                "./culprit 90 above fastgate")
    check(done.returncode not in (0, 1, 3), f"killed gate: {done}")
    check("PASS" not in done.stdout, f"killed gate: {done.stdout}")


def processes_left_running_in_a_duet_set_its_pairs_aside():
    code, benchmark, words = duel("duet", "./culprit 90 linger pid")
    check(code == ERROR and benchmark["pairs"] == 0, f"left running: {code} {words}")
    check("left processes running while the other ran" in words,
          f"left running: the reason is missing: {words}")


def a_process_left_behind_does_not_live_to_meet_the_baseline():
    # The baseline looks for the process by its id, and logs it.
    baseline = (
        "if [ -e pid ] && kill -0 $(cat pid) 2>/dev/null; then echo met >>met; fi; exec ./victim 60")
    code, _, words = duel("abba", "./culprit 90 linger pid", f"sh -c '{baseline}'")
    check(os.path.exists("pid") and not os.path.exists("met"), "the process still ran with the baseline")
    check("left processes running" in words, f"left behind: nobody says so: {words}")
    check(code != ERROR, f"left behind: {code} {words}")


def damaged_traces_are_reported_and_blame_nobody():
    code, benchmark, words = duel("duet", "./culprit 90 damage victim")
    check("not a fastgate trace" in words, f"damaged: nobody says so: {words}")
    check(not any(one["standing"] == "guilty" for one in benchmark["functions"]),
          f"damaged: {benchmark['functions']}")
    check(benchmark["verdict"] != "pass", f"damaged: {code} {words}")


def the_seed_is_not_handed_to_a_program():
    write("look.sh", "cat /proc/$$/environ /proc/$$/cmdline /proc/$PPID/environ /proc/$PPID/cmdline "
          ">>seen; ls -l /proc/$$/fd >>seen; exec ./victim 5\n")
    write("fastgate.yml",
          "version: 1\nproject: seed\nbenchmarks: [ { name: look, command: sh look.sh } ]\n"
          "measure: { schedule: abba, pairs: { min: 2, max: 2 } }\n")
    done = call(FASTGATE, "run", "--no-post")
    shown = json.loads(call(FASTGATE, "show", "--json").stdout)
    seed, seen = int(shown["seed"], 16), pathlib.Path("seen").read_bytes()
    check(seed > 1 << 32 and b"look.sh" in seen, f"seed: {seed:x} {len(seen)} bytes seen: {done}")
    for words in (f"{seed:x}", str(seed)):
        check(words.encode() not in seen.lower(), f"a program can read the seed {seed:x}: {seen}")


def main():
    for name in ("victim", "culprit"):
        shutil.copy(HOSTILE, name)
    a_killed_baseline_is_an_error()
    a_killed_gate_does_not_pass()
    processes_left_running_in_a_duet_set_its_pairs_aside()
    a_process_left_behind_does_not_live_to_meet_the_baseline()
    damaged_traces_are_reported_and_blame_nobody()
    the_seed_is_not_handed_to_a_program()


finish_in_scratch(main)
