#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The time of `fastgate view` on a stored run, compared with `go tool pprof -top` on the same profile.

usage: view_stored.py FASTGATE

The run has 10,000 functions on 20,000 call paths. The two programs start in turn, and the table
shows the medians of their CPU and wall times. Only the ratio of CPU times holds on other machines,
and on a busy one.
"""
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FUNCTIONS, PATHS, DEEPEST, ROUNDS, GOAL_MS = 10_000, 20_000, 60, 5, 100


def folded():
    source = random.Random(1)
    names = [f"reco::Algorithm{i % 500}<std::vector<int, std::allocator<int> > >::step{i}(Event const&)"
             for i in range(FUNCTIONS)]
    paths, lines = [[0]], []
    for _ in range(PATHS):  # each path branches off an earlier one, as calls do
        trunk = source.choice(paths)
        path = trunk[:source.randint(1, len(trunk))]
        path += [source.randrange(FUNCTIONS) for _ in range(source.randint(1, 3))]
        paths.append(path[:DEEPEST])
        lines.append(f"{';'.join(names[at] for at in paths[-1])} {source.randint(1, 9)}")
    return "\n".join(lines) + "\n"


def seconds(command, folder):
    """CPU time (user and system) and wall time."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=dict(os.environ, HOME=str(folder)))
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def main():
    fastgate = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "run.folded").write_text(folded())
        seconds([fastgate, "import", "run.folded"], folder)
        seconds([fastgate, "export", "-F", "pprof", "-o", "run.pb.gz"], folder)
        commands = {
            "fastgate view": [fastgate, "view"],
            "fastgate view -V callgraph": [fastgate, "view", "-V", "callgraph"],
            "fastgate view -V top-down": [fastgate, "view", "-V", "top-down"],
            "fastgate graph": [fastgate, "graph"],
        }
        if shutil.which("go"):
            commands["go tool pprof -top"] = ["go", "tool", "pprof", "-top", "run.pb.gz"]
        taken = {label: [] for label in commands}
        for _ in range(ROUNDS):
            for label, command in commands.items():
                taken[label].append(seconds(command, folder))
        first = statistics.median(cpu for cpu, _ in taken["fastgate view"])
        print(f"a stored run of {FUNCTIONS} functions on {PATHS} call paths; median of {ROUNDS}; "
              f"goal of view: {GOAL_MS} ms")
        for label, times in taken.items():
            cpu, wall = (statistics.median(column) for column in zip(*times))
            print(f"  {label:28} CPU {1000 * cpu:8.1f} ms   wall {1000 * wall:8.1f} ms   "
                  f"{cpu / first:5.2f} x")


if __name__ == "__main__":
    main()
