#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks that the answer says why a function is slower, with figures, in every format: a cache-hostile stride, an unpredictable branch, a loop
that is no longer vectorised, a tail call that became a call.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

fastgate, root = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(root / "tests/support"))
from checks import HUNG_S  # noqa: E402
from json_schema import Schema  # noqa: E402

if not shutil.which("valgrind"):
    print("skipped: valgrind is not installed")
    sys.exit(77)

PROGRAM = """#include <stdint.h>
static unsigned table[1 << 22];
static unsigned char guesses[1 << 16];
static volatile unsigned sink;
__attribute__((noinline)) static unsigned walk(void)
{
	unsigned sum = 0, at = 0;
	for (int i = 0; i < 2000000; i++) {
		sum += table[at];
		at = (at + STRIDE) & ((1 << 22) - 1);
	}
	return sum;
}
__attribute__((noinline)) static unsigned guess(void)
{
	for (unsigned i = 0; i < 4000000; i++)
		if (guesses[i >> SHIFT & 65535]) {
			sink = i;
			__asm__ volatile("nop");
		}
	return sink;
}
static LANE lanes[1024];
__attribute__((noinline, optimize("O3"))) static unsigned add(void)
{
	for (unsigned k = 0; k < 12000; k++)
		for (unsigned i = 0; i < 1024; i++)
			lanes[i] += k ^ i;
	return lanes[0];
}
__attribute__((noipa, optimize("O2"))) static unsigned descend(unsigned n, unsigned x)
{
	return n ? descend(n - 1, x * 3 + n) LAST : x;
}
__attribute__((noinline)) static unsigned step(void)
{
	unsigned x = 0;
	for (int i = 0; i < 150000; i++)
		x += descend(48, x);
	return x;
}
int main(void)
{
	unsigned random = 1;
	for (unsigned i = 0; i < 1u << 22; i += 16)
		table[i] = i;
	for (unsigned i = 0; i < sizeof(guesses); i++) {
		random = random * 1103515245u + 12345u;
		guesses[i] = random >> 16 & 1;
	}
	for (int i = 0; i < 4; i++)
		sink = CALL();
	return 0;
}
"""
BASE = {"STRIDE": 1, "SHIFT": 12, "LANE": "unsigned", "LAST": ""}


def run(*words, code=0):
    done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=HUNG_S)
    assert done.returncode == code, f"{words}: exit code {done.returncode}, expected {code}: {done.stdout}{done.stderr}"
    return done.stdout


def write(call, **values):
    text = PROGRAM.replace("CALL", call)
    for name, value in {**BASE, **values}.items():
        text = text.replace(name, str(value))
    pathlib.Path("p.c").write_text(text)


def it_is_named(call, kind, words, function=None, **planted):
    write(call)
    run("git", "add", ".")
    run("git", "commit", "-qm", call)
    write(call, **planted)
    report = json.loads(run(fastgate, "run", "--against", "HEAD", "--json", code=1))
    wrong = Schema(root / "docs/formats/report.schema.json").errors(report)
    assert not wrong, wrong
    cause = report["answer"]["because"][0]
    mechanism = cause.get("mechanism")
    assert cause["function"] == (function or call) and mechanism and mechanism["kind"] == kind, (cause, report["benchmarks"][0]["notes"])
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
    env = {**os.environ, "HOME": made, "XDG_CACHE_HOME": made + "/cache", "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_CONFIG_GLOBAL": "/dev/null",
           "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t",
           "GIT_COMMITTER_EMAIL": "t@example.org"}
    project = pathlib.Path(made) / "project"
    project.mkdir()
    os.chdir(project)
    pathlib.Path("fastgate.yml").write_text("""version: 1
build: { command: "cc -O1 -g -o p p.c" }
measure: { exact: auto, exact_budget: 500s, layouts: never }
benchmarks:
  - { name: p, command: ./p }
""")
    pathlib.Path(".gitignore").write_text("p\n.fastgate\n")
    run("git", "init", "-q", ".")
    it_is_named("walk", "cache_misses", "× the misses of the first-level caches", STRIDE=4099)
    it_is_named("guess", "mispredicted_branches", "mispredicted branches", SHIFT=0)
    if "clang" not in run("cc", "--version"):  # clang has no attribute `optimize`
        it_is_named("add", "not_vectorised", "fewer vector instructions (", LANE="volatile unsigned")
        it_is_named("step", "not_tail_called", "tail calls became calls (", function="descend", LAST="^ 1")
    os.chdir("/")
