#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
killed.py FASTGATE COLLECTOR TARGETS_FOLDER: however a program ends, its trace has everything
counted and held until then, and no view shows more than was recorded.
"""
import json
import os
import sys

from checks import call, check, finish_in_scratch
from folded import by_leaf, measured, total

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR

ENDS = ("exit", "_exit", "abort", "segv", "term", "kill", "group", "stack")
KNOWS_ITS_END = ("exit", "_exit")
COUNTED = {
    "heap.allocations": {"make_kept": 100000, "make_freed": 1000},
    "heap.bytes": {"make_kept": 1600000, "make_freed": 100000},
    "heap.live": {"make_kept": 1600000},
    "heap.live_blocks": {"make_kept": 100000},
    "heap.peak": {"make_kept": 1600000},
    "heap.own_peak": {"make_kept": 1600000, "make_freed": 100},
    "heap.temporary": {"make_freed": 1000},
    "fd.opened": {"open_files": 50},
    "fd.live": {"open_files": 50},
    "io.bytes_written": {"open_files": 500},
}


def view(*words):
    return call(FASTGATE, "view", "fastgate-record", *words)


def resources_are_all_there(program, how):
    call(FASTGATE, "record", "--measure", "heap,fd,io", "--", program, how)
    for measure, wanted in COUNTED.items():
        found = by_leaf(measured(FASTGATE, measure))
        check({name: found.get(name) for name in wanted} == wanted,
              f"{how}: {measure}: {wanted} expected, found {found}")


def missing_data_is_reported(how):
    leaks = view("-V", "leaks")
    shown = view("-V", "memory")
    listed = json.loads(view("--json", "--measure", "heap.live").stdout)
    says_so = "was killed" in shown.stdout + shown.stderr
    if how in KNOWS_ITS_END:
        check(leaks.returncode == 0 and not says_so
              and not any("was killed" in note for note in listed["notes"]), f"{how}: {leaks}{shown}")
        return
    check(leaks.returncode != 0 and "nothing was lost" not in leaks.stdout, f"{how}: {leaks}")
    check(says_so and any("was killed" in note for note in listed["notes"]),
          f"{how}: {shown}{listed['notes']}")


def regions_are_counted_or_reported_as_lost(program, how):
    call(FASTGATE, "record", "--rate", "10000", "--", program, how)
    shown = view("-V", "regions")
    lost = "the counts and times of its regions are unknown" in shown.stdout + shown.stderr
    check(lost != (how in KNOWS_ITS_END), f"{how}: {shown}")


def calls_are_all_there(program, how):
    call(FASTGATE, "record", "--calls", "exp,malloc", "--domains", "exp", "--times", "--", program, how)
    check(total(measured(FASTGATE, "calls.exp")) == 1000,
          f"{how}: calls.exp: {measured(FASTGATE, 'calls.exp')}")
    found = by_leaf(measured(FASTGATE, "calls.malloc"))
    check(found.get("make_kept") == 100000 and found.get("make_freed") == 1000,
          f"{how}: calls.malloc: {found}")
    rows = json.loads(view("--json", "-V", "domains").stdout)["rows"]
    check(rows and 500 <= rows[0]["calls"] <= 1000, f"{how}: at least half of the arguments: {rows}")
    check("exp" in view("-V", "times").stdout, f"{how}: {view('-V', 'times')}")


def body():
    check(os.path.exists(f"{TARGETS}/killed"), f"no program in {TARGETS}")
    for suffix in ("", "_i386"):
        program = f"{TARGETS}/killed{suffix}"
        if not os.path.exists(program):
            continue
        for how in ENDS:
            resources_are_all_there(program, how)
            missing_data_is_reported(how)
            regions_are_counted_or_reported_as_lost(program, how)
            if not suffix:
                calls_are_all_there(program, how)


finish_in_scratch(body)
