# SPDX-License-Identifier: Apache-2.0
"""
Called by run: ARCHIVE TURNS. Measures the time from the start of a job to its first pair, with the
archive already downloaded: the steps of action.yml install ARCHIVE and gate a change of
examples/quickstart in a fresh clone, building both sides from scratch.
"""
import hashlib
import os
import pathlib
import pty
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ARCHIVE, TURNS = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2])
ROOT = pathlib.Path(__file__).resolve().parents[2]
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]


def make_project(folder):
    shutil.copytree(ROOT / "examples/quickstart", folder,
                    ignore=shutil.ignore_patterns("*.o", "wordcount", ".fastgate"))
    (folder / ".gitignore").write_text("*.o\nwordcount\n.fastgate/\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "one"],
                  ["checkout", "-q", "-b", "topic"], ["apply", "slower.patch"],
                  ["commit", "-q", "-a", "-m", "two"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True)


def one_job(origin, home):
    """(seconds until fastgate is installed, until the first pair)"""
    subprocess.run(["git", "clone", "-q", f"file://{origin}", home / "checkout"], check=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "RUNNER_TEMP": str(home),
                   "GITHUB_ACTION_PATH": str(ROOT), "GITHUB_OUTPUT": str(home / "output"),
                   "GITHUB_EVENT_NAME": "pull_request", "FASTGATE_ACTION_AGAINST": "origin/main",
                   "FASTGATE_ACTION_ARCHIVE": str(ARCHIVE),
                   "FASTGATE_ACTION_SHA256": hashlib.sha256(ARCHIVE.read_bytes()).hexdigest()}
    begin = time.monotonic()
    subprocess.run(["sh", ROOT / "scripts/github-get.sh"],
                   env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    installed = time.monotonic() - begin
    output = (home / "output").read_text().strip()
    environment["FASTGATE_ACTION_PROGRAM"] = output.removeprefix("program=")
    ours, theirs = pty.openpty() # on a terminal, the gate shows each pair
    gate = subprocess.Popen(["sh", ROOT / "scripts/github-gate.sh"],
                            env=environment, cwd=home / "checkout", stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    while not re.search(rb"  pair [1-9]", said):
        said += os.read(ours, 4096)
    first_pair = time.monotonic() - begin
    gate.terminate()
    try:
        while os.read(ours, 4096):
            pass
    except OSError: # the last writer has exited
        pass
    gate.wait()
    return installed, first_pair


def main():
    with tempfile.TemporaryDirectory(prefix="fastgate-bench-") as name:
        folder = pathlib.Path(name)
        make_project(folder / "origin")
        times = []
        for turn in range(TURNS):
            (folder / str(turn)).mkdir()
            times.append(one_job(folder / "origin", folder / str(turn)))
    for what, of in zip(("fastgate is installed", "the first pair is measured"), zip(*times)):
        print(f"from the start of a job until {what}: median of {TURNS} {statistics.median(of):.2f} s, "
              f"longest {max(of):.2f} s")


main()
