#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
projects.py BUILD_FOLDER [NAME...]

Source packages of Debian, of several build systems, as a stranger meets them: `init`, then `run --against` a patch that changes no
behaviour must pass, and one that makes a hot function 5 % of the program slower must fail and name that function.  The file that
`init` wrote is not edited.  Where the slowdown goes, and how large it has to be, is found with the profile of the first run: a loop
at the start of the function, of as many turns as take 5 % of the program's time.  Prints a table.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

PACKAGES = ["bzip2", "lzip", "xxhash", "lz4", "ninja-build", "tinyxml2", "utf8proc", "zopfli", "discount", "uchardet", "fribidi", "lzo2",
            "libxkbcommon", "yajl"]
WANTED = 0.05
LIMIT_S = 900


def call(*words, **more):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", timeout=LIMIT_S, check=False, **more)


def git(folder, *words):
    done = call("git", "-c", "user.name=soak", "-c", "user.email=soak@example.org", *words, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"git {words}: {done.stdout}")
    return done.stdout.strip()


def fetch(package, folder):
    call("apt-get", "source", "-q", package, cwd=folder)
    trees = [path for path in folder.iterdir() if path.is_dir()]
    if not trees:
        raise RuntimeError("its source could not be fetched")
    tree = trees[0]
    for name in (".pc", "debian", ".git"):
        shutil.rmtree(tree / name, ignore_errors=True)
    git(tree, "init", "-q")
    git(tree, "add", "-A", "-f")
    git(tree, "commit", "-q", "-m", "as released")
    git(tree, "commit", "-q", "--allow-empty", "-m", "its next commit")
    return tree


def benchmarks(tree):
    with open(tree / "out.json", encoding="utf-8") as file:
        return json.load(file)["benchmarks"]


def run(fastgate, tree, names=()):
    done = call(fastgate, "run", *names, "--against", "HEAD", "--budget", "60s", "--set", "report.json=out.json", "--no-post", cwd=tree)
    return done.returncode, done.stdout


C_FUNCTION = r"^[A-Za-z_][^;{}#=]*?\b%s\s*\([^;{}]*\)[^;{}()]*\{"


def definition(tree, name):
    """(file, offset behind the opening brace) of a function that is defined once in C or C++."""
    plain = re.escape(name.split("(")[0].split("<")[0].split("::")[-1])
    found = []
    for path in sorted(tree.rglob("*")):
        if path.suffix in (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp") and ".fastgate" not in path.parts and path.is_file():
            text = path.read_text(encoding="latin-1")
            found += [(path, match.end()) for match in re.finditer(C_FUNCTION % plain, text, re.M)]
    return found[0] if len(found) == 1 else None


def plant(place, turns, static="static"):
    """A loop of so many turns whenever the function is called; fractions of a turn are whole turns now and then."""
    path, offset = place
    text = path.read_text(encoding="latin-1")
    every, count = (1, round(turns)) if turns >= 4 else (max(1, round(16 / turns)), 16)
    loop = (f" {{ {static} unsigned fg_calls; if (++fg_calls % {every}u == 0)"
            f" for (volatile unsigned fg_i = 0; fg_i < {count}u; fg_i = fg_i + 1) {{}} }} ")
    path.write_text(text[:offset] + loop + text[offset:], encoding="latin-1")


def neutral(place):
    """Another program that does the same: what is the same would not be measured."""
    path, offset = place
    text = path.read_text(encoding="latin-1")
    path.write_text(text[:offset] + " { static volatile unsigned fg_once; if (!fg_once) fg_once = 1; } " + text[offset:], encoding="latin-1")


def change_of(benchmark):
    for metric in benchmark["metrics"]:
        if metric["name"] == "cpu_time" and metric.get("change") is not None:
            return metric["change"]
    return None


def hot_functions(fastgate, tree, benchmark):
    """Names by their own time, the hottest first, with their share."""
    done = call(fastgate, "view", "--bench", benchmark, "--view", "functions", "--format", "json", cwd=tree)
    try:
        rows = json.loads(done.stdout[done.stdout.index("{"):])
    except ValueError:
        return []
    return [(row["function"], row.get("self_share", 0)) for row in rows.get("rows", rows.get("functions", []))]
