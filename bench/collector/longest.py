#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The longest handlers: with fastgate, which makes the pages of the trace ahead, and without it, in turn.

usage: longest.py BUILD_FOLDER [ROUNDS [SECONDS]]; SECONDS of CPU time each, 170 by default.

Handlers of all rounds are put together, and stand beside handlers that do nothing for as long, under the same signals in the same
process.  Times are the upper ends of buckets, in us.
"""
import os
import subprocess
import sys
import tempfile

from bench import quantile

RATE = 1000
PARTS = (0.5, 0.99, 0.999, 0.9999, 1)
ARMS = ("alone", "with fastgate")
BEYOND_EMPTY_US = 50 # the goal: 99.99 % within this of the empty handler's


def measure(build, with_fastgate, seconds, scratch):
    """Handlers by kind and bucket, and what else was said."""
    with tempfile.TemporaryDirectory(dir=scratch) as output:
        counts = f"{scratch}/counts"
        env = {**os.environ, "FASTGATE_COLLECTOR_OUTPUT": output, "FASTGATE_COLLECTOR_RATE": str(RATE), "BENCH_COUNTS": counts}
        maker = subprocess.Popen([f"{build}/bench/collector/bench_collector_make_pages", output], stdout=subprocess.PIPE,
                                 text=True) if with_fastgate else None
        said = subprocess.run([f"{build}/bench/collector/bench_collector_handler", str(seconds)], env=env, capture_output=True, text=True,
                              check=True).stdout
        if maker:
            maker.terminate()
            said += maker.communicate()[0]
        with open(counts, encoding="ascii") as file:
            lines = [line.rstrip("\n").rsplit(":", 1) for line in file]
        return {name.strip(): [int(count) for count in row.split()] for name, row in lines}, said


def show(arm, kinds):
    print(f"\n{arm}")
    for name, counts in kinds.items():
        if sum(counts):
            print(f"  {name:28} {sum(counts):8} handlers: " + ", ".join(f"p{100 * part:g} {quantile(counts, part) / 1e3:.1f}" for part in PARTS))
    own, empty = (quantile(kinds[name], 0.9999) / 1e3 for name in ("fastgate, own time", "nothing, as long, own time"))
    longer = {name: sum(count for i, count in enumerate(counts) if quantile([0] * i + [1], 1) / 1e3 > empty + BEYOND_EMPTY_US)
              for name, counts in kinds.items()}
    print(f"  99.99 % within {own - empty:.1f} us of the empty handler's; longer than {BEYOND_EMPTY_US} us beyond that: "
          + (", ".join(f"{count} {name}" for name, count in longer.items() if count) or "none"))


def main():
    sys.stdout.reconfigure(line_buffering=True)
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 170
    together = {arm: {} for arm in ARMS}
    # The files of real recordings lie on a disk, those of /tmp perhaps in memory.
    with tempfile.TemporaryDirectory(dir=build) as scratch:
        for number in range(rounds):
            for arm in ARMS if number % 2 == 0 else reversed(ARMS):
                kinds, said = measure(build, arm == ARMS[1], seconds, scratch)
                print(f"\nround {number + 1}, {arm}, load {os.getloadavg()[0]:.1f}\n{said}", end="")
                for name, counts in kinds.items():
                    before = together[arm].get(name, [0] * len(counts))
                    together[arm][name] = [a + b for a, b in zip(before, counts)]
    for arm, kinds in together.items():
        show(f"{arm}, all {rounds} rounds", kinds)


if __name__ == "__main__":
    main()
