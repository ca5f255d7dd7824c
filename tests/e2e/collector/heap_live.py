#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
heap_live.py FASTGATE COLLECTOR TARGETS_FOLDER: what is held of the heap at the end and at the peak, by whom, to the byte, whichever thread
gives it back.
"""
import os
import sys

from checks import call, check, finish_in_scratch

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR


def record(*command):
    call(FASTGATE, "record", "--measure", "heap", "--", *command, check=True)


def by_function(measure):
    """The values of our functions, those on a stack with `main` or of a thread, by the name of the leaf."""
    folded = call(FASTGATE, "--quiet", "export", "-F", "folded", "--measure", measure, "fastgate-record", check=True).stdout
    values = {}
    for line in folded.splitlines():
        stack, value = line.rsplit(" ", 1)
        name = stack.split(";")[-1]
        values[name] = values.get(name, 0) + int(value)
    return values


def expect(measure, wanted):
    found = by_function(measure)
    check({name: found.get(name, 0) for name in wanted} == wanted, f"{measure}: {wanted} expected, found {found}")


def table_of(name):
    """For the three kinds of count: bytes, calls, and the most at a time."""
    live, blocks, peak, total, calls, largest = (by_function(f"heap.{measure}").get(name, 0) for measure in (
        "live", "live_blocks", "own_peak", "bytes", "allocations", "largest"))
    return {"live": (live, blocks, peak), "total": (total, calls), "largest": (largest, calls)}


def live_total_and_largest_of_three_loops():
    """Ten blocks of one byte; of one to ten bytes; the same, each freed before the next."""
    wanted = {
        "ones": {"live": (10, 10, 10), "total": (10, 10), "largest": (1, 10)},
        "growing": {"live": (55, 10, 55), "total": (55, 10), "largest": (10, 10)},
        "freed_at_once": {"live": (0, 0, 10), "total": (55, 10), "largest": (10, 10)},
    }
    for name, table in wanted.items():
        found = table_of(name)
        check(found == table, f"{name}: {table} expected, found {found}")


def what_is_left_at_the_end_has_its_allocator():
    expect("heap.live", {"ones": 10, "growing": 55, "freed_at_once": 0, "resized": 70000, "first_peak": 0, "base": 0, "highest": 0})
    expect("heap.live_blocks", {"ones": 10, "growing": 10, "freed_at_once": 0, "resized": 1})


def block_that_another_thread_frees_is_gone():
    expect("heap.live", {"handed_over": 10000})
    expect("heap.live_blocks", {"handed_over": 10})
    expect("heap.own_peak", {"handed_over": 100000})


def peak_is_what_was_held_when_the_whole_held_the_most():
    expect("heap.peak", {"highest": 900000, "base": 200000, "first_peak": 0, "ones": 0, "resized": 0, "handed_over": 0})
    expect("heap.own_peak", {"highest": 900000, "base": 200000, "first_peak": 500000, "resized": 70000})


def allocation_freed_as_the_next_event_is_temporary():
    """Growing by realloc is seven times temporary: what failed in the end freed nothing."""
    expect("heap.temporary", {"freed_at_once": 10, "resized": 7, "first_peak": 1, "ones": 0, "highest": 0, "handed_over": 0})


def child_of_a_fork_holds_what_it_allocated(program):
    record(program, "fork")
    expect("heap.live", {"of_child": 4444, "growing": 55, "resized": 70000, "handed_over": 10000})
    expect("heap.peak", {"of_child": 4444, "highest": 900000})


def body():
    for suffix in ("", "_i386"):
        program = f"{TARGETS}/held{suffix}"
        if not os.path.exists(program):
            continue
        record(program)
        live_total_and_largest_of_three_loops()
        what_is_left_at_the_end_has_its_allocator()
        block_that_another_thread_frees_is_gone()
        peak_is_what_was_held_when_the_whole_held_the_most()
        allocation_freed_as_the_next_event_is_temporary()
        child_of_a_fork_holds_what_it_allocated(program)


finish_in_scratch(body)
