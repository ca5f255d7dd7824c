#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
tests.py BUILD_FOLDER [--times N] [--only REGEX] [--ways busy,one-cpu] [--at-once N]: runs every
test N times in parallel with eight busy processes and N times on one CPU, alternately, and
prints how often each failed. Each run's log stays in build/soak/tests. An interrupted run prints
the table so far.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import suite  # noqa: E402

LOGS = ROOT / "build" / "soak" / "tests"
BUSY = 8


class Run:
    """The outcome of one run of all tests."""

    def __init__(self, way, number, report):
        self.way, self.number = way, number
        cases = list(xml.etree.ElementTree.parse(report).iter("testcase"))
        self.seconds = {case.get("name"): float(case.get("time")) for case in cases}
        self.failed = [case.get("name") for case in cases if case.get("status") == "fail"]


def run_tests(way, number, words, asked):
    report = LOGS / f"{way}-{number}.xml"
    began = time.monotonic()
    with open(report.with_suffix(".log"), "wb") as log:
        subprocess.run([*words, "ctest", "--test-dir", str(asked.build.resolve()), f"-j{asked.at_once}",
                        "-L", "^(unit|integration|e2e)$", "-R", asked.only, "--output-on-failure",
                        "--output-junit", str(report)],
                       stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    run = Run(way, number, report)
    print(f"{way} {number}: {len(run.seconds)} tests in {time.monotonic() - began:.0f} s, "
          f"load {os.getloadavg()[0]:.1f}; failed: {', '.join(run.failed) or 'none'}", flush=True)
    return run


def with_busy_processes(number, asked):
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        return run_tests("busy", number, [], asked)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def on_one_processor(number, asked):
    return run_tests("one-cpu", number, ["taskset", "-c", str(min(os.sched_getaffinity(0)))], asked)


WAYS = {"busy": with_busy_processes, "one-cpu": on_one_processor}


def print_table(runs):
    """Prints the failures by test and way, and the number of runs."""
    times = collections.Counter(run.way for run in runs)
    failed = collections.Counter((name, run.way) for run in runs for name in run.failed)
    print(f"{'':40}" + "".join(f"{way:>14}" for way in times))
    for name in sorted({name for name, _ in failed}):
        print(f"{name:40}" + "".join(f"{failed[name, way]:>8} of {times[way]:<3}" for way in times))
    print(f"{sum(bool(run.failed) for run in runs)} of {len(runs)} runs failed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--only", default=".")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--ways", default=",".join(WAYS))
    asked = parser.parse_args()
    LOGS.mkdir(parents=True, exist_ok=True)
    runs = []
    try:
        with suite.scratch():
            for number in range(1, asked.times + 1):
                for way in asked.ways.split(","):
                    runs.append(WAYS[way](number, asked))
    except KeyboardInterrupt:
        pass
    print_table(runs)
    return 1 if any(run.failed for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
