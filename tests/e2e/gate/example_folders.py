#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
example_folders.py FASTGATE ROOT: for each example with a README, the file is valid, the program builds
on both sides, the README's change applies, and a smaller load is measured.
"""
import json
import os
import shutil
import subprocess
import sys

from checks import call, check, finish_in_scratch, git

fastgate, root = sys.argv[1:3]
# (folder, a tool that it needs, replacements that make its load small, benchmarks that are measured)
EXAMPLES = (
    ("ctest", "ctest", ("300000", "3000", "2000000", "20000"), ["sorting.random", "sorting.nearly"]),
    ("shared-library", "cc", ("400000 533334", "4000 5334"), ["paths"]),
    ("fortran", "gfortran", ("400 800", "100 50"), ["plate"]),
    ("python-extension", "python3", ("20000 300", "1000 10"), ["rank"]),
    ("load-generator", "cc", ("5000 1000", "100 1000"), ["answers"]),
)


def example(folder, tool, load, names):
    if not shutil.which(tool):
        print(f"left out: {folder}, for there is no {tool}")
        return
    shutil.copytree(os.path.join(root, "examples", folder), folder,
                    ignore=shutil.ignore_patterns("build", ".fastgate", "*.o", "__pycache__"))
    os.chdir(folder)
    with open("fastgate.yml", encoding="utf-8") as file:
        text = file.read()
    check(call(fastgate, "config", "--check").returncode == 0, f"{folder}: its file is not right")
    for large, small in zip(load[::2], load[1::2]):
        check(large in text, f"{folder}: its load is no longer {large}")
        text = text.replace(large, small)
    with open("fastgate.yml", "w", encoding="utf-8") as file:
        file.write(text)
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "An example")
    with open("README.md", encoding="utf-8") as file:
        change = [line for line in file if line.startswith("sed -i")]
    check(len(change) == 1 and subprocess.run(change[0], shell=True, check=False).returncode == 0,
          f"{folder}: the README makes no change")
    check(call("git", "diff", "--quiet").returncode == 1,
          f"{folder}: the README's change changes nothing")
    done = call(fastgate, "run", "--against", "HEAD", "--pairs", "2:2", "--set", "measure.warmup=0",
                "--set", "measure.schedule=abba", "--set", "measure.sampler.enabled=false")
    check(done.returncode in (0, 1), f"{folder}: {done}")
    if done.returncode in (0, 1):
        with open("fastgate.json", encoding="utf-8") as file:
            found = json.load(file)["benchmarks"]
        check([benchmark["name"] for benchmark in found] == names, f"{folder}: measured were {found}")
        check(all(benchmark["pairs"] == 2 for benchmark in found),
              f"{folder}: nothing was compared: {done.stdout}")
    os.chdir("..")


def body():
    for row in EXAMPLES:
        example(*row)


finish_in_scratch(body)
