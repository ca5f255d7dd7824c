#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
getting_started.py FASTGATE ROOT: creates a repository from nothing, with the commands of
docs/getting-started.md and no others. A change that makes one function take three times as long fails
the gate on any machine, and the report names that function first; a pure refactoring is built and
compared, or recognised as the same code. The smallest change found and the rate of false alarms are
matters of chance: bench/calibration measures them.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from checks import target

fastgate, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])

# Three functions of about the same weight, 50 ms each at 3 GHz, because `init` repeats short programs in
# a loop. Integer arithmetic within one cache line is reproducible.
PROGRAM = target("wordy.c")
CMAKE = "cmake_minimum_required(VERSION 3.20)\nproject(demo C)\nadd_executable(demo demo.c)\n"
SLOWER = ("for (int i = 0; i < ROUNDS; i++)\n\t\tvalue = (value ^ (value >> 27))",
          "for (int i = 0; i < 3 * ROUNDS; i++)\n\t\tvalue = (value ^ (value >> 27))")
# One line becomes a function, and one function gets a better name.
REFACTORED = [("__attribute__((noinline)) static uint64_t scan(",
               "static uint64_t step(uint64_t value)\n{\n"
               "\treturn (value ^ (value >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) + 1;\n}\n\n"
               "__attribute__((noinline)) static uint64_t scan_input("),
              ("value = (value ^ (value >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) + 1;\n\treturn",
               "value = step(value);\n\treturn"),
              ("digest(scan(", "digest(scan_input(")]

page = (root / "docs/getting-started.md").read_text()


def blocks(heading):
    """The commands of one section of the page."""
    section = re.search(rf"^## \d\. {re.escape(heading)}$(.*?)^## ", page, re.M | re.S)
    if not section:
        sys.exit(f"FAILED: the page has no section '{heading}'")
    return re.findall(r"^```sh\n(.*?)^```", section[1], re.M | re.S)


def change(path, pairs):
    text = path.read_text()
    for old, new in pairs:
        if text.count(old) != 1:
            sys.exit(f"FAILED: {text.count(old)} places to change, expected one: {old}")
        text = text.replace(old, new)
    path.write_text(text)


with tempfile.TemporaryDirectory() as name:
    home = pathlib.Path(name)
    project = home / "your-project"
    project.mkdir()
    environment = dict(os.environ, HOME=name, XDG_CACHE_HOME=f"{name}/cache", GIT_CONFIG_NOSYSTEM="1",
                       GIT_CONFIG_GLOBAL="/dev/null", PATH=f"{fastgate.parent}:{os.environ['PATH']}")
    for who in ("AUTHOR", "COMMITTER"):
        environment[f"GIT_{who}_NAME"], environment[f"GIT_{who}_EMAIL"] = "tester", "tester@example.org"

    def shell(commands, wanted, folder, what, **more):
        done = subprocess.run(["sh", "-e", "-c", commands], cwd=folder, env=environment | more,
                              capture_output=True, text=True, check=False, timeout=500)
        if done.returncode != wanted:
            sys.exit(f"FAILED: {what}: exit code {done.returncode}, expected {wanted}\n{done.stdout}\n"
                     f"{done.stderr}")
        return done.stdout

    (project / "demo.c").write_text(PROGRAM)
    (project / "CMakeLists.txt").write_text(CMAKE)
    (project / ".gitignore").write_text("build/\n")
    shell("git init -q . && git add . && git commit -q -m 'A program'", 0, project, "a repository")

    write, commit = blocks("Write `fastgate.yml`")
    gate, = blocks("Gate a change")
    see, = blocks("See why")
    shell(write, 0, home, "section 3")
    shell(commit, 0, project, "section 3, the commit")

    change(project / "demo.c", [SLOWER])
    shell(gate, 1, project, "a slowdown")
    report = json.loads(shell("fastgate report --format json", 0, project, "the report"))
    names = [f["name"] for f in report["benchmarks"][0]["functions"] if f["verdict"] == "regression"]
    if names[:1] != ["digest"]:
        sys.exit(f"FAILED: the slower functions are {names}, expected digest first: "
                 f"{json.dumps(report, indent=1)}")
    shell(see, 0, project, "section 5")

    shell("git checkout -q demo.c", 0, project, "the way back")
    change(project / "demo.c", REFACTORED)
    # two pairs are too few to decide anything
    few = {"FASTGATE_MEASURE_PAIRS_MIN": "2", "FASTGATE_MEASURE_PAIRS_MAX": "2"}
    said = shell(gate, 0, project, "a pure refactoring", **few)
    # The compiler decides whether the machine code is the same.
    if "2 pairs" not in said and "same binaries on both sides" not in said:
        sys.exit(f"FAILED: the refactoring was neither the same code nor compared in two pairs:\n{said}")
