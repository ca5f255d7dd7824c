#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
counted_entries.py FASTGATE COMPILER: with `measure.entries` calls within a program are gated; a function that can have a jump at its
entry on one side alone is counted on neither.
"""
import os
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, metric, write

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]

PROGRAM = """
static volatile long sink;
__attribute__((noinline)) static long fit(long n) { long found = 3 * n; sink = found; return found; }
long turns(long n);
__asm__("	.text\\n	.globl turns\\n	.type turns, @function\\nturns:\\n	.cfi_startproc\\n"
	"	mov $1000, %eax\\n	dec %edi\\n	JUMP\\n	ret\\n	.cfi_endproc\\n	.size turns, . - turns\\n");
int main(void) { for (long i = 0; i < FITS; i++) sink = fit(i); for (long i = 1; i < 10; i++) sink = turns(1); return 0; }
"""

CONFIGURATION = f"""version: 1
project: app
build: {{ command: {COMPILER} -g -O2 app.c -o app }}
benchmarks:
  - {{ name: app, command: ./app }}
measure:
  calls: [fit, turns]
  entries: true
  schedule: abba
  pairs: {{ min: 4, max: 4 }}
  warmup: 0
  sampler: {{ enabled: false }}
gate:
  metrics:
    calls.fit: {{ tolerated: 0.05% }}
    cpu_time: {{ gated: false }}
    wall_time: {{ gated: false }}
    max_rss: {{ gated: false }}
"""


def make(fits, jump):
    write("app.c", PROGRAM.replace("FITS", fits).replace("JUMP", jump))


def body():
    make("1000", "nop")
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate/\nreport.json\n")
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    make("1001", "jnz turns")
    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "report.json=report.json")
    benchmark = first_benchmark()
    check(done.returncode == 1, f"one call more: {done.returncode}\n{done.stdout}{done.stderr}")
    calls = metric(benchmark, "calls.fit")
    check((calls["baseline"], calls["candidate"], calls["verdict"]) == (1000, 1001, "regression"), f"{calls}")
    check(all(one["name"] != "calls.turns" for one in benchmark["metrics"]), f"counted on one side alone: {benchmark['metrics']}")
    notes = " ".join(benchmark["notes"]) + done.stdout
    check("a loop leads back to its first instructions (turns)" in notes, f"why turns is not counted: {notes}")


finish_in_scratch(body)
