# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE SOURCE TRIALS. Half of the commits add one allocation at one of two sites;
the other half change only a comment.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

FASTGATE, SOURCE, TRIALS = sys.argv[1], sys.argv[2], int(sys.argv[3])
CONFIGURATION = """version: 1
project: sites
build: { command: make }
benchmarks:
  - { name: sites, command: ./sites }
measure: { also: [allocations] }
gate: { metrics: { heap.allocations: { tolerated: 0 } } }
report: { json: report.json }
"""
SITES = ("first", "second")


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def judged(text):
    """
    Runs the gate; returns the verdict on allocations, and the benchmark's part of the report.
    """
    write("sites.c", text)
    subprocess.run([FASTGATE, "--quiet", "run", "--against", "HEAD", "--pairs", "3:3"],
                   check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open("report.json", encoding="utf-8") as file:
        benchmark = json.load(file)["benchmarks"][0]
    metric = next(metric for metric in benchmark["metrics"] if metric["name"] == "heap.allocations")
    return metric, benchmark


def first_named(benchmark):
    for blame in benchmark.get("measures", []):
        if blame.get("measure") == "heap.allocations":
            return next((function["name"] for function in blame["functions"]), "")
    return ""


def main():
    folder = tempfile.mkdtemp(prefix="fastgate-bench-")
    os.chdir(folder)
    os.environ.pop("LD_PRELOAD", None)
    with open(SOURCE, encoding="utf-8") as file:
        source = file.read()
    write("Makefile", "sites: sites.c\n\tgcc -O1 -g -fno-optimize-sibling-calls sites.c -o sites\n")
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "sites\n.fastgate\nreport.json\n")
    write("sites.c", source)
    subprocess.run(["git", "init", "-q", "."], check=True)
    subprocess.run(["git", "add", "."], check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "sites"],
                   check=True)
    choice = random.Random(1)
    found = named = false = 0
    for i in range(TRIALS):
        site = choice.choice(SITES)
        extra = f"EXTRA_{site.upper()}"
        metric, benchmark = judged(source.replace(f"{extra} = 0", f"{extra} = 1"))
        found += metric["verdict"] == "regression"
        named += first_named(benchmark) == f"{site}_site"
        metric, _ = judged(f"{source}/* {i} */\n")
        false += metric["verdict"] == "regression"
    print(f"one allocation more in 10,000, two executions: found in {found} of {TRIALS}, "
          f"its site named first in {named}; red without a change: {false} of {TRIALS}")
    shutil.rmtree(folder)


main()
