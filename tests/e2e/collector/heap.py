#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
heap.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record --measure heap` counts every
allocation where it was made, to the byte, in every thread and process, and does not change the program's
behaviour.
"""
import operator
import os
import subprocess

from checks import call, check, finish_in_scratch, target, write
from folded import by_leaf, measured
from recording import COMPILER, FASTGATE, TARGETS, compiled



def recorded(*command, code=0):
    done = call(FASTGATE, "record", "--measure", "heap,frees", "--", *command)
    check(done.returncode == code,
          f"{command}: {done.returncode} where {code} was expected\n{done.stderr}")
    return done


def by_function(measure, within=None):
    """Allocated bytes by caller of malloc and similar functions; only on stacks that have `within`."""
    return by_leaf(measured(FASTGATE, measure), within,
                   max if measure == "heap.largest" else operator.add)


def expect(measure, wanted, within=None):
    found = by_function(measure, within)
    check({name: found.get(name) for name in wanted} == wanted,
          f"{measure}: {wanted} expected, found {found}")


def expect_known_allocations():
    expect("heap.allocations",
           {"make_small": 4000, "make_large": 20, "make_aligned": 2, "make_early": 1, "make_late": 1})
    expect("heap.bytes",
           {"make_small": 40000, "make_large": 400000, "make_aligned": 1640, "make_early": 777})
    expect("heap.largest",
           {"make_small": 10, "make_large": 30000, "make_aligned": 1000, "make_early": 777})
    expect("heap.frees", {"make_small": 4000, "make_large": 20, "make_aligned": 2, "make_early": 1})


def each_call_is_counted_where_it_was_made(program):
    recorded(program)
    expect_known_allocations()
    expect("heap.allocations", {"make_small": 3000}, within="work")
    rounding = by_function("heap.rounding")
    check(rounding.get("make_small", 0) >= 4000 * 2,
          f"a block of 10 bytes takes at least 12: {rounding}")
    view = call(FASTGATE, "view", "fastgate-record", "--measure", "heap.bytes").stdout
    check("of memory allocated" in view and "make_large" in view, view)


def allocations_alone_are_the_same_and_keep_no_blocks(program):
    done = call(FASTGATE, "record", "--measure", "allocations,frees", "--", program)
    check(done.returncode == 0, done.stderr)
    expect_known_allocations()
    view = call(FASTGATE, "view", "fastgate-record", "--measure", "heap.peak")
    check(view.returncode == 2 and "heap.peak" in view.stderr,
          f"{view.returncode} {view.stdout}{view.stderr}")
    leaks = call(FASTGATE, "view", "fastgate-record", "-V", "leaks")
    check(leaks.returncode == 2 and "but not the memory that they hold" in leaks.stderr,
          f"{leaks.returncode} {leaks.stdout}{leaks.stderr}")
    call(FASTGATE, "record", "--measure", "allocations,heap", "--", program, check=True)
    check(by_function("heap.own_peak").get("make_large", 0) > 0, "the heap was asked for as well")


# Ways to run the program, and the blocks of each, which include the usual 4,000 small and 20 large ones.
WAYS = (
    ("fork", {"make_small": 4500, "make_large": 20}, None),  # both sides
    ("signal", {"make_small": 4100}, None),                  # in a handler
    ("jump", {"make_small": 4200}, None),
    ("jump", {"make_small": 100}, "descend"),
    ("jump", {"make_small": 200}, "jump"),
    ("vfork", {"make_small": 4500}, None),
    ("exec", {"make_small": 8100, "make_large": 40}, None),  # both images
    ("clone", {"make_small": 4600, "make_large": 20}, None),
    ("last", {"make_small": 4700}, None),                    # outlives its main thread
    ("last", {"make_small": 700}, "outlive"),
)


def each_way_to_run_is_counted_in_full(program):
    before = None
    for way, wanted, within in WAYS:
        if way != before:
            recorded(program, way)
        before = way
        expect("heap.allocations", wanted, within)


def program_behind_an_emptied_environment_is_counted(program):
    recorded("env", "-i", program)
    expect("heap.allocations", {"make_small": 4000, "make_large": 20})


def program_notices_nothing():
    """Recording does not change a command's exit code or output."""
    for command in (["sh", "-c", "echo said; exit 7"], ["env", "--version"], ["git", "--version"]):
        plain = call(*command)
        done = recorded(*command, code=plain.returncode)
        check(done.stdout == plain.stdout, f"{command}: {done.stdout!r} instead of {plain.stdout!r}")


def malloc_of_the_program_is_reported():
    recorded(compiled("own", target("own_malloc.c"), "-O0"))
    done = call(FASTGATE, "view", "fastgate-record", "--measure", "heap.bytes")
    check("has its own malloc" in done.stdout + done.stderr,
          f"not a word of the program's own malloc: {done}")
    recorded(compiled("stub", target("malloc_by_address.c"), "-O0", "-no-pie", "-fno-pie"))
    expect("heap.bytes", {"main": 100})
    done = call(FASTGATE, "view", "fastgate-record", "--measure", "heap.bytes")
    check("of its own" not in done.stdout + done.stderr,
          f"the address of malloc is a stub's in a program at a fixed address: {done}")


def allocator_unknown_to_the_loader_is_reported():
    """The loader knows neither an allocator with a prefix (je_malloc) nor a static malloc."""
    for name, allocator, linkage in (("prefixed", "je_malloc", ""), ("local", "malloc", "static")):
        recorded(compiled(name, target("own_allocator.c", ALLOCATE=allocator, LINKAGE=linkage), "-O0",
                          "-fno-builtin"))
        done = call(FASTGATE, "view", "fastgate-record", "--measure", "heap.bytes")
        said = f"its own allocator, {allocator}, whose blocks are not counted"
        check(said in done.stdout + done.stderr, f"not a word of {allocator}: {done}")
    recorded(f"{TARGETS}/heap")
    done = call(FASTGATE, "view", "fastgate-record", "--measure", "heap.bytes")
    check("of its own" not in done.stdout + done.stderr, f"the C library's malloc is counted: {done}")


def memory_that_is_not_counted_is_reported():
    """
    The programs are a stripped one with a renamed allocator, one that uses malloc, and a small one.
    """
    program = compiled("arena", target("arena.c"), "-O0", "-s")
    for words, is_reported in ((["8000"], True), (["8000", "malloc"], False), (["100"], False)):
        recorded(program, *words)
        done = call(FASTGATE, "view", "fastgate-record", "--measure", "heap.bytes")
        said = "most of the process's memory does not come from the counted allocator"
        check((said in done.stdout + done.stderr) == is_reported, f"{words}: {done}")


def sizes_of_what_is_given_back_change_nothing():
    """The program calls C23's free_sized and free_aligned_sized, which the C library may lack."""
    recorded(compiled("sized", target("sized_frees.c"), "-O0", "-fno-builtin"))
    expect("heap.allocations", {"give_back": 200})
    expect("heap.frees", {"give_back": 200})
    expect("heap.live", {"give_back": None})


def static_program_is_refused():
    write("fixed.c", "int main(void) { return 0; }\n")
    if subprocess.run([COMPILER, "-static", "fixed.c", "-o", "fixed"],
                      check=False, capture_output=True).returncode != 0:
        return
    done = call(FASTGATE, "record", "--measure", "heap", "--", "./fixed")
    check(done.returncode == 2 and "'./fixed' is linked statically" in done.stderr, f"{done}")


def recordings_can_be_added_up(program):
    recorded(program)
    call(FASTGATE, "record", "--append", "--measure", "heap,frees", "--", program, check=True)
    expect("heap.allocations", {"make_small": 8000, "make_large": 40})
    expect("heap.largest", {"make_large": 30000})
    recorded(program)
    expect("heap.allocations", {"make_small": 4000})


def nothing_is_counted_unless_requested(program):
    call(FASTGATE, "record", "--", program, check=True)
    done = call(FASTGATE, "view", "fastgate-record", "--measure", "heap.bytes")
    check(done.returncode == 2 and "heap.bytes" in done.stderr, f"a profile of time alone: {done}")
    done = call(FASTGATE, "record", "--measure", "heat", "--", program)
    check(done.returncode == 2 and "'heat'" in done.stderr and "heap" in done.stderr,
          f"an unknown measure: {done}")
    for words in (["--clock", "wall"], ["--rate", "100"], ["--delay", "1s"]):
        done = call(FASTGATE, "record", "--measure", "heap", *words, "--", program)
        check(done.returncode == 2 and "do not apply" in done.stderr, f"{words} with --measure: {done}")


def body():
    for suffix in ("", "_i386"):
        program = f"{TARGETS}/heap{suffix}"
        if not os.path.exists(program):
            continue
        each_call_is_counted_where_it_was_made(program)
        allocations_alone_are_the_same_and_keep_no_blocks(program)
        each_way_to_run_is_counted_in_full(program)
        program_behind_an_emptied_environment_is_counted(program)
    program_notices_nothing()
    malloc_of_the_program_is_reported()
    allocator_unknown_to_the_loader_is_reported()
    memory_that_is_not_counted_is_reported()
    sizes_of_what_is_given_back_change_nothing()
    static_program_is_refused()
    recordings_can_be_added_up(f"{TARGETS}/heap")
    nothing_is_counted_unless_requested(f"{TARGETS}/heap")


finish_in_scratch(body)
