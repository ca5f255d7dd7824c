#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
as_written.py FASTGATE COLLECTOR ROOT C++-COMPILER: commands of README.md and of the pages about profiles
run as they are written, on small programs, without a warning. tests/e2e/gate/getting_started.py does the
same for the pages about gating.
"""
import contextlib
import os
import pathlib
import re
import subprocess
import sys

from checks import call, check, finish_in_scratch, target, write

fastgate, collector, root, compiler = (pathlib.Path(sys.argv[1]), sys.argv[2],
                                       pathlib.Path(sys.argv[3]).resolve(), sys.argv[4])
os.environ["FASTGATE_COLLECTOR"] = collector
os.environ["CPATH"] = str(root / "include")
os.environ["PATH"] = f"{fastgate.parent}:{os.environ['PATH']}"

# The pages use ./reco and ./prog, a class Parser, fit() in libfit, a process that runs for ever, and a
# program in Python.
WAITING = "int main(void) { for (;;) for (volatile int i = 0; i < 1000; i++) {} }\n"
TRAINING = "print(sum(i * i % 7 for i in range(300000)))\n"
PAGES = ["docs/profiles.md", "docs/memory.md", "docs/calls.md", "docs/attach.md", "docs/python.md",
         "docs/earlier-tools.md"]
RUN = re.compile(r"^fastgate (record|view|graph|export|archive) ")
# Commands that no test can run, because they concern the whole machine, name call paths by number, or
# read the reader's files.
NOT_HERE = re.compile(r"^fastgate record$|--system|--control|--dump|--trace |FILE|traces/|growth|&$")


def commands(text):
    """The commands in shell blocks and in the backticks of tables, without comments."""
    for match in re.finditer(r"^```sh\n(.*?)^```|^\|[^\n]*\|$", text, re.M | re.S):
        lines = match[1].splitlines() if match[1] else re.findall(r"`([^`]+)`", match[0])
        for line in lines:
            line = re.sub(r"\s+#.*", "", line).strip()
            if RUN.match(line + " ") and not NOT_HERE.search(line):
                yield line


def build():
    write("libfit.cpp", target("fitting_library.cpp"))
    write("reco.cpp", target("reconstruction.cpp"))
    call(compiler, "-g", "-O2", "-shared", "-fPIC", "-o", "libfit.so", "libfit.cpp", check=True)
    call(compiler, "-g", "-O2", "-o", "reco", "reco.cpp", "-L.", "-lfit", "-Wl,-rpath,$ORIGIN",
         check=True)
    os.link("reco", "prog")
    write("waiting.c", WAITING)
    call(compiler, "-x", "c", "-o", "waiting", "waiting.c", check=True)
    write("train.py", TRAINING)


@contextlib.contextmanager
def a_process():
    """Starts a process, and yields its id."""
    with subprocess.Popen(["./waiting"]) as process:
        try:
            yield str(process.pid)
        finally:
            process.kill()


def run(command):
    if "--pid" not in command:
        return call("sh", "-c", command)
    with a_process() as pid:
        command = re.sub(r"--pid \w+", f"--pid {pid}", command)
        command = re.sub(r"--duration \w+", "", command) + " --duration 300ms"
        return call("sh", "-c", command)


def commands_run_as_written():
    build()
    count = 0
    for page in ["README.md", *PAGES]:
        for command in commands((root / page).read_text(encoding="utf-8")):
            count += 1
            done = run(command)
            check(done.returncode == 0 and "warning" not in done.stderr,
                  f"{page}: {command}: exit code {done.returncode}\n{done.stderr}")
    check(count >= 20, f"only {count} commands were run")


finish_in_scratch(commands_run_as_written)
