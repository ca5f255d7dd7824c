#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
counted_calls.py FASTGATE COMPILER: with `measure.calls` and `measure.domains` one call more in a thousand fails the run, the function
that makes it is named, and arguments that are new are notes of the verdict.  The same program passes.
"""
import os
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, metric, write

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]

PROGRAM = """#include <math.h>
static volatile double sink;
__attribute__((noinline)) void fit(int n) { for (int i = 0; i < n; i++) sink = exp(-1.0 / (i + 1)); __asm__ volatile(""); }
__attribute__((noinline)) void draw(int n) { for (int i = 0; i < n; i++) sink = cos(FACTOR * i); __asm__ volatile(""); }
int main(void) { fit(FITS); draw(100); sink = log(OF); return 0; }
"""

CONFIGURATION = f"""version: 1
project: app
build: {{ command: {COMPILER} -g -O1 -fno-builtin app.c -o app -lm }}
benchmarks:
  - {{ name: app, command: ./app }}
measure:
  calls: [exp, "cos@libm", nowhere]
  domains: [log, cos]
  schedule: abba
  pairs: {{ min: 4, max: 4 }}
  warmup: 0
  sampler: {{ enabled: false }}
gate:
  metrics:
    calls.exp: {{ tolerated: 0.05% }}
    cpu_time: {{ gated: false }}
    wall_time: {{ gated: false }}
    max_rss: {{ gated: false }}
"""


def gate():
    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "report.json=report.json")
    return done, first_benchmark()


def make(fits, factor, of, more=""):
    write("app.c", PROGRAM.replace("FITS", fits).replace("FACTOR", factor).replace("OF", of) + more)


def body():
    make("1000", "0.5", "2.0")
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate/\nreport.json\n")
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")

    make("1001", "2.0", "0.0 / (sink - sink)")
    done, benchmark = gate()
    check(done.returncode == 1, f"one call more: {done.returncode}\n{done.stdout}{done.stderr}")
    calls = metric(benchmark, "calls.exp")
    check((calls["baseline"], calls["candidate"], calls["verdict"]) == (1000, 1001, "regression"), f"{calls}")
    check(metric(benchmark, "calls.cos")["candidate"] == 100, f"{benchmark['metrics']}")
    blamed = benchmark["measures"][0]["functions"]
    check(blamed[0]["name"] == "fit" and blamed[0]["measure"] == "calls.exp", f"{blamed}")
    check("main → fit" in done.stdout, done.stdout)
    notes = " ".join(benchmark["notes"])
    check("cos: in [0, 198], in the baseline in [0, 49.5]" in notes, f"a range that has grown: {notes}")
    check("log: 1 of 1 arguments are NaN, none in the baseline" in notes, f"a new NaN: {notes}")
    check("called with" in notes and "cos: 100 arguments in [0, 198], from 1 call path" in notes, f"what it is called with: {notes}")
    check("hint: log in main" in notes and "1 of 1 arguments are no number (NaN)" in notes, f"hints: {notes}")
    check("from 1 call path" in done.stdout, f"the terminal says it, too: {done.stdout}")
    check("'nowhere' is counted", f"what was not reached: {notes}")

    make("500 + 500", "0.5", "2.0", "int unused(int a) { return a * 3; }\n")
    done, benchmark = gate()
    check(done.returncode == 0, f"as many calls: {done.returncode}\n{done.stdout}{done.stderr}")
    check(metric(benchmark, "calls.exp")["verdict"] == "pass", f"{benchmark['metrics']}")
    check("arguments:" not in " ".join(benchmark["notes"]), f"the same arguments: {benchmark['notes']}")


finish_in_scratch(body)
