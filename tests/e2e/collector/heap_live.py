#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
heap_live.py FASTGATE COLLECTOR TARGETS_FOLDER: the heap memory held at the end and at the peak, by
owner, to the byte, whichever thread frees it.
"""
import json
import os
import shutil
import subprocess
import sys

from checks import call, check, finish_in_scratch
from folded import by_leaf, measured
from seccomp import PROCESS_VM_READV, forbid_system_call

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR


def record(*command):
    call(FASTGATE, "record", "--measure", "heap", "--", *command, check=True)


def by_function(measure):
    """Values by the name of the leaf, for stacks in our functions: below `main` or in a thread."""
    return by_leaf(measured(FASTGATE, measure))


def expect(measure, wanted):
    found = by_function(measure)
    check({name: found.get(name, 0) for name in wanted} == wanted,
          f"{measure}: {wanted} expected, found {found}")


def rows_of(view, key, *words):
    shown = call(FASTGATE, "view", "--json", "-V", view, *words, "fastgate-record", check=True).stdout
    return {row[key]: row for row in json.loads(shown)["rows"]}


def live_total_and_largest_of_three_loops():
    """
    One loop allocates ten blocks of one byte; the second, blocks of one to ten bytes; the third does the
    same and frees each block before the next.
    """
    wanted = {
        "ones": {"live": (10, 10, 10), "total": (10, 10), "largest": (1, 10)},
        "growing": {"live": (55, 10, 55), "total": (55, 10), "largest": (10, 10)},
        "freed_at_once": {"live": (0, 0, 10), "total": (55, 10), "largest": (10, 10)},
    }
    rows = rows_of("memory", "name")
    for name, table in wanted.items():
        row = rows[name]
        found = {"live": (row["live"], row["live_blocks"], row["own_peak"]),
                 "total": (row["bytes"], row["allocations"]),
                 "largest": (row["largest"], row["allocations"])}
        check(found == table, f"{name}: {table} expected, found {found}")
    main = rows_of("memory", "name", "--inclusive")["main"]
    check(main["peak"] == 1100000, f"{main}")


def blocks_left_at_the_end_have_their_allocator():
    expect("heap.live", {"ones": 10, "growing": 55, "freed_at_once": 0, "resized": 70000,
                         "first_peak": 0, "base": 0, "highest": 0})
    expect("heap.live_blocks", {"ones": 10, "growing": 10, "freed_at_once": 0, "resized": 1})


def leaks_are_listed_by_path():
    """
    A block is lost if no pointer leads to it: not from a variable, not from within a list, and not
    into its middle.
    """
    leaks = {path.split(" ← ")[0]: row for path, row in rows_of("leaks", "path").items()}
    found = {name: (row["bytes"], row["blocks"], row["allocations"]) for name, row in leaks.items()}
    check(found == {"ones": (10, 10, 10), "lost_chain": found.get("lost_chain")}
          and found["lost_chain"][1:] == (10, 10), f"{found}")
    rows = rows_of("leaks", "path", "--measure", "heap.live")
    held = {path.split(" ← ")[0]: row for path, row in rows.items()}
    check(not {"freed_at_once", "base", "highest", "first_peak"} & set(held),
          f"what was freed is not held: {list(held)}")
    found = {name: (held[name]["bytes"], held[name]["blocks"], held[name]["allocations"])
             for name in ("growing", "resized", "handed_over", "inside")}
    check(found == {"growing": (55, 10, 10), "resized": (70000, 1, 8),
                    "handed_over": (10000, 10, 100), "inside": (3000, 1, 1)}, f"{found}")
    done = call(FASTGATE, "view", "-V", "leaks", "fastgate-record")
    check("lost_chain ← main" in done.stdout and "of memory lost" in done.stdout, done.stdout)


def resident_memory_is_reported_by_mapping():
    """The mappings include the program and its heap; the collector's memory is listed separately."""
    rows = rows_of("resident", "mapping")
    check(rows["[heap]"]["at_end"] >= 4096 and rows["[fastgate]"]["at_end"] >= 4096, f"{rows}")
    check(any(name.endswith(("/held", "/held_i386")) for name in rows), f"{list(rows)}")


def page_that_was_never_touched_is_reported():
    found = by_function("heap.untouched")
    check(125 * 4096 <= found.get("reserve", 0) <= 127 * 4096,
          f"one page of 512 KiB was touched: {found}")
    check("resized" not in found or found["resized"] <= 70000, f"{found}")


