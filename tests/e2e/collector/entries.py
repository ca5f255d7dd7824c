#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
entries.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record --calls PATTERNS --entries` also
counts calls within an object, counts each call once, reports which functions cannot have a jump at their
entry and why, and does not change the program's behaviour.
"""
import ctypes
import os
import struct

from checks import call, check, finish_in_scratch, target
from folded import by_leaf, measured
from recording import COLLECTOR, FASTGATE, TARGETS, compiled

CALLS_LIBRARY = os.path.join(os.path.dirname(COLLECTOR), "libfastgate_collector_calls.so")
AT_ENTRIES = "counted at"


def recorded(patterns, *command, code=0, words=("--calls",), **more):
    done = call(FASTGATE, "record", "--entries", *words, patterns, "--", *command, **more)
    check(done.returncode == code,
          f"{command}: {done.returncode} where {code} was expected\n{done.stderr}")
    return done


def by_caller(function):
    return by_leaf(measured(FASTGATE, f"calls.{function}"))


def expect(function, wanted):
    found = by_caller(function)
    check(found == wanted, f"calls.{function}: {wanted} expected, found {found}")


def total(function):
    return sum(by_caller(function).values())


def calls_inside_a_program_are_counted(program):
    done = recorded("add_up,count_down,kernel,fall,leap,from_thread,on_signal,square::*,"
                    "touches_little,trusts_it,first_of,spins", program)
    check(done.stdout == "all as it should be\n", done.stdout)
    for function, count in (("add_up", 1000), ("count_down", 25), ("kernel", 30), ("fall", 500),
                            ("leap", 50), ("from_thread", 4000), ("on_signal", 10), ("square::area", 20),
                            ("trusts_it", 20)):
        check(total(function) == count,
              f"{count} calls of {function} expected, found {by_caller(function)}")
    check(by_caller("touches_little").get("trusts_it") == 20,
          f"by their callers: {by_caller('touches_little')}")
    check(by_caller("fall").get("fall(int, long*)") == 400, f"recursion: {by_caller('fall')}")
    check("may not work at another address (first_of)" in done.stderr,
          f"why first_of is not counted: {done.stderr}")
    check("other code may jump into the first instructions (spins)" in done.stderr,
          f"why spins is not counted: {done.stderr}")
    view = call(FASTGATE, "view", "fastgate-record")
    check("(spins)" in view.stdout + view.stderr, f"the profile says it, too: {view}")


def a_child_of_fork_counts(program):
    recorded("add_up", program, "fork")
    check(total("add_up") == 1001, f"{by_caller('add_up')}")


def without_the_option_nothing_is_patched(program):
    done = call(FASTGATE, "record", "--calls", "add_up", "--", program, check=True)
    check("--entries" in done.stderr and AT_ENTRIES not in done.stderr,
          f"the option is named: {done.stderr}")


def arguments_are_seen_at_an_entry(program):
    recorded("kernel=double(double,int,double)", program, words=("--domains",))
    shown = call(FASTGATE, "view", "--csv", "-V", "domains", "fastgate-record").stdout
    rows = [line.split(",") for line in shown.splitlines() if "kernel" in line]
    check(len(rows) == 2 and "14.5" in rows[0] and "1" in rows[1], f"x up to 14.5, y 1: {shown}")


def a_call_counts_once_whichever_way_it_takes():
    """Calls come through an import, through the library's own import, and directly."""
    for symbolic in ([], ["-Wl,-Bsymbolic"]):
        compiled("libwork.so", target("work_library.c"), "-O2", "-shared", "-fPIC", *symbolic)
        program = compiled("user", target("work_caller.c"), "-O2", "./libwork.so", "-DOFTEN=20")
        done = recorded("work@libwork,inside", program)
        check(total("work") == 25 and total("inside") == 1,
              f"{symbolic}: {by_caller('work')}, {by_caller('inside')}")
        check("2 functions are counted at their entries" in done.stderr, done.stderr)


def another_file_than_was_looked_at_stays_as_it_is():
    program = compiled("user", target("work_caller.c"), "-O2", "./libwork.so", "-DOFTEN=20")
    recorded("work@libwork,main", program, "cp fastgate-record/entries.plan saved.plan")
    check(not os.path.exists("fastgate-record/entries.plan"), "the plan is left behind")
    compiled("libwork.so", target("work_library.c"), "-O2", "-DADDED=2", "-shared", "-fPIC")
    os.makedirs("again", exist_ok=True)
    environment = {**os.environ, "LD_PRELOAD": CALLS_LIBRARY,
                   "FASTGATE_COLLECTOR_OUTPUT": os.path.abspath("again"),
                   "FASTGATE_COLLECTOR_ENTRIES": os.path.abspath("saved.plan")}
    done = call(program, env={**environment, "FASTGATE_COLLECTOR_CALLS": "work@libwork,main",
                              "FASTGATE_COLLECTOR_CLOCK": "none"})
    check(done.returncode == 0, f"{done}")
    notes = call(FASTGATE, "view", "again", "--measure", "calls.work").stderr
    check("1 function is counted at its entry" in notes
          and "not the one that was examined before the program started (work)" in notes, notes)
    with open("saved.plan", "r+b") as plan:
        plan.truncate(200)
    done = call(program, env={**environment, "FASTGATE_COLLECTOR_CALLS": "work@libwork"})
    check(done.returncode == 0, f"a plan that is cut off: {done}")


def a_program_that_another_starts_is_reported(program):
    done = recorded("add_up", "sh", "-c", f"exec {program}")
    check("another program started this one" in done.stderr, done.stderr)


def refuse_executable_pages():
    """Makes mprotect() refuse executable memory from here on, as in a hardened service."""
    code = [(0x20, 0, 0, 0), (0x15, 0, 3, 10), (0x20, 0, 0, 32), (0x45, 0, 1, 4),
            (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
    instructions = b"".join(struct.pack("HBBI", *one) for one in code)
    kept = ctypes.create_string_buffer(instructions, len(instructions))
    program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(kept))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        os._exit(99)


def protected_code_is_not_changed(program):
    done = call(FASTGATE, "record", "--entries", "--calls", "add_up", "--", program,
                preexec_fn=refuse_executable_pages)
    if done.returncode == 99 or "SubprocessError" in done.stderr:
        return
    check(done.returncode == 0 and done.stdout == "all as it should be\n", f"{done}")
    check("the code cannot be changed safely on this system (add_up)" in done.stderr, done.stderr)


def programs_notice_nothing():
    """Counts every function of every library at its entry."""
    for command in (["sh", "-c", "echo said | cat; exit 7"], ["env", "--version"],
                    ["git", "--version"], ["ls", "/usr"]):
        plain = call(*command)
        done = recorded("*", *command, code=plain.returncode)
        check(done.stdout == plain.stdout, f"{command}: {done.stdout!r} instead of {plain.stdout!r}")
        check(AT_ENTRIES in done.stderr, f"{command}: {done.stderr}")


def contradictory_options_are_refused(program):
    for words in (["--entries"], ["--entries", "--times", "--calls", "exp"],
                  ["--entries", "--measure", "heap"]):
        done = call(FASTGATE, "record", *words, "--", program)
        check(done.returncode == 2 and "--entries" in done.stderr, f"{words}: {done}")


def body():
    program = f"{TARGETS}/entries"
    calls_inside_a_program_are_counted(program)
    a_child_of_fork_counts(program)
    without_the_option_nothing_is_patched(program)
    arguments_are_seen_at_an_entry(program)
    a_call_counts_once_whichever_way_it_takes()
    another_file_than_was_looked_at_stays_as_it_is()
    a_program_that_another_starts_is_reported(program)
    protected_code_is_not_changed(program)
    programs_notice_nothing()
    contradictory_options_are_refused(program)


finish_in_scratch(body)
