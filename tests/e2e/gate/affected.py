#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Only benchmarks that a change can affect are measured. Tests each reason to measure one, and the report
on the benchmarks that are left out.
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

fastgate, root = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
# Saves half a second per side: the executed functions are not recorded again.
KEPT = ("--affected", "--no-store")
schema = Schema(root / "docs/formats/report.schema.json")
UNCHANGED = "unchanged code, placement not checked"
WORK = target("affected.c")
ALPHA = """int used(int x), unused(int x);
int alpha(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += used(i); return s; }
"""
HELPERS = """int used(int x) { return x * 3; }
int unused(int x) { return x * 5; }
"""
BETA = """const int table[4] = {1, 2, 3, 4};
int beta(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += table[i & 3]; return s; }
"""
FILES = {
    "work.c": WORK, "alpha.c": ALPHA, "helpers.c": HELPERS, "beta.c": BETA,
    "a.txt": "20000\n", "b.txt": "20000\n",
    "Makefile": "CFLAGS = -O1\nall: work made.txt\nmade.txt: Makefile\n\techo 42 > $@\n"
                "work: work.o alpha.o helpers.o beta.o\n\t$(CC) -o $@ $^\n",
    ".gitignore": ".fastgate\nwork\n*.o\nmade.txt\n",
    "fastgate.yml": """version: 1
project: two
build: { command: make -s }
benchmarks:
  - { name: alpha, command: ./work alpha a.txt }
  - { name: beta, command: ./work beta b.txt }
measure: { schedule: abba, warmup: 0, pairs: { min: 2, max: 2 }, sampler: { enabled: false } }
""",
}


def run(*words, env=None):
    return subprocess.run(words, capture_output=True, text=True, env=env or os.environ, timeout=HUNG_S)


