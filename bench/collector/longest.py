#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The longest handlers of several runs, compared with handlers that spin for as long under the same signals.

usage: longest.py BUILD_FOLDER [ROUNDS [SECONDS]]; SECONDS of CPU time each, 170 by default.

Times are the upper ends of buckets, in us.
"""
import os
import subprocess
import sys
import tempfile

from bench import quantile

RATE = 1000
PARTS = (0.5, 0.99, 0.999, 0.9999, 1)
GOAL_US = 150 # 99.99 % of handlers take no longer


def measure(build, seconds, scratch):
    """Handlers by kind and bucket, and the rest of the output."""
    with tempfile.TemporaryDirectory(dir=scratch) as output:
        counts = f"{scratch}/counts"
        env = {**os.environ, "FASTGATE_COLLECTOR_OUTPUT": output, "FASTGATE_COLLECTOR_PERIOD": str(10**9 // RATE), "BENCH_COUNTS": counts}
        said = subprocess.run([f"{build}/bench/collector/bench_collector_handler", str(seconds)], env=env, capture_output=True, text=True,
                              check=True).stdout
        with open(counts, encoding="ascii") as file:
            lines = [line.rstrip("\n").rsplit(":", 1) for line in file]
        return {name.strip(): [int(count) for count in row.split()] for name, row in lines}, said


def show(kinds):
    for name, counts in kinds.items():
        if sum(counts):
            print(f"  {name:28} {sum(counts):8} handlers: " + ", ".join(f"p{100 * part:g} {quantile(counts, part) / 1e3:.1f}" for part in PARTS))
    own, empty = (quantile(kinds[name], 0.9999) / 1e3 for name in ("fastgate, own time", "nothing, as long, own time"))
    print(f"  99.99 % take at most {own:.1f} us (goal {GOAL_US}), of handlers that do nothing {empty:.1f}")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 170
    together = {}
    # The files of real recordings lie on a disk; /tmp may be in memory.
    with tempfile.TemporaryDirectory(dir=build) as scratch:
        for number in range(rounds):
            kinds, said = measure(build, seconds, scratch)
            print(f"\nround {number + 1}, load {os.getloadavg()[0]:.1f}\n{said}", end="")
            for name, counts in kinds.items():
                before = together.get(name, [0] * len(counts))
                together[name] = [a + b for a, b in zip(before, counts)]
    print(f"\nall {rounds} rounds")
    show(together)


if __name__ == "__main__":
    main()
