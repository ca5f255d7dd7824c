#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
hooked.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record --calls` counts and times
functions inside a program that was compiled with -finstrument-functions, however they are left.
"""
import json
import os
import subprocess
import sys

from checks import call, check, finish_in_scratch, target, write
from folded import by_leaf, measured

FASTGATE, COLLECTOR = (os.path.abspath(path) for path in sys.argv[1:3])
COMPILER = sys.argv[4]
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR


def build():
    library = target("hooked_library.cpp")
    for name, source, more in (
            ("whole", library, ["-shared", "-fPIC", "-DNAME=exported", "-o", "libwhole.so"]),
            ("part", library, ["-shared", "-fPIC", "-DNAME=part", "-o", "libpart.so"]),
            ("program", target("hooked.cpp"), ["./libwhole.so", "-ldl", "-pthread", "-o", "program"])):
        write(f"{name}.cpp", source)
        subprocess.run([COMPILER, "-x", "c++", "-O1", "-g", "-Wno-vla", "-finstrument-functions",
                        f"{name}.cpp", "-x", "none", *more, "-lstdc++"], check=True)


def recorded(*options):
    done = call(FASTGATE, "record", *options, "--", "./program")
    check(done.returncode == 0, f"{options}: {done.returncode}\n{done.stderr}")
    return done


def by_caller(function):
    paths = measured(FASTGATE, f"calls.{function}")
    return by_leaf([([names[-1].split("(")[0]], value) for names, value in paths])


def expect(function, wanted):
    found = by_caller(function)
    check(found == wanted, f"calls.{function}: {wanted} expected, found {found}")


def functions_inside_an_object_are_counted_by_their_caller(plain):
    done = recorded("--calls", "text::Parser::*,left,resume,exported,part,hidden")
    check(done.stdout == plain, f"{done.stdout!r} instead of {plain!r}")
    expect("text::Parser::parse", {"work": 300, "main": 1, "text::Parser::parse": 3007})
    expect("text::Parser::leaf", {"text::Parser::parse": 3308})
    expect("text::Parser::thrower", {"main": 50})
    expect("left", {"main": 20, "left": 100})
    expect("resume", {"main": 10})
    check("(-finstrument-functions)" in done.stderr, f"the mechanism is said: {done.stderr}")


def a_call_through_an_import_is_not_counted_twice():
    expect("exported", {"main": 1})


def libraries_that_come_and_go_are_counted():
    expect("part", {"main": 3})
    expect("hidden", {"exported": 2, "part": 6})


def each_way_of_leaving_a_function_is_survived(plain):
    done = recorded("--calls", "text::Parser::*,left,resume,work", "--times")
    check(done.stdout == plain, f"{done.stdout!r} instead of {plain!r}")
    shown = call(FASTGATE, "view", "-V", "times", "--json", "fastgate-record", check=True).stdout
    rows = {row["name"]: row for row in json.loads(shown)["rows"]}
    check("left" not in rows, f"longjmp leaves no duration: {rows.get('left')}")
    check(rows["text::Parser::parse"]["calls"] == 3308 and rows["text::Parser::leaf"]["calls"] == 3308,
          f"recursion: {rows}")
    check(rows["text::Parser::thrower"]["calls"] in (25, 50),
          f"gcc tells of an end by an exception, clang does not: {rows['text::Parser::thrower']}")
    check(rows["resume"]["calls"] == 10 and rows["work"]["calls"] == 3,
          f"coroutines and threads: {rows}")
    work, parse = rows["work"], rows["text::Parser::parse"]
    check(work["own_ns"] <= work["total_ns"] and parse["own_ns"] <= parse["total_ns"],
          f"own time: {work}, {parse}")
    check("not all calls" not in done.stderr, f"all are timed: {done.stderr}")


def only_requested_functions_are_counted():
    recorded("--calls", "left")
    done = call(FASTGATE, "view", "fastgate-record", "--measure", "calls.text::Parser::parse")
    check(done.returncode == 2, f"a function that nobody asked for: {done}")


def without_a_symbol_table_only_exports_are_known():
    subprocess.run(["strip", "libwhole.so", "program"], check=True)
    recorded("--calls", "exported,left")
    check(sum(by_caller("exported").values()) == 1, f"exported, {by_caller('exported')}")
    notes = call(FASTGATE, "view", "fastgate-record")
    check("has no symbol table" in notes.stdout + notes.stderr, f"what is missing is said: {notes}")


def body():
    build()
    plain = call("./program", check=True).stdout
    functions_inside_an_object_are_counted_by_their_caller(plain)
    a_call_through_an_import_is_not_counted_twice()
    libraries_that_come_and_go_are_counted()
    each_way_of_leaving_a_function_is_survived(plain)
    only_requested_functions_are_counted()
    without_a_symbol_table_only_exports_are_known()


finish_in_scratch(body)
