#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
counted.py FASTGATE COMPILER: with `measure.also: [heap]` one allocation more in ten thousand fails the run, and the function that makes
it is named with its call path; so does a block that is not given back.  The same program passes.
"""
import os
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, metric, write

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]

PROGRAM = """#include <stdlib.h>
static void *volatile block;
__attribute__((noinline)) void parse(int n) { for (int i = 0; i < n; i++) { block = malloc(40); free(block); } __asm__ volatile(""); }
__attribute__((noinline)) void load(int n) { for (int i = 0; i < n; i++) { block = malloc(80); free(block); } __asm__ volatile(""); }
__attribute__((noinline)) void keep(int bytes) { block = malloc(bytes); __asm__ volatile(""); }
int main(void) { parse(5000); load(LOADS); keep(HELD); return 0; }
"""

CONFIGURATION = f"""version: 1
project: app
build: {{ command: {COMPILER} -g -O1 app.c -o app }}
benchmarks:
  - {{ name: app, command: ./app }}
measure: {{ also: [heap], schedule: abba, pairs: {{ min: 4, max: 4 }}, warmup: 0, sampler: {{ enabled: false }} }}
gate:
  metrics:
    heap.allocations: {{ tolerated: 0 }}
    heap.live: {{ tolerated: 0.1% }}
    heap.peak: {{ tolerated: 50% }}
    cpu_time: {{ gated: false }}
    wall_time: {{ gated: false }}
    max_rss: {{ gated: false }}
"""


def gate():
    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "report.json=report.json")
    return done, first_benchmark()


def make(loads, held, more=""):
    write("app.c", PROGRAM.replace("LOADS", loads).replace("HELD", held) + more)


def body():
    make("5000", "3000")
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate/\nreport.json\n")
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")

    make("5001", "3000")
    done, benchmark = gate()
    check(done.returncode == 1, f"one allocation more: {done.returncode}\n{done.stdout}{done.stderr}")
    allocations = metric(benchmark, "heap.allocations")
    check((allocations["baseline"], allocations["candidate"], allocations["verdict"]) == (10001, 10002, "regression"), f"{allocations}")
    check("heap.bytes" in {one["name"] for one in benchmark["metrics"]}, "bytes are not shown")
    blamed = benchmark["measures"][0]["functions"]
    check(blamed[0]["name"] == "load" and blamed[0]["measure"] == "heap.allocations", f"{blamed}")
    check("100 %  load" in done.stdout and "main → load" in done.stdout, done.stdout)

    make("4000 + 1000", "3000", "int unused(int a) { return a * 3; }\n")
    done, benchmark = gate()
    check(done.returncode == 0, f"as many allocations: {done.returncode}\n{done.stdout}{done.stderr}")
    check(metric(benchmark, "heap.allocations")["verdict"] == "pass", f"{benchmark['metrics']}")

    make("5000", "3100")
    done, benchmark = gate()
    check(done.returncode == 1, f"more held at the end: {done.returncode}\n{done.stdout}{done.stderr}")
    live, peak = metric(benchmark, "heap.live"), metric(benchmark, "heap.peak")
    check((live["baseline"], live["candidate"], live["verdict"]) == (3000, 3100, "regression"), f"{live}")
    check((peak["baseline"], peak["candidate"], peak["verdict"]) == (3000, 3100, "pass"), f"{peak}")
    blamed = next(one for one in benchmark["measures"] if one["measure"] == "heap.live")["functions"]
    check(blamed[0]["name"] == "keep", f"{blamed}")

    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "measure.also=[heat]")
    check(done.returncode == 2 and "heat" in done.stderr, f"an event that is not known: {done}")


finish_in_scratch(body)
