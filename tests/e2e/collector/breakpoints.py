#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
breakpoints.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record --calls NAMES --breakpoints` counts functions that nothing else
reaches, to the digit, by process, and says so; a program that calls one all the time is let go, and what cannot be counted has a line.
"""
import ctypes
import os
import re
import struct
import subprocess
import sys

from checks import call, check, finish_in_scratch, write

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
COMPILER = sys.argv[4]
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR
BY_ONE = "(a hardware breakpoint: calls only)"


def compiled(name, source, *options):
    write(f"{name}.c", source)
    subprocess.run([COMPILER, "-D_GNU_SOURCE", "-g", "-O2", f"{name}.c", "-o", name, *options], check=True)
    return f"./{name}"


def recorded(patterns, *command, code=0, words=("--breakpoints",), kind="--calls", **more):
    done = call(FASTGATE, "record", kind, patterns, *words, "--", *command, **more)
    check(done.returncode == code, f"{command}: {done.returncode} where {code} was expected\n{done.stderr}")
    return done


def number_of(function, done):
    """As the list of functions has it; None: it is not in it."""
    for line in done.stderr.splitlines():
        words = line.split("  ")
        if len(line) > 14 and line[:12].strip().replace(" ", "").isdigit() and words[-2 if BY_ONE in line else -1].strip() == function:
            return int(line[:12].replace(" ", ""))
    return None


def expect(done, **wanted):
    for function, count in wanted.items():
        found = number_of(function, done)
        check(found == count, f"{count} calls of {function} expected, {found} found\n{done.stderr}")




PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
struct item { int value; struct item *next; };
#define OWN __attribute__((noinline)) static
#define STAY(value) __asm__ volatile("" : "+r"(value) : : "memory")
/* A jump cannot be written at any of these: they are short, use memory through a pointer, or call. */
OWN int reads(struct item *item) { int value = item->value; STAY(value); return value; }
OWN int tiny(void) { __asm__ volatile(""); return 7; }
OWN int descend(struct item *item)
{
    int value = item->value;
    STAY(value);
    value += tiny() + (item->next ? descend(item->next) : 0);
    STAY(value);
    return value;
}
OWN int spins(struct item *item) { int n = item->value; STAY(n); return n + 1; }
static int fast(struct item *item) { int value = item->value; STAY(value); return value + 2; }
static void *choose(void) { return (void *)fast; }
int chosen(struct item *item) __attribute__((ifunc("choose")));
static struct item last = {1, NULL}, first = {2, &last};
static pthread_barrier_t begun, go;
static int sum;
static void *early(void *argument)
{
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&go);
    int (*inside)(struct item *) = *(int (**)(struct item *))argument;
    for (int i = 0; i < 10; i++)
        sum += inside ? inside(&first) : reads(&first);
    return NULL;
}
static void *late(void *argument) { for (int i = 0; i < 100; i++) sum += reads(argument); return NULL; }
static void *crowd(void *argument) { pthread_barrier_wait(&begun); reads(argument); return NULL; }
static void *share(void *argument) { pthread_barrier_wait(&begun); for (int i = 0; i < 5500; i++) sum += reads(argument); return NULL; }
/* More threads at once than descriptors are left; a child before has what it needs. */
static int crowded(void)
{
    pthread_t threads[12];
    const struct rlimit few = {16, 16};
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 5; i++)
            sum += reads(&first);
        return 0;
    }
    waitpid(child, NULL, 0);
    if (setrlimit(RLIMIT_NOFILE, &few) != 0)
        return 94;
    pthread_barrier_init(&begun, NULL, 12);
    for (int i = 0; i < 12; i++)
        pthread_create(&threads[i], NULL, crowd, &first);
    for (int i = 0; i < 12; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
static int plugin(int rounds)
{
    int (*inside)(struct item *) = NULL;
    pthread_t threads[3];
    pthread_barrier_init(&begun, NULL, 4);
    pthread_barrier_init(&go, NULL, 4);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, early, &inside);
    pthread_barrier_wait(&begun);
    void *library = dlopen("./plugin.so", RTLD_NOW);
    inside = (int (*)(struct item *))dlsym(library, "outer");
    pthread_barrier_wait(&go);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < rounds; i++) {
        sum += inside(&first);
        dlclose(library);
        library = dlopen("./plugin.so", RTLD_NOW);
        inside = (int (*)(struct item *))dlsym(library, "outer");
    }
    /* Other code where the function was. */
    char *place = *(char **)dlsym(library, "place");
    dlclose(library);
    char *page = mmap((void *)((uintptr_t)place & ~4095UL), 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED)
        return 95;
    memset(place, 0xc3, 1);
    for (int i = 0; i < 1000; i++)
        ((void (*)(void))place)();
    return 0;
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t threads[5];
    if (!strcmp(what, "plugin"))
        return plugin(4);
    if (!strcmp(what, "shared")) {
        pthread_barrier_init(&begun, NULL, 4);
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, share, &first);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        return 0;
    }
    if (!strcmp(what, "crowded"))
        return crowded();
    if (!strcmp(what, "often")) {
        for (long i = 0; i < 3000000; i++)
            sum += reads(&first);
        return puts("done") < 0;
    }
    if (!strcmp(what, "fork")) {
        pthread_create(&threads[0], NULL, late, &first);
        pthread_join(threads[0], NULL);
        reads(&first);
        for (int child = 0; child < 2; child++)
            if (fork() == 0) {
                for (int i = 0; i < 30; i++)
                    sum += reads(&first);
                execl(argv[0], argv[0], "once", (char *)NULL);
            }
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    if (!strcmp(what, "failing")) {
        reads(&first);
        execl("./nowhere", "nowhere", (char *)NULL);
        reads(&first);
        return 0;
    }
    if (!strcmp(what, "closing")) {
        reads(&first);
        closefrom(3);
        for (int i = 3; i < 800; i++)
            dup2(2, i);
        for (int i = 3; i < 800; i++)
            close(i);
        reads(&first);
        return 0;
    }
    if (!strcmp(what, "raw")) {
        reads(&first);
        for (int i = 512; i < 800; i++)
            syscall(SYS_close, i);
        reads(&first);
        return 0;
    }
    if (!strcmp(what, "once"))
        return reads(&first) != 2;
    for (int i = 0; i < 1000; i++)
        sum += reads(&first);
    for (int i = 0; i < 5; i++)
        pthread_create(&threads[i], NULL, late, &first);
    for (int i = 0; i < 5; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 20; i++)
        sum += descend(&first);
    for (int i = 0; i < 6; i++)
        sum += spins(&last);
    for (int i = 0; i < 9; i++)
        sum += chosen(&first);
    printf("%d\n", sum > 0);
    return 0;
}
"""

PLUGIN = r"""
struct item { int value; struct item *next; };
#define STAY(value) __asm__ volatile("" : "+r"(value) : : "memory")
static __attribute__((noinline)) int within(struct item *item) { int value = item->value; STAY(value); return value; }
int (*const place)(struct item *) = within;
int outer(struct item *item) { int sum = 0; for (int i = 0; i < 7; i++) { sum += within(item); STAY(sum); } return sum; }
"""


def every_call_counts(program):
    done = recorded("reads,tiny,descend,chosen", program)
    check(done.stdout == "1\n", f"{done}")
    expect(done, reads=1500, tiny=40, descend=40, chosen=9)
    check("'reads' is counted by a hardware breakpoint: calls only, by process, without call paths" in done.stderr, done.stderr)
    view = call(FASTGATE, "view", "--measure", "calls.reads", "fastgate-record")
    check("1500 calls.reads" in view.stdout and "calls only" in view.stdout + view.stderr, f"the view says it, too: {view}")


def children_count_for_themselves(program):
    done = recorded("reads", program, "fork")
    expect(done, reads=101 + 2 * 30 + 2 * 1)
    done = recorded("reads", program, "fork", words=("--breakpoints", "--no-follow"))
    expect(done, reads=101)
    done = recorded("reads", program, "failing")
    expect(done, reads=2)


def libraries_that_come_and_go_are_counted(program):
    compiled("plugin.so", PLUGIN, "-shared", "-fPIC")
    done = recorded("within", program, "plugin")
    expect(done, within=3 * 10 * 7 + 4 * 7)


def a_function_that_is_called_all_the_time_is_let_go(program):
    done = recorded("reads,tiny", program, "often")
    check(done.stdout == "done\n", f"{done}")
    line = "'reads' is called too often for a hardware breakpoint: at least "
    check(re.search(line + "20 0.. calls", done.stderr), f"it was let go: {done.stderr}")
    expect(done, reads=None, tiny=0)
    done = recorded("reads", program, "shared")
    check(line + "22 000 calls" in done.stderr, f"in all threads together: {done.stderr}")
    view = call(FASTGATE, "view", "--measure", "calls.reads", "fastgate-record")
    check(view.returncode != 0 or "calls.reads" not in view.stdout, f"half a number is none: {view}")


def threads_without_one_make_it_at_least(program):
    done = recorded("reads", program, "crowded")
    found = re.search(r"'reads' by a hardware breakpoint: at least (\d+) calls; in (\d+) threads none could be set: there are no more desc",
                      done.stderr)
    check(found and int(found[1]) + int(found[2]) == 5 + 12, f"of 12 threads, and a child's 5 calls: {done.stderr}")
    expect(done, reads=None)
    view = call(FASTGATE, "view", "--measure", "calls.reads", "fastgate-record")
    check(view.returncode != 0 or "calls.reads" not in view.stdout, f"not all of it is no number: {view}")


def there_are_four(program):
    done = recorded("reads,tiny,descend,chosen,spins", program)
    expect(done, reads=1500, chosen=9, spins=None)
    check("no hardware breakpoint for 'spins': there are four, for the functions that are named first" in done.stderr, done.stderr)
    done = recorded("spins,*", program, words=("--breakpoints",))
    check("spins" in done.stderr and BY_ONE in done.stderr, done.stderr)
    check(number_of("reads", done) is None, f"a wildcard sets none: {done.stderr}")


def what_we_call_ourselves_is_left_alone(program):
    done = recorded("getrlimit", program, "once")
    check("no hardware breakpoint for 'getrlimit': the collector itself calls it" in done.stderr, done.stderr)
    expect(done, getrlimit=None)


def two_of_one_name_are_one_function():
    half = '__attribute__((noinline)) static int twin(int *n) { int at = *n; __asm__ volatile("" : "+r"(at) : : "memory"); return at; }\n'
    write("other.c", half + 'int other(int n); int other(int n) { return twin(&n); }\n')
    main = 'int other(int n);\nint main(int c, char **v) { (void)v; for (int i = 0; i < 3; i++) other(twin(&c)); return 0; }\n'
    program = compiled("twins", half + main, "other.c")
    done = recorded("twin", program)
    expect(done, twin=6)


def turns_of_a_loop_are_told():
    source = """
int turns(int n);
__asm__("	.text\\n	.globl turns\\n	.type turns, @function\\nturns:\\n	dec %edi\\n	jnz turns\\n	ret\\n	.size turns, . - turns\\n");
int main(void) { turns(5); return 0; }
"""
    done = recorded("turns", compiled("turning", source))
    expect(done, turns=5)
    check("a loop leads back to its first instruction, and each turn counts as a call" in done.stderr, done.stderr)


def what_is_reached_otherwise_has_none(program):
    done = recorded("puts,reads", program, "often")
    check(number_of("puts", done) == 1 and "'puts'" not in done.stderr, f"an import: {done.stderr}")
    source = """
__attribute__((noinline)) static int plain(int n) { volatile int at = n; return at + 1; }
int main(void) { int sum = 0; for (int i = 0; i < 5; i++) sum += plain(i); return sum < 0; }
"""
    done = recorded("plain", compiled("simple", source), words=("--entries", "--breakpoints"))
    check("(a jump at its entry)" in done.stderr and BY_ONE not in done.stderr, done.stderr)
    done = recorded("plain", "./simple", words=())
    check("by a hardware breakpoint with --breakpoints" in done.stderr, f"not asked for: {done.stderr}")
    expect(done, plain=None)
    done = recorded("plai*", "./simple", words=())
    check("hardware breakpoint" not in done.stderr, f"a wildcard would set none: {done.stderr}")


def our_descriptors_are_not_in_the_way(program):
    done = recorded("reads", program, "closing")
    expect(done, reads=2)
    done = recorded("reads", program, "raw")
    line = "'reads' by a hardware breakpoint: at least 0 calls; in 1 thread it did not count from start to end"
    check(line in done.stderr, f"behind our back: {done.stderr}")
    expect(done, reads=None)


# ---- where the system does not let us ----

def refuse_events(errno_of):
    """perf_event_open() fails with this from here on, as under a container's filter."""
    def begin():
        code = [(0x20, 0, 0, 0), (0x15, 0, 1, 298), (0x06, 0, 0, 0x00050000 + errno_of), (0x06, 0, 0, 0x7FFF0000)]
        instructions = b"".join(struct.pack("HBBI", *one) for one in code)
        kept = ctypes.create_string_buffer(instructions, len(instructions))
        filter_of = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(kept))
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, filter_of, 0, 0) != 0:
            os._exit(99)
    return begin


def where_it_is_refused_a_line_says_why(program):
    for number, reason in ((13, "the system does not allow it"), (28, "all are in use, by a debugger or another tool"),
                           (22, "Invalid argument"), (95, "this system or processor has none"), (24, "there are no more descriptors")):
        done = call(FASTGATE, "record", "--calls", "reads", "--breakpoints", "--", program, preexec_fn=refuse_events(number))
        if done.returncode == 99:
            return
        check(done.returncode == 0 and done.stdout == "1\n", f"{done}")
        check(f"no hardware breakpoint for 'reads': {reason}" in done.stderr, f"{number}: {done.stderr}")
        check(done.stderr.count("'reads'") == 1 and number_of("reads", done) is None, f"one line, no number: {done.stderr}")


HOLDER = r"""
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) static int watched(int *n) { int at = *n; __asm__ volatile("" : "+r"(at) : : "memory"); return at; }
__attribute__((noinline)) static int ours(int *n) { int at = *n; __asm__ volatile("" : "+r"(at) : : "memory"); return at + 1; }
static int hold(void *address, int inherit)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof(attr));
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_BREAKPOINT;
    attr.bp_type = HW_BREAKPOINT_X;
    attr.bp_addr = (unsigned long)address;
    attr.bp_len = sizeof(long);
    attr.exclude_kernel = attr.exclude_hv = 1;
    attr.inherit = inherit;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}
/* With a program: holds all for it.  Alone: uses those that are left itself. */
int main(int argc, char **argv)
{
    int n = argc;
    long count = -1;
    if (argc > 1) {
        for (int i = 0; i < 4; i++)
            if (hold((void *)(0x1000UL + 16 * i), 1) < 0)
                return 98;
        execvp(argv[1], argv + 1);
        return 97;
    }
    int fd = hold((void *)watched, 0);
    for (int i = 0; i < 8; i++)
        n += watched(&n) * 0 + ours(&n) * 0;
    if (fd < 0 || read(fd, &count, sizeof(count)) != (long)sizeof(count) || count != 8)
        return 96;
    return 0;
}
"""


def whoever_else_uses_breakpoints_is_left_alone(program):
    holder = compiled("holder", HOLDER)
    done = recorded("ours", holder)
    expect(done, ours=8)
    done = recorded("ours,watched", holder)
    expect(done, ours=8, watched=8)
    done = call(holder, FASTGATE, "record", "--calls", "reads", "--breakpoints", "--", program)
    check(done.returncode == 0 and done.stdout == "1\n", f"{done}")
    check("no hardware breakpoint for 'reads': all are in use" in done.stderr, done.stderr)


TRACER = r"""
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static int ours(int *n) { int at = *n; __asm__ volatile("" : "+r"(at) : : "memory"); return at + 1; }
__attribute__((noinline)) static int theirs(int *n) { int at = *n; __asm__ volatile("" : "+r"(at) : : "memory"); return at + 2; }
/* As a debugger does: stops its child at a hardware breakpoint of its own, three times. */
int main(void)
{
    int status = 0, stops = 0, n = 1;
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        for (int i = 0; i < 3; i++)
            n += ours(&n) * 0 + theirs(&n) * 0;
        _exit(5);
    }
    waitpid(child, &status, 0);
    if (ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[0]), (void *)theirs) != 0 ||
        ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg[7]), (void *)1) != 0)
        return 90;
    ptrace(PTRACE_CONT, child, NULL, NULL);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        stops += WSTOPSIG(status) == SIGTRAP;
        ptrace(PTRACE_CONT, child, NULL, WSTOPSIG(status) == SIGTRAP ? NULL : (void *)(long)WSTOPSIG(status));
    }
    return stops == 3 && WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 0 : 91;
}
"""


def a_debugger_keeps_its_own():
    done = recorded("ours,theirs", compiled("tracer", TRACER))
    expect(done, ours=3, theirs=3)


def what_does_not_fit_together_is_refused(program):
    for words in (["--breakpoints"], ["--breakpoints", "--measure", "heap"], ["--breakpoints", "--calls", "reads", "--times"],
                  ["--breakpoints", "--calls", "reads", "--paused"], ["--breakpoints", "--calls", "reads", "--units", "1-2"],
                  ["--breakpoints", "--calls", "reads", "--control", "control"], ["--breakpoints", "--pid", "1"]):
        done = call(FASTGATE, "record", *words, *([] if "--pid" in words else ["--", program]))
        check(done.returncode == 2 and "--breakpoints" in done.stderr, f"{words}: {done}")


def body():
    program = compiled("program", PROGRAM, "-pthread")
    where_it_is_refused_a_line_says_why(program)
    what_does_not_fit_together_is_refused(program)
    probe = recorded("reads", program, "once")
    if "no hardware breakpoint" in probe.stderr:
        print(f"no hardware breakpoints here: {probe.stderr.strip()}")
        sys.exit(77)
    every_call_counts(program)
    children_count_for_themselves(program)
    libraries_that_come_and_go_are_counted(program)
    a_function_that_is_called_all_the_time_is_let_go(program)
    threads_without_one_make_it_at_least(program)
    there_are_four(program)
    two_of_one_name_are_one_function()
    what_we_call_ourselves_is_left_alone(program)
    turns_of_a_loop_are_told()
    what_is_reached_otherwise_has_none(program)
    our_descriptors_are_not_in_the_way(program)
    whoever_else_uses_breakpoints_is_left_alone(program)
    a_debugger_keeps_its_own()


finish_in_scratch(body)
