#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
kernel_functions.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: the kernel's functions appear below the
program's if the kernel may be sampled, also in threads, children and executed programs. They change no
function's share. If the kernel may not be sampled, it has one row, and one line gives the reason.
"""
import json
import os
import sys

import perf_kernel
from checks import call, check, finish_in_scratch, target
from recording import FASTGATE, built_target, compiled

NOBODY = 65534
SKIPPED = 77


def record(*words, **more):
    done = call(FASTGATE, "record", "--rate", "1000", *words, **more)
    check(done.returncode == 0, f"{words}: {done.returncode}\n{done.stderr}")
    return done


def stacks(folder="fastgate-record"):
    """(stack, time) pairs; a stack is a tuple of (function, library), outermost first."""
    done = call(FASTGATE, "--quiet", "export", "-F", "json", folder, check=True)
    document = json.loads(done.stdout)
    frames, functions, of = document["frames"], document["functions"], document["stacks"]
    known = {0: ()}

    def stack(leaf):
        trail = []
        while leaf not in known:
            trail.append(leaf)
            leaf = of["parent"][leaf]
        for one in reversed(trail):
            function = functions[frames[of["frame"][one]]["function"]]
            known[one] = known[of["parent"][one]] + ((function["name"], function.get("library", "")),)
        return known[trail[0]] if trail else known[leaf]

    return [(stack(sample["stack"]), sample["value"]) for sample in document["samples"]]


def weight(of, *wanted):
    """Time of the stacks that contain all of these functions."""
    return sum(ns for stack, ns in of
               if all(any(name == frame[0] for frame in stack) for name in wanted))


def is_of_kernel(frame):
    return frame == ("[kernel]", "") or (frame[1].startswith("[") and frame[1] != "[vdso]")


def named_in_kernel(stack):
    return any(is_of_kernel(frame) and frame[0] != "[kernel]" for frame in stack)


def truth(done, name):
    return float(next(line.split()[1] for line in (done.stdout + done.stderr).splitlines()
                      if line.startswith(name + " ")))


def below_the_program(seen):
    """Checks that below the kernel's first function there are only functions of the kernel."""
    for stack, _ in seen:
        inside = [is_of_kernel(frame) for frame in stack]
        check(True not in inside or all(inside[inside.index(True):]),
              f"a program's function below the kernel's: {stack}")


def functions_stand_below_who_called_and_change_no_share():
    one, other, function = "read_in_turn", "work_in_turn", "vfs_read"
    done = record("--", built_target("kernel"), "mixed", "400")
    seen = stacks()
    share = weight(seen, one) / (weight(seen, one) + weight(seen, other))
    wanted = truth(done, one) / (truth(done, one) + truth(done, other))
    check(abs(share - wanted) < 0.25, f"{share} where {wanted} is true")
    named = weight(seen, one, function)
    check(named > 0.2 * weight(seen, one), f"{named} of {weight(seen, one)} ns has names")
    check("in the kernel: naming" not in done.stderr, done.stderr)
    below_the_program(seen)
    check(weight(seen, other, function) == 0, f"{other} was seen reading")
    record("--", built_target("kernel"), "faults", "400")
    seen = stacks()
    check(weight(seen, "touch_pages", "exc_page_fault") > 0.2 * weight(seen, "touch_pages"),
          "page faults have no names")


def everything_that_a_program_starts_is_seen():
    record("--", compiled("follows", target("kernel_work.c"), "-g", "-O1", "-pthread"))
    seen = stacks()
    for function in ("in_parent", "in_child", "in_thread", "in_executed", "in_child_of_child"):
        whole, named = weight(seen, function), weight(seen, function, "vfs_read")
        check(whole > 0.8e8 and named > 0.2 * whole, f"{function}: {named} of {whole} ns has names")


def views_and_archives_have_the_same_names():
    record("--archive", "--", built_target("kernel"), "mixed", "200")
    for words in (["--all"], ["-V", "top-down"]):
        of_folder = call(FASTGATE, "view", *words, "fastgate-record", check=True).stdout
        of_archive = call(FASTGATE, "view", *words, "fastgate-record.tar.zst", check=True).stdout
        check("vfs_read" in of_folder
              and of_folder == of_archive.replace("fastgate-record.tar.zst", "fastgate-record"),
              f"{words}: {of_folder}\n{of_archive}")
    folded = call(FASTGATE, "export", "-F", "folded", "fastgate-record.tar.zst", check=True).stdout
    check("vfs_read" in folded, "the archive has no names")


def switched_off_there_is_one_row():
    record("--kernel", "off", "--", built_target("kernel"), "mixed", "200")
    seen = stacks()
    check(weight(seen, "read_in_turn", "[kernel]") > 0
          and not any(named_in_kernel(stack) for stack, _ in seen), "--kernel off names functions")
    check(call(FASTGATE, "record", "--kernel", "perhaps", "--", "true").returncode == 2,
          "--kernel perhaps is taken")


def missing_rights_are_reported_once():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        if os.geteuid() != 0 or int(file.read()) < 2:
            return
    os.mkdir("theirs", 0o777)
    os.chmod("theirs", 0o777)
    os.chmod(".", 0o755)
    done = call("setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", FASTGATE,
                "record", "-o", "theirs/traces", "--", built_target("kernel"), "zeros", "200",
                env=dict(os.environ, HOME=os.getcwd()))
    check(done.returncode == 0, f"as another user: {done.returncode} {done.stderr}")
    check(done.stderr.count("in the kernel: naming") == 1, done.stderr)
    seen = stacks("theirs/traces")
    check(weight(seen, "read_zeros", "[kernel]") > 0
          and not any(named_in_kernel(stack) for stack, _ in seen), "an ordinary user sees the kernel")
    facts = call(FASTGATE, "view", "--facts", "theirs/traces", check=True).stdout
    check(facts.count("perf_event_paranoid") == 1 and "kernel time is sampled at ticks" in facts, facts)


def body():
    missing_rights_are_reported_once()
    why = perf_kernel.why_not()
    if why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    functions_stand_below_who_called_and_change_no_share()
    everything_that_a_program_starts_is_seen()
    views_and_archives_have_the_same_names()
    switched_off_there_is_one_row()


finish_in_scratch(body)
