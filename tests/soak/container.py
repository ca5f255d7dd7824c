#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Executes the steps of examples/perfdb/Containerfile without a container engine: FROM makes a minimal
root with debootstrap, from the archive that apt uses here; RUN runs a shell in it; COPY copies.
Then it runs the image's program as the image's user: without a token the program must refuse to
listen; with a token the server must answer. Needs root; without it, exits with 77 (skipped) and the
reason. Volumes, and syntax that the script does not read, are not tested.
"""
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from clean_root import CLEAN, Skipped, make_root  # noqa: E402

FILE = ROOT / "examples" / "perfdb" / "Containerfile"
KNOWN = {"FROM", "RUN", "COPY", "USER", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
START_SECONDS = 60


class Failed(Exception):
    pass


def instructions():
    text = "\n".join(line for line in FILE.read_text(encoding="utf-8").splitlines()
                     if not line.startswith("#"))
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word and word not in KNOWN:
            raise Failed(f"{FILE.name}: {word} is not known here")
        if word:
            yield word, rest.strip()


class Stage:
    def __init__(self, folder, image):
        self.root = folder
        self.user = None
        self.entry = []
        self.command = []
        make_root(folder, image)

    def argv(self, words):
        as_user = ["--userspec", self.user] if self.user else []
        return ["chroot", *as_user, str(self.root), *CLEAN, *words]

    def shell(self, script):
        done = subprocess.run(self.argv(["sh", "-c", script]),
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(f"RUN {script}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")

    def copy(self, words, stages):
        source = words[0]
        if source.startswith("--from="):
            whence = stages[source.removeprefix("--from=")].root
            target = self.root / words[2].lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(whence / words[1].lstrip("/"), target)
            return
        # Copy only tracked files, to leave out what was built on this machine.
        target = self.root / words[1].lstrip("/")
        tracked = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"],
                                 capture_output=True, text=True, check=True).stdout
        for name in filter(None, tracked.split("\0")):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)


def play(folder):
    """Executes all stages and returns the last one."""
    stages = {}
    stage = None
    for word, rest in instructions():
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            print(f"== {word} {rest}", flush=True)
            stage = Stage(folder / (name or "last"), image)
            stages[name or "last"] = stage
        elif word == "RUN":
            print(f"== {word} {rest[:80]}", flush=True)
            stage.shell(rest)
        elif word == "COPY":
            stage.copy(shlex.split(rest), stages)
        elif word == "USER":
            stage.user = rest
        elif word in ("ENTRYPOINT", "CMD"):
            setattr(stage, "entry" if word == "ENTRYPOINT" else "command", json.loads(rest))
    return stage


def run(stage, words):
    return subprocess.run(stage.argv([*stage.entry, *words]),
                          capture_output=True, text=True, check=False, timeout=START_SECONDS)


def serve(stage, token):
    """Runs the image's own command on a free port of loopback."""
    words = ["127.0.0.1:0" if word.endswith(":8642") else word for word in stage.command]
    process = subprocess.Popen(stage.argv([*stage.entry, *words]),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stderr.readline()
        found = re.search(r"at http://(127\.0\.0\.1:\d+)/", line)
        if not found:
            raise Failed(f"it does not serve: {line}")
        request = urllib.request.Request(f"http://{found[1]}/api/v1/capabilities",
                                         headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
            told = json.load(answer)
        if told["scope"] != "admin":
            raise Failed(f"unexpected answer: {told}")
    finally:
        process.terminate()
        if process.wait(timeout=START_SECONDS) != 0:
            raise Failed("it did not stop in order")


def try_image(stage):
    refused = run(stage, stage.command)
    if refused.returncode == 0 or "token" not in refused.stderr:
        raise Failed(
            f"without a token it should refuse to listen: {refused.returncode} {refused.stderr}")
    made = run(stage, ["token", "create", "--database", "/data/perfdb.db", "--scope", "admin"])
    if made.returncode != 0:
        raise Failed(made.stderr)
    serve(stage, made.stdout.strip())
    owner = (stage.root / "data" / "perfdb.db").stat()
    if owner.st_uid == 0 or owner.st_mode & 0o077:
        raise Failed("the database belongs to root, or others may read it")


def main():
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fastgate-container-") as folder:
        try:
            try_image(play(pathlib.Path(folder)))
        except Skipped as reason:
            print(f"skipped: {reason}")
            return 77
        except Failed as failed:
            print(failed)
            return 1
    print(f"built, ran and stopped in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    # exit normally on SIGTERM, so that the clean-up ends every child process
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
