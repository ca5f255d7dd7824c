#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`fastgate record` as a user calls it: the exit code is the command's, signals reach it, and its
environment, threads and libraries are the same as without `record`.
"""
import glob
import os
import re
import shutil
import signal as signals
import subprocess

from checks import HUNG_S, call, check, failures, finish_in_scratch, target, write
from recording import (ANOTHER, A_RATE, COMPILER, FASTGATE, built_target, compile_program, compiled,
                       profile, record, recorded, weight_ns)


def exit_codes_are_those_of_the_command():
    for code in (0, 1, 42, 255):
        done = call(FASTGATE, "record", "--", "sh", "-c", f"echo said; echo complained >&2; exit {code}")
        check(done.returncode == code, f"exit code {done.returncode}, the command's is {code}")
        check(done.stdout == "said\n", f"exit code {code}: said {done.stdout!r}")
        check(done.stderr.startswith("complained\n"), f"exit code {code}: complained {done.stderr!r}")
    for signal, name in ((15, "TERM"), (9, "KILL"), (6, "ABRT")):
        done = record("--", "sh", "-c", f"kill -{name} $$")
        check(done.returncode == 128 + signal, f"ended by {name}: {done.returncode}")


def preloaded_libraries_stay():
    other = next(iter(sorted(glob.glob("/lib/*/libm.so.6"))), None)
    if other:
        # (An AddressSanitizer in fastgate itself would insist on being the first library.)
        done = record("--", "sh", "-c", "echo $LD_PRELOAD",
                      env={**os.environ, "LD_PRELOAD": other,
                           "ASAN_OPTIONS": "verify_asan_link_order=0"})
        check(done.stdout.endswith(f":{other}\n"),
              f"a library that is preloaded already: {done.stdout!r}")


def threads_have_names():
    document = recorded("--", built_target("deep"), "10", "100")
    check([thread["name"] for thread in document["threads"]] == ["deep"],
          f"the main thread: {document['threads']}")


def programs_behind_any_environment_are_sampled():
    """A program is sampled under any wrapper, whatever the wrapper does to the environment."""
    other = next(iter(sorted(glob.glob("/lib/*/libm.so.6"))), None)
    for wrapper in (["env", "-i"], ["env", "-u", "FASTGATE_COLLECTOR_OUTPUT", "LD_PRELOAD="],
                    ["env", f"LD_PRELOAD={other}"], ["sh", "-c", 'unset LD_PRELOAD; exec "$@"', "sh"]):
        seen = weight_ns(recorded("--", *wrapper, built_target("deep"), "20", "100"), "at_the_bottom")
        check(seen > 1e7, f"{wrapper}: {seen / 1e6} ms of the program behind it")
    done = record("--", "env", f"LD_PRELOAD={other}", "sh", "-c", "echo $LD_PRELOAD",
                  env={**os.environ, "ASAN_OPTIONS": "verify_asan_link_order=0"})
    check(done.stdout.startswith(f"{other}:"),
          f"a library that the program preloads stays in front: {done.stdout!r}")


def programs_that_escape_are_reported():
    if not compile_program("escapes", "-static"):
        print("left out, the compiler makes no static program")
        return
    record("--", "sh", "-c", "./escapes; :")
    notes = " ".join(profile()["notes"])
    check("./escapes is linked statically" in notes, f"a static program behind a shell: {notes!r}")
    check("statically" not in " ".join(recorded("--", "sh", "-c", "true; :")["notes"]),
          "a program that does not escape")


def spawned_programs_are_sampled():
    compiled("spawner", target("spawns.c"))
    for how in ("plain", "path"):
        seen = recorded("--", "./spawner", how, built_target("deep"), "10", "100")
        check(weight_ns(seen, "at_the_bottom") > 1e7, f"posix_spawn, {how}: the child was not sampled")


def programs_that_gain_rights_are_reported():
    if os.geteuid() != 0:
        return
    shutil.copy("/bin/true", "rights")
    os.chown("rights", ANOTHER, ANOTHER)
    os.chmod("rights", 0o4755)
    notes = " ".join(recorded("--", "sh", "-c", "./rights; :")["notes"])
    check("./rights runs with the privileges of another" in notes,
          f"a program that gains privileges: {notes!r}")


def missing_samples_have_a_reason():
    for words, reason in ((("--units", "7-8", "--", "true"), "no unit of work"),
                          (("--paused", "--", "true"), "did not start sampling"),
                          (("--delay", "10s", "--", "true"), "before --delay")):
        said = record(*words).stderr
        check("no samples: " in said and reason in said, f"{words}: {said!r}")
    check("no samples" not in record("--", built_target("deep"), "10", "100").stderr,
          "samples there are, and a reason why not")


# A dynamic linker that loads nothing and exits at once.
LOADER = '__asm__(".globl _start\\n_start: mov $60, %eax\\n xor %edi, %edi\\n syscall");'


def loaders_that_ignore_preloads_are_reported():
    if os.uname().machine != "x86_64":
        return
    compiled("loader", LOADER, "-nostdlib", "-static")
    compiled("own-loader", "int main(void) { return 1; }", f"-Wl,--dynamic-linker={os.getcwd()}/loader")
    done = record("--", "./own-loader")
    check(done.returncode == 0 and "ignores LD_PRELOAD" in done.stderr and "record --pid" in done.stderr,
          f"{done.returncode}\n{done.stderr}")
    done = call(FASTGATE, "duel", "--pairs", "2:2", "./own-loader", "./own-loader 2")
    check(done.stderr.count("ignores LD_PRELOAD") == 1 and "record --pid" in done.stderr,
          f"duel: {done.returncode}\n{done.stderr}")


def ended_by_signal(signal, *command):
    """
    Sends a signal to `record` alone, once the command has reported that it is ready; the command's
    child holds the pipe open.
    """
    with subprocess.Popen([FASTGATE, "record", *A_RATE, "--", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        ready = child.stdout.readline()
        child.send_signal(signal)
        rest, said = child.communicate(timeout=HUNG_S)
    check(ready == "ready\n" and rest == "", f"{signal.name}: said {ready!r}, then {rest!r}")
    return child.returncode, said


def signals_are_handed_on():
    summary = re.compile(r"\b(no samples|1 sample|\d+ samples)\b")  # their number depends on the machine
    for signal in (signals.SIGTERM, signals.SIGINT, signals.SIGHUP):
        code, said = ended_by_signal(signal, "sh", "-c", "echo ready; exec sleep 100")
        check(code == 128 + signal and summary.search(said), f"{signal.name}: {code}\n{said}")
        # communicate() returns when the last holder of the pipe is gone, so the sleep has also ended
        code, said = ended_by_signal(signal, "sh", "-c", "sleep 100 & echo ready; wait")
        check(code == 128 + signal and summary.search(said),
              f"{signal.name}, with a child: {code}\n{said}")
    code, _ = ended_by_signal(signals.SIGTERM, "sh",
                              "-c", "trap 'exit 7' TERM; echo ready; while :; do :; done")
    check(code == 7, f"a command that decides for itself: {code}")


# ---- libraries ----

def libraries_are_found_by_relative_path():
    """The trace may be read in a folder other than the one where the program opened `./plugin.so`."""
    os.makedirs("where/it/is")
    write("where/plugin.c", target("timed_plugin.c"))
    write("where/host.c", target("timed_plugin_host.c"))
    for words in (("-O1", "-shared", "-fPIC", "-o", "plugin.so", "plugin.c"),
                  ("-O1", "-o", "host", "host.c", "-ldl")):
        subprocess.run([COMPILER, *words], cwd="where", check=True)
    for folder, path in (("where", "./plugin.so"), ("where", ".//././plugin.so"),
                         ("where/it/is", "../../plugin.so"),
                         ("where", os.path.abspath("where/plugin.so"))):
        output = os.path.abspath("fastgate-record")
        done = record("-o", output, "--", os.path.abspath("where/host"), path, cwd=folder)
        check(done.returncode == 0, f"{path}: {done.returncode}\n{done.stderr}")
        document = profile()
        named = weight_ns(document, "plugged_in")
        check(named > 0.5 * document["cpu_ns"] > 0, f"a library opened as {path}: "
              f"{named / 1e6} of {document['cpu_ns'] / 1e6} ms stand under its function")


def gaps_between_segments_hide_no_caller():
    """
    Code is aligned to huge pages, so only the first mapping begins with the headers that lead to
    the unwind tables.
    """
    compiled("gaps", target("inner_and_outer.c"), "-g", "-O1", "-fomit-frame-pointer", "-no-pie",
             "-Wl,-z,max-page-size=0x200000,-z,separate-code")
    document = recorded("--", "./gaps")
    check(weight_ns(document, "main") > 0.9 * weight_ns(document, "inner") > 0,
          "main is not found as the caller")
    # All stacks would be truncated without the tables; on a busy machine, some samples hit the
    # start of a program.
    truncated = document["measures"][0]["truncated"]
    check(truncated < 0.5 * document["cpu_ns"],
          f"stacks that end early: {truncated} of {document['cpu_ns']}")


def main():
    exit_codes_are_those_of_the_command()
    preloaded_libraries_stay()
    threads_have_names()
    programs_behind_any_environment_are_sampled()
    programs_that_escape_are_reported()
    spawned_programs_are_sampled()
    programs_that_gain_rights_are_reported()
    missing_samples_have_a_reason()
    loaders_that_ignore_preloads_are_reported()
    signals_are_handed_on()
    libraries_are_found_by_relative_path()
    gaps_between_segments_hide_no_caller()
    if not failures:
        print("fastgate record leaves the command as it is")


finish_in_scratch(main)
