#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
view, graph, export and import as a user calls them: on a trace, on a stored run, on another tool's
profile.

usage: check_profile_commands.py FASTGATE COLLECTOR MARKED GOLDEN_FOLDER PROFILE_SCHEMA
           [UNITTEST_OPTION...]
"""
import csv
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from checks import HUNG_S

try:
    import jsonschema
except ImportError:
    jsonschema = None

FASTGATE, COLLECTOR, MARKED, GOLDEN, SCHEMA = sys.argv[1:6]
SLOW_EVENTS = (10, 20, 30)  # see marked.c
FOLDED = str(Path(GOLDEN) / "known.folded")
SLOWER_FIT = ("fit(Track&) 30000000", "fit(Track&) 45000000")


def closed(schema):
    """A strict version of the schema, which refuses unknown members."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema["additionalProperties"] = False
        for part in schema.values():
            closed(part)
    return schema


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.home = Path(cls.folder.name)
        cls.trace = cls.home / "trace"
        cls.trace.mkdir()
        cls.environment = dict(os.environ,
                               HOME=str(cls.home), XDG_CACHE_HOME=str(cls.home / "cache"), NO_COLOR="1")
        cls.environment.pop("COLUMNS", None)
        sampled = dict(cls.environment, LD_PRELOAD=COLLECTOR, FASTGATE_COLLECTOR_OUTPUT=str(cls.trace),
                       FASTGATE_COLLECTOR_PERIOD="250000", FASTGATE_COLLECTOR_MAX_BYTES="16777216")
        subprocess.run([MARKED], env=sampled, check=True, timeout=HUNG_S)
        cls.run_ok("import", "--period", "1ns", "--name", "reco", FOLDED)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def call(cls, *arguments, **more):
        return subprocess.run([FASTGATE, *map(str, arguments)], capture_output=True, timeout=HUNG_S,
                              check=False, **{"cwd": cls.home, "env": cls.environment, **more})

    @classmethod
    def run_ok(cls, *arguments, **more):
        done = cls.call(*arguments, **more)
        if done.returncode != 0:
            raise AssertionError(f"{arguments}: {done.returncode}: {done.stderr.decode()}")
        return done.stdout

    def view(self, *arguments):
        document = json.loads(self.run_ok("view", "--json", *arguments))
        self.assertEqual(document["schema"], "fastgate-view/1")
        return document["rows"]

    def rows_by_name(self, *arguments):
        return {row["name"]: row for row in self.view(*arguments)}

    def fails(self, code, words, *arguments, **more):
        done = self.call(*arguments, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr.decode())
        self.assertEqual(done.stdout, b"")

    # ---- the newest stored run, by default ----

    def test_the_newest_run_is_shown_when_none_is_named(self):
        rows = self.rows_by_name()
        self.assertEqual(rows["fit(Track&)"]["self_ns"], 30e6)
        self.assertEqual(rows["visit(Node*)"]["inclusive_ns"], 27e6)

    def test_text_json_and_csv_agree(self):
        rows = self.view("-V", "flat")
        table = list(csv.DictReader(io.StringIO(self.run_ok("view", "--csv").decode())))
        self.assertEqual([row["name"] for row in rows], [row["name"] for row in table])
        self.assertEqual([row["self_ns"] for row in rows], [float(row["self_ns"]) for row in table])
        text = self.run_ok("view").decode()
        self.assertRegex(text, r"30\.0 +30\.00 .* fit\(Track&\)")

    def test_names_are_cut_to_the_requested_width(self):
        long_name = (
            "a_name_that_is_much_too_long_for_a_narrow_terminal(std::vector<int, std::allocator<int>>)")
        folded = self.home / "long.folded"
        folded.write_text(f"main;{long_name} 40\nmain 2\n")
        self.assertIn(long_name, self.run_ok("view", folded).decode())
        lines = self.run_ok("view", "--width", "80", folded).decode().splitlines()
        rows = [line for line in lines if "a_name_that_is" in line]
        self.assertEqual(len(rows), 1, lines)
        self.assertNotIn(long_name, rows[0])
        self.assertLessEqual(len(rows[0]), 80)
        self.fails(2, "--width", "view", "--width", "39", folded)

    def test_output_goes_to_a_file_and_minus_is_standard_output(self):
        self.run_ok("view", "--csv", "-o", "table.csv")
        self.assertEqual((self.home / "table.csv").read_bytes(), self.run_ok("view", "--csv", "-o", "-"))

    def test_filters_and_renaming_combine(self):
        rows = self.rows_by_name("--focus", "^loop", "--ignore", "^log",
                                 "--rename", "s/^(fit|visit).*/work/", "--all")
        self.assertEqual(rows["work"]["inclusive_ns"], (30 + 10 + 27) * 1e6)
        self.assertNotIn("compress", rows)

    def test_exports_and_graphs_take_the_filters_of_views(self):
        filters = ("--focus", "^loop", "--ignore", "^log", "--rename", "s/^(fit|visit).*/work/")
        lines = [line.rsplit(" ", 1) for line in self.run_ok("export", *filters).decode().splitlines()]
        total = sum(int(weight) for _, weight in lines)
        work = sum(int(weight) for stack, weight in lines if "work" in stack.split(";"))
        rows = self.rows_by_name(*filters, "--all")
        self.assertEqual(work, rows["work"]["inclusive_ns"])
        self.assertEqual(total, rows["loop(Event const&)"]["inclusive_ns"])
        self.assertNotIn(b"compress", self.run_ok("export", "-F", "tables", *filters))
        dot = self.run_ok("graph", *filters).decode()
        self.assertIn("work", dot)
        self.assertNotIn("compress", dot)

    def test_a_filtered_trace_exports_what_its_view_shows(self):
        for filters in (("--region", "^reco/fit"), ("--unit", "event:10-12"), ("--from", "10ms"),
                        ("--thread", "."), ("--by", "library"), ("--root", "^slow"),
                        ("--leaf", "^steady")):
            total = sum(row["self_ns"] for row in self.view("-V", "flat", "--all", *filters, self.trace))
            document = json.loads(self.run_ok("export", "-F", "json", *filters, self.trace))
            samples = document["samples"]
            self.assertGreater(total, 0, filters)
            self.assertAlmostEqual(document["measures"][0]["total"],
                                   sum(s["value"] for s in samples), delta=1)
            # samples without a stack belong to no function
            self.assertAlmostEqual(sum(s["value"] for s in samples if s["stack"]), total,
                                   delta=1, msg=str(filters))
        events = json.loads(self.run_ok("export", "-F", "chrome", "--unit", "event:10-12",
                                        self.trace))["traceEvents"]
        self.assertEqual(sum(event.get("cat") == "unit" for event in events), 3)
        by_region = self.run_ok("export", "--split", "region", "--root", "^slow", self.trace).decode()
        self.assertTrue(all(line.startswith("reco;fit;slow") for line in by_region.splitlines()),
                        by_region)

    def test_figures_of_an_export_are_those_of_one_execution(self):
        twice = self.home / "twice"
        twice.mkdir(exist_ok=True)
        (twice / "fastgate.yml").write_text(
            f"version: 1\nbenchmarks:\n  - {{ name: b, command: {MARKED} }}\n"
            "measure: { warmup: 0, schedule: stored, pairs: { min: 3, max: 3 } }\n")
        self.run_ok("run", cwd=twice)

        def total(*more):
            return self.run_ok(*more, cwd=twice).decode()

        known = ("--focus", "^main")  # leaves out samples without a stack
        one = sum(int(line.rsplit(" ", 1)[1]) for line in total("export", *known).splitlines())
        both = sum(int(line.rsplit(" ", 1)[1]) for line in total("export", "--sum", *known).splitlines())
        rows = json.loads(total("view", "--json", *known))["rows"]
        self.assertAlmostEqual(one, sum(row["self_ns"] for row in rows), delta=len(rows))
        self.assertAlmostEqual(both / one, 3, delta=0.01)
        document = json.loads(total("export", "-F", "json"))
        self.assertEqual(document["repetitions"], 3)
        # The stored run counts regions and units per execution: one per event.
        regions = {row["name"]: row
                   for row in json.loads(total("view", "-V", "regions", "--json"))["rows"]}
        self.assertEqual(set(regions), {"reco", "reco/fit"})
        self.assertEqual(regions["reco/fit"]["entered"], 30)
        functions = {row["name"]: row for row in rows}
        slow, steady = (functions[name]["inclusive_ns"] for name in ("slow", "steady"))
        self.assertAlmostEqual(regions["reco/fit"]["inclusive_share"]
                               / regions["reco"]["inclusive_share"], slow / (slow + steady), delta=0.1)
        unit, = json.loads(total("view", "-V", "units", "--json"))["rows"]
        self.assertEqual((unit["name"], unit["units"]), ("event", 30))
        self.assertGreater(unit["share"], 0.8)
        self.assertIn("does not record which lines", total("view", "-V", "lines"))
        for filters in (("--region", "fit"), ("--split", "region"), ("--unit", "event"),
                        ("--split", "unit")):
            self.fails(2, "use a trace", "view", *filters, cwd=twice)
        # single repetitions; only existing ones are accepted
        shown = [total("view", "--json", "--repetition", str(n), *known) for n in (1, 2, 3)]
        singles = [sum(row["self_ns"] for row in json.loads(text)["rows"]) for text in shown]
        self.assertAlmostEqual(sum(singles) / 3, one, delta=3 * len(rows))
        self.fails(2, "the profile has only 3", "view", "--repetition", "4", cwd=twice)

    def test_user_and_system_time_are_parts_of_all(self):
        def total(kind):
            return sum(row["self_ns"] for row in self.view("--time", kind, self.trace))
        self.assertGreater(total("user"), 0)
        self.assertAlmostEqual(total("user") + total("system"), total("all"), delta=1e-6 * total("all"))

    def test_every_view_of_a_stored_run_answers(self):
        for name in ("flat", "callgraph", "top-down", "bottom-up", "lines", "libraries",
                     "classes", "paths"):
            self.assertTrue(self.view("-V", name), name)
        for name in ("regions", "units", "timeline", "threads"):
            done = self.call("view", "-V", name)
            self.assertEqual(done.returncode, 2)
            self.assertGreater(len(done.stderr), 40)

    def test_what_record_wrote_last_is_newer_than_the_store(self):
        elsewhere = self.home / "elsewhere"
        elsewhere.mkdir()
        for command in (("import", FOLDED), ("record", "--rate", "1000", "--", MARKED)):
            self.run_ok(*command, cwd=elsewhere)
        shown = self.run_ok("view", cwd=elsewhere).decode()
        self.assertIn("spin", shown)
        self.assertNotIn("fit(Track&)", shown)

    # ---- a trace with marks ----

    def test_regions_hold_the_time_of_their_functions(self):
        rows = self.view("-V", "regions", self.trace)
        regions = {row["name"]: row for row in rows if row["kind"] == "region"}
        self.assertEqual(set(regions), {"reco", "reco/fit"})
        self.assertEqual(regions["reco/fit"]["entered"], 30)
        functions = self.rows_by_name(self.trace)
        fit, reco = (regions[name]["inclusive_ns"] for name in ("reco/fit", "reco"))
        self.assertAlmostEqual(fit, functions["slow"]["inclusive_ns"], delta=0.1 * fit)
        self.assertAlmostEqual(reco,
                               functions["slow"]["inclusive_ns"] + functions["steady"]["inclusive_ns"],
                               delta=0.1 * reco)

    def test_units_show_the_slow_ones_first(self):
        rows = self.view("-V", "units", self.trace)
        units = [row for row in rows if row["kind"] == "unit"]
        self.assertEqual({row["name"] for row in units}, {f"event {event}" for event in range(1, 31)})
        times = [row["cpu_ns"] for row in units]
        self.assertEqual(times, sorted(times, reverse=True))
        places = {row["name"]: place for place, row in enumerate(units)}
        self.assertLess(statistics.median(places[f"event {event}"] for event in SLOW_EVENTS), 6)
        everything = next(row for row in rows if row["kind"] == "all")
        self.assertEqual(everything["units"], 30)

    def test_conditional_cost_is_that_of_the_units_looked_at_one_by_one(self):
        looks = {event: self.rows_by_name("--unit", f"event:{event}", self.trace)
                 for event in range(1, 31)}
        times = {event: look["slow"]["inclusive_ns"] if "slow" in look else 0
                 for event, look in looks.items()}
        row = self.rows_by_name("-V", "paths", self.trace)["slow"]
        self.assertAlmostEqual(row["unit_mean_ns"], statistics.mean(times.values()), delta=1)
        self.assertAlmostEqual(row["unit_sd_ns"], statistics.stdev(times.values()), delta=1)
        # medians, because a disturbance can hit any single event
        slow = statistics.median(times[event] for event in SLOW_EVENTS)
        usual = statistics.median(time for event, time in times.items() if event not in SLOW_EVENTS)
        self.assertGreater(slow, 2 * usual)

    def test_paths_to_a_function_are_shown_apart(self):
        paths = self.view("-V", "paths", "-f", "^spin", self.trace)
        self.assertEqual({row["name"].split(" → ")[-2] for row in paths[:2]}, {"steady", "slow"})

    def test_timeline_is_cut_by_from_and_to(self):
        whole = self.view("-V", "timeline", self.trace)
        half = self.view("-V", "timeline", "--to", f"{whole[19]['to_ns'] / 1e6}ms", self.trace)
        self.assertEqual(len(half), 40)
        self.assertAlmostEqual(sum(row["inclusive_ns"] for row in half),
                               sum(row["inclusive_ns"] for row in whole[:20]),
                               delta=0.1 * sum(row["inclusive_ns"] for row in whole))

    def test_lines_name_our_source(self):
        self.assertTrue(any("marked.c:" in row["name"] for row in self.view("-V", "lines", self.trace)))

    def test_a_trace_exports_its_marks_as_trace_events(self):
        events = json.loads(self.run_ok("export", "-F", "chrome", self.trace))["traceEvents"]
        self.assertEqual(sum(event.get("cat") == "unit" for event in events), 30)
        regions = [event for event in events if event.get("cat") == "region"]
        self.assertEqual({event["args"]["path"] for event in regions}, {"reco", "reco/fit"})
        self.assertEqual(len(regions), 60)
        for outer, inner in zip(regions[::2], regions[1::2]):
            self.assertEqual((outer["name"], inner["name"]), ("reco", "fit"))
            self.assertLessEqual(outer["ts"], inner["ts"])
            self.assertGreaterEqual(outer["ts"] + outer["dur"] + 0.001, inner["ts"] + inner["dur"])

    def test_a_program_with_regions_alone_exports_them_as_trace_events(self):
        self.run_ok("record", "-o", "alone", "--", MARKED, "regions")
        events = json.loads(self.run_ok("export", "-F", "chrome", "alone"))["traceEvents"]
        self.assertEqual([event["name"] for event in events if event.get("cat") == "region"],
                         ["reco", "fit"] * 30 + ["left open"])

    # ---- pictures ----

    @unittest.skipUnless(shutil.which("dot"), "Graphviz is not installed")
    def test_graph_draws_by_the_name_of_the_file(self):
        for ending, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
            self.run_ok("graph", "-o", f"calls.{ending}")
            self.assertTrue((self.home / f"calls.{ending}").read_bytes().startswith(start))

    def test_without_graphviz_the_dot_text_is_kept(self):
        nowhere = dict(self.environment, PATH=str(self.home))
        self.fails(2, "Graphviz", "graph", "-o", "lost.svg", env=nowhere)
        self.assertFalse((self.home / "lost.svg").exists())
        self.assertTrue((self.home / "lost.svg.dot").read_text().startswith("digraph"))

    def test_two_runs_make_a_difference(self):
        changed = self.home / "after.folded"
        changed.write_text(Path(FOLDED).read_text().replace(*SLOWER_FIT))
        dot = self.run_ok("graph", "--period", "1ns", FOLDED, changed).decode()
        self.assertIn("self +15.0 ms (30.0 ms → 45.0 ms)", dot)

    # ---- two profiles, without a verdict ----

    def compared(self, *words):
        return {row["name"]: row for row in json.loads(self.run_ok("compare", "--json", *words))["rows"]}

    def test_two_imports_are_compared_by_function(self):
        store = ("--store", self.home / "imports.db")
        changed = self.home / "changed.folded"
        changed.write_text(Path(FOLDED).read_text().replace(*SLOWER_FIT))
        for path in (FOLDED, changed):
            self.run_ok("import", "--period", "1ns", *store, path)
        fit = self.compared(*store, "latest~1", "latest")["fit(Track&)"]
        self.assertEqual((fit["before_self_ns"], fit["after_self_ns"], fit["self_difference_ns"]),
                         (30e6, 45e6, 15e6))
        self.assertAlmostEqual(fit["before_share"], 0.3)
        self.assertAlmostEqual(fit["after_share"], 45 / 115)
        text = self.run_ok("compare", *store, "latest~1", "latest").decode()
        self.assertIn("two profiles, compared without a verdict", text)
        self.assertRegex(text, r"30\.0 +39\.1 +30\.00 +45\.00 +\+15\.0 ms +fit\(Track&\)")
        self.assertNotIn("INCONCLUSIVE", text)

    def test_two_recordings_are_compared_by_function(self):
        rows = self.compared(self.trace, self.trace)
        self.assertGreater(rows["spin"]["before_self_ns"], 0)
        self.assertTrue(all(row["self_difference_ns"] == 0 for row in rows.values()))

    def test_two_profiles_make_no_report_of_a_gate(self):
        self.fails(2, "`fastgate graph A B` draws the difference", "compare",
                   "--format", "junit", FOLDED, FOLDED)

    # ---- exports and imports ----

    @unittest.skipUnless(jsonschema, "the Python package jsonschema is not installed")
    def test_json_matches_its_schema(self):
        schema = closed(json.loads(Path(SCHEMA).read_text()))
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for run in ((), (self.trace,), (FOLDED,)):
            document = json.loads(self.run_ok("export", "-F", "json", *run))
            self.assertEqual([error.message for error in validator.iter_errors(document)], [])
            document["samples"][0]["value"] = "much"
            self.assertFalse(validator.is_valid(document))

    @unittest.skipUnless(shutil.which("go"), "go is not installed")
    def test_pprof_reads_a_stored_run(self):
        self.run_ok("export", "-F", "pprof", "-o", "run.pb.gz")
        text = subprocess.run(["go", "tool", "pprof", "-top", "run.pb.gz"],
                              cwd=self.home, capture_output=True, env=self.environment, text=True,
                              check=True, timeout=HUNG_S).stdout
        self.assertRegex(text, r"30ms +30\.00% .*45ms +45\.00% +fit\(Track&\)")

    def test_what_is_exported_can_be_imported_again(self):
        self.run_ok("export", "-F", "folded", "-o", "back")
        self.run_ok("import", "--period", "1ns", "back", "-o", "back.fgrun")
        rows = self.rows_by_name("back.fgrun")
        self.assertEqual(rows["fit(Track&)"]["inclusive_ns"], 45e6)

    def test_a_binary_export_is_kept_off_standard_error(self):
        self.assertTrue(self.run_ok("export", "-F", "pprof").startswith(b"\x1f\x8b"))

    # ---- mistakes ----

    def test_mistakes_are_one_clear_line(self):
        (self.home / "text").write_text("no profile at all\n")
        self.fails(2, "no such file or folder", "view", "./nowhere")
        self.fails(2, "neither a trace nor an exported run nor a profile", "view", "text")
        self.fails(2, "'no profile at all' is not a line of frames", "import", "-F", "folded", "text")
        self.fails(2, "'[' is not", "view", "--focus", "[")
        self.fails(2, "no function matches 'nothing'", "view", "-V", "callgraph", "-f", "nothing")
        self.fails(2, "--from and --to need the time of each sample", "view", "--from", "1s")
        self.fails(2, "cannot be combined", "view", "--json", "--csv")
        self.fails(2, "no unit of work", "view", "--unit", "event:1")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
