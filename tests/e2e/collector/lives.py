#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
lives.py FASTGATE COLLECTOR TARGETS_FOLDER: how large allocations are and how many of them a block outlives, by function, whichever thread
gives it back; and which blocks are temporary.
"""
import json
import os
import sys

from checks import call, check, finish_in_scratch
from folded import by_leaf, measured

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR


def by_function(measure):
    return by_leaf(measured(FASTGATE, measure))


def classes(family, function):
    """{end of the class: count} of one function."""
    listed = call(FASTGATE, "view", "--measure", f"{family}.none", "fastgate-record").stderr
    ends = [word.strip(",.\n").removeprefix(f"{family}.") for word in listed.split() if word.startswith(f"{family}.")]
    found = {int(end): by_function(f"{family}.{end}").get(function, 0) for end in ends}
    return {end: count for end, count in found.items() if count}


def expect(family, function, wanted):
    found = classes(family, function)
    check(found == wanted, f"{family} of {function}: {wanted} expected, found {found}")


def expect_temporary(wanted, program, *options):
    call(FASTGATE, "record", "--measure", "heap", *options, "--", program, check=True)
    found = by_function("heap.temporary")
    found = {name: found.get(name, 0) for name in wanted}
    check(found == wanted, f"temporary {options}: {wanted} expected, found {found}")


def sizes_fall_into_classes_that_end_at_powers_of_two(program):
    call(FASTGATE, "record", "--measure", "sizes", "--", program, check=True)
    expect("heap.sizes", "make_sizes", {0: 1, 1: 1, 16: 1, 32: 2, 64: 1, 8192: 3, 1 << 20: 1})
    expect("heap.sizes", "make_queue", {8: 1000})
    check(by_function("heap.allocations").get("make_queue") == 1000, "sizes come with the allocations")


def lifetime_is_the_allocations_of_the_blocks_own_thread(program):
    call(FASTGATE, "record", "--measure", "heap,lifetimes", "--", program, check=True)
    expect("heap.lifetimes", "make_sizes", {0: 10})
    expect("heap.lifetimes", "make_queue", {0: 1, 1: 1, 2: 1, 4: 2, 8: 4, 16: 991})
    found = classes("heap.lifetimes", "make_handed_over")
    check(found.get(0) == 1 and sum(found.values()) == 2 and max(found) < 64, f"another thread's allocations age no block: {found}")
    expect("heap.lifetimes", "age_others", {0: 1000})
    expect("heap.lifetimes", "make_stubborn", {0: 3, 4: 1})
    expect("heap.lifetimes", "make_lasting", {})


def views_show_them():
    done = call(FASTGATE, "view", "--json", "-V", "lifetimes", "fastgate-record")
    row = {row["name"]: row for row in json.loads(done.stdout)["rows"]}["make_queue"]
    check((row["count"], row["median"], row["max"]) == (1000, 16, 16), f"{row}")
    done = call(FASTGATE, "view", "-V", "lifetimes", "-f", "^make_queue$", "fastgate-record")
    check("≤ 16 " in done.stdout and "####" in done.stdout and "make_sizes" not in done.stdout, done.stdout)
    done = call(FASTGATE, "view", "-V", "sizes", "fastgate-record")
    check(done.returncode == 2 and "--measure heap,sizes" in done.stderr, f"sizes were not asked for: {done}")


def what_is_temporary_can_be_said(program):
    expect_temporary({"make_sizes": 10, "make_queue": 0}, program)
    expect_temporary({"make_sizes": 10, "make_queue": 1}, program, "--temporary", "1")
    expect_temporary({"make_sizes": 10, "make_queue": 10}, program, "--temporary", "10")
    expect_temporary({"make_sizes": 10, "make_queue": 1000, "make_lasting": 0}, program, "--temporary", "11")
    done = call(FASTGATE, "record", "--temporary", "10", "--", program)
    check(done.returncode == 2 and "--measure heap" in done.stderr, f"--temporary of nothing: {done}")


def body():
    for suffix in ("", "_i386"):
        program = f"{TARGETS}/lives{suffix}"
        if not os.path.exists(program):
            continue
        sizes_fall_into_classes_that_end_at_powers_of_two(program)
        lifetime_is_the_allocations_of_the_blocks_own_thread(program)
        views_show_them()
        what_is_temporary_can_be_said(program)


finish_in_scratch(body)
