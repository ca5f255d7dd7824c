#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks that the answer says why a function is slower, with figures, in every format: a cache-hostile
stride, an unpredictable branch, a loop that is no longer vectorised, a tail call that became a call.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from checks import HUNG_S, target
from json_schema import Schema
from repository import Repository

fastgate, root = sys.argv[1], pathlib.Path(sys.argv[2])
if not shutil.which("valgrind"):
    print("skipped: valgrind is not installed")
    sys.exit(77)

BASE = {"STRIDE": 1, "SHIFT": 12, "LANE": "unsigned", "LAST": 0}


def run(*words, code=0):
    done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=HUNG_S)
    assert done.returncode == code, (
        f"{words}: exit code {done.returncode}, expected {code}: {done.stdout}{done.stderr}")
    return done.stdout


def write(call, **values):
    pathlib.Path("p.c").write_text(target("mechanisms.c", CALL=call, **(BASE | values)))


def it_is_named(call, kind, words, function=None, **planted):
    write(call)
    project.commit(call)
    write(call, **planted)
    report = json.loads(run(fastgate, "run", "--against", "HEAD", "--json", code=1))
    wrong = Schema(root / "docs/formats/report.schema.json").errors(report)
    assert not wrong, wrong
    cause = report["answer"]["because"][0]
    mechanism = cause.get("mechanism")
    assert cause["function"] == (function or call) and mechanism and mechanism["kind"] == kind, \
        (cause, report["benchmarks"][0]["notes"])
    assert words in mechanism["words"] and mechanism["counts"][1] > 2 * mechanism["counts"][0], mechanism
    assert mechanism["explains"] >= 0.25, mechanism
    line = f"why: {mechanism['words']}"
    print(cause["function"], line)
    for form in ("terminal", "markdown", "junit", "github"):
        shown = line.replace("%", "%25") if form == "github" else line  # workflow commands escape %
        assert shown in " ".join(run(fastgate, "report", "--format", form).split()), form
    assert line in run(fastgate, "explain", "latest")
    explained = json.loads(run(fastgate, "explain", "latest", "--json"))
    assert explained["functions"][0]["mechanism"] == mechanism, explained["functions"][0]
    wrong = Schema(root / "docs/formats/explain.schema.json").errors(explained)
    assert not wrong, wrong


with tempfile.TemporaryDirectory() as made:
    project = Repository(pathlib.Path(made) / "project")
    env = project.environment
    os.chdir(project.folder)
    pathlib.Path("fastgate.yml").write_text("""version: 1
build: { command: "cc -O1 -g -o p p.c" }
measure: { exact: auto, exact_budget: 500s, layouts: never }
benchmarks:
  - { name: p, command: ./p }
""")
    pathlib.Path(".gitignore").write_text("p\n.fastgate\n")
    project.git("init", "-q", ".")
    it_is_named("walk", "cache_misses", "× the misses of the first-level caches", STRIDE=4099)
    it_is_named("guess", "mispredicted_branches", "mispredicted branches", SHIFT=0)
    if "clang" not in run("cc", "--version"):  # clang has no attribute `optimize`
        it_is_named("add", "not_vectorised", "fewer vector instructions (", LANE="volatile unsigned")
        it_is_named("step", "not_tail_called", "tail calls became calls (", function="descend", LAST=1)
    os.chdir("/")
