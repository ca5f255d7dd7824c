#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Programs linked with musl are measured like programs linked with glibc, by the same library: samples with whole stacks,
counts by caller, undisturbed waits, marks, arguments of libm's functions and a gate that names the function.  This also
holds in process trees that mix both.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from checks import SURE_SAMPLES, blamed, call, check, failures, finish_in_scratch, first_benchmark, git, write
from folded import by_leaf, measured, stacks
from recording import COMPILER, FASTGATE, compiled, record, recorded, weight_ns

# With -O2 `sorting` ends in a jump to qsort(), and is not on the stack.
TRUTH = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static char from[1 << 16], to[1 << 16];
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void once(long n) { for (volatile long i = 0; i < n; i++) {} }
__attribute__((noinline)) static void one(void) { once(100000); __asm__ volatile(""); }
__attribute__((noinline)) static void three(void) { once(300000); __asm__ volatile(""); }
__attribute__((noinline)) static void copying(void) { for (int i = 0; i < 50; i++) { memcpy(to, from, sizeof to); __asm__ volatile("" :: "r"(to) : "memory"); } }
__attribute__((noinline)) static void sorting(void)
{
	static _Thread_local int values[1000];
	for (int i = 0; i < 1000; i++) values[i] = i * 7919 % 1009;
	qsort(values, 1000, sizeof *values, order);
}
__attribute__((noinline)) static void rounds(void)
{
	struct timespec used = {0, 0};
	while (used.tv_sec == 0 && used.tv_nsec < 500000000) {
		one(); three(); copying(); sorting();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	}
}
static void *thread(void *nothing) { rounds(); return nothing; }
int main(void)
{
	pthread_t other;
	if (pthread_create(&other, 0, thread, 0)) return 1;
	rounds();
	return pthread_join(other, 0) ? 1 : 3;
}
"""

COUNTED = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noinline)) static void plain(void) { for (int i = 0; i < 100; i++) kept = malloc(1000); __asm__ volatile(""); }
__attribute__((noinline)) static void cleared(void) { for (int i = 0; i < 30; i++) { kept = calloc(10, 10); free(kept); } }
__attribute__((noinline)) static void aligned(void) { void *p; for (int i = 0; i < 20; i++) if (posix_memalign(&p, 64, 128) == 0) free(p); }
__attribute__((noinline)) static void writing(void) { int fd = open("/dev/null", O_WRONLY); for (int i = 0; i < 10; i++) if (write(fd, "abc", 3) != 3) exit(1); }
int main(void) { plain(); cleared(); aligned(); writing(); return 0; }
"""

WAITING = """
#include <poll.h>
#include <pthread.h>
#include <time.h>
static volatile int done;
static void *busy(void *nothing) { while (!done) {} return nothing; }
int main(void)
{
	const struct timespec wait = {0, 30000000};
	pthread_t other;
	int ended = 0;
	if (pthread_create(&other, 0, busy, 0)) return 99;
	for (int i = 0; i < 10; i++)
		ended += (nanosleep(&wait, 0) != 0) + (poll(0, 0, 30) < 0) + (clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, 0) != 0);
	done = 1;
	return pthread_join(other, 0) ? 99 : ended;
}
"""

STARTS = """
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **words)
{
	pid_t child;
	int status = 1;
	if (fork() == 0) { execv(words[1], words + 1); _exit(98); }
	if (wait(&status) < 0 || posix_spawnp(&child, words[1], 0, 0, words + 1, environ) != 0) return 99;
	return waitpid(child, &status, 0) == child && count > 1 ? WEXITSTATUS(status) : 99;
}
"""

LIBRARY = """
void back(void);
void chain(void);
void chain(void) { volatile char frame[FRAME]; frame[0] = 1; back(); frame[1] = frame[0]; }
"""

LOADING = """
#include <dlfcn.h>
__attribute__((noinline)) static void innermost(void) { for (volatile int i = 0; i < 2000000; i++) {} __asm__ volatile(""); }
void back(void);
void back(void) { innermost(); __asm__ volatile(""); }
int main(void)
{
	char name[] = "./libchain0.so";
	for (int i = 0; i < 80; i++) {
		name[10] = (char)('0' + i % 8);
		void *library = dlopen(name, RTLD_NOW);
		if (!library) return 1;
		((void (*)(void))dlsym(library, "chain"))();
		if (dlclose(library)) return 2;
	}
	return 0;
}
"""

MARKED = """
#include <fastgate/region.h>
__attribute__((noinline)) static void work(void) { for (volatile int i = 0; i < 2000000; i++) {} }
int main(void)
{
	for (unsigned i = 0; i < 20; i++) {
		fg_unit_begin("event", i);
		FG_REGION_BEGIN("outer");
		work();
		FG_REGION_BEGIN("inner");
		work();
		fg_region_end();
		fg_region_end();
		fg_unit_end();
	}
	return 0;
}
"""

