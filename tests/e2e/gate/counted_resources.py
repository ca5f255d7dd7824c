#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
counted_resources.py FASTGATE COMPILER: with `measure.also: [fd, io, throws, locks]` one more descriptor,
one more byte and the first exception fail the run, each with the function to blame, even if only the
first counting run succeeds; the same program passes.
"""
import os
import re
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, target, write

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]

CONFIGURATION = f"""version: 1
project: app
build: {{ command: {COMPILER} -g -O1 app.cpp -o app }}
benchmarks:
  - {{ name: app, command: ./app }}
measure:
  also: [fd, io, throws, locks]
  schedule: abba
  pairs: {{ min: 4, max: 4 }}
  warmup: 0
  sampler: {{ enabled: false }}
gate:
  metrics:
    fd.peak: {{ tolerated: 0 }}
    io.bytes_written: {{ tolerated: 0.1% }}
    throws: {{ tolerated: 0 }}
    locks.waits: {{ tolerated: 0 }}
    cpu_time: {{ gated: false }}
    wall_time: {{ gated: false }}
    max_rss: {{ gated: false }}
"""


def source(opens, size, errors, more=""):
    log = os.path.abspath("counts.log")
    write("app.cpp",
          target("resources.cpp", OPENS=opens, BYTES=size, ERRORS=errors, LOG=f'"{log}"') + more)


def gate(code):
    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "report.json=report.json",
                "--set", "report.markdown=report.md")
    check(done.returncode == code,
          f"{done.returncode} where {code} was expected\n{done.stdout}{done.stderr}")
    benchmark = first_benchmark()
    metrics = {one["name"]: one for one in benchmark["metrics"]}
    return (done, benchmark,
            {name: (one["baseline"], one["candidate"], one["verdict"]) for name, one in metrics.items()})


def body():
    source(10, 200, 0)
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate/\nreport.json\nreport.md\ncounts.log\n")
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")

    source(11, 201, 3)
    done, benchmark, found = gate(1)
    wanted = {"fd.peak": (10, 11, "regression"), "io.bytes_written": (4000, 4020, "regression"),
              "throws": (0, 3, "regression"), "locks.waits": (0, 0, "pass"),
              "io.calls": (20, 20, "pass")}
    check({name: found.get(name) for name in wanted} == wanted, f"{found}")
    blamed = {blame["functions"][0]["measure"]: blame["functions"][0]["name"]
              for blame in benchmark["measures"]}
    check(blamed.get("fd.peak") == "open_all(int)" and blamed.get("io.bytes_written") == "save(int)" and
          blamed.get("throws") == "parse(int)", f"{blamed}")
    notes = " ".join(benchmark["notes"])
    check("were not counted a second time" in notes and "code 5" in notes,
          f"the second count failed: {notes}")
    with open("report.md", encoding="utf-8") as file:
        markdown = file.read()
    check("1 count   REGRESSION" in re.sub(r", \d+ s", "", markdown), markdown)
    check("parse(int)" in done.stdout and "save(int)" in done.stdout, done.stdout)

    source(10, 200, 0, "int unused(int a) { return a * 3; }\n")
    _, _, found = gate(0)
    check(found["throws"] == (0, 0, "pass") and found["fd.peak"] == (10, 10, "pass"), f"{found}")


finish_in_scratch(body)
