#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`fastgate record` samples running processes and static programs from outside.
"""
import contextlib
import os
import re
import subprocess

from checks import call, check, failures, finish_in_scratch, target, write
from recording import (A_RATE, COMPILER, FASTGATE, another_user_can_work, drop_rights, profile, record,
                       recorded, weight_ns)
from seccomp import PTRACE, forbid_system_call

TRIES = 5


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
    write(source, target(source))
    subprocess.run([COMPILER, "-g", "-O1", source, "-o", name, *options], check=True)


def looked_at(process, is_enough, *words):
    """
    Records a running process for longer and longer until the profile is sufficient: on a busy
    machine the process seldom has a CPU.
    """
    for duration in ("500ms", "5s", "50s"):
        done = record("--pid", str(process.pid), "--duration", duration, *words)
        if done.returncode != 0 or is_enough(profile()):
            break
    return done, profile()


def running_process_is_sampled():
    build("shares", "one_and_three.c")
    with subprocess.Popen(["./shares"]) as running:
        try:
            done, document = looked_at(running, lambda seen: weight_ns(seen, "three") > 0,
                                       "--rate", "1000")
            stops = r"stopped threads \d+ times?; 99 % of the stops lasted at most [\d.]+ [nµm]?s"
            check(done.returncode == 0 and re.search(stops, done.stderr),
                  f"--pid: {done.returncode}\n{done.stderr}")
            check(weight_ns(document, "three") > 0 and weight_ns(document, "main") > 0,
                  "--pid: no samples in three, called by main")
            done, document = looked_at(running, lambda seen: weight_ns(seen, "three") > 0,
                                       "--budget", "3%")
            rate = r"at the end, samples were taken every [\d.]+ ms, as often as a budget of 3 % allows"
            check(re.search(rate, done.stderr), f"--pid at its own rate: {done.stderr}")
            runs_freely(running.pid, "after --pid")
            killed_sampler_leaves_the_program_running(running.pid)
        finally:
            running.kill()
    done = record("--pid", str(running.pid))
    check(done.returncode == 2 and f"process {running.pid} does not exist" in done.stderr,
          f"a process that is gone: {done.returncode}\n{done.stderr}")
    done = record("--pid", "1", "--", "true")
    check(done.returncode == 2 and "cannot be combined" in done.stderr,
          f"--pid with a command: {done.returncode}\n{done.stderr}")


def system_calls_attract_no_samples():
    """A stop takes effect at once, not at the thread's next system call."""
    build("often", "calls_often.c")
    with subprocess.Popen(["./often"]) as running:
        try:
            done, document = looked_at(running, lambda seen: weight_ns(seen, "main") > 2e7,
                                       "--rate", "500", "--budget", "50%")
            check(done.returncode == 0, f"--pid: {done.returncode}\n{done.stderr}")
        finally:
            running.kill()
    whole, between = weight_ns(document, "main"), weight_ns(document, "between")
    check(between > whole / 2 > 0,
          f"--pid: {between} of {whole} ns between system calls, which is nearly all of it")


@contextlib.contextmanager
def crowded_processor():
    """
    Occupies one CPU with busy processes; yields a function that moves the calling process there.
    """
    def there():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    crowd = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=there) for _ in range(16)]
    try:
        yield there
    finally:
        for process in crowd:
            process.kill()
            process.wait()


def disagreements(said):
    """The shares of main's time that differ from those that the program measured itself."""
    words = said.split()
    check(len(words) == 6, f"--clock wall from outside: the program said {said}")
    document = profile()
    whole = weight_ns(document, "main")
    truth = {name: int(ns) for name, ns in zip(words[::2], words[1::2])}
    shares = {name: (weight_ns(document, name) / whole, ns / sum(truth.values()))
              for name, ns in truth.items()}
    found = [f"{name} has {share:.2f} of main's time instead of {true:.2f}"
             for name, (share, true) in shares.items() if abs(share - true) >= 0.2]
    if weight_ns(document, "receives") <= whole / 2:
        found.append("the thread that waits all the time is missing")
    return found


def shares_agree_with_the_program(what, recorded_waits):
    """
    A host that stops both programs for a while shifts the shares, so several recordings are tried.
    """
    for _ in range(TRIES):
        status, said = recorded_waits()
        check(status == 0, f"{what}: a system call was cut short: {status} {said}")
        found = disagreements(said)
        if not found:
            return
    check(False, f"--clock wall from outside, {what}: {'; '.join(found)}")


