# SPDX-License-Identifier: Apache-2.0
"""
Shared by the scripted tests: runs programs to their end, creates files and repositories, collects failed
checks so that one run shows all of them, and provides an empty folder to work in.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TARGETS = pathlib.Path(__file__).resolve().parents[1] / "targets/scripted"

HUNG_S = 500  # longer than any of our programs takes, on any machine

# If nothing changed, this many pairs are all slower by chance once in a thousand times.
SURE_PAIRS = 10
# A program that runs for most of a second in total gets a thousand samples, or 130 to 220 on a crowded
# CPU.
SURE_SAMPLES = 400

failures = []


def call(*words, **more):
    """
    Runs a program to its end without input; returns its exit code and its output as text. Further
    arguments are those of subprocess.run().
    """
    if "input" not in more:
        more.setdefault("stdin", subprocess.DEVNULL)
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace",
             "timeout": HUNG_S, "check": False, **more}
    if not given["text"]:
        del given["errors"]
    try:
        return subprocess.run(words, **given)
    except subprocess.CalledProcessError as error:
        print(error.stderr, file=sys.stderr)  # the exception does not contain the reason
        raise


def git(*words, **more):
    """Runs git as a separate user; it must succeed."""
    return call("git", "-c", "user.name=tester", "-c", "user.email=tester@example.org", *words,
                check=True, **more)


def write(path, text, mode=0o644):
    """Writes a file with this text, and creates the folders above it."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def target(name, **macros):
    """A source in tests/targets/scripted, with these macros defined, for a script to compile."""
    defined = "".join(f"#define {macro} {value}\n" for macro, value in macros.items())
    return defined + (TARGETS / name).read_text(encoding="utf-8")


def first_benchmark(path="report.json"):
    """The first benchmark of a report."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)["benchmarks"][0]


def metric(benchmark, name):
    """The benchmark's metric of this name, which must exist."""
    return next(one for one in benchmark["metrics"] if one["name"] == name)


def blamed(benchmark, said):
    """
    Names of the functions to blame, worst first. A program sampled from outside is sampled for as long
    as its pairs took, and only while the sampler has a CPU. If there are fewer than ten pairs or
    too few samples, as on a busy machine, functions are named without certainty.
    """
    outside = re.search(r"from (\d+) more executions per side, sampled from outside",
                        " ".join(said.split()))
    samples = max((function["samples"] for function in benchmark["functions"]), default=0)
    unsure = outside and (int(outside[1]) < SURE_PAIRS or samples < SURE_SAMPLES)
    standings = ("guilty", "not sure") if unsure else ("guilty",)
    return [function["name"] for function in benchmark["functions"] if function["standing"] in standings]


def check(condition, what):
    if not condition:
        failures.append(what)


def finish():
    """Ends the test: prints the failed checks, and exits with 1 if there are any."""
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


def finish_in_scratch(body):
    """Calls body() in an empty folder that is removed afterwards, and ends the test."""
    work = tempfile.mkdtemp(prefix="fastgate-test-")
    try:
        os.chdir(work)
        body()
    except BaseException:
        print("\n".join(failures), flush=True)  # the exception may be a consequence of these
        raise
    finally:
        os.chdir("/")
        for folder, _, _ in os.walk(work):
            os.chmod(folder, 0o700)
        shutil.rmtree(work)
    finish()
