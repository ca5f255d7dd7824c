#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Identical builds, counted again and again: does any pair of counts differ?

usage: identical.py FASTGATE [COUNTS]

Each program is counted COUNTS times (64: 2,016 pairs per program) by `fastgate run` under valgrind;
every pair is a comparison. Red: one side executes over 0.01 % more than the other, as a whole or in
any one function.
"""
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FASTGATE = pathlib.Path(sys.argv[1]).resolve()
COUNTS = int(sys.argv[2]) if len(sys.argv) > 2 else 64
TOLERATED = 0.0001
PROGRAMS = {
    "jq": "jq -c 'map(tostring) | group_by(length) | map(length)' numbers.json",
    "sqlite3": "sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c"
               " where x<2000) select x%97, group_concat(x) from c group by 1'",
    "mawk": "mawk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (k in n) c++; print c }'"
            " RS=, numbers.json",
    "xz": "xz -1 -k -c numbers.json",
    "bc": "bc -l sum.bc",
}


def shell(*words):
    return subprocess.run([str(word) for word in words],
                          check=True, stdout=subprocess.PIPE, text=True).stdout


def count():
    """{program: {function: instructions}} of one execution each."""
    subprocess.run([FASTGATE, "-q", "run", "--pairs", "2:2"], check=False, stdout=subprocess.DEVNULL)
    found = {}
    for name in PROGRAMS:
        rows = json.loads(shell(FASTGATE, "view", "latest", "--bench", name, "--measure", "instructions",
                                "--all", "--json"))["rows"]
        found[name] = {(row["name"], row["library"]): row["self"] for row in rows if row["self"]}
    return found


def is_red(a, b):
    most = max(sum(a.values()), sum(b.values())) / max(1, min(sum(a.values()), sum(b.values()))) - 1
    for name in a.keys() | b.keys():
        less, more = sorted((a.get(name, 0), b.get(name, 0)))
        most = max(most, more / max(1, less) - 1)
    return most > TOLERATED


def main():
    os.chdir(folder)
    os.environ.pop("LD_PRELOAD", None)
    programs = {name: command for name, command in PROGRAMS.items() if shutil.which(name)}
    lines = "".join(f"  - {{ name: {name}, shell: true, command: {json.dumps('exec ' + command)} }}\n"
                    for name, command in programs.items())
    pathlib.Path("numbers.json").write_text(str(list(range(2000))).replace(" ", ""), encoding="ascii")
    pathlib.Path("sum.bc").write_text("s = 0\nfor (i = 1; i < 300; ++i) s += sqrt(i)\ns\nquit\n",
                                      encoding="ascii")
    pathlib.Path("fastgate.yml").write_text(
        f"version: 1\nproject: identical\nbuild: {{ command: 'true' }}\nbenchmarks:\n{lines}"
        "measure: { exact: valgrind, warmup: 0 }\n",
        encoding="utf-8")
    pathlib.Path(".gitignore").write_text(".fastgate\n", encoding="utf-8")
    shell("git", "init", "-q", ".")
    shell("git", "add", ".")
    shell("git", "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-qm", "same")
    counts = [count() for _ in range(COUNTS)]
    pairs = red = 0
    for name in programs:
        here = [one[name] for one in counts]
        reds = sum(is_red(a, b) for a, b in itertools.combinations(here, 2))
        equal = sum(a == b for a, b in itertools.combinations(here, 2))
        of_name = len(here) * (len(here) - 1) // 2
        pairs += of_name
        red += reds
        print(f"  {name:8} {sum(here[0].values()):11,} instructions in {len(here[0]):4} functions; "
              f"equal to the digit, all functions: {equal} of {of_name}; red {reds}")
    print(f"{red} of {pairs:,} comparisons of identical builds red")
    os.chdir("/")


with tempfile.TemporaryDirectory(prefix="fastgate-bench-") as folder:
    main()
