#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
mapped.py FASTGATE COLLECTOR TARGETS_FOLDER: `fastgate record --measure maps` counts what is mapped where it was mapped, and knows to the
page what is left of it, whoever unmaps or covers which part.
"""
import sys

import counting
from checks import finish_in_scratch
from counting import expect, recorded

PAGE = 4096


def pages(**wanted):
    return {function: count * PAGE for function, count in wanted.items()}


def each_mapping_is_counted_where_it_was_made(program):
    recorded("maps", program)
    expect("maps.calls", {"map_and_unmap": 400, "keep": 1, "keep_parts": 1, "map_over": 1, "keep_grown": 2, "map_file": 1, "fail": 0,
                          "move_break": 1, "work": 300})
    expect("maps.bytes", {**pages(map_and_unmap=4000, keep=100, keep_parts=20, map_over=7, keep_grown=32, move_break=3), "map_file": 11})
    expect("maps.stacks", {"make_threads": 3 << 20, "keep": 0})


def what_is_left_of_each_is_known_to_the_page(program):
    recorded("maps", program)
    expect("maps.live", pages(map_and_unmap=0, keep=93, keep_parts=10, map_over=7, keep_grown=30, map_file=0, move_break=2))
    counting.check(counting.total("maps.peak") >= counting.total("maps.live") > 0, "the peak is no less than the end")


def both_sides_of_a_fork_are_counted(program):
    recorded("maps", program, "fork")
    expect("maps.calls", {"map_and_unmap": 450})
    expect("maps.live", pages(keep=93))


def nothing_else_is_counted(program):
    recorded("io", program)
    done = counting.call(counting.FASTGATE, "view", "fastgate-record", "--measure", "maps.bytes")
    counting.check(done.returncode == 2 and "maps.bytes" in done.stderr, f"mappings were not asked for: {done}")


def body():
    counting.begin(sys.argv[1], sys.argv[2])
    for program in counting.programs(sys.argv[3], "mapped"):
        each_mapping_is_counted_where_it_was_made(program)
        what_is_left_of_each_is_known_to_the_page(program)
        both_sides_of_a_fork_are_counted(program)
        nothing_else_is_counted(program)
    counting.program_notices_nothing("maps,heap", (["sh", "-c", "echo said; exit 7"], ["git", "--version"], ["/usr/bin/env", "--version"]))


finish_in_scratch(body)
