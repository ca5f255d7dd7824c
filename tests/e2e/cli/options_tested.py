#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
options_tested.py TESTS_FOLDER FASTGATE [PERFDB]: every option of every command is used by a test.

An option that several commands share with the same help counts as one. It counts as used if a test file
contains it and calls one of these commands. That says nothing about how well it is tested, but
it finds a new option without any test.
"""
import os
import re
import sys

from checks import call, check, finish

FOLDER, FASTGATE = sys.argv[1:3]
PERFDB = sys.argv[3] if len(sys.argv) > 3 else None
OWN = os.path.basename(__file__)
EVERYWHERE = {"help", "version", "color", "quiet", "verbose", "json"}
# Ways to start a command other than by its name.
OTHERWISE = {("perfdb", "serve"): r"\bServer\("}


def said(*words):
    done = call(*words)
    return done.stdout + done.stderr


def options_of(page):
    """(letter or "", name, help) of each row of a table."""
    rows = re.findall(r"^  (?:-(\w), |    )--([\w-]+)(.*(?:\n {20,}\S.*)*)", page, re.M)
    return [(letter, name, " ".join(text.split())) for letter, name, text in rows]


def commands():
    """Yields (program, command, help page) for every command."""
    for program, path in (("fastgate", FASTGATE), ("perfdb", PERFDB)):
        overview = said(path, "help").split("Options of every command")[0] if path else ""
        for command in re.findall(r"^  ([a-z]+)  +\S", overview, re.M):
            yield program, command, said(path, command, "--help")


def read_tests():
    texts = []
    for at, _, names in os.walk(FOLDER):
        for name in names:
            is_test = name.endswith((".py", ".sh", ".c", ".mjs", "CMakeLists.txt")) and name != OWN
            if is_test and "node_modules" not in at:
                with open(os.path.join(at, name), encoding="utf-8") as file:
                    texts.append(file.read())
    return texts


def is_used(text, callers, letter, name):
    spelled = (re.search(rf"--{re.escape(name)}(?![\w-])", text) or
               (letter and re.search(rf"(?<![\w-])-{letter}(?![\w-])", text)))
    return spelled and any(re.search(caller, text) for caller in callers)


rows = {}
for program, command, page in commands():
    for letter, name, text in options_of(page):
        if name not in EVERYWHERE:
            rows.setdefault((program, letter, name, text), []).append(command)
check(len(rows) > 150, f"only {len(rows)} options were found")
tests = read_tests()
for (program, letter, name, _), names in rows.items():
    callers = [rf"\b{command}\b" for command in names] + [
        OTHERWISE[program, command] for command in names if (program, command) in OTHERWISE]
    check(any(is_used(text, callers, letter, name) for text in tests),
          f"{program} {'/'.join(names)} --{name}: no test uses it")
print(f"{len(rows)} options of {len({name for names in rows.values() for name in names})} commands")
finish()
