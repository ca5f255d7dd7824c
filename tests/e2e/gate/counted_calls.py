#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
counted_calls.py FASTGATE COMPILER: with `measure.calls` and `measure.domains` one extra call in a
thousand fails the run, the function that makes it is named, and new arguments are noted in the verdict.
The same program passes. With `measure.entries` calls within a program are gated, except those of a
function that can have a jump at its entry on one side only.
"""
import os
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, metric, target, write

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]

CONFIGURATION = """version: 1
project: app
build: { command: COMPILER }
benchmarks:
  - { name: app, command: ./app }
measure:
  schedule: abba
  pairs: { min: 4, max: 4 }
  warmup: 0
  sampler: { enabled: false }
  MEASURE
gate:
  metrics:
    GATED: { tolerated: 0.05% }
    cpu_time: { gated: false }
    wall_time: { gated: false }
    max_rss: { gated: false }
"""


def begin(folder, source, options, measure, gated):
    """
    Makes a repository whose first commit contains this program, with the settings for build and
    gate.
    """
    os.makedirs(folder)
    os.chdir(folder)
    write("app.c", source)
    text = CONFIGURATION.replace("COMPILER", f"{COMPILER} -g {options}").replace("GATED", gated)
    write("fastgate.yml", text.replace("MEASURE", "\n  ".join(measure)))
    write(".gitignore", "app\n.fastgate/\nreport.json\n")
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")


def gate(source, code):
    """Gates this program; returns the output and the report."""
    write("app.c", source)
    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "report.json=report.json")
    check(done.returncode == code,
          f"{os.getcwd()}: {done.returncode} where {code} was expected\n{done.stdout}{done.stderr}")
    benchmark = first_benchmark()
    return done, benchmark, " ".join(benchmark["notes"])


def expect(benchmark, name, baseline, candidate, verdict):
    found = metric(benchmark, name)
    check((found["baseline"], found["candidate"], found["verdict"]) == (baseline, candidate, verdict),
          f"{name}: {found}")


def calls_of_libraries_are_gated():
    def program(fits, factor, of, more=""):
        return target("math_calls.c", FITS=fits, FACTOR=factor, OF=of) + more

    begin("imports", program("1000", "0.5", "2.0"), "-O1 -fno-builtin app.c -o app -lm",
          ['calls: [exp, "cos@libm", nowhere]', "domains: [log, cos]"], "calls.exp")
    done, benchmark, notes = gate(program("1001", "2.0", "0.0 / (sink - sink)"), 1)
    expect(benchmark, "calls.exp", 1000, 1001, "regression")
    check(metric(benchmark, "calls.cos")["candidate"] == 100, f"{benchmark['metrics']}")
    blamed = benchmark["measures"][0]["functions"]
    check(blamed[0]["name"] == "fit" and blamed[0]["measure"] == "calls.exp", f"{blamed}")
    check("main → fit" in done.stdout, done.stdout)
    check("cos: range [0, 198], in the baseline [0, 49.5]" in notes,
          f"a range that has grown: {notes}")
    check("log: 1 of 1 arguments are NaN, but none in the baseline" in notes, f"a new NaN: {notes}")
    check("called with" in notes and "cos: 100 arguments in [0, 198], from 1 call path" in notes,
          f"what it is called with: {notes}")
    check("hint: log in main" in notes and "1 of 1 arguments are not a number (NaN)" in notes,
          f"hints: {notes}")
    check("from 1 call path" in done.stdout, f"the terminal says it, too: {done.stdout}")
    check("no call of 'nowhere' is counted" in notes, f"what was not reached: {notes}")
    unused = "int unused(int a) { return a * 3; }\n"
    done, benchmark, notes = gate(program("500 + 500", "0.5", "2.0", unused), 0)
    check(metric(benchmark, "calls.exp")["verdict"] == "pass", f"{benchmark['metrics']}")
    check("arguments:" not in notes, f"the same arguments: {notes}")


def calls_inside_the_program_are_gated():
    def program(fits, jump):
        return target("jump_to_entry.c", FITS=fits, JUMP=f'"{jump}"')

    begin("entries", program("1000", "nop"), "-O2 app.c -o app",
          ["calls: [fit, turns]", "entries: true"], "calls.fit")
    done, benchmark, notes = gate(program("1001", "jnz turns"), 1)
    expect(benchmark, "calls.fit", 1000, 1001, "regression")
    check(all(one["name"] != "calls.turns" for one in benchmark["metrics"]),
          f"counted on one side alone: {benchmark['metrics']}")
    check("other code may jump into the first instructions (turns)" in notes + done.stdout,
          f"why turns is not counted: {notes}")


def body():
    start = os.getcwd()
    for test in (calls_of_libraries_are_gated, calls_inside_the_program_are_gated):
        os.chdir(start)
        test()


finish_in_scratch(body)
