#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
bisect.py FASTGATE ROOT: which commit of a generated history made a small program slower? Instructions
are counted, so no result depends on how fast anything runs. The history contains a commit that does not
build and one that changes only a text; fastgate.yml is in no commit.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from checks import HUNG_S, check, finish_in_scratch, target
from json_schema import Schema
from repository import Repository

fastgate, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
if not shutil.which("valgrind"):
    print("valgrind is not installed")
    sys.exit(77)

CONFIG = """version: 1
project: history
build: { command: "cc -O1 -g -o prog main.c" }
benchmarks: [ { name: prog, command: ./prog data/input.txt } ]
"""
SLOW, BROKEN, COMMITS = 8, 6, 12


class History(Repository):
    def __init__(self, name):
        super().__init__(name)
        self.git("init", "-q", "-b", "main", ".")
        (self.folder / ".gitignore").write_text("prog\n.fastgate\n")

    def commit(self, parse, printed, rest="", subject="Work"):
        source = target("parse_and_print.c", PARSED=parse, PRINTED=printed)
        (self.folder / "main.c").write_text(f"{source}{rest}\n")
        super().commit(subject, "main.c", ".gitignore")

    def bisect(self, code, *words):
        return self.run(code, fastgate, "bisect", *words)


def make():
    history = History("history")
    for i in range(COMMITS + 1):
        rest = "#error this commit does not build" if i == BROKEN else f"/* {i} */"
        history.commit(13000 if i >= SLOW else 10000, 20000, rest,
                       "Parse again" if i == SLOW else f"Change {i}")
    # files in the user's folder that are in no commit
    (history.folder / "data").mkdir()
    (history.folder / "data/input.txt").write_text("input\n")
    (history.folder / "fastgate.yml").write_text(CONFIG)
    return history


def the_commit_is_found_by_counted_instructions(history):
    done = history.bisect(1, "HEAD~12", "--measure", "instructions", "--json", "--markdown", "b.md",
                          "--html", "b.html")
    report = json.loads(done.stdout)
    wrong = Schema(root / "docs/formats/bisect.schema.json").errors(report)
    check(not wrong, f"the schema: {wrong}")
    check(report["culprit"]["commit"] == history.hashes[SLOW],
          f"the culprit is {report['culprit']}, not {history.hashes[SLOW]}")
    check(report["culprit"]["author"] == "Ann Example" and report["culprit"]["subject"] == "Parse again",
          "author and subject")
    check(report["culprit"]["function"] == "parse", f"function: {report['culprit']}")
    check(report["steps"][0]["against_parent"]["verdict"] == "regression",
          f"against its parent: {report['steps']}")
    check(abs(sum(c["probability"] for c in report["commits"]) - 1) < 0.01,
          "the probabilities add up to 1")
    check(report["builds"] <= 6, f"{report['builds']} builds for 12 commits")
    check(history.hashes[SLOW][:12] in (history.folder / "b.md").read_text(), "Markdown names it")
    page = (history.folder / "b.html").read_text()
    check("Parse again" in page and "<script" not in page, "the page names it, without scripts")


def the_commit_of_one_function_is_found():
    history = History("functions")
    (history.folder / "fastgate.yml").write_text(CONFIG.replace("data/input.txt", "main.c"))
    for i in range(7):
        history.commit(13000 if i >= 5 else 10000, 30000 if i >= 2 else 20000)
    for function, culprit in (("parse", 5), ("print", 2)):
        report = json.loads(history.bisect(1, "HEAD~6", "--measure", "instructions", "--function",
                                           function, "--json").stdout)
        check(report["culprit"]["commit"] == history.hashes[culprit],
              f"{function}: {report['culprit']}, not {history.hashes[culprit]}")
    history.bisect(0, "HEAD~6", "--measure", "instructions", "--function", "main_of_another_program")