POWERS = """
#include <math.h>
#include <stdio.h>
int main(void)
{
	volatile double sum = 0, one = 1;
	for (int i = 1; i <= 30; i++) sum += exp(i * one) + pow(2 * i * one, 2 * one);
	return printf("%g\\n", sum) < 0;
}
"""

GATED = """
static volatile unsigned sink;
__attribute__((noinline)) static void load(unsigned n) { unsigned x = sink; for (unsigned i = 0; i < n; i++) x = x * 17 + i; sink = x; }
__attribute__((noinline)) static void refine(unsigned n) { unsigned x = sink; for (unsigned i = 0; i < n; i++) x = x * 31 + i; sink = x; }
int main(void) { for (int i = 0; i < 20; i++) { load(400000); refine(ROUNDS); } return 0; }
"""

GATE = """version: 1
project: app
build: { command: 'musl-gcc -g -O1 -Wl,--eh-frame-hdr app.c -o app' }
benchmarks: [ { name: app, command: ./app } ]
gate: { alpha: 0.05 }
measure: { schedule: abba, pairs: { min: 12, max: 12 }, layouts: never, sampler: { rate: 1000 } }
report: { json: report.json }
"""


def musl(name, source, *flags):
    # The wrapper's linker options omit the index of the unwind tables; compilers built for musl do not.
    made = subprocess.run(["musl-gcc", "-g", "-Wl,--eh-frame-hdr", *flags, "-x", "c", "-", "-o", name], input=source, capture_output=True, text=True, check=False)
    check(made.returncode == 0, made.stderr)


def share(found, *names):
    """The share of time in which all of these are on the stack."""
    return sum(value for stack, value in found if set(names) <= set(stack)) / sum(value for _, value in found)


def stacks_are_whole(flags):
    musl("truth", TRUTH, *flags)
    document = recorded("--", "./truth", code=3)
    found = stacks(FASTGATE)
    if len(document["samples"]) < SURE_SAMPLES:
        print(f"left out, {len(document['samples'])} samples are too few for shares")
        return
    one, three = (weight_ns(document, name) for name in ("one", "three"))
    check(1.5 < three / one < 9, f"{flags}: three takes three times as long as one: {three / 1e6} and {one / 1e6} ms")
    for name in ("main", "thread"):
        check(share(found, name, "rounds") > 0.3, f"{flags}: half of the time is below {name}: {share(found, name, 'rounds')}")
    check(share(found, "rounds") > 0.95, f"{flags}: stacks reach the function that runs it all: {share(found, 'rounds')}")
    check(share(found, "copying") > 0.01, f"{flags}: musl's memcpy() has its caller: {share(found, 'copying')}")
    order, within = share(found, "order"), share(found, "order", "rounds" if "-O2" in flags else "sorting")
    check(within > 0.9 * order > 0, f"{flags}: a function that musl calls has who called musl: {within} of {order}")
    check(document["measures"][0]["truncated"] < 0.1 * document["cpu_ns"], f"{flags}: stacks end early: {document['measures'][0]['truncated']}")


def events_are_counted_where_they_were_made():
    musl("counted", COUNTED, "-O1")
    done = call(FASTGATE, "record", "--measure", "heap,fd,io", "--", "./counted")
    check(done.returncode == 0, f"counting: {done.returncode}\n{done.stderr}")
    for measure, wanted in (("heap.allocations", {"plain": 100, "cleared": 30, "aligned": 20}), ("heap.bytes", {"plain": 100000, "cleared": 3000}),
                            ("heap.leaked", {"plain": 100000}), ("fd.opened", {"writing": 1}), ("io.bytes_written", {"writing": 30})):
        found = by_leaf(measured(FASTGATE, measure))
        check({name: found.get(name) for name in wanted} == wanted, f"{measure}: {wanted} expected, found {found}")
    done = call(FASTGATE, "record", "--calls", "malloc,calloc", "--", "./counted")
    for name, wanted in (("malloc", {"plain": 100}), ("calloc", {"cleared": 30})):
        found = by_leaf(measured(FASTGATE, f"calls.{name}"))
        check(found == wanted, f"calls of {name}: {wanted} expected, found {found}\n{done.stderr}")


def waits_are_not_cut_short():
    musl("waiting", WAITING, "-O1")
    done = record("--clock", "wall", "--rate", "1000", "--", "./waiting")
    check(done.returncode == 0, f"waits that a sample ended: {done.returncode}\n{done.stderr}")


