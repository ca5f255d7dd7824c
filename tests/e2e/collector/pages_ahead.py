#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
pages_ahead.py FASTGATE COLLECTOR COMPILER: who waits for a program that is sampled makes the next pages of its trace, and those of its
children; a program for which nobody waits goes on without.  The programs see for themselves how far their own traces are made.  What a
recording cuts off at its end are pages of processes that have ended.
"""
import ctypes
import glob
import os
import struct
import subprocess
import sys

from checks import call, check, finish_in_scratch, write

FASTGATE, COLLECTOR = (os.path.abspath(path) for path in sys.argv[1:3])
COMPILER = sys.argv[3]
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR
PAGE, ALLOCATED, MADE = 4096, 112, 1104  # docs/formats/trace.md

PR_SET_CHILD_SUBREAPER = 36
# Hardly two samples have the same call path, so that few of them fill a page.
WORK = """
#define STEP(name) static __attribute__((noinline)) void name(unsigned way, int depth) { down(way, depth); __asm__ volatile(""); }
static void down(unsigned way, int depth);
STEP(left)
STEP(right)
static void down(unsigned way, int depth)
{
	if (depth == 0) for (int i = 0; i < 50000; i++) __asm__ volatile("" ::: "memory");
	else if (way & 1) left(way >> 1, depth - 1);
	else right(way >> 1, depth - 1);
}
static void work(void)
{
	static unsigned way;
	for (int i = 0; i < 32; i++) down(way = way * 1664525 + 1013904223, 32);
}
"""
# Ends as soon as its child is sampled; the child goes on as long as it is told, and then for more pages than it may have had.
LEAVER = """#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { PAGE = 4096, ALLOCATED = 112, MORE = 64 };
WORK
static uint64_t allocated(pid_t pid)
{
	char path[4096];
	uint64_t found = 0;
	snprintf(path, sizeof(path), "%s/%d.0.fgtrace", getenv("FASTGATE_COLLECTOR_OUTPUT"), (int)pid);
	const int fd = open(path, O_RDONLY);
	if (fd >= 0 && pread(fd, &found, sizeof(found), ALLOCATED) != sizeof(found)) found = 0; /* it is being made */
	if (fd >= 0) close(fd);
	return found;
}
int main(void)
{
	const pid_t child = fork();
	alarm(400); /* a failure ends, too */
	while (child > 0 && allocated(child) <= 2 * PAGE) work();
	if (child != 0) return child < 0;
	close(1); /* nobody is to wait for what it may say */
	close(2);
	while (access("go-on", F_OK) != 0) work();
	for (const uint64_t until = allocated(getpid()) + MORE * PAGE; allocated(getpid()) < until;) work();
	return 7;
}
"""

PROGRAM = """#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
enum { PAGE = 4096, ALLOCATED = 112, MADE = 1104, PAGES_ALONE = 20 };
WORK
static uint64_t word(const char *path, off_t at)
{
	const int fd = open(path, O_RDONLY);
	uint64_t found = 0;
	if (fd >= 0 && pread(fd, &found, sizeof(found), at) != sizeof(found)) exit(3);
	if (fd >= 0) close(fd);
	return found;
}
static void go_on(const char *folder, char how)
{
	char path[4096];
	alarm(400); /* a failure ends, too */
	snprintf(path, sizeof(path), "%s/%d.0.fgtrace", folder, (int)getpid());
	if (how != 'a') while (word(path, MADE) == 0) work();
	const uint64_t until = how == 'a' ? PAGES_ALONE * PAGE : how == 'b' ? word(path, MADE) : 0;
	while (word(path, ALLOCATED) <= until) work();
}
int main(int argc, char **argv)
{
	const char *folder = getenv("FASTGATE_COLLECTOR_OUTPUT");
	const pid_t child = fork();
	int status = 0;
	if (!folder || child < 0 || argc < 2) return 4;
	go_on(folder, argv[1][0]);
	if (child == 0) return 0;
	return waitpid(child, &status, 0) != child || status != 0;
}
"""


def traces(folder):
    """Size, bytes in use and bytes made of each."""
    for path in glob.glob(f"{folder}/*.fgtrace"):
        with open(path, "rb") as file:
            page = file.read(PAGE)
        yield (os.path.getsize(path), *(struct.unpack_from("<Q", page, at)[0] for at in (ALLOCATED, MADE)))


def recorded():
    done = call(FASTGATE, "record", "--rate", "10000", "--", "./goes_on", "beyond")
    check(done.returncode == 0, f"record: no pages were made: {done.returncode}\n{done.stderr}")
    left = list(traces("fastgate-record"))
    check(len(left) == 2, f"record: {len(left)} traces, of a program and its child")
    for size, allocated, made in left:
        check(made > 0 and made % PAGE == 0, f"record: the header says {made} bytes")
        check(size == allocated, f"record: {size} bytes are left of a trace with {allocated}: pages that were not used stay")
    table = call(FASTGATE, "view", "--csv", "fastgate-record")
    check("work" in table.stdout, f"the profile: {table.stdout} {table.stderr}")


def measured():
    os.makedirs("benchmark")
    write("benchmark/fastgate.yml", f"version: 1\nbenchmarks:\n  - {{ name: b, command: {os.path.abspath('goes_on')} until }}\nmeasure: {{ warmup: 0, "
          "schedule: stored, pairs: { min: 2, max: 2 }, sampler: { rate: 10000, unsampled_share: 0 } }\n")
    done = call(FASTGATE, "run", cwd="benchmark")
    check(done.returncode == 0, f"run: no pages were made: {done.returncode}\n{done.stdout}\n{done.stderr}")


def alone():
    os.makedirs("alone")
    done = call("./goes_on", "alone", env={**os.environ, "LD_PRELOAD": COLLECTOR, "FASTGATE_COLLECTOR_OUTPUT": os.path.abspath("alone"),
                                           "FASTGATE_COLLECTOR_RATE": "10000"})
    check(done.returncode == 0, f"alone: {done.returncode}\n{done.stderr}")
    left = list(traces("alone"))
    check(len(left) == 2, f"alone: {len(left)} traces, of a program and its child")
    for _, allocated, made in left:
        check(allocated > 20 * PAGE and made == 0, f"alone: {allocated} bytes in use, {made} said to be made")


def left_running():
    """A process that outlives the command that was recorded, which ends the recording."""
    check(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "this test cannot become the parent of orphans")
    done = call(FASTGATE, "record", "--rate", "10000", "-o", "left", "--", "./leaver")
    check(done.returncode == 0, f"a process is left running: {done.returncode}\n{done.stderr}")
    write("go-on", "")
    code = os.waitstatus_to_exitcode(os.wait()[1])
    check(code == 7, f"a process that is left running ends with {code} after the recording")


def main():
    for name, source in (("goes_on", PROGRAM), ("leaver", LEAVER)):
        subprocess.run([COMPILER, "-g", "-O1", "-x", "c", "-", "-o", name], input=source.replace("WORK\n", WORK), text=True, check=True)
    for part in (recorded, measured, alone, left_running):
        part()


finish_in_scratch(main)
