#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
stopped.py FASTGATE COLLECTOR TARGETS_FOLDER: with --clock wall, the time in which a program was
stopped is a separate row, and is not attributed to the function that continues afterwards.
"""
import json
import os
import signal
import subprocess
import sys
import threading
import time

from checks import call, check, finish_in_scratch

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR
STOPPED_S = 1.5


def number_of(path):
    while True:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if text.endswith("\n"):
                return int(text)
        os.sched_yield()


def is_stopped(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


def body():
    recording = subprocess.Popen([FASTGATE, "record", "--quiet", "--clock", "wall",
                                  "--", f"{TARGETS}/stopped", "number"])
    pid = number_of("number")
    os.kill(pid, signal.SIGSTOP)
    while not is_stopped(pid):
        os.sched_yield()
    began = time.monotonic()
    threading.Event().wait(STOPPED_S)
    os.kill(pid, signal.SIGCONT)
    was_stopped = time.monotonic() - began
    check(recording.wait() == 0, "the recording failed")
    shown = call(FASTGATE, "view", "fastgate-record", "--json", "--all", check=True).stdout
    rows = {row["name"]: row for row in json.loads(shown)["rows"]}
    check("[not running]" in rows, f"no row of its own: {sorted(rows)}")
    own = rows["[not running]"]["self_ns"] / 1e9
    check(own > 0.9 * STOPPED_S, f"{own} s of {was_stopped} s: {rows['[not running]']}")
    check(rows["before"]["inclusive_ns"] / 1e9 < was_stopped,
          f"before() has the time in which it was stopped: {rows['before']}")


finish_in_scratch(body)
