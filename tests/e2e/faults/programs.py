#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
programs.py FASTGATE: badly behaved benchmarks. One clear line names each, the exit code shows whether it
could be measured, the next benchmark is measured all the same, no process is left running, and
fastgate's own memory use stays small.
"""
import contextlib
import csv
import glob
import json
import os
import resource
import subprocess
import sys
import time

from checks import HUNG_S, call, check, failures, finish_in_scratch, write

FASTGATE = sys.argv[1]

RATE = "regex: 'rate: ([0-9.]+)'"


def metric(keys):
    return f"metrics: [ {{ name: rate, {keys} }} ]"


# name, program (sh), additional keys of the benchmark, exit code, part of the report
PROGRAMS = [
    ("absent", None, "", 4, "cannot run './absent'"),
    ("crash", "kill -SEGV $$", "", 4, "was killed by signal 11"),
    ("aborted", "echo the last words >&2; kill -ABRT $$", "", 4, "the last words"),
    ("refuses", "echo cannot open input.dat >&2; exit 3", "", 4, "exited with code 3, expected 0"),
    ("expected", "exit 3", "expect: { exit_code: 3 }", 0, "expected"),
    ("hangs", "sleep 1000 & sleep 1001", "timeout: 1s", 4, "exceeded its time limit"),
    ("deaf", "trap '' TERM; while :; do sleep 1002; done", "timeout: 1s", 4, "exceeded its time limit"),
    ("daemon", "setsid sleep 1003 & exit 0", "", 0, "daemon"),
    ("silent", "echo nothing to see", metric(RATE), 4, "rate"),
    ("no_json", "echo '{ \"rate\": '", metric("json: /rate"), 4, "rate"),
    ("no_member", "echo '{ \"speed\": 1 }'", metric("json: /rate"), 4, "rate"),
    ("no_number", "echo 'rate: fast'", metric("regex: 'rate: (.*)'"), 4, "rate"),
    ("by_regex", "echo 'rate: 17.5 MB/s'", metric(f"{RATE}, better: higher, unit: MB/s"), 0, ""),
    ("by_pointer", "echo '{ \"a\": [ { \"b/c\": 42 } ] }'", metric("json: /a/0/b~1c"), 0, ""),
    ("by_file", "echo 'rate: 3' >result.txt", metric(f"{RATE}, file: result.txt"), 0, ""),
    ("by_pipe", "rm -f p; mkfifo p", metric(f"{RATE}, file: p"), 4, "not a regular file"),
    ("by_device", "ln -sf /dev/zero z", metric(f"{RATE}, file: z"), 4, "not a regular file"),
    ("floods", "head -c 150000000 /dev/zero | tr '\\0' x; echo; echo 'rate: 5'", metric(RATE), 0, ""),
    ("floods_and_fails", "head -c 50000000 /dev/zero | tr '\\0' x; echo; echo the end; exit 1", "", 4,
     "the end"),
    ("bytes", "printf '\\033[2J\\377\\376 no text'; exit 1", "", 4, "exited with code 1"),
    # The test limits the memory itself: exhausting the machine's memory would disturb other processes.
    ("eats", "ulimit -v 1048576; exec python3 -c 'x = [bytearray(1 << 24) for i in range(1 << 20)]'", "",
     4, "MemoryError"),
]
RATES = {"by_regex": 17.5, "by_pointer": 42, "by_file": 3, "floods": 5}


def run(*arguments):
    return call(FASTGATE, *arguments)


def still_running():
    """
    Processes whose working directory is one of our folders, however they were started; the test may run
    twice at once. Processes that have ended may take a moment to vanish.
    """
    end = time.monotonic() + HUNG_S
    while True:
        found = []
        for link in glob.glob("/proc/[0-9]*/cwd"):
            with contextlib.suppress(OSError):
                if os.readlink(link).startswith(os.getcwd()) and link != f"/proc/{os.getpid()}/cwd":
                    found.append(link)
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.05)


def try_program(name, script, keys, code, words):
    if script is not None:
        write(name, f"#!/bin/sh\n{script}\n", 0o755)
    write("fastgate.yml", "version: 1\nproject: odd\nbenchmarks:\n"
          f"  - name: {name}\n    command: ./{name}\n" + (f"    {keys}\n" if keys else "") +
          "  - { name: behind, command: \"true\" }\n"
          "measure: { pairs: { min: 2, max: 2 }, warmup: 0, sampler: { enabled: false } }\n"
          "report: { json: report.json }\n")
    done = run("run")
    told = done.stdout + done.stderr
    check(done.returncode == code,
          f"{name}: exit code {done.returncode}, expected {code}: {told[-2000:]}")
    check(words in told, f"{name}: no {words!r} in {told[-2000:]!r}")
    check("\x1b" not in done.stdout and len(told) < 20000,
          f"{name}: what it printed came through: {len(told)} bytes")
    if not os.path.exists("report.json"):
        failures.append(f"{name}: no report was written")
        return
    with open("report.json", encoding="utf-8") as file:
        found = {benchmark["name"]: benchmark for benchmark in json.load(file)["benchmarks"]}
    check(found[name]["verdict"] == ("error" if code == 4 else "new"), f"{name}: {found[name]}")
    check(found["behind"]["verdict"] == "new", f"{name}: the benchmark behind it: {found['behind']}")
    if name in RATES:
        raw = run("report", "latest", "--format", "csv-raw").stdout
        values = [row["value"]
                  for row in csv.DictReader(raw.splitlines())
                  if row["benchmark"] == name and row["metric"] == "rate"]
        check(len(values) >= 2 and all(value == str(RATES[name]) for value in values),
              f"{name}: rate is not {RATES[name]} in {raw[:2000]}")
    os.remove("report.json")


def a_disk_that_fills_up_damages_no_store():
    """The file system fills up under the store."""
    os.mkdir("small")
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "none", "small"]
    if subprocess.run(["unshare", "-m", *mount], capture_output=True, check=False).returncode != 0:
        print("no tmpfs can be mounted here: the full disk was left out")
        return
    write("fastgate.yml",
          "version: 1\nproject: odd\nbenchmarks:\n  - { name: quick, command: \"true\" }\n"
          "store: { path: small/store.db }\n"
          "measure: { pairs: { min: 2, max: 2 }, sampler: { enabled: false } }\n")
    script = (f"{' '.join(mount)} && cd . && i=0; while [ $i -lt 40 ]; do {FASTGATE} run >out 2>err || "
              "{ code=$?; cat err >&2; rm -f small/fill; exit $code; }; i=$((i + 1)); "
              "[ $i -ne 2 ] || dd if=/dev/zero of=small/fill bs=1k 2>/dev/null; done; exit 99")
    done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True,
                          check=False, timeout=HUNG_S)
    lines = [line for line in done.stderr.splitlines() if line.startswith("fastgate: ")]
    check(done.returncode == 6, f"full disk: exit code {done.returncode}: {done.stderr}")
    check(len(lines) == 1 and "store.db" in lines[0], f"full disk: {lines}")


def main():
    for program in PROGRAMS:
        try_program(*program)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    check(usage.ru_maxrss < 1 << 20, f"a child took {usage.ru_maxrss} KiB")
    left = still_running()
    check(not left, f"something is left running: {left}")
    a_disk_that_fills_up_damages_no_store()


finish_in_scratch(main)
