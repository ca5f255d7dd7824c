#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Reads the exports of the known profile with the programs that the formats are made for. The check of a
missing program is skipped; if all are missing, the test is skipped (77).
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from checks import HUNG_S

# Percent of 100 samples: self and inclusive, as tests/support/known_profile.h draws them.
KNOWN = {
    "main": (2, 90),
    "loop(Event const&)": (8, 80),
    "fit(Track&)": (30, 45),
    "norm(Vec const&)": (10, 10),
    "log": (10, 10),
    "visit(Node*)": (27, 27),
    "walk(Node*)": (0, 20),
    "write_out(Event*)": (3, 8),
    "worker": (0, 10),
    "compress": (10, 10),
}

FOLDER = None


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=HUNG_S, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} failed ({done.returncode}): {done.stderr}")
    return done.stdout


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Consumers(unittest.TestCase):
    @needs("go")
    def test_pprof_shows_our_figures(self):
        text = run("go", "tool", "pprof", "-top", "-nodecount=1000", str(FOLDER / "known.pb.gz"))
        seen = {}
        for line in text.splitlines():
            match = re.match(r"\s*([\d.]+)(m?s)?\s+[\d.]+%\s+[\d.]+%\s+([\d.]+)ms\s+[\d.]+%\s+(.*)",
                             line)
            if match:
                name = match[4].replace(" (inline)", "")
                seen[name] = (float(match[1]), float(match[3]))
        self.assertEqual(seen, KNOWN)
        self.assertIn("norm(Vec const&) (inline)", text)

    @needs("go")
    def test_pprof_gives_back_each_stack_with_thread_region_and_line(self):
        text = run("go", "tool", "pprof", "-raw", str(FOLDER / "known.pb.gz"))
        self.assertRegex(text, r"\b30 +30000000: \d+ \d+ \d+ \n +region:\[reco/fit\] thread:\[reco\]")
        self.assertRegex(text, r"fit\(Track&\) src/fit.cpp:90 s=88\(_Z3fitR5Track\)")

    @needs("go")
    def test_pprof_can_filter_by_region(self):
        text = run("go", "tool", "pprof", "-top", "-tagfocus=region=output", str(FOLDER / "known.pb.gz"))
        self.assertRegex(text, r"Showing nodes accounting for 8ms")

    def test_folded_lines_add_up(self):
        lines = (FOLDER / "known.folded").read_text().splitlines()
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in lines), 100_000_000)

    def test_trace_events_nest(self):
        events = json.loads((FOLDER / "known.trace.json").read_text())["traceEvents"]
        complete = [event for event in events if event["ph"] == "X"]
        self.assertEqual(len(complete), 13)
        for inner in complete:
            for outer in complete:
                overlap = (inner["ts"] < outer["ts"] + outer["dur"] and
                           outer["ts"] < inner["ts"] + inner["dur"])
                if overlap and inner["tid"] == outer["tid"]:
                    contained = (inner["ts"] >= outer["ts"] and
                                 inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"])
                    contains = (outer["ts"] >= inner["ts"] and
                                outer["ts"] + outer["dur"] <= inner["ts"] + inner["dur"])
                    self.assertTrue(contained or contains, (inner, outer))

    def test_json_has_no_dangling_references(self):
        document = json.loads((FOLDER / "known.json").read_text())
        stacks = document["stacks"]
        for index, (parent, frame) in enumerate(zip(stacks["parent"], stacks["frame"])):
            self.assertTrue(parent < index or index == 0)
            self.assertLess(frame, len(document["frames"]))
        for sample in document["samples"]:
            self.assertLess(sample["stack"], len(stacks["parent"]))
        self.assertEqual(sum(sample["value"] for sample in document["samples"]),
                         document["measures"][0]["total"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        FOLDER = Path(folder)
        run(sys.argv[1], folder)
        result = unittest.main(argv=sys.argv[:1], exit=False).result
        sys.exit(0 if result.wasSuccessful() else 1)
