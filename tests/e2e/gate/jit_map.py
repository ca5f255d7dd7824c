#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
jit_map.py FASTGATE COMPILER SOURCE [-static]: a program that generates code names it in
/tmp/perf-PID.map. The verdict names the generated function that became slower; a recording also names
it, here and in an archive.
"""
import os
import re
import shutil
import sys

from checks import blamed, call, check, finish_in_scratch, first_benchmark, git, write

FASTGATE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[3])
COMPILER, LINKED = sys.argv[2], " ".join(sys.argv[4:])
# Sampled from outside on a busy machine, 3 ms may end before the first sample.
ROUNDS = 100 if LINKED else 20

CONFIGURATION = f"""version: 1
project: app
build: {{ command: sh build.sh }}
benchmarks:
  - {{ name: app, command: ./app {ROUNDS} }}
gate: {{ alpha: 0.05 }}
measure: {{ schedule: abba, pairs: {{ min: 12, max: 12 }}, layouts: never, sampler: {{ rate: 4000 }} }}
report: {{ json: report.json }}
"""


def make(refine):
    write("build.sh", f"{COMPILER} {LINKED} -g -O1 -DREFINE={refine} app.c -o app\n")


def a_function_that_was_made_slower_is_named():
    done = call(FASTGATE, "run", "--against", "HEAD")
    benchmark = first_benchmark()
    check(done.returncode == 1 and benchmark["verdict"] == "regression",
          f"{done.returncode}: {done.stdout}{done.stderr}")
    guilty = blamed(benchmark, done.stdout)
    check(guilty[:1] == ["made_to_refine"], f"{guilty}: {done.stdout}{done.stderr}")
    view = call(FASTGATE, "view", "latest", check=True).stdout
    check("made_to_refine" in view, view)
    # Sampled from outside on a busy machine, a function with a twentieth of the time may get no sample.
    if not LINKED:
        check("made_to_load" in view, view)


def a_recording_keeps_the_names():
    call("sh", "build.sh", check=True)
    done = call(FASTGATE, "record", "--archive", "--rate", "2000", "-o", "traces", "--", "./app", "100")
    check(done.returncode == 0, done.stderr)
    here = call(FASTGATE, "view", "traces").stdout
    check(re.search(r"\[JIT\] +made_to_refine", here), here)
    for name in os.listdir("traces"):
        if os.path.exists(f"/tmp/perf-{name.split('.')[0]}.map"):
            os.unlink(f"/tmp/perf-{name.split('.')[0]}.map")
    check("made_to_refine" not in call(FASTGATE, "view", "traces").stdout,
          "the file is gone, and its names are not")
    there = call(FASTGATE, "view", "traces.tar.zst").stdout
    check(there == here, f"taken along: {there}")


def body():
    shutil.copy(SOURCE, "app.c")
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate\nreport.json\n")
    make("200000")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "before")
    make("4000000")
    a_function_that_was_made_slower_is_named()
    a_recording_keeps_the_names()


finish_in_scratch(body)
