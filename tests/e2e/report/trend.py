#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
trend.py FASTGATE MAKE_RUNS: sixteen runs, 30 % slower from the ninth on. `fastgate history` marks the
change there, as text and as JSON, and nowhere else; memory, which did not change, has no mark.
"""
import glob
import json
import os
import subprocess
import sys

from checks import call, check, finish_in_scratch

FASTGATE, MAKE_RUNS = map(os.path.abspath, sys.argv[1:3])
RUNS, FIRST_SLOW = 16, 8


def fastgate(*words):
    done = call(FASTGATE, *words, "--store", "runs.db")
    check(done.returncode == 0, f"{words}: exit code {done.returncode}, {done.stderr!r}")
    return done.stdout


def line_in_the_text(commits):
    heading, columns, *lines, hint = fastgate("history").splitlines()
    good, bad = commits[FIRST_SLOW - 1][:12], commits[FIRST_SLOW][:12]
    check(hint == f"to find the commit: fastgate bisect {good} {bad} --bench parse",
          f"the hint is {hint!r}")
    check("parse" in heading and columns.split()[:3] == ["date", "commit", "run"],
          f"the heading is {heading!r}, {columns!r}")
    drawn = [number for number, line in enumerate(lines) if line.startswith("----------")]
    check(drawn == [FIRST_SLOW], f"lines are drawn at {drawn}, expected before the run at {FIRST_SLOW}")
    check(lines[FIRST_SLOW].startswith("---------- WORSE from here on: +30"),
          f"the line says {lines[FIRST_SLOW]!r}")
    shown = [line.split()[1] for number, line in enumerate(lines) if number not in drawn]
    check(shown == [commit[:10] for commit in commits], f"the commits are {shown}")
    ids = [line.split()[2] for number, line in enumerate(lines) if number not in drawn]
    check(len(set(ids)) == len(ids), f"ids that do not tell the runs apart: {ids}")
    widths = [line.count("█") for line in lines]
    check(widths[FIRST_SLOW + 1] > widths[0] > 0, f"the bars do not grow: {widths}")


def main():
    subprocess.run([MAKE_RUNS, "spool"], check=True)
    fastgate("runs", "import", *sorted(glob.glob("spool/*.fgrun")))
    points = json.loads(fastgate("history", "--json"))["points"]
    check(len(points) == RUNS, f"{len(points)} points, {RUNS} runs are stored")
    changes = {number: point["change"] for number, point in enumerate(points) if "change" in point}
    check(list(changes) == [FIRST_SLOW], f"changes at {list(changes)}, expected at {FIRST_SLOW}")
    change = changes.get(FIRST_SLOW, {})
    check(1.25 < change.get("ratio", 0) < 1.35 and change.get("worse") is True and
          change.get("p", 1) < 0.05,
          f"the change is {change}")
    line_in_the_text([point["commit"] for point in points])
    still = json.loads(fastgate("history", "--metric", "max_rss", "--json"))["points"]
    check(len(still) == RUNS and not any("change" in point for point in still),
          "memory did not change, a change is told")
    flat = fastgate("history", "--metric", "max_rss")
    check("----------" not in flat and "no lasting change found in 16 runs" in flat,
          f"memory did not change: {flat}")
    check(max(line.count("█") for line in flat.splitlines()) < 30,
          f"noise is drawn at full length: {flat}")


finish_in_scratch(main)
