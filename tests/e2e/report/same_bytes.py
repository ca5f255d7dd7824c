#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
same_bytes.py FASTGATE: `fastgate report` writes from the store what `fastgate run` wrote while it
measured, byte for byte, in every format, even if the store has been copied elsewhere.
"""
import os
import shutil
import sys

from checks import call, failures, finish_in_scratch

fastgate = os.path.abspath(sys.argv[1])
# Keys of `report:` by the names of the formats.
FILES = {name: name.replace("-", "_") for name in (
    "json", "junit", "markdown", "html", "gitlab", "csv", "csv-raw", "comment", "github")}
CONFIG = """version: 1
project: same
benchmarks:
  - { name: count, command: "seq 20000" }
  - { name: fails, command: "sh -c 'echo no input >&2; exit 3'" }
measure: { pairs: { min: 4, max: 4 } }
report:
"""


def run(*arguments, **more):
    return call(fastgate, *arguments, text=False,
                env={"PATH": os.environ["PATH"], "HOME": os.getcwd(), "COLUMNS": "100"}, **more)


def known_keys():
    told = run("config", "--reference").stdout.decode()
    part = told.split("\n## `report`\n")[1].split("\n## ")[0]
    return {format_name: key for format_name, key in FILES.items() if f"`{key}`" in part}


def main():
    keys = known_keys()
    if not {"json", "junit", "markdown", "html", "csv"} <= set(keys):
        failures.append(f"the configuration knows only {sorted(keys)}")
    with open("fastgate.yml", "w", encoding="ascii") as file:
        file.write(CONFIG + "".join(f"  {key}: made-{name}\n" for name, key in keys.items()))
    done = run("run")
    if done.returncode != 4:
        failures.append(f"run ended with {done.returncode}: {done.stderr.decode()}")
    shutil.copytree(".fastgate", "copy")
    for name in keys:
        with open(f"made-{name}", "rb") as file:
            made = file.read()
        for store in ((), ("--store", "copy/store.db")):
            again = run("report", "--format", name, *store)
            if again.returncode != 0 or again.stdout != made or not made:
                failures.append(f"{name} {store}: {len(made)} bytes when measured, "
                                f"{len(again.stdout)} from the store; {again.stderr.decode()}")
    terminal = run("report")
    if terminal.stdout != done.stdout:
        failures.append(f"terminal: {done.stdout.decode()!r} when measured, "
                        f"{terminal.stdout.decode()!r} from the store")


finish_in_scratch(main)
