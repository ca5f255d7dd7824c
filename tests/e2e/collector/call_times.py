#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
call_times.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record --calls ... --times`
measures the durations of calls, survives every way of leaving a function, and does not change the
program's behaviour.
"""
import json
import sys

from checks import call, check, finish_in_scratch, target, write
from folded import measured, total
from recording import FASTGATE, TARGETS, compiled



def recorded(patterns, *command, option="--calls"):
    done = call(FASTGATE, "record", option, patterns, "--times", "--", *command)
    check(done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}")
    return done


def rows(*options):
    return json.loads(call(FASTGATE, "view", "-V", "times", "--json", *options, "fastgate-record",
                           check=True).stdout)["rows"]


def times_of(name):
    found = rows()
    row = next((row for row in found if row["name"] == name), None)
    check(row is not None, f"no row of {name}: {found}")
    check(0 <= row["own_ns"] <= row["total_ns"]
          and row["min_ns"] <= row["median_ns"] <= row["p90_ns"] <= row["p99_ns"] <= row["max_ns"],
          f"{name}: figures that contradict each other: {row}")
    return row


def total_of(measure):
    return total(measured(FASTGATE, measure))


EVERY = (
    "thrower=int(int),down=int(int),nap=int(int),mixed=double(int,double,long,float,char*,unsigned),"
    "on_the_stack=int(long,long,long,long,long,long,long),qsort,exp,longjmp,waitpid")


def build():
    options = ("-O1", "-g", "-fno-builtin", "-pthread")
    compiled("libleft.so", target("timed_library.cpp"), *options, "-shared", "-fPIC", "-lstdc++",
             language="c++")
    return compiled("leaves", target("timed.cpp"), *options, "./libleft.so", "-lm", "-lstdc++",
                    language="c++")


def calls_that_are_left_are_counted_and_have_no_duration(program):
    plain = call(program, check=True).stdout
    done = recorded(EVERY, program)
    check(done.stdout == plain, f"{done.stdout!r} instead of {plain!r}")
    left = int(plain.split()[1])
    check(left > 0, plain)
    thrower, qsort = times_of("thrower"), times_of("qsort")
    check(thrower["calls"] == 25 and total_of("calls.thrower") == 50, f"half of them throw: {thrower}")
    check(qsort["calls"] == 40 - left and total_of("calls.qsort") == 40,
          f"{left} were left by longjmp: {qsort}")
    check("-V times" in done.stderr, f"how to see them: {done.stderr}")


def a_call_takes_as_long_as_it_takes():
    """Calls of nap() take at least as long as it sleeps, in all threads and both processes."""
    row = times_of("nap")
    check(row["calls"] == 5 and row["min_ns"] >= 1e6 and row["max_ns"] >= 3e6 and row["total_ns"] >= 7e6,
          f"nap: {row}")
    traces = rows("-f", "^nap$")
    check(sum(trace["calls"] for trace in traces) == 5
          and any(trace["name"].startswith("napping") for trace in traces), f"traces of nap: {traces}")
    deepest = rows("--trace", str(traces[0]["trace"]))
    names = [entry["name"] for entry in deepest]
    bins = [entry for entry in deepest[names.index("nap") + 1:] if "#" in entry["name"]]
    check(sum(entry["calls"] for entry in bins) == traces[0]["calls"],
          f"the histogram of one trace: {deepest}")


def calls_within_calls_of_the_same_function_are_timed_once():
    row = times_of("down")
    check(row["calls"] == 101, f"down: {row}")
    check(row["own_ns"] <= total_of("time.down") <= row["total_ns"],
          f"time.down is that of the outermost call: {total_of('time.down')}, {row}")
    check(total_of("time.down") <= row["max_ns"] * 1.0001,
          f"one outermost call: {total_of('time.down')}, {row}")


def calls_that_cannot_be_timed_are_counted_and_reported(said):
    check(total_of("calls.on_the_stack") == 1 and total_of("calls.waitpid") == 1, "they are counted")
    names = [row["name"] for row in rows()]
    check("on_the_stack" not in names and "longjmp" not in names and "waitpid" not in names,
          f"timed: {names}")
    for name in ("on_the_stack", "waitpid", "longjmp"):
        check(f"not all calls of '{name}' are timed" in said, said)
    check("'nap'" not in said, f"nap was timed: {said}")


def a_program_that_checks_its_results_is_content():
    """
    Functions of every type in libm are timed, except those that take a long double, which are only
    counted.
    """
    recorded("libm", f"{TARGETS}/domains", option="--domains")
    timed = {row["name"]: row["calls"] for row in rows()}
    check(timed["exp"] == 1000 and timed["pow"] == 100 and timed["cabs"] > 0 and "tanhl" not in timed,
          f"timed: {timed}")
    recorded("exp,pow,cos,_setjmp,longjmp*", f"{TARGETS}/calls", "signal")
    row = times_of("exp")
    check(row["calls"] == 4107, f"exp: {row}")


def a_program_notices_nothing():
    """Counts every function of every library, in programs that load libraries, fail, or run children."""
    for command in (["sh", "-c", "echo said | cat; exit 7"],
                    ["awk", "BEGIN { for (i = 0; i < 9; i++) s += exp(-i) * sin(i); print s }"],
                    [sys.executable, "-IS",
                     "-c", "import ctypes, math; print([math.exp(1), sorted('sorted')])"]):
        plain = call(*command)
        done = call(FASTGATE, "record", "--calls", "*", "--times", "--", *command)
        check((done.returncode, done.stdout) == (plain.returncode, plain.stdout),
              f"{command}: {done}, not {plain}")


def nothing_is_timed_unless_requested(program):
    call(FASTGATE, "record", "--calls", "exp", "--", program, check=True)
    done = call(FASTGATE, "view", "-V", "times", "fastgate-record")
    check(done.returncode == 2 and "--times" in done.stderr, f"calls alone: {done}")
    done = call(FASTGATE, "record", "--times", "--", program)
    check(done.returncode == 2 and "--calls" in done.stderr, f"--times alone: {done}")


def nothing_gates_a_duration():
    for metric, code in (("time.exp", 2), ("calls.exp", 0)):
        write("fastgate.yml", "version: 1\nproject: p\nbenchmarks:\n"
              "  - { name: b, command: ./leaves }\nmeasure: { calls: [exp] }\n"
              f"gate: {{ metrics: {{ {metric}: {{ tolerated: 1% }} }} }}\n")
        done = call(FASTGATE, "config", "--check")
        check(done.returncode == code
              and (code == 0 or f"no benchmark has a metric '{metric}'" in done.stderr),
              f"{metric}: {done}")


def body():
    program = build()
    calls_that_are_left_are_counted_and_have_no_duration(program)
    a_call_takes_as_long_as_it_takes()
    calls_within_calls_of_the_same_function_are_timed_once()
    calls_that_cannot_be_timed_are_counted_and_reported(recorded(EVERY, program).stderr)
    a_program_that_checks_its_results_is_content()
    a_program_notices_nothing()
    nothing_is_timed_unless_requested(program)
    nothing_gates_a_duration()


finish_in_scratch(body)
