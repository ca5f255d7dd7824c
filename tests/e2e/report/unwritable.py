#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
unwritable.py FASTGATE MAKE_STORE: every command that writes a result, in every format, with a target
that cannot be written: a full disk, a file that may not grow, a pipe without a reader, a missing or
read-only folder. Each time the exit code is 6, an old file stays unchanged, no other file is left, and
one line names the failure, except for a pipe without a reader.
"""
import os
import resource
import stat
import subprocess
import sys

from checks import call, check, failures, finish_in_scratch

FASTGATE, MAKE_STORE = map(os.path.abspath, sys.argv[1:3])
NOBODY = 65534
SMALL_FILE = 8
REPORTS = ("terminal", "json", "junit", "markdown", "comment", "html", "github", "gitlab", "csv",
           "csv-raw")
EXPORTS = ("folded", "pprof", "json", "tables")
VIEWS = ("flat", "callgraph", "top-down", "bottom-up", "libraries")
BENCH = ("--bench", "reconstruct", "--side", "candidate")
COMMANDS = [*(("report", "--format", name) for name in REPORTS),
            *(("export", "--format", name, *BENCH) for name in EXPORTS),
            *(("view", "--view", name, *BENCH) for name in VIEWS),
            ("graph", "--format", "dot", *BENCH), ("show",), ("runs",),
            ("compare", "latest", "latest"), ("view", "--json", *BENCH)]


def run(arguments, stdout=subprocess.PIPE, before=None):
    return call(FASTGATE, *arguments, stdout=stdout, text=False, preexec_fn=before)


def one_line(done, part, what):
    lines = [line
             for line in done.stderr.decode(errors="replace").splitlines()
             if line.startswith("fastgate: ")]
    check(done.returncode == 6 and len(lines) == 1 and part in lines[0],
          f"{what}: exit code {done.returncode}, {done.stderr.decode()!r}; "
          f"expected one line with {part!r}")


def an_unwritable_standard_output_is_reported(arguments):
    with open("/dev/full", "wb") as full:
        one_line(run(arguments, stdout=full), "No space left on device", f"{arguments} >/dev/full")
    reader, writer = os.pipe()
    os.close(reader)
    # A reader that closed the pipe, as `head` does, gets no message.
    done = run(arguments, stdout=writer)
    check(done.returncode == 6 and b"fastgate: " not in done.stderr,
          f"{arguments} into a closed pipe: {done}")
    os.close(writer)
    one_line(run(arguments, stdout=None, before=lambda: os.close(1)), "standard output",
             f"{arguments} with standard output closed")


def a_file_that_cannot_grow_is_reported():
    """Simulates a full disk, with a run from a file: a store would also need room."""
    of_a_file = [*(("report", "run.fgrun", "--format", name) for name in REPORTS),
                 *(("export", "run.fgrun", "--format", name, *BENCH) for name in EXPORTS),
                 *(("view", "run.fgrun", "--view", name, *BENCH) for name in VIEWS),
                 ("graph", "run.fgrun", "--format", "dot", *BENCH)]
    for arguments in of_a_file:
        put_old()
        one_line(run((*arguments, "-o", "results/result"), before=lambda: never_more(SMALL_FILE)),
                 "results/result", f"{arguments} below {SMALL_FILE} bytes")
        unchanged(arguments)


def put_old():
    with open("results/result", "wb") as file:
        file.write(b"old")


def never_more(limit):
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def an_unwritable_file_is_reported(arguments):
    device = (*arguments, "-o", "/dev/full")
    one_line(run(device), "/dev/full", f"{device}")
    check(stat.S_ISCHR(os.stat("/dev/full").st_mode), f"{device} replaced the device")
    nowhere = (*arguments, "-o", "nowhere/result")
    one_line(run(nowhere), "nowhere/result", f"{nowhere}")
    check(not os.path.exists("nowhere"), f"{nowhere} made the folder")
    put_old()
    short = (*arguments, "-o", "results/result")
    if os.geteuid() == 0:
        os.chmod("results", 0o555)
        one_line(run(short, before=lambda: os.setuid(NOBODY)), "results/result",
                 f"{short} in a read-only folder")
        os.chmod("results", 0o755)
        unchanged(short)
    # A writable target: a file is replaced as a whole, a device is written to.
    done = run((*arguments, "-o", "results/result"))
    check(done.returncode == 0 and os.path.getsize("results/result") > SMALL_FILE,
          f"{short}: {done.stderr.decode()!r}")
    check(os.listdir("results") == ["result"], f"{short} leaves {os.listdir('results')}")


def unchanged(what):
    with open("results/result", "rb") as file:
        check(file.read() == b"old", f"{what}: the old file was damaged")
    check(os.listdir("results") == ["result"], f"{what} leaves {os.listdir('results')}")


def main():
    os.chmod(".", 0o777)
    os.mkdir("results")
    os.mkdir(".fastgate")
    subprocess.run([MAKE_STORE, ".fastgate/store.db"], check=True)
    for path in (".fastgate", ".fastgate/store.db"):
        os.chmod(path, 0o777)
    done = run(("runs", "export", "latest", "-o", "run.fgrun"))
    check(done.returncode == 0, f"{done.stderr.decode()}")
    a_file_that_cannot_grow_is_reported()
    for arguments in COMMANDS:
        an_unwritable_standard_output_is_reported(arguments)
        if arguments[0] in ("report", "export", "view", "graph") and "--json" not in arguments:
            an_unwritable_file_is_reported(arguments)


finish_in_scratch(main)
