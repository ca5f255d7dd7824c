#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
throws.py FASTGATE COLLECTOR TARGETS_FOLDER: `fastgate record --measure throws` counts every exception where it was thrown, and by its type,
also in C++ that a program in C loads; what is thrown arrives.
"""
import json
import os
import sys

import counting
from checks import check, finish_in_scratch
from counting import call, expect, recorded, total


def each_exception_is_counted_by_path_and_type(program):
    recorded("throws", program)
    check(total("throws") == 407, f"{total('throws')} exceptions, not 407")
    expect("throws", {"throw_numbers(int)": 300, "throw_errors(int)": 100, "throw_again(int)": 5, "look_beyond(int)": 2})
    for name, count in (("int", 300), ("std::runtime_error", 100), ("lost_track", 5), ("std::out_of_range", 2)):
        check(total(f"throws.{name}") == count, f"{name}: {total(f'throws.{name}')}, not {count}")
    expect("throws.std::runtime_error", {"throw_numbers(int)": 0, "throw_errors(int)": 100})


def caught():
    """{(type, function that threw, function that caught): count}, of C++ libraries and ours."""
    shown = call(counting.FASTGATE, "view", "--json", "-V", "throws", "fastgate-record", check=True).stdout
    return {(row["type"], row["thrown_by"].split(" ← ")[0], row["caught_by"]): row["count"] for row in json.loads(shown)["rows"]}


def each_exception_is_told_where_it_was_caught(program):
    recorded("throws", program)
    expect("catches", {"throw_numbers(int)": 300, "throw_errors(int)": 100, "throw_again(int)": 10, "look_beyond(int)": 2})
    found = caught()
    errors = ("std::runtime_error", "throw_errors(int)", "throw_errors(int)")
    wanted = {("int", "throw_numbers(int)", "throw_numbers(int)"): 300, ("lost_track", "throw_again(int)", "throw_again(int)"): 5,
              ("lost_track", "throw_again(int)", "throw_again(int), again"): 5}
    check({pair: found.get(pair) for pair in wanted} == wanted, f"{wanted} expected, found {found}")
    shown = call(counting.FASTGATE, "view", "-V", "throws", "fastgate-record").stdout
    check("look_beyond(int)" in shown and "std::out_of_range" in shown and "not caught" not in shown, shown)
    check(errors in found, f"{found}")
    recorded("throws", program, "uncaught", code=3)
    catchers = [catcher for _, thrower, catcher in caught() if thrower == "throw_one()"]
    check(len(catchers) == 1 and "(" not in catchers[0], f"what may not leave a function ends in the C++ library: {catchers}")


def child_of_fork_is_counted(program):
    recorded("throws", program, "fork")
    expect("throws", {"throw_errors(int)": 107})
    check(total("throws.std::runtime_error") == 107, "the child's, by type")


def library_that_is_loaded_late_can_throw(program, library):
    """The program is in C: there is no C++ in the loader's search order."""
    recorded("throws", program, library, "1000")
    check(total("throws") == total("throws.std::runtime_error") == 1000, f"{total('throws')} of 1,000 exceptions")


def program_that_does_not_throw_has_zero():
    recorded("throws", "true")
    done = call(counting.FASTGATE, "view", "fastgate-record", "--measure", "throws")
    check(done.returncode == 0 and "0 exceptions thrown" in done.stdout, f"{done}")


def body():
    counting.begin(sys.argv[1], sys.argv[2])
    targets = os.path.abspath(sys.argv[3])
    each_exception_is_counted_by_path_and_type(f"{targets}/throws")
    each_exception_is_told_where_it_was_caught(f"{targets}/throws")
    child_of_fork_is_counted(f"{targets}/throws")
    library_that_is_loaded_late_can_throw(f"{targets}/throwing", f"{targets}/libthrowing.so")
    program_that_does_not_throw_has_zero()


finish_in_scratch(body)
