#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
left_behind.py FASTGATE: a program leaves pipes and links where fastgate looks for files afterwards:
among its traces, and in place of a library that it has loaded. fastgate never waits for a pipe, and
never changes the target of a link.
"""
import os
import shutil
import subprocess
import sys

from checks import HUNG_S, call, check, finish_in_scratch, target

FASTGATE = os.path.abspath(sys.argv[1])
PADDING = bytes(4096)
PLANT = ('cd "$FASTGATE_COLLECTOR_OUTPUT" && mkfifo pipe 8.0.fgtrace && ln -s "$1" 9.0.fgtrace && '
         'ln -s /dev/zero 10.0.fgtrace')


def run(*words):
    """Exit code and output; None if it did not end."""
    try:
        done = call(FASTGATE, *words, timeout=HUNG_S)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return None, "it waits"


def pipes_and_links_among_traces_are_left_alone():
    code, words = run("record", "-o", "first", "--", "true")
    check(code == 0, f"record: {code} {words}")
    whole = os.path.join("first",
                         next(name for name in os.listdir("first") if name.endswith(".fgtrace")))
    with open(whole, "ab") as file:
        file.write(PADDING)
    size = os.path.getsize(whole)
    code, words = run("record", "-o", "second", "--", "sh", "-c", PLANT, "sh", os.path.abspath(whole))
    check(code == 0 and os.path.exists("second/pipe"), f"record with pipes: {code} {words}")
    check(os.path.getsize(whole) == size, "what a planted link points to was cut")
    code, words = run("view", "second")
    check(code is not None, f"view with pipes: {words}")


def a_pipe_in_the_place_of_a_library_is_not_opened():
    for name, text in (("plugin.c", target("plugin.c")), ("program.c", target("replaced_plugin.c"))):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
    for words in (("-shared", "-fPIC", "-Wl,--build-id=none", "-o", "plugin.kept", "plugin.c"),
                  ("-o", "program", "program.c", "-ldl")):
        subprocess.run(["cc", "-O1", *words], check=True)
    code, words = run("duel", "--pairs", "2:2", "--schedule", "abba", "./program", "./program")
    check(code == 0 and "same" in words, f"duel: {code} {words}")


def main():
    pipes_and_links_among_traces_are_left_alone()
    if shutil.which("cc"):
        a_pipe_in_the_place_of_a_library_is_not_opened()
    else:
        print("no compiler here: the library was left out")


finish_in_scratch(main)
