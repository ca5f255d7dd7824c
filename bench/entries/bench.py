#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installed programs with a jump at the entry of every function that can have one, in the programs
and in their libraries: does any program crash or print something else?  How many functions are refused?

Runs only programs that print a version or a usage, as an unprivileged user, in an empty folder,
without input."""

import argparse
import collections
import concurrent.futures
import os
import pwd
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FOLDERS = ["/usr/bin", "/usr/sbin", "/usr/games", "/usr/lib/git-core", "/usr/libexec"]
# Programs that stop or change a system, or wait for input, whatever their options.
LEFT_ALONE = re.compile(
    r"halt|reboot|poweroff|shutdown|(tel)?init|runlevel|killall5?|pkill|kill|skill|snice|su|login|"
    r"sulogin|agetty|getty|.*mount.*|swap.*|mkswap|.*fsck.*|mkfs.*|mke2fs|pivot_root|switch_root|"
    r"chroot|ctrlaltdel|rtcwake|fsfreeze|fstrim|blkdiscard|wipefs|hwclock|losetup|yes|"
    r"start-stop-daemon|ssh-agent|gpg-agent|dbus-.*|X.*|.*d-daemon")
TIME_LIMIT_S = 120


class Outcome:
    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err

    def same(self, other):
        return (self.code, self.out, self.err) == (other.code, other.out, other.err)


def programs():
    """One path for each file that is a dynamic 64-bit program without special privileges."""
    found = {}
    for folder in FOLDERS:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            try:
                status = os.stat(path)
                with open(path, "rb") as file:
                    head = file.read(4096)
            except OSError:
                continue
            if head[:5] != b"\x7fELF\x02" or b"/ld-linux-x86-64.so.2" not in head:
                continue  # not a program, or linked statically
            if status.st_mode & 0o6000 or not status.st_mode & 0o001:
                continue
            if LEFT_ALONE.fullmatch(name) or (status.st_dev, status.st_ino) in found:
                continue
            found[status.st_dev, status.st_ino] = path
    return sorted(found.values())


def drop_rights():
    if os.getuid() != 0:
        return
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)


def execute(words, folder):
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "TMPDIR": folder, "LC_ALL": "C"}
    process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True, preexec_fn=drop_rights)
    try:
        out, err = process.communicate(timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return Outcome(process.returncode, out, err)


def stable(path, folder):
    """Returns an option that makes the program print the same output twice, and that output."""
    for question in ["--version", "--help"]:
        first = execute([path, question], folder)
        if not first:
            return None, None
        second = execute([path, question], folder)
        if second and first.same(second) and (first.code == 0 or question == "--help"):
            return question, first
    return None, None


def counts_of(text):
    """
    Returns the numbers in the summary: functions counted at their entries, and refused functions by
    reason.
    """
    counts = collections.Counter()
    for line in text.splitlines():
        match = re.match(r"(\d+) functions? (?:is|are) (counted at|not counted at the entry: (.*))",
                         line)
        if match:
            reason = re.sub(r" \([^()]*(\([^()]*\)[^()]*)*…?\)$", "", match[3] or "")
            counts[reason] += int(match[1])
    return counts


def judge(arguments, path, base):
    if time.monotonic() > arguments.until:
        return path, "not reached", None, None
    folder = tempfile.mkdtemp(dir=base)
    os.chmod(folder, 0o777)
    try:
        question, bare = stable(path, folder)
        if not question:
            return path, "unstable", None, None
        seen = {}
        for mode in ["entries", "imports"]:
            words = [arguments.fastgate, "record", "--calls", arguments.calls, "-o",
                     os.path.join(folder, mode)] + (["--entries"] if mode == "entries" else [])
            seen[mode] = execute(words + ["--", path, question], folder)
            if mode == "entries" and agrees(seen[mode], bare):
                return path, "same", counts_of(seen[mode].err.decode(errors="replace")), None
            if mode == "entries" and refused(seen[mode]):
                return path, "refused", None, seen[mode].err.decode(errors="replace")[-200:]
        # A run without jumps shows whether the jumps cause the difference.
        kind = "differs" if agrees(seen["imports"], bare) else "differs without jumps, too"
        what = seen["entries"]
        text = "time limit" if not what else \
            f"{question}: exit {what.code} in place of {bare.code}\n{what.err[-300:]!r}"
        return path, kind, None, text
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def agrees(outcome, bare):
    """Is the outcome that of the bare program? fastgate's own lines may follow the program's."""
    code = bare.code if bare.code >= 0 else 128 - bare.code
    return (outcome is not None and outcome.code == code and outcome.out == bare.out and
            outcome.err.startswith(bare.err))


def refused(outcome):
    """Does fastgate refuse to preload its library into this program, with or without jumps?"""
    return outcome is not None and outcome.code == 3 and outcome.err.startswith(b"fastgate: ")


def report(results):
    kinds = collections.Counter(kind for _, kind, _, _ in results)
    counts = sum((found for _, _, found, _ in results if found), collections.Counter())
    everything = sum(counts.values())
    run = kinds["same"] + kinds["differs"]
    print(f"{run} programs run with jumps, {kinds['differs']} of them with another result;"
          f" {kinds['unstable']} left out: no stable answer; {kinds['refused']} refused;"
          f" {kinds['differs without jumps, too']} differ without jumps, too;"
          f" {kinds['not reached']} not reached in time")
    print(f"{everything} functions, {counts['']} at their entries"
          f" ({100 * (1 - counts[''] / max(everything, 1)):.1f} % refused)")
    for reason, count in counts.most_common():
        if reason:
            print(f"{100 * count / everything:6.2f} %  {reason}")
    for path, kind, _, text in results:
        if kind.startswith("differs"):
            print(f"{path}: {kind}: {text}")
        elif kind == "refused":
            print(f"{path}: refused: {text.strip()}", file=sys.stderr)
    return 1 if kinds["differs"] else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fastgate")
    parser.add_argument("--calls", default="*", help="patterns (default: every function)")
    parser.add_argument("--most", type=int, default=100000, help="programs")
    parser.add_argument("--match", default="", help="only paths with this text")
    parser.add_argument("--minutes", type=float, default=1000, help="start no program after that")
    parser.add_argument("--threads", type=int, default=2, help="programs at once")
    arguments = parser.parse_args()
    arguments.until = time.monotonic() + 60 * arguments.minutes
    chosen = [path for path in programs() if arguments.match in path]
    random.Random(1).shuffle(chosen)  # random order, so that a part is representative of the whole
    chosen = chosen[:arguments.most]
    base = tempfile.mkdtemp()
    os.chmod(base, 0o755)
    try:
        with concurrent.futures.ThreadPoolExecutor(arguments.threads) as pool:
            results = list(pool.map(lambda path: judge(arguments, path, base), chosen))
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return report(results)


if __name__ == "__main__":
    sys.exit(main())
