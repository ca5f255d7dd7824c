#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
bisect_ranges.py FASTGATE: difficult ranges: a build that fails once, two culprits, a revert, a
benchmark or a case that older commits lack, a missing submodule, an interruption. The programs are shell
scripts that print their cost, so no result depends on how fast anything runs.
"""
import json
import os
import signal
import subprocess
import sys

from checks import HUNG_S, check, finish_in_scratch
from repository import Repository

fastgate = os.path.abspath(sys.argv[1])
CONFIG = """version: 1
project: ranges
build: { command: ./build.sh }
benchmarks:
  - { name: prog, command: ./prog, metrics: [ { name: cost, regex: "cost: ([0-9]+)", exact: true } ] }
measure: { pairs: { min: 2, max: 2 }, warmup: 0, sampler: { enabled: false } }
gate:
  metrics:
    cost: { tolerance: 1% }
    cpu_time: { gated: false }
    wall_time: { gated: false }
    max_rss: { gated: false }
"""
SUITE = """version: 1
project: ranges
build: { command: ./build.sh }
benchmarks: [ { name: suite, command: ./prog, harness: plain } ]
gate: { metrics: { cpu_time: { gated: false }, wall_time: { gated: false }, max_rss: { gated: false } } }
"""


class History(Repository):
    """A repository of scripts that print their cost."""

    def __init__(self, name, config=CONFIG):
        super().__init__(name)
        self.git("init", "-q", "-b", "main", ".")
        (self.folder / "fastgate.yml").write_text(config)
        (self.folder / ".gitignore").write_text(".fastgate\nfastgate.yml\nprog\n")

    def script(self, name, text):
        (self.folder / name).write_text("#!/bin/sh\n" + text + "\n")
        (self.folder / name).chmod(0o755)

    def commit(self, words, build="cp source prog && chmod +x prog"):
        self.script("build.sh", build)
        self.script("source", f"{words}\n# {len(self.hashes)}")
        super().commit(f"Change {len(self.hashes)}")

    def bisect(self, code, *words):
        return self.run(code, fastgate, "bisect", *words)

    def found(self, *arguments, code=1):
        """The indexes of the commits found, and the report."""
        report = json.loads(self.bisect(code, *arguments, "--json").stdout)
        return [self.hashes.index(step["commit"]) for step in report["steps"]], report


def history_of(name, costs, config=CONFIG):
    history = History(name, config)
    for cost in costs:
        history.commit(f'echo "cost: {cost}"')
    return history


def two_culprits_are_both_found():
    history = history_of("two", [1000] * 3 + [1200] * 4 + [1400] * 3)
    steps, report = history.found(history.hashes[0])
    check(steps == [3, 7], f"two culprits: {steps}")
    check(all(step["against_parent"]["verdict"] == "regression" for step in report["steps"]),
          "each is worse than its parent")


def a_reverted_slowdown_is_not_blamed():
    history = history_of("reverted", [1000, 1000, 1500, 1500, 1000, 1000, 1000, 1200, 1200])
    steps, _ = history.found(history.hashes[0])
    check(steps == [7], f"a revert within the range: {steps}")


def a_commit_that_its_parent_refutes_is_not_blamed():
    history = history_of("refuted", [1000] * 5)
    # The commit before the culprit is slow in its first measurement, and fast from then on.
    history.commit('c=1000; [ $(cat seen 2>/dev/null || echo 0) -ge 4 ] || { c=1300; '
                   'echo $(($(cat seen 2>/dev/null || echo 0) + 1)) >seen; }; '
                   'echo "cost: $c"')
    for _ in range(6):
        history.commit('echo "cost: 1300"')
    steps, report = history.found(history.hashes[0])
    check(steps == [6], f"a commit that was slow once: {report['steps']}")


def a_build_that_fails_once_is_tried_again():
    history = history_of("flaky", [1000] * 3)
    mark = history.folder.parent / "failed-once"
    # The culprit's parent fails to build once; without a second try, it would share the blame.
    history.commit('echo "cost: 1000"',
                   f"[ -e {mark} ] || {{ touch {mark}; exit 1; }}; cp source prog && chmod +x prog")
    for _ in range(3):
        history.commit('echo "cost: 1300"')
    steps, report = history.found(history.hashes[0])
    check(mark.exists(), "the build that fails once was tried")
    check(steps == [4] and report["steps"][0]["or"] == [], f"a flaky build: {report['steps']}")


def a_commit_that_never_builds_shares_the_blame():
    history = history_of("broken", [1000] * 3)
    history.commit('echo "cost: 1000"', "exit 1")
    for _ in range(3):
        history.commit('echo "cost: 1300"')
    steps, report = history.found(history.hashes[0])
    check(steps == [4] and report["steps"][0]["or"] == [history.hashes[3]],
          f"a broken build: {report['steps']}")


def a_benchmark_begins_at_the_first_commit_that_has_it():
    history = History("begins")
    for _ in range(4):
        history.commit("exit 1", "rm -f prog")
    for cost in [1000] * 3 + [1300] * 3:
        history.commit(f'echo "cost: {cost}"')
    steps, report = history.found(history.hashes[0], "--bench", "prog")
    check(report["good"] == history.hashes[4],
          f"the first commit with the benchmark: {report['good']}, not {history.hashes[4]}")
    check(steps == [7], f"the culprit after it: {steps}")
    # existence is checked before speed
    done = history.bisect(2, history.hashes[0], history.hashes[4], "--bench", "prog")
    check("there is nothing to compare with" in done.stderr,
          f"it exists only at the bad end: {done.stderr}")


def a_case_of_a_suite_is_searched_by():
    history = History("suite", SUITE)
    for i in range(8):
        sort = f'echo "sort {1300 if i > 5 else 1000} steps"; ' if i > 1 else ""
        history.commit(f'{sort}echo "find {1500 if i > 3 else 1000} steps"')
    steps, report = history.found(history.hashes[2], "--bench", "suite/sort")
    check(steps == [6] and report["benchmark"] == "suite/sort",
          f"a case: {steps} by {report['benchmark']}")
    steps, report = history.found(history.hashes[2], "--bench", "suite")
    check(report["benchmark"] in ("suite/find", "suite/sort") and steps in ([4], [6]),
          f"the worst case of a suite: {steps}")
    steps, report = history.found(history.hashes[0], "--bench", "suite/sort")
    check(steps == [6] and report["good"] == history.hashes[2],
          f"a case that older commits lack: {steps} from {report['good']}")


def a_missing_submodule_is_named():
    other = history_of("library", [1])
    history = history_of("submodule", [1000])
    history.git("submodule", "add", "-q", f"file://{other.folder}", "library")
    for cost in (1000, 1000, 1300):
        history.commit(f'echo "cost: {cost}"',
                       "test -e library/source && cp source prog && chmod +x prog")
    steps, _ = history.found(history.hashes[1])
    check(steps == [3], f"with its submodule: {steps}")
    history.git("clone", "-q", f"file://{history.folder}", "../without")
    (history.folder.parent / "without/fastgate.yml").write_text(CONFIG)
    history.folder = history.folder.parent / "without"
    done = history.bisect(4, history.hashes[1])
    check("git submodule update --init" in done.stderr, f"without its submodule: {done.stderr}")


def uncommitted_changes_are_not_in_the_range():
    history = history_of("dirty", [1000] * 3 + [1300] * 2)
    history.script("source", 'echo "cost: 5000"')
    done = history.bisect(1, history.hashes[0])
    check("uncommitted changes, which are not part of the range" in done.stderr,
          f"a dirty tree: {done.stderr}")
    check(history.hashes[3][:12] in done.stdout and "5000" not in done.stdout,
          f"a dirty tree: {done.stdout}")


def an_interrupted_search_continues():
    history = History("interrupted")
    started, go = history.folder.parent / "started", history.folder.parent / "go"
    os.mkfifo(started)
    for i in range(9):
        # the build of one commit waits until the test has interrupted it
        wait = f"[ -e {go} ] || {{ echo > {started}; sleep {HUNG_S}; }}; " if i in (3, 4, 5) else ""
        history.commit(f'echo "cost: {1300 if i > 6 else 1000}"',
                       wait + "cp source prog && chmod +x prog")
    search = subprocess.Popen([fastgate, "bisect", history.hashes[0]], cwd=history.folder,
                              env=history.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
    started.read_text()  # returns once that build has begun
    search.send_signal(signal.SIGINT)
    _, said = search.communicate(timeout=HUNG_S)
    check(search.returncode == 130 and "bisect --resume" in said,
          f"interrupted: {search.returncode} {said}")
    go.touch()
    before = json.loads((history.folder / ".fastgate/bisect.json").read_text())
    steps, report = history.found("--resume")
    check(steps == [7], f"resumed: {steps}")
    check(report["ends"]["run"] == before["ends"]["run"], "the ends are not gated again")


def test():
    a_commit_that_its_parent_refutes_is_not_blamed()
    two_culprits_are_both_found()
    a_reverted_slowdown_is_not_blamed()
    a_build_that_fails_once_is_tried_again()
    a_commit_that_never_builds_shares_the_blame()
    a_benchmark_begins_at_the_first_commit_that_has_it()
    a_case_of_a_suite_is_searched_by()
    a_missing_submodule_is_named()
    uncommitted_changes_are_not_in_the_range()
    an_interrupted_search_continues()


finish_in_scratch(test)