def pprof_knows_its_own_names():
    """A heap profile exported for pprof has the same four sample types as pprof's own."""
    call(FASTGATE, "export", "-F", "pprof", "-o", "heap.pb.gz", "fastgate-record", check=True)
    if not shutil.which("go"):
        return
    for measure, wanted in {"alloc_objects": "10 ", "alloc_space": "55B ", "inuse_objects": "10 ",
                            "inuse_space": "55B "}.items():
        shown = call("go", "tool", "pprof", "-top", "-nodefraction=0", f"-sample_index={measure}",
                     "heap.pb.gz", check=True).stdout
        rows = [line.strip() for line in shown.splitlines() if line.endswith(" growing")]
        check(len(rows) == 1 and rows[0].startswith(wanted),
              f"{measure}: {wanted} expected, found {shown}")


def block_that_another_thread_frees_is_gone():
    expect("heap.live", {"handed_over": 10000})
    expect("heap.live_blocks", {"handed_over": 10})
    expect("heap.own_peak", {"handed_over": 100000})


def peak_is_what_was_held_when_the_whole_held_the_most():
    expect("heap.peak", {"highest": 900000, "base": 200000, "first_peak": 0, "ones": 0, "resized": 0,
                         "handed_over": 0})
    expect("heap.own_peak", {"highest": 900000, "base": 200000, "first_peak": 500000, "resized": 70000})


def allocation_freed_as_the_next_event_is_temporary():
    """
    The growing block is reallocated seven times, so seven allocations are temporary; the last
    realloc fails and frees nothing.
    """
    expect("heap.temporary", {"freed_at_once": 10, "resized": 7, "first_peak": 1, "ones": 0,
                              "highest": 0, "handed_over": 0})


def child_of_a_fork_holds_what_it_allocated(program):
    record(program, "fork")
    expect("heap.live", {"of_child": 4444, "growing": 55, "resized": 70000, "handed_over": 10000})
    expect("heap.peak", {"of_child": 4444, "highest": 900000})


def leaks_of_a_profile_of_time_are_refused(program):
    call(FASTGATE, "record", "--", program, check=True)
    done = call(FASTGATE, "view", "-V", "leaks", "fastgate-record")
    check(done.returncode == 2 and "--measure heap" in done.stderr, f"{done}")


def failed_leak_search_does_not_report_zero_leaks(program):
    """The held memory is known even if the program's memory cannot be searched for pointers."""
    done = subprocess.run([FASTGATE, "record", "--measure", "heap", "--", program],
                          preexec_fn=lambda: forbid_system_call(PROCESS_VM_READV), capture_output=True,
                          text=True, check=False)
    check(done.returncode == 0, f"memory that cannot be searched: {done.returncode} {done.stderr}")
    expect("heap.live", {"ones": 10, "growing": 55})
    done = call(FASTGATE, "view", "-V", "leaks", "fastgate-record")
    check(done.returncode == 2
          and "could not be searched for pointers: heap.leaked is not known" in done.stderr
          and "this profile has heap.live but not heap.leaked" in done.stderr,
          f"leaks that are not known: {done.returncode} {done.stdout} {done.stderr}")
    done = call(FASTGATE, "view", "-V", "leaks", "--measure", "heap.live", "fastgate-record")
    check(done.returncode == 0 and "growing" in done.stdout,
          f"what is held is known all the same: {done.returncode} {done.stderr}")


def body():
    for suffix in ("", "_i386"):
        program = f"{TARGETS}/held{suffix}"
        if not os.path.exists(program):
            continue
        record(program)
        live_total_and_largest_of_three_loops()
        blocks_left_at_the_end_have_their_allocator()
        block_that_another_thread_frees_is_gone()
        leaks_are_listed_by_path()
        resident_memory_is_reported_by_mapping()
        page_that_was_never_touched_is_reported()
        pprof_knows_its_own_names()
        peak_is_what_was_held_when_the_whole_held_the_most()
        allocation_freed_as_the_next_event_is_temporary()
        child_of_a_fork_holds_what_it_allocated(program)
    failed_leak_search_does_not_report_zero_leaks(f"{TARGETS}/held")
    leaks_of_a_profile_of_time_are_refused(f"{TARGETS}/held")


finish_in_scratch(body)