def trees_have_both():
    write("work.c", "#include <time.h>\n__attribute__((noinline)) static void work(void) { for (volatile int i = 0; i < 300000; i++) {} }\n"
                    "int main(void) { while (clock() < CLOCKS_PER_SEC / 5) work(); return 7; }\n")
    with open("work.c", encoding="ascii") as file:
        source = file.read()
    musl("work-musl", source, "-O1")
    compiled("work-glibc", source, "-O1", "-g")
    musl("starts-musl", STARTS)
    compiled("starts-glibc", STARTS)
    for words in (("sh", "-c", "./work-musl; env ./work-musl"), ("./starts-glibc", "./work-musl"), ("./starts-musl", "./work-glibc"),
                  ("./starts-musl", "./work-musl"), ("sh", "-c", "./starts-musl ./work-glibc; ./starts-glibc ./work-musl")):
        alone = call(*words)
        done = record("--quiet", "--", *words)
        check((done.returncode, done.stdout, done.stderr) == (alone.returncode, alone.stdout, alone.stderr),
              f"{words}: {done.returncode} {done.stderr!r}, alone {alone.returncode} {alone.stderr!r}")
        working = {sample["thread"] for sample in recorded("--", *words, code=7)["samples"]}
        images = 4 if words[0] == "sh" and "starts" in words[2] else 2
        check(len(working) >= images, f"{words}: {len(working)} processes of {images} were sampled")


def libraries_loaded_later_are_on_the_stack():
    for number in range(8):
        musl(f"libchain{number}.so", LIBRARY.replace("FRAME", str(32 + 48 * number)), "-O1", "-shared", "-fPIC")
    musl("loading", LOADING, "-O1", "-rdynamic")
    recorded("--", "./loading")
    found = stacks(FASTGATE)
    innermost = share(found, "innermost")
    check(innermost > 0.5 and share(found, "main", "chain", "innermost") == innermost, f"{innermost} and {share(found, 'main', 'chain', 'innermost')}")


def marks_are_kept():
    musl("marked", MARKED, "-O1", f"-I{pathlib.Path(__file__).resolve().parents[3]}/include")
    recorded("--", "./marked")
    for view, wanted in (("regions", {"outer": 20, "outer/inner": 20}), ("units", None)):
        shown = call(FASTGATE, "view", "-V", view, "--json", "fastgate-record", check=True).stdout
        if wanted:
            found = {row["name"]: row["entered"] for row in json.loads(shown)["rows"] if row.get("entered")}
            check(found == wanted, f"regions: {wanted} expected, found {found}")
        else:
            check('"event ' in shown, f"units: {shown}")


def arguments_of_libm_are_recorded():
    """In musl, the functions of libm are part of libc."""
    musl("powers", POWERS, "-O1")
    done = call(FASTGATE, "record", "--domains", "libm", "--", "./powers")
    check(done.returncode == 0, f"{done.returncode}: {done.stderr}")
    rows = json.loads(call(FASTGATE, "view", "-V", "domains", "--json", "fastgate-record", check=True).stdout)["rows"]
    found = {row["name"]: (row["calls"], row["min"], row["max"]) for row in rows}
    wanted = {"exp": (30, 1, 30), "pow": (30, 2, 60), "pow #2": (30, 2, 2)}
    check({name: found.get(name) for name in wanted} == wanted, f"domains: {wanted} expected, found {found}")


def a_gate_names_the_function():
    os.makedirs("gated")
    os.chdir("gated")
    write("fastgate.yml", GATE)
    write(".gitignore", "app\n.fastgate/\nreport.json\n")
    write("app.c", GATED.replace("ROUNDS", "400000"))
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    write("app.c", GATED.replace("ROUNDS", "1200000"))
    done = call(FASTGATE, "run", "--against", "HEAD")
    benchmark = first_benchmark()
    check(done.returncode == 1 and benchmark["verdict"] == "regression", f"{done.returncode}: {done.stdout}{done.stderr}")
    check(blamed(benchmark, done.stdout)[:1] == ["refine"], f"{blamed(benchmark, done.stdout)}: {done.stdout}")
    os.chdir("..")


def main():
    if not shutil.which("musl-gcc") or os.uname().machine != "x86_64":
        print("skipped: musl-gcc is not installed")
        sys.exit(77)
    for flags in (("-O0",), ("-O2",), ("-O1", "-fno-plt", "-fno-omit-frame-pointer")):
        stacks_are_whole(flags)
    for part in (events_are_counted_where_they_were_made, waits_are_not_cut_short, libraries_loaded_later_are_on_the_stack, marks_are_kept, arguments_of_libm_are_recorded,
                 a_gate_names_the_function, trees_have_both):
        part()
    if not failures:
        print("programs linked with musl are recorded as those of glibc are")


finish_in_scratch(main)