def git(*words):
    done = run("git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words)
    assert done.returncode == 0, done.stderr


def edit(path, old, new):
    text = pathlib.Path(path).read_text()
    assert old in text, (path, old)
    pathlib.Path(path).write_text(text.replace(old, new))


def measure(*options, env=None):
    """
    Runs the gate; returns the benchmarks left out, the reason for each measured one, and standard
    error.
    """
    done = run(fastgate, "run", "--against", "HEAD", "--json", "--no-post",
               *(options or ("--affected",)), env=env)
    assert done.returncode == 0, f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    report = json.loads(done.stdout)
    wrong = schema.errors(report)
    assert not wrong, wrong
    left_out, reasons = set(), {}
    for benchmark in report["benchmarks"]:
        if benchmark.get("unaffected"):
            assert benchmark["verdict"] == "pass" and benchmark["pairs"] == 0, benchmark
            assert benchmark["answer"]["sentence"] == f"{benchmark['name']}: {UNCHANGED}", benchmark
            left_out.add(benchmark["name"])
        else:
            assert benchmark["pairs"] > 0, benchmark
            reason = "".join(note for note in benchmark["notes"] if note.startswith("measured: "))
            reasons[benchmark["name"]] = reason.removeprefix("measured: ")
    return left_out, reasons, done.stderr


def check(left_out, reasons, *options, env=None):
    found = measure(*options, env=env)
    assert (found[0], found[1]) == (left_out, reasons), found


def executed_functions_are_recorded_once():
    edit("alpha.c", "s = 0", "s = 1")
    unknown = "the functions that the benchmark executes are not known yet"
    check(set(), {"alpha": unknown, "beta": unknown})
    check({"beta"}, {"alpha": "the benchmark executes changed code: alpha"}, "--quick")
    check(set(), {"alpha": "", "beta": ""}, "--quick", "--no-store", "--set", "measure.affected=never")


def every_report_says_it():
    text = run(fastgate, "run", "--against", "HEAD", *KEPT, "--set", "report.junit=j.xml",
               "--set", "report.markdown=m.md", "--set", "report.html=h.html").stdout
    assert f"beta    {UNCHANGED} " in text and "2 benchmarks" in text, text
    junit = pathlib.Path("j.xml").read_text()
    assert f'{UNCHANGED}"/>' in junit and 'skipped="1"' in junit, junit
    markdown = pathlib.Path("m.md").read_text()
    assert UNCHANGED in markdown or "unchanged code" in markdown, markdown
    assert '"unaffected":true' in pathlib.Path("h.html").read_text()
    for name in ("j.xml", "m.md", "h.html"):
        os.unlink(name)


def a_commit_needs_no_second_look():
    git("commit", "-qam", "alpha")
    edit("beta.c", "s = 0", "s = 1")
    check({"alpha"}, {"beta": "the benchmark executes changed code: beta"}, *KEPT)
    git("checkout", "-q", ".")


def a_function_that_nobody_executes_touches_nobody():
    edit("helpers.c", "x * 5", "x * 7")
    check({"alpha", "beta"}, {})
    edit("helpers.c", "x * 3", "x * 9")
    check({"beta"}, {"alpha": "the benchmark executes changed code: used"}, *KEPT)
    git("checkout", "-q", ".")


def data_and_files_force_a_run():
    edit("beta.c", "3, 4", "3, 5")
    check(set(), dict.fromkeys(("alpha", "beta"), "data changed in work: table"), *KEPT)
    git("checkout", "-q", ".")
    edit("helpers.c", "x * 5", "x * 7")
    pathlib.Path("notes.txt").write_text("read by nobody\n")
    edit("a.txt", "20000", "20001")
    # a.txt changed after the functions were recorded, and is the same on both sides
    check({"beta"}, {"alpha": "a.txt changed after the functions were recorded"}, *KEPT)
    os.unlink("notes.txt")
    git("checkout", "-q", "a.txt")
    edit("Makefile", "echo 42", "echo 43")
    check({"alpha"}, {"beta": "a file that the benchmark reads changed: made.txt"}, *KEPT)
    git("checkout", "-q", ".")


def configuration_and_environment_force_a_run():
    edit("helpers.c", "x * 5", "x * 7")
    edit("fastgate.yml", "./work beta b.txt", "./work beta b.txt again")
    changed = "the benchmark's configuration changed after its functions were recorded"
    check({"alpha"}, {"beta": changed}, *KEPT)
    git("checkout", "-q", "fastgate.yml")
    other = dict(os.environ, LD_BIND_NOW="1")
    reason = "the environment changed after the benchmark's functions were recorded"
    check(set(), {"alpha": reason, "beta": reason}, *KEPT, env=other)


def without_a_valgrind_that_works_everything_is_measured(folder):
    shutil.rmtree(".fastgate/executed")
    tools = folder / "tools"
    tools.mkdir()
    for name in ("sh", "git", "make", "cc", "as", "ld", "collect2"):
        if shutil.which(name):
            (tools / name).symlink_to(shutil.which(name))
    env = dict(os.environ, PATH=str(tools))
    left_out, reasons, said = measure(env=env)
    assert not left_out and len(reasons) == 2, reasons
    assert said.count("no benchmark can be skipped") == 1, said
    (tools / "valgrind").write_text("#!/bin/sh\nexit 9\n")
    (tools / "valgrind").chmod(0o755)
    measure(env=env)
    left_out, reasons, said = measure(env=env)
    assert not left_out and "could not be recorded in 60 s: " in reasons["beta"], reasons
    assert "finding the functions that" not in said, said


with tempfile.TemporaryDirectory() as folder:
    project = pathlib.Path(folder) / "project"
    project.mkdir()
    os.chdir(project)
    for key in [k for k in os.environ if k.startswith(("GIT_", "FASTGATE_"))]:
        del os.environ[key]
    os.environ.update(HOME=folder, XDG_CACHE_HOME=f"{folder}/cache", LC_ALL="C.UTF-8")
    for name, text in FILES.items():
        pathlib.Path(name).write_text(text)
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    executed_functions_are_recorded_once()
    every_report_says_it()
    a_commit_needs_no_second_look()
    a_function_that_nobody_executes_touches_nobody()
    data_and_files_force_a_run()
    configuration_and_environment_force_a_run()
    without_a_valgrind_that_works_everything_is_measured(pathlib.Path(folder))
