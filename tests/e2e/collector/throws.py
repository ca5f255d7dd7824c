#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
throws.py FASTGATE COLLECTOR TARGETS_FOLDER: `fastgate record --measure throws` counts every
exception where it was thrown, and by its type, even if a C program loads the C++ code; handlers
still catch every exception.
"""
import os
import sys

import counting
from checks import check, finish_in_scratch
from counting import call, expect, recorded, total


def each_exception_is_counted_by_path_and_type(program):
    recorded("throws", program)
    check(total("throws") == 407, f"{total('throws')} exceptions, not 407")
    expect("throws", {"throw_numbers(int)": 300, "throw_errors(int)": 100, "throw_again(int)": 5,
                      "look_beyond(int)": 2})
    for name, count in (("int", 300), ("std::runtime_error", 100), ("lost_track", 5),
                        ("std::out_of_range", 2)):
        check(total(f"throws.{name}") == count, f"{name}: {total(f'throws.{name}')}, not {count}")
    expect("throws.std::runtime_error", {"throw_numbers(int)": 0, "throw_errors(int)": 100})


def child_of_fork_is_counted(program):
    recorded("throws", program, "fork")
    expect("throws", {"throw_errors(int)": 107})
    check(total("throws.std::runtime_error") == 107, "the child's, by type")


def library_that_is_loaded_late_can_throw(program, library):
    """The program is written in C, so there is no C++ runtime in the loader's search order."""
    recorded("throws", program, library, "1000")
    check(total("throws") == total("throws.std::runtime_error") == 1000,
          f"{total('throws')} of 1,000 exceptions")


def program_that_does_not_throw_has_zero():
    recorded("throws", "true")
    done = call(counting.FASTGATE, "view", "fastgate-record", "--measure", "throws")
    check(done.returncode == 0 and "0 exceptions thrown" in done.stdout, f"{done}")


def body():
    counting.begin(sys.argv[1], sys.argv[2])
    targets = os.path.abspath(sys.argv[3])
    each_exception_is_counted_by_path_and_type(f"{targets}/throws")
    child_of_fork_is_counted(f"{targets}/throws")
    library_that_is_loaded_late_can_throw(f"{targets}/throwing", f"{targets}/libthrowing.so")
    program_that_does_not_throw_has_zero()


finish_in_scratch(body)
