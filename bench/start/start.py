# SPDX-License-Identifier: Apache-2.0
"""Called by run: FASTGATE PERFDB TURNS.  A command and its peer take turns; prints the medians of their CPU times and their ratio."""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

FASTGATE, PERFDB, TURNS = sys.argv[1], sys.argv[2], int(sys.argv[3])
NOWHERE = "http://127.0.0.1:1"
ROWS = [
    ([FASTGATE, "--version"], ["git", "--version"]),
    ([FASTGATE, "--version"], ["curl", "--version"]),
    ([FASTGATE, "help", "--completion", "bash"], ["git", "--list-cmds=main"]),
    ([FASTGATE, "runs"], ["git", "log", "-1"]),
    ([FASTGATE, "push", "--url", NOWHERE, "--attempts", "1"], ["curl", "--silent", NOWHERE]),
    ([PERFDB, "--version"], ["sqlite3", "--version"]),
]


def cpu_ms(words):
    """CPU time of the program and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def medians(pair):
    times = ([], [])
    for turn in range(TURNS):
        for side in (0, 1) if turn % 2 else (1, 0):
            times[side].append(cpu_ms(pair[side]))
    return [statistics.median(side) for side in times]


def make_project():
    """A repository with a commit, and a stored run that waits to be sent."""
    with open("fastgate.yml", "w", encoding="utf-8") as file:
        file.write("version: 1\nproject: start\nbenchmarks:\n  - { name: one, command: sh -c true }\n"
                   "measure: { schedule: abba, pairs: { min: 2, max: 2 }, sampler: { enabled: false } }\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q", "."], check=True)
    subprocess.run([*git, "add", "fastgate.yml"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "start"], check=True)
    subprocess.run([FASTGATE, "run", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([FASTGATE, "push", "--url", NOWHERE, "--attempts", "1", "latest"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def say(words):
    return " ".join([os.path.basename(words[0]), *words[1:]])


def main():
    print(f"{'command':<52}{'ms':>7}  {'peer':<38}{'ms':>7}{'ratio':>8}")
    for pair in ROWS:
        if not all(shutil.which(side[0]) for side in pair):
            print(f"{say(pair[0]):<52}{'':>7}  {say(pair[1]):<38}  one of them is not here")
            continue
        ours, peers = medians(pair)
        print(f"{say(pair[0]):<52}{ours:>7.2f}  {say(pair[1]):<38}{peers:>7.2f}{ours / peers:>8.2f}")


with tempfile.TemporaryDirectory(prefix="fastgate-bench-") as folder:
    os.chdir(folder)
    make_project()
    main()
    os.chdir("/")
