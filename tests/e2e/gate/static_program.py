#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
static_program.py FASTGATE COMPILER: nothing can be preloaded into a static program, and yet its verdict names the function: both sides are
sampled from outside after the pairs.  Where that is not allowed, the verdict stands and says why no function is known.
"""
import os
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, write
from seccomp import PTRACE, forbid_system_call

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) void load(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * i; }
__attribute__((noinline)) void refine(unsigned n) { for (unsigned i = 0; i < n; i++) sink = sink * 31 + i; }
int main(int count, char **words) { for (int i = 0; i < atoi(words[count - 1]); i++) { load(600000); refine(ROUNDS); puts("a line of output that nobody reads"); } return 0; }
"""

CONFIGURATION = f"""version: 1
project: app
build: {{ command: {COMPILER} -g -O1 -static app.c -o app }}
benchmarks:
  - {{ name: app, command: ./app 20 }}
measure: {{ schedule: abba, pairs: {{ min: 12, max: 12 }}, layouts: false, sampler: {{ rate: 1000 }} }}
report: {{ json: report.json }}
"""


def make(rounds):
    write("app.c", PROGRAM.replace("ROUNDS", rounds))


def function_that_got_slower_is_named():
    done = call(FASTGATE, "run", "--against", "HEAD")
    benchmark = first_benchmark()
    check(done.returncode == 1 and benchmark["verdict"] == "regression", f"{done.returncode}: {done.stdout}{done.stderr}")
    guilty = [function["name"] for function in benchmark["functions"] if function["standing"] == "guilty"]
    check(guilty == ["refine"], f"{guilty}: {done.stdout}")
    check(": refine app.c:5 (+" in benchmark["cause"], benchmark["cause"])
    check("executions a side, sampled from outside" in done.stdout, done.stdout)
    check("runs without the sampler" not in done.stdout + done.stderr, done.stderr)
    view = call(FASTGATE, "view", "latest", check=True).stdout
    check("refine" in view and "load" in view, view)


def without_permission_the_verdict_stands():
    done = call(FASTGATE, "run", "--against", "HEAD", preexec_fn=lambda: forbid_system_call(PTRACE))
    benchmark = first_benchmark()
    check(done.returncode == 1 and benchmark["verdict"] == "regression" and benchmark["functions"] == [], f"{done.returncode}: {done.stdout}{done.stderr}")
    check("no function is known: a static program can only be sampled from outside" in done.stdout and "seccomp" in done.stdout, done.stdout)


def without_the_sampler_nothing_is_sampled():
    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "measure.sampler.enabled=false", "--set", "measure.also=[heap]")
    check(done.returncode == 1 and first_benchmark()["functions"] == [] and "from outside" not in done.stdout, f"the sampler was switched off: {done.stdout}")
    check("events are not counted: nothing could be preloaded into the program" in done.stdout, f"what could not be counted: {done.stdout}")


def body():
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate\nreport.json\n")
    make("600000")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "before")
    make("1800000")
    function_that_got_slower_is_named()
    # Where no function is looked for, a few samples' worth of time is enough for the verdict.
    write("fastgate.yml", CONFIGURATION.replace("./app 20", "./app 4"))
    without_permission_the_verdict_stands()
    without_the_sampler_nothing_is_sampled()


finish_in_scratch(body)
