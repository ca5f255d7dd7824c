#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The table of q-view for ten functions: are the calls exact, and is the time per call that of a clock
around a thousand calls?

usage: p_fan.py FASTGATE [REPETITIONS]

The program runs once to warm up, REPETITIONS times (20) under the sampler and once under valgrind,
all by `fastgate run`; then REPETITIONS times alone, where its own clock times every thousand calls.
Sigma combines the error of the sampled time with that of the clock's mean.
"""
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

FASTGATE = pathlib.Path(sys.argv[1]).resolve()
REPETITIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
HERE = pathlib.Path(__file__).resolve().parent


def shell(*words):
    return subprocess.run([str(word) for word in words],
                          check=True, capture_output=True, text=True).stdout


def main():
    os.chdir(folder)
    os.environ.pop("LD_PRELOAD", None)
    shutil.copy(HERE / "p_fan.c", ".")
    pathlib.Path("fastgate.yml").write_text(
        'version: 1\nproject: p-fan\nbuild: { command: "cc -O1 -g -o p_fan p_fan.c -lm" }\n'
        "benchmarks:\n  - { name: p-fan, command: ./p_fan }\n"
        "measure: { exact: valgrind, exact_budget: 10m }\n", encoding="utf-8")
    pathlib.Path(".gitignore").write_text("p_fan\n.fastgate\n", encoding="utf-8")
    shell("git", "init", "-q", ".")
    shell("git", "add", ".")
    shell("git", "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "p-fan")
    subprocess.run([FASTGATE, "-q", "run", "--pairs", f"{REPETITIONS}:{REPETITIONS}"],
                   check=False, stdout=subprocess.DEVNULL)
    shell("cc", "-O1", "-g", "-o", "p_fan", "p_fan.c", "-lm")
    rows = {row["name"]: row
            for row in json.loads(shell(FASTGATE, "view", "latest", "--all", "--json"))["rows"]}
    timed, calls = {}, {}
    for _ in range(REPETITIONS):
        for line in shell("./p_fan").splitlines():
            name, count, ns = line.split()
            calls[name] = int(count)
            timed.setdefault(name, []).append(float(ns) / int(count))
    right = near = 0
    print(f"{'function':9} {'calls':>9} {'exact':>6} {'self/call':>10} {'total/call':>10} {'clock':>9} "
          f"{'sigma':>7}  away")
    for name in sorted(timed):
        row = rows[name]
        mean = statistics.fmean(timed[name])
        of_clock = statistics.stdev(timed[name]) / math.sqrt(REPETITIONS)
        sigma = math.hypot(row["inclusive_ns_error"] / calls[name], of_clock)
        away = (row["total_per_call_ns"] - mean) / sigma
        right += row["calls"] == calls[name]
        near += abs(away) <= 3
        print(f"{name:9} {row['calls']:9} {'yes' if row['calls'] == calls[name] else 'NO':>6} "
              f"{row['self_per_call_ns']:7.1f} ns {row['total_per_call_ns']:7.1f} ns "
              f"{mean:6.1f} ns {sigma:4.1f} ns {away:+5.1f}")
    print(f"calls exact: {right} of {len(timed)}; total/call within three sigma of the clock: "
          f"{near} of {len(timed)}")
    os.chdir("/")


with tempfile.TemporaryDirectory(prefix="fastgate-bench-") as folder:
    main()
