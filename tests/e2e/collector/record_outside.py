#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`fastgate record` samples running processes and static programs from outside.
"""
import contextlib
import os
import re
import subprocess

from checks import call, check, failures, finish_in_scratch, target
from recording import A_RATE, COMPILER, FASTGATE, another_user_can_work, drop_rights, profile, record, recorded, weight_ns
from seccomp import PTRACE, forbid_system_call

SHARES = """
#include <stdlib.h>
__attribute__((noinline)) static long one(long n) { long s = 0; for (volatile long i = 0; i < n; i++) s += i; return s; }
__attribute__((noinline)) static long three(long n) { long s = 0; for (volatile long i = 0; i < 3 * n; i++) s += i; return s; }
int main(int argc, char **argv)
{
	long sum = 0;
	for (long rounds = argc > 1 ? atol(argv[1]) : -1; rounds != 0; rounds--)
		sum += one(1000000) + three(1000000);
	return sum == 42 ? 1 : 7;
}
"""


def state_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return fields["State"][0], fields["TracerPid"].strip()


def runs_freely(pid, when):
    state, tracer = state_of(pid)
    check(state not in "tT" and tracer == "0", f"{when}: state {state}, traced by {tracer}")


def used_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rsplit(")", 1)[1].split()[11])


def build(name, source, *options):
    with open(f"{name}.c", "w", encoding="ascii") as file:
        file.write(source)
    subprocess.run([COMPILER, "-g", "-O1", f"{name}.c", "-o", name, *options], check=True)


def looked_at(process, is_enough, *words):
    """
    Records a running process for longer and longer until the profile is sufficient: on a busy machine the process
    seldom has a processor.
    """
    for duration in ("500ms", "5s", "50s"):
        done = record("--pid", str(process.pid), "--duration", duration, *words)
        if done.returncode != 0 or is_enough(profile()):
            break
    return done, profile()


def from_outside():
    build("shares", SHARES)
    with subprocess.Popen(["./shares"]) as running:
        try:
            done, document = looked_at(running, lambda seen: weight_ns(seen, "three") > 0, "--rate", "1000")
            check(done.returncode == 0 and re.search(r"stopped threads \d+ times?; 99 % of the stops lasted at most [\d.]+ [nµm]?s", done.stderr),
                  f"--pid: {done.returncode}\n{done.stderr}")
            check(weight_ns(document, "three") > 0 and weight_ns(document, "main") > 0, "--pid: no samples in three, called by main")
            done, document = looked_at(running, lambda seen: weight_ns(seen, "three") > 0, "--budget", "3%")
            check(re.search(r"at the end, samples were taken every [\d.]+ ms, as often as a budget of 3 % allows", done.stderr), f"--pid at its own rate: {done.stderr}")
            runs_freely(running.pid, "after --pid")
            killed_while_it_samples(running.pid)
        finally:
            running.kill()
    done = record("--pid", str(running.pid))
    check(done.returncode == 2 and f"process {running.pid} does not exist" in done.stderr, f"a process that is gone: {done.returncode}\n{done.stderr}")
    done = record("--pid", "1", "--", "true")
    check(done.returncode == 2 and "exclude each other" in done.stderr, f"--pid with a command: {done.returncode}\n{done.stderr}")


# The program computes nearly all of the time, with a system call about every 10 microseconds.
CALLS_OFTEN = """
#include <time.h>
__attribute__((noinline)) static void between(void) { for (long i = 0; i < 20000; i++) __asm__ volatile("" ::: "memory"); __asm__ volatile(""); }
int main(void) { struct timespec t; for (;;) { between(); clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); } }
"""


def system_calls_attract_no_samples():
    """A stop takes effect at once, not at the thread's next system call."""
    build("often", CALLS_OFTEN)
    with subprocess.Popen(["./often"]) as running:
        try:
            done, document = looked_at(running, lambda seen: weight_ns(seen, "main") > 2e7, "--rate", "500", "--budget", "50%")
            check(done.returncode == 0, f"--pid: {done.returncode}\n{done.stderr}")
        finally:
            running.kill()
    whole, between = weight_ns(document, "main"), weight_ns(document, "between")
    check(between > whole / 2 > 0, f"--pid: {between} of {whole} ns between system calls, which is nearly all of it")


# The program exits with 9 if a call is cut short, and prints the time spent in each function.
WAITS = target("outside_waits.c")


@contextlib.contextmanager
def crowded_processor():
    """Occupies one processor with busy processes; yields a function that moves the calling process there."""
    def there():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    crowd = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=there) for _ in range(16)]
    try:
        yield there
    finally:
        for process in crowd:
            process.kill()
            process.wait()