def bad_ends_cost_one_line(history):
    for arguments, words in [
        (["HEAD", "HEAD~3"], "the ends are swapped"),
        (["HEAD", "HEAD"], "there is nothing to search"),
        (["nowhere"], "'nowhere' does not exist"),
        (["HEAD~3", "--bench", "other"], "no benchmark 'other'"),
        (["HEAD~3", "--measure", "cpu_time"], "is not an exact count"),
    ]:
        done = history.bisect(2, *arguments)
        check(words in done.stderr, f"{arguments}: {done.stderr}")
    history.git("checkout", "-q", "--orphan", "other")
    history.git("commit", "-q", "-m", "Another root")
    check("no common history" in history.bisect(2, "main").stderr, "unrelated ends")
    history.git("checkout", "-q", "-f", "main")


def a_shallow_clone_says_how_to_deepen(history):
    history.git("clone", "-q", "--depth", "2", f"file://{history.folder}", "../shallow")
    shutil.copy(history.folder / "fastgate.yml", history.folder.parent / "shallow")
    done = subprocess.run([fastgate, "bisect", history.hashes[0]], cwd=history.folder.parent / "shallow",
                          env=history.environment, capture_output=True, text=True, timeout=HUNG_S)
    check(done.returncode == 2 and "git fetch --unshallow" in done.stderr,
          f"a shallow clone: {done.stderr}")


def equal_ends_have_nothing_to_find(history):
    done = history.bisect(0, history.hashes[0], history.hashes[3], "--measure", "instructions")
    check("nothing to find" in done.stdout, f"equal ends: {done.stdout}")


def a_search_out_of_budget_can_continue(history):
    done = history.bisect(3, "HEAD~12", "--measure", "instructions", "--budget", "1s", "--json")
    report = json.loads(done.stdout)
    check(report["state"] == "stopped" and report["culprit"] is None,
          f"out of budget: {report['state']}")
    report = json.loads(history.bisect(1, "--resume", "--json").stdout)
    check(report["culprit"]["commit"] == history.hashes[SLOW], f"resumed: {report['culprit']}")


def a_merge_is_searched_inside(history):
    history.git("checkout", "-q", "-b", "side", "HEAD~2")
    history.commit(13000, 20000, "/* a */", "Prepare")
    history.commit(16000, 20000, "/* b */", "Slower on the side")
    history.commit(16000, 20000, "/* c */", "Tidy up")
    history.git("checkout", "-q", "main")
    history.git("merge", "-q", "-X", "theirs", "-m", "Merge side", "side")
    report = json.loads(history.bisect(1, "HEAD~2", "--measure", "instructions", "--json").stdout)
    check(report["culprit"]["subject"] == "Slower on the side",
          f"in the side branch: {report['culprit']}")
    history.git("reset", "-q", "--hard", history.hashes[COMMITS])


def configuration_may_lie_outside(history):
    outside = history.folder.parent / "outside.yml"
    outside.write_text(CONFIG)
    (history.folder / "fastgate.yml").rename(history.folder.parent / "kept.yml")
    done = history.call(fastgate, "run", "-c", str(outside), "--candidate", "HEAD~2",
                        "--against", "HEAD~12", "--exact", "--json")
    check(done.returncode == 1,
          f"-c outside of the checkout, an input that no commit has: {done.returncode} {done.stderr}")
    (history.folder.parent / "kept.yml").rename(history.folder / "fastgate.yml")


def an_old_candidate_gets_the_benchmarks_files(history):
    (history.folder / "bench").mkdir()
    (history.folder / "bench/more.h").write_text("\n")
    (history.folder / "fastgate.yml").write_text(
        CONFIG.replace("build: {", "build: { from_candidate: [ bench/ ],")
        .replace("main.c", "-include bench/more.h main.c"))
    done = history.call(fastgate, "run", "--candidate", "HEAD~2", "--against", "HEAD~12", "--exact",
                        "--json")
    check(done.returncode == 1,
          f"build.from_candidate with an old candidate: {done.returncode} {done.stderr}")


def test():
    history = make()
    the_commit_is_found_by_counted_instructions(history)
    the_commit_of_one_function_is_found()
    bad_ends_cost_one_line(history)
    a_shallow_clone_says_how_to_deepen(history)
    equal_ends_have_nothing_to_find(history)
    a_search_out_of_budget_can_continue(history)
    a_merge_is_searched_inside(history)
    configuration_may_lie_outside(history)
    an_old_candidate_gets_the_benchmarks_files(history)


finish_in_scratch(test)
