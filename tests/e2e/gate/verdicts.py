#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
verdicts.py FASTGATE ROOT: the command's answers to bad data and accepted regressions; output for
programs follows the schemas in docs/formats. The benchmark is a script that prints a number, so
nothing here depends on how fast anything runs.
"""
import json
import os
import pathlib
import sys
import tempfile

from checks import call, git
from json_schema import Schema

fastgate, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])

CONFIG = """version: 1
project: costs
benchmarks:
{benchmarks}
measure:
  schedule: abba
  warmup: 0
  pairs: {{ min: 5, max: {pairs} }}
  sampler: {{ enabled: false }}
gate:
  metrics:
    cpu_time: {{ gated: false }}
    wall_time: {{ gated: false }}
    max_rss: {{ gated: false }}
    binary_size: {{ gated: false }}
{gate}"""
BENCHMARK = ('  - {{ name: {name}, command: ./bench, metrics: [ {{ name: cost, regex: "cost: (\\\\S+)", '
             'unit: "{unit}" }}{more} ] }}\n')
RATE = ', { name: rate, regex: "rate: (\\\\S+)", unit: "1" }'

schemas = {kind: Schema(root / f"docs/formats/{kind}.schema.json") for kind in ("report", "history")}
problems = []


class Project:
    """A repository whose last commit is the baseline."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder,
                            "XDG_CACHE_HOME": folder + "/cache", "GIT_CONFIG_NOSYSTEM": "1"}
        (self.folder / ".gitignore").write_text(".fastgate/\ncache/\n")
        self.git("init", "-q", "-b", "main", ".")

    def git(self, *arguments):
        git(*arguments, cwd=self.folder, env=self.environment)

    def write(self, output, benchmarks=None, unit="1", pairs=12, gate=""):
        """The benchmark prints `output`; "$n" in it is a number that varies between executions."""
        text = "".join(benchmarks or [BENCHMARK.format(name="bench", unit=unit, more="")])
        (self.folder / "fastgate.yml").write_text(CONFIG.format(benchmarks=text, pairs=pairs, gate=gate))
        (self.folder / "bench").write_text(f"#!/bin/sh\nn=$(($$ % 7))\nprintf '%s\\n' \"{output}\"\n")
        (self.folder / "bench").chmod(0o755)

    def commit(self, message="The baseline"):
        self.git("add", ".")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def call(self, *arguments):
        return call(fastgate, *arguments, cwd=self.folder, env=self.environment)


def expect(what, done, code, *words):
    said = done.stdout + done.stderr
    missing = [w for w in words if w not in said]
    if done.returncode != code or missing:
        problems.append(f"{what}: exit code {done.returncode}, expected {code}; not said: {missing}\n"
                        f"{said}")


def expect_json(what, done, kind, code=0, **members):
    """Expects valid JSON with these members at the top level."""
    try:
        found = json.loads(done.stdout)
    except ValueError as error:
        problems.append(f"{what}: no JSON ({error}): {done.stdout[:300]}\n{done.stderr}")
        return None
    problems.extend(f"{what}: {error}" for error in schemas[kind].errors(found))
    for name, value in members.items():
        if found[name] != value:
            problems.append(f"{what}: {name} is {found[name]}, expected {value}")
    if done.returncode != code:
        problems.append(f"{what}: exit code {done.returncode}, expected {code}")
    return found