def shares_agree_with_the_program(what, said):
    words = said.split()
    check(len(words) == 6, f"--clock wall from outside, {what}: the program said {said}")
    document = profile()
    whole = weight_ns(document, "main")
    truth = {name: int(ns) for name, ns in zip(words[::2], words[1::2])}
    for name, ns in truth.items():
        share, true = weight_ns(document, name) / whole, ns / sum(truth.values())
        check(abs(share - true) < 0.2, f"--clock wall from outside, {what}: {name} has {share:.2f} of main's time instead of {true:.2f}")
    check(weight_ns(document, "receives") > whole / 2, f"--clock wall from outside, {what}: the thread that waits all the time is missing")


def waiting_from_outside():
    """
    Records the elapsed time of every thread, including waits for a processor, without cutting any system call short.
    """
    build("waits", WAITS, "-pthread")
    with subprocess.Popen(["./waits"], stdout=subprocess.PIPE, text=True) as running:
        recorded("--pid", str(running.pid), "--clock", "wall", "--budget", "50%")
        said = running.communicate()[0]
    check(running.returncode == 0, f"a system call was cut short: {running.returncode} {said}")
    shares_agree_with_the_program("--pid", said)
    build("waits", WAITS, "-pthread", "-static")
    with crowded_processor() as there:
        done = record("--clock", "wall", "--budget", "50%", "--", "./waits", preexec_fn=there)
    check(done.returncode == 0, f"a system call was cut short: {done.returncode} {done.stdout} {done.stderr}")
    shares_agree_with_the_program("a crowd", done.stdout)


def tracing_forbidden():
    with subprocess.Popen(["./shares"]) as running:
        try:
            done = subprocess.run([FASTGATE, "record", *A_RATE, "--pid", str(running.pid), "--duration", "100ms"], preexec_fn=lambda: forbid_system_call(PTRACE),
                                  capture_output=True, text=True, check=False)
            check(done.returncode == 2, f"ptrace forbidden by seccomp: {done.returncode}\n{done.stderr}")
            check(len(done.stderr.splitlines()) == 1 and "seccomp filter denies" in done.stderr, f"seccomp is not named in one line: {done.stderr}")
            runs_freely(running.pid, "after ptrace was forbidden")
        finally:
            running.kill()
    done = subprocess.run([FASTGATE, "record", *A_RATE, "--pid", str(running.pid), "--duration", "100ms"], preexec_fn=lambda: forbid_system_call(PTRACE),
                          capture_output=True, text=True, check=False)
    check(done.returncode == 2 and "seccomp filter denies" in done.stderr, f"a process that has ended meanwhile: {done}")


def processes_of_others():
    """A process of another user is refused in one line with the reason."""
    if os.geteuid() != 0 or not another_user_can_work():
        print("left out, not root: processes that may not be traced")
        return
    with open("undumpable.c", "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n"
                   "int main(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); puts(\"ready\"); fflush(stdout); pause(); return 0; }\n")
    subprocess.run([COMPILER, "undumpable.c", "-o", "undumpable"], check=True)
    for user, reason in ((None, "it belongs to another user (0)"), (drop_rights, "PR_SET_DUMPABLE")):
        with subprocess.Popen(["./undumpable"], preexec_fn=user, stdout=subprocess.PIPE, text=True) as running:
            try:
                running.stdout.readline()
                done = record("--pid", str(running.pid), "--duration", "100ms", "-o", "refused", preexec_fn=drop_rights)
                check(done.returncode == 2 and len(done.stderr.splitlines()) == 1 and f"process {running.pid} may not be traced: " in done.stderr
                      and reason in done.stderr, f"{reason}: {done.returncode}\n{done.stderr}")
            finally:
                running.kill()


def killed_while_it_samples(pid):
    """After fastgate is killed, nothing stays stopped, and the program continues to use time."""
    with subprocess.Popen([FASTGATE, "record", "--pid", str(pid), "--rate", "10000", "-o", "killed"], stderr=subprocess.DEVNULL) as sampler:
        begin = used_ticks(pid)
        while used_ticks(pid) < begin + 5:
            pass
        sampler.kill()
    runs_freely(pid, "after kill -9 of fastgate")
    begin = used_ticks(pid)
    while used_ticks(pid) == begin:
        pass


def static_programs():
    if subprocess.run([COMPILER, "-g", "-O1", "-static", "shares.c", "-o", "shares-static"], capture_output=True, check=False).returncode:
        print("left out, the compiler makes no static program")
        return
    document = recorded("--", "./shares-static", "60", code=7)
    check(weight_ns(document, "three") > 0, "a static program: no samples in three")
    check(weight_ns(document, "main") >= weight_ns(document, "three"), "a static program: three is not called by main")


def main():
    for part in (
            from_outside, system_calls_attract_no_samples, waiting_from_outside,
            tracing_forbidden, processes_of_others, static_programs
    ):
        part()
    if not failures:
        print("fastgate record samples from outside")


finish_in_scratch(main)
