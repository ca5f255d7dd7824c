#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Samples by instruction: the disassembly equals objdump's, and the addresses are the file's, whatever
the load address of the program.

usage: instructions.py FASTGATE PROGRAM
"""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from recording import InOneHome

FASTGATE, PROGRAM = sys.argv[1:3]
FUNCTION = "in_the_program"


class Instructions(InOneHome):
    fastgate = FASTGATE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copy(PROGRAM, cls.home / "program")
        for name in ("one", "two"):
            done = cls.run_here("record", "--rate", "2000", "-o", name, "--", cls.home / "program")
            assert done.returncode == 0, done.stderr
            pid = next((cls.home / name).glob("*.fgtrace")).name.split(".")[0]
            Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
        listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={FUNCTION}",
                                  PROGRAM],
                                 stdout=subprocess.PIPE, check=True, text=True).stdout
        cls.objdump = [int(one, 16) for one in re.findall(r"^ +([0-9a-f]+):\t", listing, re.M)]

    def output(self, *words):
        done = self.run_here(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, *words):
        return json.loads(self.output("view", "--json", "-V", "instructions", *words))["rows"]

    def without_a_line(self):
        """
        Addresses of instructions without a line (number 0), which compilers assign to moved or
        generated ones.
        """
        table = subprocess.run(["objdump", "--dwarf=decodedline", PROGRAM],
                               stdout=subprocess.PIPE, check=True, text=True).stdout
        lines = [(int(address, 16), line)
                 for line, address in re.findall(r"\s(\d+|-)\s+0x([0-9a-f]+)", table)]
        rows = [(address, at, line) for at, (address, line) in enumerate(lines)]
        return {one for one in self.objdump if max(row for row in rows if row[0] <= one)[2] == "0"}

    def pairs(self, trace):
        """
        Addresses and samples of the function, extracted from the tables by the documented pipeline.
        """
        text = self.output("export", "-F", "tables", trace)
        script = (r"""awk -F'\t' '/^\[/ { on = /addresses/ }"""
                  f""" on && ($5 == "mix" || $5 == "{FUNCTION}") {{ print $1, $2 }}' | sort -k2nr""")
        lines = subprocess.run(script, shell=True, input=text, stdout=subprocess.PIPE, check=True,
                               text=True).stdout.split("\n")[:-1]
        return [(int(line.split()[0], 16), int(line.split()[1])) for line in lines]

    def test_the_instructions_are_those_of_the_file(self):
        rows = self.rows("-f", f"^{FUNCTION}$", "one")
        self.assertEqual([int(row["address"], 16) for row in rows], self.objdump)
        self.assertEqual({(row["name"], row["library"]) for row in rows}, {(FUNCTION, "program")})
        self.assertEqual(rows[-1]["instruction"], "ret")
        places = [row["place"] for row in rows if int(row["address"], 16) not in self.without_a_line()]
        self.assertTrue(places, rows)
        self.assertTrue(all(place and re.search(r"archived\.c:\d+$", place) for place in places), rows)

    def test_they_add_up_to_the_function(self):
        flat = json.loads(self.output("view", "--json", "--fold-inlined", "one"))["rows"]
        whole = next(row for row in flat if row["name"] == FUNCTION)
        rows = self.rows("-f", f"^{FUNCTION}$", "one")
        self.assertEqual(sum(row["leaf_samples"] for row in rows), whole["leaf_samples"])
        self.assertAlmostEqual(sum(row["self_ns"] for row in rows), whole["self_ns"], delta=1)
        self.assertGreater(whole["leaf_samples"], 20)

    def test_the_addresses_are_the_same_in_each_run(self):
        self.assertIn("DYN", subprocess.run(["readelf", "-h", PROGRAM],
                                            stdout=subprocess.PIPE, check=True, text=True).stdout)
        for trace in ("one", "two"):
            pairs = self.pairs(trace)
            self.assertTrue(pairs)
            self.assertLessEqual({address for address, _ in pairs}, set(self.objdump))

    def test_the_tables_have_pairs_that_can_be_sorted(self):
        pairs = self.pairs("one")
        self.assertEqual([count for _, count in pairs],
                         sorted((count for _, count in pairs), reverse=True))
        rows = {int(row["address"], 16): row["leaf_samples"]
                for row in self.rows("-f", f"^{FUNCTION}$", "one") if row["leaf_samples"]}
        self.assertEqual(dict(pairs), rows)

    def test_inlined_code_is_marked_as_inlined(self):
        rows = self.rows("-f", "^mix$", "one")
        self.assertEqual([int(row["address"], 16) for row in rows], self.objdump)
        self.assertIn("mix", {row["inlined"] for row in rows})
        self.assertIn(None, {row["inlined"] for row in rows})

    def test_people_see_the_hot_ones_and_their_neighbours(self):
        text = self.output("view", "-V", "instructions", "-f", f"^{FUNCTION}$", "--rows", "1", "one")
        self.assertIn(f"{FUNCTION}  [program]", text)
        self.assertLessEqual(len(re.findall(r" 0x[0-9a-f]+ ", text)), 5)
        self.assertIn("...", text)
        whole = self.output("view", "-V", "instructions", "-f", f"^{FUNCTION}$", "--all", "one")
        self.assertEqual(len(re.findall(r" 0x[0-9a-f]+  ", whole)), len(self.objdump))
        self.assertNotIn("...", whole)

    def test_calls_say_what_they_call(self):
        self.assertRegex(self.output("view", "-V", "instructions", "-f", f"^{FUNCTION}$",
                                     "--all", "one"), r"call 0x[0-9a-f]+ <seldom>")

    def test_without_the_binary_there_are_addresses_and_a_reason(self):
        (self.home / "program").rename(self.home / "moved")
        try:
            done = self.run_here("view", "-V", "instructions", "--csv", "one")
        finally:
            (self.home / "moved").rename(self.home / "program")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "program: instructions cannot be shown: .*No such file")
        hit = next(line for line in done.stdout.splitlines() if ",program," in line)
        self.assertTrue(hit.endswith(","), hit)

    def test_omissions_are_reported(self):
        done = self.run_here("view", "-V", "instructions", "-f", "nowhere", "one")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no sample ended in a function that matches 'nowhere'", done.stderr)
        (self.home / "x.folded").write_text("main;fit 10\n", encoding="ascii")
        done = self.run_here("view", "-V", "instructions", "./x.folded")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("has no addresses of instructions", done.stderr)


del sys.argv[1:3]
if os.uname().machine != "x86_64":
    sys.exit(77)
unittest.main(verbosity=1)
