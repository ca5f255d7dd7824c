#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
python_lines.py FASTGATE: a benchmark driven by Python is blamed on Python functions: the slower one is
named with its file and line, and has the same name on both sides, although each side lies in its
own folder; with `python: off` only the interpreter is known.
"""
import os
import re
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, write
from pythons import interpreters

FASTGATE = os.path.abspath(sys.argv[1])

PROGRAM = """import tools


def load(n):
    total = 0
    for i in range(n):
        total += i & 3
    return total


def step(n):
    total = 0
    for i in range(n):
        total += i & 7
    return total


for _ in range(20):
    load(2000)
    step(ROUNDS)
    tools.refine(2000)
"""

TOOLS = """class Tools:
    def refine(self, n):
        return sum(i & 5 for i in range(n))


refine = Tools().refine
"""

CONFIGURATION = """version: 1
project: app
benchmarks:
  - { name: train, command: PYTHON -S -E train.py }
gate: { alpha: 0.05 }
measure: { schedule: abba, pairs: { min: 14, max: 14 }, layouts: never, sampler: { rate: 2000 } }
report: { json: report.json }
"""


def function_that_got_slower_is_named():
    done = call(FASTGATE, "run", "--against", "HEAD")
    benchmark = first_benchmark()
    check(done.returncode == 1 and benchmark["verdict"] == "regression",
          f"{done.returncode}: {done.stdout}{done.stderr}")
    guilty = [(function["name"], function["library"], function["line"])
              for function in benchmark["functions"] if function["standing"] == "guilty"]
    check(guilty[:1] == [("step", "train.py", 11)], f"{guilty}: {done.stdout}")
    check(": step train.py:1" in benchmark["answer"]["sentence"], benchmark["answer"]["sentence"])
    paths = [path["frames"] for function in benchmark["functions"] for path in function["paths"]]
    check(paths and all(re.match(r"[\w<[]", frame) for frames in paths for frame in frames),
          f"each frame begins with a name: {paths}")
    view = call(FASTGATE, "view", "latest", check=True).stdout
    check("step" in view and "load" in view and "Tools.refine" in view, view)


def switched_off_no_python_function_is_known():
    call(FASTGATE, "run", "--against", "HEAD", "--pairs", "3:3", "--set", "measure.sampler.python=off")
    names = {function["name"] for function in first_benchmark()["functions"]}
    check("step" not in names, f"{names}")
    view = call(FASTGATE, "view", "latest", check=True).stdout
    # The kernel has functions with similar names, such as step_into.
    check(not re.search(r"\bstep\b", view) and "_PyEval_EvalFrameDefault" in view, view)


def body():
    python = next(iter(interpreters()), None)
    if not python:
        print("no Python 3.11, 3.12 or 3.13 here")
        sys.exit(77)
    git("init", "-q", "-b", "main")
    write(".gitignore", ".fastgate/\nreport.json\n__pycache__/\n")
    write("fastgate.yml", CONFIGURATION.replace("PYTHON", python))
    write("tools.py", TOOLS)
    write("train.py", PROGRAM.replace("ROUNDS", "1000"))
    git("add", "-A")
    git("commit", "-qm", "one")
    write("train.py", PROGRAM.replace("ROUNDS", "80000"))
    function_that_got_slower_is_named()
    switched_off_no_python_function_is_known()


finish_in_scratch(body)
