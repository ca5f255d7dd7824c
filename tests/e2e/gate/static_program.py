#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
static_program.py FASTGATE LANGUAGE COMPILER [CACHE]: nothing can be preloaded into a static program, yet
its verdict names the function, in any language: both sides are sampled from outside after the pairs.
Without permission for that, the verdict stands and says why no function is known. CACHE keeps the Go
compiler's build of its standard library.
"""
import os
import shutil
import sys

from checks import blamed, call, check, finish_in_scratch, first_benchmark, git, target, write
from seccomp import PTRACE, forbid_system_call

FASTGATE = os.path.abspath(sys.argv[1])
LANGUAGE = sys.argv[2]
COMPILER = sys.argv[3]
CACHE = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else ""

# The file, the build of a static program, the argument for 20 rounds, and the function to blame.
TWENTY_LETTERS = "20roundsoneforaletter"[:20]
LANGUAGES = {
    "c": ("app.c", "{compiler} -g -O1 -static app.c -o app", "20", "refine"),
    "c++": ("app.cpp", "{compiler} -g -O1 -static app.cpp -o app", "20",
            "fit::Track::refine(unsigned int)"),
    "go": ("app.go",
           "env CGO_ENABLED=0 GO111MODULE=off GOFLAGS= GOCACHE={cache} {compiler} build -o app app.go",
           TWENTY_LETTERS, "main.refine"),
}
FILE, BUILD, ARGUMENT, GUILTY = LANGUAGES[LANGUAGE]
PROGRAM = target(FILE.replace("app", "static"))
# Go has no line for the entry of a function, only for its first statement.
LINE = PROGRAM[:PROGRAM.index("refine(")].count("\n") + (2 if LANGUAGE == "go" else 1)
MAIN = "main.main" if LANGUAGE == "go" else "main"

CONFIGURATION = f"""version: 1
project: app
build: {{ command: {BUILD.format(compiler=COMPILER, cache=CACHE)} }}
benchmarks:
  - {{ name: app, command: ./app {ARGUMENT} }}
gate: {{ alpha: 0.05 }}
measure: {{ schedule: abba, pairs: {{ min: 12, max: 12 }}, layouts: never, sampler: {{ rate: 1000 }} }}
report: {{ json: report.json }}
"""


def make(rounds):
    write(FILE, PROGRAM.replace("ROUNDS", rounds))


def function_that_got_slower_is_named():
    done = call(FASTGATE, "run", "--against", "HEAD")
    benchmark = first_benchmark()
    check(done.returncode == 1 and benchmark["verdict"] == "regression",
          f"{done.returncode}: {done.stdout}{done.stderr}")
    guilty = blamed(benchmark, done.stdout)
    # On a busy machine the rest of the program may take longer, and Go's own threads poll more often.
    # refine() itself did not change: if main() was also sampled, its changed call may be to blame.
    check(guilty[:1] in ([GUILTY], [MAIN]), f"{guilty}: {done.stdout}")
    check(guilty[:1] != [GUILTY] or benchmark["functions"][0]["standing"] != "guilty" or
          f": {GUILTY} {FILE}:{LINE} (+" in benchmark["answer"]["sentence"],
          benchmark["answer"]["sentence"])
    check("executions per side, sampled from outside" in done.stdout, done.stdout)
    check("runs without the sampler" not in done.stdout + done.stderr, done.stderr)
    view = call(FASTGATE, "view", "latest", check=True).stdout
    check("refine" in view, view)  # on a crowded CPU, few samples may miss the other function


def without_permission_the_verdict_stands():
    done = call(FASTGATE, "run", "--against", "HEAD", preexec_fn=lambda: forbid_system_call(PTRACE))
    benchmark = first_benchmark()
    check(done.returncode == 1 and benchmark["verdict"] == "regression" and benchmark["functions"] == [],
          f"{done.returncode}: {done.stdout}{done.stderr}")
    check("no function is known: a static program can only be sampled from outside" in done.stdout and
          "seccomp" in done.stdout,
          done.stdout)


def without_the_sampler_nothing_is_sampled():
    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "measure.sampler.enabled=false",
                "--set", "measure.also=[heap]")
    check(done.returncode == 1 and first_benchmark()["functions"] == [] and
          "from outside" not in done.stdout,
          f"the sampler was switched off: {done.stdout}")
    check("events are not counted: nothing could be preloaded into the program" in done.stdout,
          f"what could not be counted: {done.stdout}")


def body():
    if not shutil.which(COMPILER):
        print(f"skipped: {COMPILER} is not installed")
        sys.exit(77)
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate\nreport.json\n")
    make("400000")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "before")
    make("4000000")
    function_that_got_slower_is_named()
    if LANGUAGE != "c":
        return
    # The program may be shorter from here on, because no function must be found.
    write("fastgate.yml", CONFIGURATION.replace("./app 20", "./app 8"))
    without_permission_the_verdict_stands()
    without_the_sampler_nothing_is_sampled()


finish_in_scratch(body)