def waits_are_recorded_and_not_cut_short():
    """
    Records the elapsed time of every thread, including waits for a CPU, without cutting any
    system call short.
    """
    def attached():
        with subprocess.Popen(["./waits"], stdout=subprocess.PIPE, text=True) as running:
            recorded("--pid", str(running.pid), "--clock", "wall", "--budget", "50%")
            said = running.communicate()[0]
        return running.returncode, said

    def started(there):
        done = record("--clock", "wall", "--budget", "50%", "--", "./waits", preexec_fn=there)
        return done.returncode, done.stdout

    build("waits", "outside_waits.c", "-pthread")
    shares_agree_with_the_program("--pid", attached)
    build("waits", "outside_waits.c", "-pthread", "-static")
    with crowded_processor() as there:
        shares_agree_with_the_program("a crowd", lambda: started(there))


def forbidden_tracing_is_reported():
    def refused(pid):
        words = [FASTGATE, "record", *A_RATE, "--pid", str(pid), "--duration", "100ms"]
        return call(*words, preexec_fn=lambda: forbid_system_call(PTRACE))

    with subprocess.Popen(["./shares"]) as running:
        try:
            done = refused(running.pid)
            check(done.returncode == 2, f"ptrace forbidden by seccomp: {done.returncode}\n{done.stderr}")
            check(len(done.stderr.splitlines()) == 1 and "seccomp filter denies" in done.stderr,
                  f"seccomp is not named in one line: {done.stderr}")
            runs_freely(running.pid, "after ptrace was forbidden")
        finally:
            running.kill()
    done = refused(running.pid)
    check(done.returncode == 2 and "seccomp filter denies" in done.stderr,
          f"a process that has ended meanwhile: {done}")


def processes_of_others_are_refused():
    """A process of another user is refused in one line with the reason."""
    if os.geteuid() != 0 or not another_user_can_work():
        print("left out, not root: processes that may not be traced")
        return
    build("undumpable", "undumpable.c")
    for user, reason in ((None, "it belongs to another user (0)"), (drop_rights, "PR_SET_DUMPABLE")):
        with subprocess.Popen(["./undumpable"],
                              preexec_fn=user, stdout=subprocess.PIPE, text=True) as running:
            try:
                running.stdout.readline()
                done = record("--pid", str(running.pid), "--duration", "100ms", "-o", "refused",
                              preexec_fn=drop_rights)
                check(done.returncode == 2 and len(done.stderr.splitlines()) == 1
                      and f"process {running.pid} may not be traced: " in done.stderr
                      and reason in done.stderr, f"{reason}: {done.returncode}\n{done.stderr}")
            finally:
                running.kill()


def killed_sampler_leaves_the_program_running(pid):
    """After fastgate is killed, nothing stays stopped, and the program continues to use time."""
    with subprocess.Popen([FASTGATE, "record", "--pid", str(pid), "--rate", "10000", "-o", "killed"],
                          stderr=subprocess.DEVNULL) as sampler:
        begin = used_ticks(pid)
        while used_ticks(pid) < begin + 5:
            pass
        sampler.kill()
    runs_freely(pid, "after kill -9 of fastgate")
    begin = used_ticks(pid)
    while used_ticks(pid) == begin:
        pass


def static_programs_are_sampled():
    if subprocess.run([COMPILER, "-g", "-O1", "-static", "one_and_three.c", "-o", "shares-static"],
                      capture_output=True, check=False).returncode:
        print("left out, the compiler makes no static program")
        return
    document = recorded("--", "./shares-static", "60", code=7)
    check(weight_ns(document, "three") > 0, "a static program: no samples in three")
    check(weight_ns(document, "main") >= weight_ns(document, "three"),
          "a static program: three is not called by main")


def main():
    running_process_is_sampled()
    system_calls_attract_no_samples()
    waits_are_recorded_and_not_cut_short()
    forbidden_tracing_is_reported()
    processes_of_others_are_refused()
    static_programs_are_sampled()
    if not failures:
        print("fastgate record samples from outside")


finish_in_scratch(main)
