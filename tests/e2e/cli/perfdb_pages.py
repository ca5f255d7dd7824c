#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perfdb_pages.py PERFDB: every command and option of perfdb is in its manual page."""
import re
import shutil
import subprocess
import sys

from checks import call, check, finish

perfdb = sys.argv[1]


def output(*arguments):
    done = call(perfdb, *arguments)
    check(done.returncode == 0, f"perfdb {arguments}: {done.returncode} {done.stderr}")
    return done.stdout


manual = output("help", "--man")
page = manual.replace("\\-", "-")
commands = re.findall(r"^  ([a-z]+) +\S", output("help"), re.M)
check(len(commands) == 8 and "serve" in commands, f"commands: {commands}")
for command in commands:
    section = page.split(f".SH COMMAND {command}\n", 1)[-1].split(".SH ", 1)[0]
    options = re.findall(r"^  (?:-\w, |    )--([\w-]+)", output(command, "--help"), re.M)
    check("help" in options, f"{command}: {options}")
    for option in options:
        check(f"\\fB--{option}\\fR" in section, f"perfdb(1): {command} has no --{option}")
check("create" in page and "revoke \\fIWORD\\fR" in page, "perfdb(1): actions")
check(call(perfdb, "help", "--other").returncode == 2, "an unknown kind of help")
if shutil.which("groff"):
    done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=manual, capture_output=True,
                          text=True, check=False)
    check(done.returncode == 0 and not done.stderr, f"groff: {done.stderr}")
finish()
