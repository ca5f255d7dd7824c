#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pipe planted in place of a job's report is refused instead of waited for."""
import os
import subprocess

from attack import FASTGATE
from checks import HUNG_S, check, finish_in_scratch


def attack():
    with open("fastgate.yml", "w", encoding="utf-8") as file:
        file.write("version: 1\nproject: tracker\nbenchmarks:\n  - { name: a, command: /bin/true }\n")
    os.mkfifo("report.json")
    done = subprocess.run([FASTGATE, "report", "--post-from", "report.json"], capture_output=True,
                          text=True, check=False, timeout=HUNG_S, stdin=subprocess.DEVNULL)
    check(done.returncode == 2 and "not a regular file" in done.stderr,
          f"{done.returncode} {done.stderr}")


finish_in_scratch(attack)
