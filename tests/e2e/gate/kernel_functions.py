#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
kernel_functions.py FASTGATE COMPILER: a program that reads more is slower, its function is to blame, and
the verdict names the kernel function that takes the time.
"""
import os
import sys

import perf_kernel
from checks import call, check, finish_in_scratch, first_benchmark, git, target, write

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]
SKIPPED = 77

CONFIGURATION = f"""version: 1
project: app
build: {{ command: {COMPILER} -g -O1 app.c -o app }}
benchmarks:
  - {{ name: app, command: ./app }}
gate: {{ alpha: 0.05 }}
measure: {{ schedule: abba, pairs: {{ min: 14, max: 14 }}, layouts: never, sampler: {{ rate: 1000 }} }}
report: {{ json: report.json }}
"""


def body():
    why = perf_kernel.why_not()
    if why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate\nreport.json\n")
    write("app.c", target("reading.c", ROUNDS=20))
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "before")
    write("app.c", target("reading.c", ROUNDS=300))
    done = call(FASTGATE, "run", "--against", "HEAD")
    benchmark = first_benchmark()
    guilty = [function["name"]
              for function in benchmark["functions"] if function["standing"] == "guilty"]
    # load() itself did not change: if main() was also sampled, its changed call is to blame.
    check(done.returncode == 1 and guilty[:1] in (["load"], ["main"]),
          f"{done.returncode}, {guilty}: {done.stdout}{done.stderr}")
    # The kernel does not count as part of the build, whichever of its functions are sampled.
    facts = [*benchmark["build"]["baseline"].values(), *benchmark["build"]["candidate"].values()]
    check(facts and not any("[kernel]" in fact for fact in facts),
          f"the kernel is a part of the build: {facts}")
    view = call(FASTGATE, "view", "latest", "--all", check=True).stdout
    rows = [line for line in view.splitlines() if "  [kernel]  " in line]
    check(any(line.endswith(" vfs_read") for line in rows), view)
    # Two pairs decide nothing, but are enough to see what is sampled.
    off = call(FASTGATE, "run", "--against", "HEAD", "--pairs", "2:2",
               "--set", "measure.sampler.kernel=off")
    check(off.returncode == 0, off.stdout + off.stderr)
    check("vfs_read" not in call(FASTGATE, "view", "latest", "--all", check=True).stdout,
          "measure.sampler.kernel: off")


finish_in_scratch(body)
