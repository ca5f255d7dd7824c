#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
stuck.py FASTGATE CC: a benchmark that hangs is explained before it is ended, in every report, and after Ctrl-C.  Python functions are
named like others.
"""
import html
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from checks import call, check, finish_in_scratch, first_benchmark, write
from pythons import interpreters

fastgate, compiler = os.path.abspath(sys.argv[1]), sys.argv[2]

PROGRAM = """
#include <unistd.h>
__attribute__((noinline)) static long read_all(int fd)
{
	char buffer[16];
	long sum = 0, got;
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		sum += got;
	return sum;
}
int main(void)
{
	int ends[2];
	return pipe(ends) == 0 && read_all(ends[0]) == 0;
}
"""
PYTHON = """import os

class Reader:
    def read_all(self, end):
        total = 0
        while True:
            got = os.read(end, 16)
            total += len(got)

def main():
    ends = os.pipe()
    sorted(ends[:1], key=Reader().read_all)

main()
"""
CONFIG = """version: 1
project: stuck
benchmarks:
  - {{ name: stuck, command: ./stuck, timeout: {timeout} }}
report: {{ junit: junit.xml, markdown: report.md, html: report.html, json: report.json }}
"""
SUMMARY = r"1 thread in main → read_all → read"
FRAME = r"    read_all  stuck\.c:\d+\n    main  stuck\.c:\d+\n"


def at_its_limit():
    # It waits within a thousandth of that, of a quiet machine.
    write("fastgate.yml", CONFIG.format(timeout="5s"))
    done = call(fastgate, "run", "--in-place")
    check(done.returncode == 4, f"a hang: exit code {done.returncode}, expected 4: {done.stderr}")
    check(re.search(r"ran longer than its limit \(ended after [0-9.]+ s\): " + SUMMARY, done.stdout), f"no summary: {done.stdout}")
    check(re.search("  \\|     read_all  stuck", done.stdout), f"no stack in the terminal: {done.stdout}")
    benchmark = first_benchmark()
    check(re.search(SUMMARY, benchmark["error"]), f"JSON, error: {benchmark['error']}")
    check(re.search(FRAME, benchmark.get("error_stacks", "")), f"JSON, error_stacks: {benchmark.get('error_stacks')}")
    suite = ElementTree.parse("junit.xml").getroot()
    texts = [element.text or "" for element in suite.iter("system-err")]
    check(any(re.search(FRAME, text) for text in texts), f"JUnit, system-err: {texts}")
    for name in ("report.md", "report.html"):
        with open(name, encoding="utf-8") as file:
            check("read_all  stuck.c:" in html.unescape(file.read()), f"{name} does not show the stack")
    again = call(fastgate, "report", "--format", "json")
    check(re.search("read_all  stuck", again.stdout), f"the stored run does not show the stack: {again.stdout}{again.stderr}")


def interrupted():
    write("fastgate.yml", CONFIG.format(timeout="1h"))
    with subprocess.Popen([fastgate, "run", "--in-place"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        program = None
        while run.poll() is None and program is None:
            program = waiting_program()
        run.send_signal(signal.SIGINT)
        said = run.communicate()[1]
    check(run.returncode == 130, f"interrupted: exit code {run.returncode}, expected 130")
    check(re.search("stuck: " + SUMMARY, said), f"interrupted, no summary: {said}")
    check(re.search(FRAME, said), f"interrupted, no stack: {said}")


def waiting_program():
    """The process that stands in our program's read(), if it is there by now."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") != os.path.abspath("stuck"):
                continue
            with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
                if file.read().startswith("0 "):
                    return pid
        except OSError:
            continue
    return None


def python_shows_its_lines():
    python = next(iter(interpreters()), None)
    if not python:
        print("no Python 3.11, 3.12 or 3.13 here: not tried")
        return
    write("stuck.py", PYTHON)
    write("fastgate.yml", CONFIG.format(timeout="20s").replace("./stuck", f"{python} -S stuck.py"))
    done = call(fastgate, "run", "--in-place")
    check(done.returncode == 4, f"a hang in Python: exit code {done.returncode}, expected 4: {done.stderr}")
    check(re.search(r"1 thread in <module> → main → Reader\.read_all → read", done.stdout), f"Python: {done.stdout}")
    frames = r"    Reader\.read_all  stuck\.py:7\n    main  stuck\.py:12\n    <module>  stuck\.py:14\n"
    check(re.search(frames, first_benchmark().get("error_stacks", "")), f"Python, error_stacks: {first_benchmark().get('error_stacks')}")
    check("_PyEval_EvalFrameDefault" not in done.stdout, f"Python: the interpreter's own functions: {done.stdout}")
    for name in ("junit.xml", "report.html", "report.md"):
        with open(name, encoding="utf-8") as file:
            check("Reader.read_all  stuck.py:7" in html.unescape(file.read()), f"{name} does not show the Python stack")


def body():
    write("stuck.c", PROGRAM)
    call(compiler, "-g", "-O1", "-o", "stuck", "stuck.c", check=True)
    at_its_limit()
    interrupted()
    python_shows_its_lines()


finish_in_scratch(body)
