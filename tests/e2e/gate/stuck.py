#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
stuck.py FASTGATE CC: a benchmark that hangs is explained before it is ended, in every report, and after Ctrl-C; one that crashes is run
once more and explained where it happens.  Python functions are named like others.
"""
import glob
import html
import os
import re
import resource
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
CRASHES = """
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static sigjmp_buf before;
static void on_fault(int number) { (void)number; siglongjmp(before, 1); }
__attribute__((noinline)) static int store(volatile int *to) { *to = 1; return 0; }
__attribute__((noinline)) static int divide(int by, int what)
{
	__asm__ volatile("cltd; idivl %1" : "+a"(by) : "r"(what) : "edx", "cc"); /* no compiler knows that 0 is not allowed */
	return by;
}
__attribute__((noinline)) static void illegal(void) { __asm__ volatile("ud2"); }
static void *in_a_thread(void *address) { store(address); return address; }
static void *idle(void *unused) { for (;;) {} return unused; }
int main(int argc, char **argv)
{
	pthread_t thread, other;
	if (argc > 1 && strcmp(argv[1], "caught") == 0) {
		signal(SIGSEGV, on_fault);
		if (sigsetjmp(before, 1) == 0)
			store((int *)16);
		signal(SIGSEGV, SIG_DFL);
		return store((int *)32);
	}
	if (argc > 1 && strcmp(argv[1], "abort") == 0) {
		fprintf(stderr, "store.c: the store is broken\\n");
		abort();
	}
	if (argc > 1 && strcmp(argv[1], "once") == 0) {
		FILE *mark = fopen("mark", "r");
		if (mark)
			return 0;
		fclose(fopen("mark", "w"));
		return store((int *)32);
	}
	if (argc > 1 && strcmp(argv[1], "bus") == 0) {
		FILE *empty = fopen("empty", "w+");
		return store(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(empty), 0));
	}
	if (argc > 1 && strcmp(argv[1], "divide") == 0)
		return divide(1, 0);
	if (argc > 1 && strcmp(argv[1], "illegal") == 0)
		illegal();
	pthread_create(&other, NULL, idle, NULL);
	pthread_create(&thread, NULL, in_a_thread, (void *)8);
	pthread_join(thread, NULL);
	return 0;
}
"""
PYTHON = """import os, signal, sys

class Reader:
    def read_all(self, end):
        total = 0
        while True:
            got = os.read(end, 16)
            total += len(got)

def main():
    ends = os.pipe()
    if len(sys.argv) < 2:
        sorted(ends[:1], key=Reader().read_all)
    os.kill(os.getpid(), signal.SIGSEGV)

main()
"""
CONFIG = """version: 1
project: stuck
benchmarks:
  - {{ name: stuck, command: ./stuck, timeout: {timeout} }}
report: {{ junit: junit.xml, markdown: report.md, html: report.html, json: report.json }}
"""
SUMMARY = r"1 thread in main → read_all → read \(pipe:\[\d+\], nobody else writes\)"
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


def crashed(arguments, code, *words, more="", program="./crash"):
    write("fastgate.yml", f"version: 1\nproject: crash\nbenchmarks:\n  - {{ name: crash, command: '{program} {arguments}'{more} }}\n")
    done = call(fastgate, "run", "--in-place")
    check(done.returncode == code, f"{arguments}: exit code {done.returncode}, expected {code}: {done.stderr}")
    for pattern in words:
        check(re.search(pattern, done.stdout), f"{arguments}: no '{pattern}' in: {done.stdout}")


def crashes():
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    write("crash.c", CRASHES)
    call(compiler, "-g", "-O1", "-fno-optimize-sibling-calls", "-pthread", "-o", "crash", "crash.c", check=True)
    crashed("thread", 4, r"Segmentation fault\): SIGSEGV at address 0x8 \(nothing is mapped there\) in in_a_thread → store",
            r"\|     store  crash\.c:\d+\n  \|     in_a_thread  crash\.c:\d+")
    crashed("caught", 4, r"SIGSEGV at address 0x20 ")
    crashed("abort", 4, r"\(Aborted\): SIGABRT in main", r"\| store\.c: the store is broken", r"abort", r"main  crash\.c:\d+")
    crashed("abort; exit 134", 4, r"exited with code 134, expected 0: SIGABRT in main", more=", shell: true")
    crashed("bus", 4, r"SIGBUS at address 0x[0-9a-f]+ \(beyond the end of a mapped file\) in main → store")
    crashed("divide", 4, r"SIGFPE \(integer division by zero\) in main → divide")
    crashed("illegal", 4, r"SIGILL \(illegal instruction\) in main → illegal")
    crashed("once", 4, r"run once more under observation, it did not crash again")
    check(not glob.glob("**/core*", recursive=True), f"core files are left: {glob.glob('**/core*', recursive=True)}")


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
    check(re.search(r"1 thread in <module> → main → Reader\.read_all → read \(pipe:\[\d+\], nobody else writes\)", done.stdout), f"Python: {done.stdout}")
    frames = r"    Reader\.read_all  stuck\.py:7\n    main  stuck\.py:13\n    <module>  stuck\.py:16\n"
    check(re.search(frames, first_benchmark().get("error_stacks", "")), f"Python, error_stacks: {first_benchmark().get('error_stacks')}")
    check("_PyEval_EvalFrameDefault" not in done.stdout, f"Python: the interpreter's own functions: {done.stdout}")
    for name in ("junit.xml", "report.html", "report.md"):
        with open(name, encoding="utf-8") as file:
            check("Reader.read_all  stuck.py:7" in html.unescape(file.read()), f"{name} does not show the Python stack")
    crashed("fault", 4, r"SIGSEGV in <module> → main\n", r"\|     main  stuck\.py:14\n", program=f"{python} stuck.py")
    crashed("fault", 4, r"_PyEval_EvalFrameDefault", program=f"{python} stuck.py", more=", measure: { sampler: { python: 'off' } }")


def body():
    write("stuck.c", PROGRAM)
    call(compiler, "-g", "-O1", "-o", "stuck", "stuck.c", check=True)
    at_its_limit()
    interrupted()
    crashes()
    python_shows_its_lines()


finish_in_scratch(body)
