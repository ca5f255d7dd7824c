#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
opened_libraries.py FASTGATE [PERFDB]: a command opens only the libraries that it needs, and
reports a missing one in one line. The programs' ELF notes list the libraries; the dynamic linker
(LD_DEBUG) shows which ones a process loads.
"""
import os
import re
import shutil
import subprocess
import sys

from checks import HUNG_S, call, check, finish_in_scratch, write

FASTGATE = sys.argv[1]
PERFDB = sys.argv[2] if len(sys.argv) > 2 else None
NOWHERE = "http://127.0.0.1:1"
NO_DATABASE = "postgresql://nobody@127.0.0.1:1/none"


def notes(program):
    """{feature: the library that it needs}, from the program's notes."""
    with open(program, "rb") as file:
        found = re.findall(rb'\[\{"feature":"(\w+)","description":"[^"]*","priority":"\w+",'
                           rb'"soname":\["([^"]+)"\]\}\]\0', file.read())
    return {feature.decode(): library.decode() for feature, library in found}


def loaded(program, *words):
    """The dynamic linker's output for the program, without its children; it must not be empty."""
    environment = {**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": os.path.abspath("loaded")}
    with subprocess.Popen([program, *words], env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        child.wait(HUNG_S)
    with open(f"loaded.{child.pid}", encoding="utf-8", errors="replace") as file:
        return file.read()


def opened(program, *words):
    """The features whose libraries the program loads, at its start or later."""
    said = loaded(program, *words)
    files = set(re.findall(r"\bfile=(\S+) \[", said))
    check("libc.so.6" in files, f"{words}: the dynamic linker does not name libc: {sorted(files)}")
    return {feature for feature, library in notes(program).items() if library in files}


def expect(wanted, program, *words):
    found = opened(program, *words)
    check(found == wanted,
          f"{os.path.basename(program)} {' '.join(words)} opens {sorted(found)}, "
          f"expected {sorted(wanted)}")


def each_command_opens_what_it_needs():
    expect(set(), FASTGATE, "--version")
    expect(set(), FASTGATE, "help", "--completion", "bash")
    expect(set(), FASTGATE, "run")
    expect(set(), FASTGATE, "runs")
    expect(set(), FASTGATE, "record", "-o", "t.fgt", "--", "true")
    expect(set(), FASTGATE, "view", "t.fgt")
    expect({"archives"}, FASTGATE, "archive", "t.fgt", "-o", "t.tar.zst")
    expect({"archives"}, FASTGATE, "view", "t.tar.zst")
    expect({"servers"}, FASTGATE, "push", "--url", NOWHERE, "--attempts", "1", "latest")
    if "postgresql" in notes(FASTGATE):
        expect({"postgresql"}, FASTGATE, "runs", "--store", NO_DATABASE)
    if PERFDB:
        expect(set(), PERFDB, "token", "create", "--database", "perfdb.db")
    if PERFDB and "postgresql" in notes(PERFDB):
        expect({"postgresql"}, PERFDB, "token", "--database", NO_DATABASE)


def fails(line, code, program, *words):
    """Checks that the command fails if the dynamic linker searches the folder "fakes" first."""
    done = call(program, *words, env={**os.environ, "LD_LIBRARY_PATH": os.path.abspath("fakes")})
    name = os.path.basename(program)
    check(done.returncode == code and done.stdout == "" and done.stderr.count("\n") == 1 and
          re.match(f"{name}: {line}", done.stderr),
          f"{name} {' '.join(words)}: {done.returncode} {done.stdout!r} {done.stderr!r}, "
          f"expected {code} and {line!r}")


def each_library(fake):
    """Replaces each library by fake(path), then calls a command that needs it."""
    needed = {"servers": [(2, FASTGATE, "push", "--url", NOWHERE, "--attempts", "1", "--quiet")],
              "archives": [(2, FASTGATE, "archive", "t.fgt", "-o", "none")],
              "postgresql": [(2, FASTGATE, "runs", "--store", NO_DATABASE)]}
    if PERFDB:
        needed["postgresql"].append((1, PERFDB, "token", "--database", NO_DATABASE))
    for feature, library in notes(FASTGATE).items():
        shutil.rmtree("fakes", ignore_errors=True)
        os.mkdir("fakes")
        fake(f"fakes/{library}")
        for code, program, *words in needed[feature]:
            yield re.escape(library), code, program, words


def a_missing_library_is_reported():
    for library, code, program, words in each_library(lambda path: write(path, "")):
        fails(rf"{library} is needed [a-zA-Z ]+ but cannot be opened: install [^:]+ \(/\S*/{library}: ",
              code, program, *words)
    check(not os.path.exists("none"), "an archive that cannot be written leaves a file")


def a_library_without_our_functions_is_reported():
    other = re.search(r"calling init: (/\S*/libz\.so\S*)", loaded(FASTGATE, "--version"))[1]
    for library, code, program, words in each_library(lambda path: shutil.copy(other, path)):
        fails(rf"{library}, which is needed [a-zA-Z ]+, has no function \w+: unexpected version", code,
              program, *words)


def waiting_programs_continue_to_wait():
    status = call(FASTGATE, "push", "--status", "--json")
    check('"waiting": 1' in status.stdout or '"waiting":1' in status.stdout,
          f"after all of it: {status.stdout}")


def body():
    check(set(notes(FASTGATE)) >= {"archives", "servers"}, f"notes of {FASTGATE}: {notes(FASTGATE)}")
    write("fastgate.yml",
          "version: 1\nproject: opened\nbenchmarks:\n  - { name: one, command: sh -c true }\n"
          "measure: { schedule: abba, pairs: { min: 2, max: 2 }, sampler: { enabled: false } }\n")
    each_command_opens_what_it_needs()
    a_missing_library_is_reported()
    a_library_without_our_functions_is_reported()
    waiting_programs_continue_to_wait()


finish_in_scratch(body)
