#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Counting instead of timing: one execution per side finds added work, and one line
reports what cannot be counted.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from checks import HUNG_S, target
from json_schema import Schema
from repository import Repository

fastgate, root = sys.argv[1], pathlib.Path(sys.argv[2])
schema = Schema(root / "docs/formats/report.schema.json")


def run(*words, env):
    return subprocess.run(words, capture_output=True, text=True, env=env, timeout=HUNG_S)


def write(rounds=50, calls=1000, random=False):
    text = target("counted_work.c", ROUNDS=rounds, FITS=calls, RANDOM=int(random))
    pathlib.Path("p.c").write_text(text)


def measure(env, code, *options):
    done = run(fastgate, "run", "--against", "HEAD", "--exact", "--json", *options, env=env)
    assert done.returncode == code, (
        f"exit code {done.returncode}, expected {code}: {done.stdout}{done.stderr}")
    report = json.loads(done.stdout)
    wrong = schema.errors(report)
    assert not wrong, wrong
    return report["benchmarks"][0]


def fake_valgrind(folder, text):
    folder.mkdir()
    (folder / "valgrind").write_text("#!/bin/sh\n" + text)
    (folder / "valgrind").chmod(0o755)
    return folder


def more_calls_and_more_instructions_per_call_are_distinguished(env):
    write(calls=1020)
    work = measure(env, 1)["work"]
    assert (work["kind"], work["function"]) == ("more_work", "fit"), work
    assert work["mechanism"]["kind"] == "calls", work
    assert work["function_calls"] == [1000, 1020], work
    write(rounds=53)
    work = measure(env, 1)["work"]
    assert work["mechanism"]["kind"] == "instructions_per_call", work
    assert work["function_calls"] == [1000, 1000], work
    text = run(fastgate, "report", env=env).stdout
    assert "more work: " in text and "instructions per call" in text and "callgrind" in text, text
    shown = run(fastgate, "view", env=env).stdout
    assert "calls self/call total/call" in " ".join(shown.split()), shown
    row = next(row
               for row in json.loads(run(fastgate, "view", "--json", env=env).stdout)["rows"]
               if row["name"] == "fit")
    assert row["calls"] == 1000 and row["self_per_call"] == row["self"] / 1000, row


def shown(benchmark):
    """The values in which all formats agree."""
    metric = next(m for m in benchmark["metrics"] if m["name"] == "instructions")
    return (benchmark["verdict"], benchmark["error"], metric["verdict"], metric["baseline"],
            metric["candidate"], benchmark["work"])


def every_format_and_a_comparison_of_stored_runs_say_the_same(env):
    write()
    run("git", "commit", "-qam", "counted", "--allow-empty", env=env)
    write(calls=1100)
    measure(env, 1)
    write(calls=1300)
    wanted = shown(measure(env, 1))
    assert wanted[:3] == ("regression", None, "regression"), wanted
    text = run(fastgate, "report", env=env).stdout
    assert "REGRESSION" in text and "ERROR" not in text, text
    stored = shown(json.loads(run(fastgate, "report", "--format", "json",
                                  env=env).stdout)["benchmarks"][0])
    assert stored == wanted, (stored, wanted)
    page = run(fastgate, "report", "--format", "html", env=env).stdout
    found = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page,
                                 re.S)[1])
    assert shown(found["benchmarks"][0]) == wanted, found["benchmarks"][0]
    done = run(fastgate, "compare", "latest~1", "latest", "--json", env=env)
    compared = shown(json.loads(done.stdout)["benchmarks"][0])
    assert done.returncode == 1 and compared[:3] == wanted[:3] and compared[4] == wanted[4], \
        (done.returncode, compared, wanted)
    assert compared[5]["function_calls"] == [1100, 1300] and "session" not in done.stdout, done.stdout


def a_program_that_is_not_deterministic_is_not_judged(env):
    write(random=True)
    run("git", "commit", "-qam", "random", env=env)
    write(random=True, rounds=51)
    metric = measure(env, 0)["metrics"][0]
    assert metric["verdict"] == "inconclusive" and not metric["exact"], metric
    run("git", "reset", "-q", "--hard", "HEAD~1", env=env)


def programs_that_valgrind_cannot_run_are_reported(env, folder):
    write(calls=1020)
    died = fake_valgrind(folder / "died", """for word; do
	case $word in --log-file=*) log=${word#--log-file=} ;; esac
done
echo '==1== vex amd64->IR: unhandled instruction bytes: 0x62 0xF1' > "$(echo "$log" | sed s/%p/1/)"
kill -ILL $$
""")
    benchmark = measure({**env, "PATH": f"{died}:{env['PATH']}"}, 4, "--set", "measure.exact=valgrind")
    assert "unhandled instruction bytes: 0x62" in benchmark["error"], benchmark["error"]
    slow = measure(env, 4, "--set", "measure.exact=valgrind", "--set", "measure.exact_budget=1ms")
    assert "not counted" in slow["error"], slow["error"]


def without_valgrind_the_report_says_so(env, folder):
    bare = folder / "bare"
    bare.mkdir()
    for place in env["PATH"].split(":"):
        for name in os.listdir(place) if os.path.isdir(place) else []:
            if name != "valgrind" and not (bare / name).is_symlink():
                (bare / name).symlink_to(os.path.join(place, name))
    benchmark = measure({**env, "PATH": str(bare)}, 4, "--set", "measure.exact=valgrind")
    assert "valgrind is not installed" in benchmark["error"], benchmark["error"]


with tempfile.TemporaryDirectory() as made:
    folder = pathlib.Path(made)
    project = Repository(folder / "project")
    env = project.environment
    os.chdir(project.folder)
    write()
    pathlib.Path("fastgate.yml").write_text("version: 1\nbuild: { command: \"cc -O1 -g -o p p.c\" }\n"
                                            "benchmarks:\n  - { name: p, command: ./p }\n")
    pathlib.Path(".gitignore").write_text("p\n.fastgate\n")
    project.git("init", "-q", ".")
    project.commit("base")
    more_calls_and_more_instructions_per_call_are_distinguished(env)
    every_format_and_a_comparison_of_stored_runs_say_the_same(env)
    programs_that_valgrind_cannot_run_are_reported(env, folder)
    without_valgrind_the_report_says_so(env, folder)
    a_program_that_is_not_deterministic_is_not_judged(env)
    os.chdir("/")