def bad_data_gets_a_clear_verdict(project):
    # the baseline's output, the candidate's output, unit, pairs, exit code, expected text
    table = [
        ("all values equal", "cost: 100", "cost: 100 ", "ms", 12, 0, ["pass"]),
        ("a cost", "cost: 100", "cost: 110", "ms", 12, 1, ["REGRESSION", "cost"]),
        ("too few pairs", "cost: 100", "cost: 200", "ms", 2, 0,
         ["INCONCLUSIVE", "only 2 pairs: at least 5"]),
        ("times of zero", "cost: 100", "cost: 0", "ms", 5, 4,
         ["ERROR", "no pair has a usable number", "zero or below"]),
        ("negative times", "cost: 100", "cost: -3", "ms", 5, 4,
         ["ERROR", "no pair has a usable number", "zero or below"]),
        ("counts of zero", "cost: 0", "cost: 0 ", "1", 12, 0, ["pass"]),
        ("a count that is no longer zero", "cost: 0", "cost: 4$n", "1", 12, 1, ["REGRESSION"]),
        ("not a number", "cost: 100", "cost: nan", "ms", 5, 4, ["ERROR", "nan"]),
        ("infinite", "cost: 100", "cost: inf", "ms", 5, 4, ["ERROR", "inf"]),
        ("a word", "cost: 100", "cost: much", "ms", 5, 4, ["ERROR", "much"]),
        ("no number at all", "cost: 100", "speed: 7", "ms", 5, 4, ["ERROR", "cost"]),
    ]
    for what, before, after, unit, pairs, code, words in table:
        project.write(before, unit=unit, pairs=pairs)
        project.commit()
        project.write(after, unit=unit, pairs=pairs)
        expect(what, project.call("run", "--against", "HEAD", "--pairs", f"{min(5, pairs)}:{pairs}"),
               code, *words)
    project.write("cost: 100", unit="ms", pairs=2)
    project.commit()
    project.write("cost: 200", unit="ms", pairs=2, gate="  inconclusive: fail\n")
    expect("too few pairs, and that must fail",
           project.call("run", "--against", "HEAD", "--pairs", "2:2"), 3, "INCONCLUSIVE")
    expect("a budget that is too short for any statement",
           project.call("run", "--against", "HEAD", "--pairs", "5:12", "--budget", "1ms"), 3,
           "is too short for any decision; a `--budget` of ", "INCONCLUSIVE", "only 1 pair: at least 5")


def benchmarks_and_metrics_of_one_side_are_reported(project):
    def of(*names, more=""):
        return [BENCHMARK.format(name=name, unit="1", more=more) for name in names]

    project.write("cost: 100", of("stays", "goes"))
    project.commit()
    project.write("cost: 100 ", of("stays", "comes"))
    done = project.call("run", "--against", "HEAD", "--json")
    report = expect_json("other benchmarks", done, "report")
    if report:
        found = {b["name"]: b["verdict"] for b in report["benchmarks"]}
        comes = found.pop("comes", None)
        if found != {"stays": "pass", "goes": "missing"} or comes not in ("new", "pass"):
            problems.append(f"other benchmarks: {found}, comes: {comes}")
    # Two stored runs: one has `cost`, the other `cost` and `rate`.
    project.write("cost: 100", of("stays"))
    expect("a run", project.call("run"), 0)
    project.write("cost: 100 rate: 3", of("stays", "comes", more=RATE))
    expect("a run with more in it", project.call("run"), 0)
    for left, right, metric, benchmark in (("latest~1", "latest", "new", "new"),
                                           ("latest", "latest~1", "missing", "missing")):
        report = expect_json("other metrics", project.call("compare", left, right, "--json"), "report")
        if not report:
            continue
        found = {b["name"]: b for b in report["benchmarks"]}
        metrics = {m["name"]: m["verdict"] for m in found["stays"]["metrics"]}
        if metrics.get("rate", "missing") != metric or found["comes"]["verdict"] != benchmark:
            problems.append(f"compare {left} {right}: {metrics}, {found['comes']['verdict']}")


