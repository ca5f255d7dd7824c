#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
prove.py FASTGATE ROOT: `fastgate prove` on a small project.

The number of runs within the budget and their verdicts depend on the machine; the card's
conclusions from its runs do not.
"""
import json
import os
import pathlib
import shutil
import sys

from checks import check, finish_in_scratch, target
from json_schema import Schema
from receiver import Receiver
from repository import Repository

fastgate, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
if not shutil.which("as"):
    print("the assembler is not installed")
    sys.exit(77)

CONFIG = """version: 1
project: small
build: {{ command: "{build}" }}
measure: {{ pairs: {{ min: 10, max: 12 }}, budget: 20s }}
benchmarks: [ {{ name: prog, command: ./prog }} ]
"""
COMPILE = "cc -O1 -g -o prog main.c"


class Project(Repository):
    def __init__(self, name, build=COMPILE, git=True):
        super().__init__(name)
        (self.folder / "main.c").write_text(target("adding.c"))
        (self.folder / "fastgate.yml").write_text(CONFIG.format(build=build))
        (self.folder / ".gitignore").write_text("prog\n")
        if git:
            self.git("init", "-q", "-b", "main", ".")
            self.commit("One")

    def prove(self, *words):
        return self.call(fastgate, "prove", *words)

    def refuses(self, code, words, *arguments):
        done = self.prove(*arguments)
        check(done.returncode == code,
              f"prove {' '.join(arguments)}: exit code {done.returncode}, not {code}: {done.stderr}")
        check(words in done.stderr, f"prove {' '.join(arguments)} does not say '{words}': {done.stderr}")


def counted(card, arms, hit):
    runs = [run for run in card["runs"] if run["arm"] in arms and run["pairs"] > 0]
    return sum(hit(run) for run in runs), len(runs)


def is_red(run):
    return run["verdict"] == "regression"


def card_agrees_with_its_runs():
    project = Project("card")
    done = project.prove("--budget", "15s", "--json")
    check(done.returncode in (0, 1, 3), f"exit code {done.returncode}: {done.stderr}")
    card = json.loads(done.stdout)
    wrong = Schema(root / "docs/formats/prove.schema.json").errors(card)
    check(not wrong, f"the card and its schema: {wrong}")
    alarms = card["false_alarms"]
    check((alarms["alarms"], alarms["runs"]) == counted(card, ("same", "neutral"), is_red),
          "false alarms are not those of the runs")
    check(alarms["runs"] >= 1, f"no run: {done.stderr}")
    for size in card["slowdowns"]:
        of_size = [run
                   for run in card["runs"]
                   if run["arm"] == "planted" and abs(run["size"] - size["size"]) < 1e-9]
        check(size["found"]["runs"] == len(of_size), f"{size['size']} was planted {len(of_size)} times")
        check(size["found"]["found"] == sum(map(is_red, of_size)),
              f"{size['size']} was not found as often as it says")
    for run in card["runs"]:
        check(run["arm"] != "planted" or run["function"] in ("work", "main"),
              f"planted in {run['function']}")
    check(not card["not_planted"], f"nothing was planted: {card['not_planted']}")
    return project, card


def night_and_hidden_run_add_to_the_card(project, card):
    planted = any(run["arm"] == "planted" for run in card["runs"])
    done = project.call(fastgate, "run", "--against", "HEAD", "--set", "gate.prove.share=50%")
    check(done.returncode == 0,
          f"a hidden run changed the exit code to {done.returncode}: {done.stdout}{done.stderr}")
    check(planted or "run `fastgate prove` once" in done.stderr,
          f"nothing was planted, and nothing is said: {done.stderr}")
    again = json.loads(project.prove("--nightly", "--budget", "8s", "--json").stdout)
    check(again["card"] == card["card"], "a night began another card")
    check(again["runs"][:len(card["runs"])] == card["runs"], "a night lost runs of the card")
    hidden = [run for run in again["runs"] if run["hidden"]]
    check(len(again["runs"]) > len(card["runs"]) + len(hidden), "a night added no run")
    check(len(hidden) == planted, f"{len(hidden)} hidden runs: {done.stderr}")
    of_card = [run
               for run in again["runs"]
               if run["arm"] != "planted" and run["pairs"] > 0 and not run["hidden"]]
    check(again["false_alarms"]["runs"] == len(of_card), "hidden runs count as false alarms of the card")


def another_card_begins(project, card):
    """
    The program's functions cannot be slowed down, so the whole program is slowed down, and is still
    relinked.
    """
    (project.folder / "main.c").write_text(target("called_too_often.c"))
    project.git("commit", "-q", "-a", "-m", "Called too often")
    server = Receiver(answers=[(201, {})])
    done = project.prove("--budget", "30s", "--json", "--set", f"perfdb.url={server.url('/')}")
    check("planted in the whole program" in done.stderr, f"a function was chosen: {done.stderr}")
    fresh = json.loads(done.stdout)
    check(any(run["arm"] == "neutral" for run in fresh["runs"]) or len(fresh["runs"]) < 7,
          f"no neutral link in {len(fresh['runs'])} runs: {done.stderr}")
    check(fresh["card"] != card["card"], "a proof that is not nightly continues an old card")
    path, _, body = server.take()
    sent = json.loads(body)
    check(path == "/api/v1/cards" and sent["project"] == "small", f"sent to {path}: {sent}")
    check(sent["card"]["card"] == fresh["card"] and sent["card"]["runs"] == [], f"sent: {sent}")
    doctor = json.loads(project.call(fastgate, "doctor", "--json").stdout)
    proof = [finding for finding in doctor["findings"] if finding["id"] == "proof"]
    check(len(proof) == 1 and "runs on equal code" in proof[0]["evidence"],
          f"doctor does not show the card: {proof}")
    check(("best remedy" in proof[0]["evidence"]) == bool(fresh["remedies"]),
          f"doctor's advice: {proof}, not {fresh['remedies']}")
    check(project.git("status", "--porcelain") == "", "the checkout has changed")
    left = [path for name in ("plant", "unplanted")
            for path in project.folder.glob(f".fastgate/builds/*/{name}")]
    check(not left, f"left behind: {left}")
    programs = {path.read_bytes() for path in project.folder.glob(".fastgate/builds/*/tree/prog")}
    check(not any(b"fastgate_plant" in program for program in programs), "a build is still planted")


def bad_input_is_one_clear_line():
    project = Project("bad")
    project.refuses(2, "no benchmark 'other' in", "--bench", "other")
    (project.folder / "main.c").write_text(target("adding.c").replace("200", "16000"))
    project.git("commit", "-q", "-a", "-m", "Longer")
    project.refuses(2, "--budget 1.00 s is too small", "--budget", "1s")
    Project("no-git", git=False).refuses(2, "git", "--budget", "5s")


def build_that_cannot_be_relinked_is_delayed():
    project = Project("prebuilt", build="cp prebuilt prog")
    project.call("sh", "-c", COMPILE + " && mv prog prebuilt", must=True)
    with open(project.folder / "fastgate.yml", "a") as file:
        file.write("baseline: { branch: main }\n")
    project.git("add", ".")
    project.git("commit", "-q", "-m", "Prebuilt")
    done = project.prove("--budget", "12s")
    check(done.returncode in (0, 1, 3), f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    check("weaker            slowdowns of prog delay the whole program, so names are not proven: "
          "no link was seen" in done.stdout, done.stdout)
    check(done.returncode != 3 or "none was measured: the budget ran out first" in done.stdout,
          f"exit code 3 without a reason: {done.stdout}")
    card = json.loads(project.prove("--nightly", "--budget", "8s", "--json").stdout)
    planted = [run for run in card["runs"] if run["arm"] == "planted"]
    check(all(run["function"] is None and run["per_iteration"] > 0 for run in planted),
          f"planted: {planted}")
    check(card["functions"]["runs"] == 0, "a delay names a function")
    stored = [run for run in card["runs"] if run["arm"] == "stored"]
    check(len(stored) >= 2 and all(run["schedule"] == "stored" or run["pairs"] == 0 for run in stored),
          f"stored: {stored}")


def build_that_cannot_be_relinked_is_reported_as_unproven():
    project = Project("copied", build=f"cp {shutil.which('true')} prog")
    project.refuses(3, "prog: no slowdown can be planted: no link was seen while the program was built",
                    "--budget", "5s")


def main():
    project, card = card_agrees_with_its_runs()
    night_and_hidden_run_add_to_the_card(project, card)
    another_card_begins(project, card)
    bad_input_is_one_clear_line()
    build_that_cannot_be_relinked_is_delayed()
    build_that_cannot_be_relinked_is_reported_as_unproven()


finish_in_scratch(main)
