#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
stuck.py FASTGATE CC: a benchmark that hangs is explained before it is ended, in every report, and after Ctrl-C.
"""
import html
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from checks import call, check, finish_in_scratch, first_benchmark, write

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


def body():
    write("stuck.c", PROGRAM)
    call(compiler, "-g", "-O1", "-o", "stuck", "stuck.c", check=True)
    at_its_limit()
    interrupted()


finish_in_scratch(body)