def an_accepted_cost_passes_until_it_ends(project):
    key = ('  accept: [ {{ benchmark: bench, metric: cost, up_to: {up_to}, until: {until}, reason: '
           '"larger cache" }} ]\n')
    table = [
        ("accepted by key", "cost: 110", key.format(up_to="20%", until="2099-03-01"), 0,
         ["accepted", "larger cache"], True),
        ("more than accepted", "cost: 150", key.format(up_to="20%", until="2099-03-01"), 1,
         ["REGRESSION"], False),
        ("the key has ended", "cost: 110", key.format(up_to="20%", until="2020-03-01"), 1,
         ["REGRESSION", "expired on 2020-03-01"], False),
        ("the key is not needed", "cost: 100 ", key.format(up_to="20%", until="2099-03-01"), 0,
         ["was not needed in this run"], False),
    ]
    project.write("cost: 100")
    project.commit()
    for what, output, gate, code, words, accepted in table:
        project.write(output, gate=gate)
        expect(what, project.call("run", "--against", "HEAD"), code, *words)
        report = expect_json(what, project.call("run", "--against", "HEAD", "--json"), "report", code,
                             exit_code=code)
        metrics = report["benchmarks"][0]["metrics"] if report else []
        cost = next((metric for metric in metrics if metric["name"] == "cost"), {})
        if report and bool(cost.get("accepted")) != accepted:
            problems.append(f"{what}: accepted in JSON: {cost.get('accepted')}")
        notes = " ".join(report["notes"]) if report else "was not needed"
        if what == "the key is not needed" and "was not needed" not in notes:
            problems.append(f"{what}: not in the notes: {report['notes']}")
    project.write("cost: 110")
    project.commit("Trade time for memory\n\nFastgate-Accept: bench cost it saves memory")
    expect("accepted by trailer", project.call("run", "--against", "HEAD~1"), 0, "accepted",
           "it saves memory", "commit ")
    project.write("cost: 140")
    project.commit("Something else")
    expect("a trailer is for its own range", project.call("run", "--against", "HEAD~1"), 1, "REGRESSION")


def an_unsure_run_is_continued_on_request(project):
    """Six pairs are too few for certainty; a second call adds more to the same run."""
    project.write("cost: 100")
    project.commit()
    project.write("cost: 110")
    call = ["run", "--against", "HEAD", "--pairs", "6:6", "--set", "measure.until_sure=true"]
    expect("the first six pairs", project.call(*call), 0, "PROBABLY SLOWER", "6 pairs", "--resume")
    expect("six more", project.call(*call, "--resume"), 1, "REGRESSION", "resuming run")
    runs = json.loads(project.call("runs", "--json").stdout)
    if len(runs["runs"] if isinstance(runs, dict) else runs) != 1:
        problems.append(f"until_sure made more than one run: {runs}")
    expect("it is closed now", project.call(*call, "--resume"), 2, "no interrupted run")


def output_for_programs_follows_the_schemas(project):
    done = project.call("duel", "--json", "--pairs", "5:5", "--schedule", "abba", "./bench", "/bin/true")
    expect_json("duel", done, "report", code=done.returncode, exit_code=done.returncode)
    done = project.call("run", "--against", "HEAD", "--json")
    expect_json("run", done, "report", code=done.returncode, exit_code=done.returncode)
    done = project.call("compare", "latest~1", "latest", "--json")
    expect_json("compare", done, "report", code=done.returncode, exit_code=done.returncode)
    found = expect_json("history", project.call("history", "bench", "--metric", "cost", "--json"),
                        "history", metric="cost")
    if found and len(found["points"]) < 3:
        problems.append(f"history: {len(found['points'])} points")
    if not schemas["history"].errors({"schema": "fastgate-history/1", "points": "none"}):
        problems.append("the schema of the history takes anything")


for part in (bad_data_gets_a_clear_verdict, benchmarks_and_metrics_of_one_side_are_reported,
             an_accepted_cost_passes_until_it_ends, an_unsure_run_is_continued_on_request,
             output_for_programs_follows_the_schemas):
    with tempfile.TemporaryDirectory() as name:
        tried = Project(name)
        if part is output_for_programs_follows_the_schemas:
            tried.write("cost: 100")
            tried.commit()
            for n in range(3):
                tried.call("run")
        part(tried)
print("\n".join(problems))
sys.exit(1 if problems else 0)
