#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
doctor.py FASTGATE: every noise source is named with its evidence and its fix, and a quiet host has
no findings.

The hosts are folders laid out like /proc and /sys; the programs are built here.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from checks import call, check, failures, finish

FASTGATE = sys.argv[1]

CPU = "sys/devices/system/cpu"
QUIET = {
    f"{CPU}/online": "0-3",
    f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
    f"{CPU}/cpu1/cpufreq/scaling_governor": "performance",
    f"{CPU}/intel_pstate/no_turbo": "1",
    f"{CPU}/smt/active": "0",
    f"{CPU}/cpu0/thermal_throttle/package_throttle_count": "0",
    "sys/devices/system/node/online": "0-1",
    "proc/loadavg": "0.05 0.01 0.00 1/100 4242",
    "proc/stat": "cpu  1000 0 1000 98000 0 0 0 0 0 0",
    "proc/meminfo": "MemTotal: 16000000 kB\nMemFree: 1 kB\nMemAvailable: 12000000 kB",
    "proc/cpuinfo": "processor : 0\nflags : fpu vme sse2",
    "proc/sys/kernel/randomize_va_space": "2",
    "proc/sys/kernel/numa_balancing": "0",
    "proc/sys/kernel/perf_event_paranoid": "2",
    "proc/sys/kernel/perf_event_max_sample_rate": "100000",
}
# id, severity, how the host differs from the quiet one, part of the evidence, part of the fix (None: no
# fix)
NOISE = [
    ("governor", "warning", {f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave"},
     "1 of 2 CPUs: powersave", "cpupower frequency-set"),
    ("turbo", "note", {f"{CPU}/intel_pstate/no_turbo": "0"}, "on", "no_turbo"),
    ("load", "warning", {"proc/loadavg": "3.50 3.00 2.00 9/100 4242"}, "3.50 on 4 CPUs", "ps -eo pcpu"),
    ("steal", "warning", {"proc/stat": "cpu  1000 0 1000 88000 0 0 0 10000 0 0"}, "10.00 %",
     "dedicated CPUs"),
    ("smt", "note", {f"{CPU}/smt/active": "1"}, "active", "smt/control"),
    ("aslr", "warning", {"proc/sys/kernel/randomize_va_space": "0"}, "= 0", "randomize_va_space=2"),
    ("perf_event_paranoid", "warning", {"proc/sys/kernel/perf_event_paranoid": "4"}, "= 4",
     "perf_event_paranoid=2"),
    ("perf_throttled", "warning", {"proc/sys/kernel/perf_event_max_sample_rate": "500"}, "500",
     "perf_event_max_sample_rate"),
    ("cpus", "warning", {f"{CPU}/online": "0"}, "1 online", "two CPUs"),
    ("cpu_quota", "warning", {"sys/fs/cgroup/cpu.max": "150000 100000", "proc/self/cgroup": "0::/"},
     "1.50 CPUs", "--cpuset-cpus"),
    ("memory", "warning", {"proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable: 160000 kB"}, "1 %",
     "ps -eo rss"),
    ("thermal", "warning", {f"{CPU}/cpu0/thermal_throttle/package_throttle_count": "17"},
     "since boot: 17", "cooling"),
    ("numa_balancing", "note", {"proc/sys/kernel/numa_balancing": "1"}, "on, nodes 0-1",
     "numa_balancing=0"),
    ("virtualization", "note", {"proc/cpuinfo": "processor : 0\nflags : fpu hypervisor sse2"}, "", None),
]


def run(*arguments, code=0):
    done = call(FASTGATE, "doctor", *arguments)
    check(done.returncode == code, f"doctor {arguments}: exit code {done.returncode}, {done.stderr}")
    return done


def findings(*arguments):
    answer = json.loads(run("--json", *arguments).stdout)
    check(answer["schema"] == "fastgate-doctor/1", f"schema: {answer}")
    return answer, {(found["id"], found["subject"]): found for found in answer["findings"]}


def make_host(changes):
    shutil.rmtree("host", ignore_errors=True)
    for path, text in {**QUIET, **changes}.items():
        path = os.path.join("host", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="ascii") as file:
            file.write(text + "\n")


def by_id(found, wanted):
    return [finding for (name, _), finding in found.items() if name == wanted]


def each_source_of_noise_is_found():
    make_host({})
    answer, found = findings("--root", "host")
    check(answer["worst"] == "ok", f"quiet host: {answer}")
    check(run("--root", "host", "--quiet").stdout == "", "quiet host: --quiet shows something")
    for name, severity, changes, evidence, remedy in NOISE:
        make_host(changes)
        answer, found = findings("--root", "host")
        mine = by_id(found, name)
        if len(mine) != 1:
            failures.append(f"{name}: not found in {answer}")
            continue
        check(mine[0]["severity"] == severity == answer["worst"], f"{name}: {mine[0]}")
        check(evidence in mine[0]["evidence"] and mine[0]["meaning"], f"{name}: {mine[0]}")
        check((mine[0]["remedy"] is None) if remedy is None else remedy in mine[0]["remedy"],
              f"{name}: {mine[0]}")
        lines = run("--root", "host", "--quiet").stdout
        check(lines.startswith(severity) and evidence in lines and (remedy is None or "fix: " in lines),
              f"{name}: {lines!r}")
        check(lines.count("\n") == (2 if remedy is None else 3),
              f"{name} does not come alone: {lines!r}")
    # On a host that reveals nothing, doctor reports nothing worse than a note, and does not crash.
    shutil.rmtree("host")
    os.mkdir("host")
    answer, _ = findings("--root", "host")
    check(answer["worst"] in ("ok", "note"), f"empty host: {answer}")


def build(name, *flags):
    subprocess.run(["cc", "main.c", "-o", name, *flags], check=True)


def programs_that_measure_badly_are_found():
    with open("main.c", "w", encoding="ascii") as file:
        file.write("int main(void) { for (volatile int i = 0; i < 10000000; i++) {} return 0; }\n")
    build("good", "-O2", "-g")
    build("slow", "-O0", "-g")
    build("bare", "-O2", "-s")
    build("nolines", "-O2")
    build("static", "-O2", "-g", "-static")
    with open("script", "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexec ./good\n")
    os.chmod("script", 0o755)
    names = ["good", "slow", "bare", "nolines", "static", "script", "absent"]
    with open("fastgate.yml", "w", encoding="ascii") as file:
        file.write("version: 1\nproject: p\nbenchmarks:\n" +
                   "".join(f"  - {{ name: {name}, command: ./{name} }}\n" for name in names))
    make_host({})
    _, found = findings("--root", "host")
    for name, wanted, severity in (("good", "debug_build", "ok"), ("good", "debug_info", "ok"),
                                   ("slow", "debug_build", "warning"), ("bare", "debug_info", "warning"),
                                   ("nolines", "debug_info", "warning"),
                                   ("static", "samplable", "warning"), ("script", "wrapper", "note"),
                                   ("absent", "missing", "problem")):
        mine = found.get((wanted, name))
        check(mine and mine["severity"] == severity, f"{name}: {wanted} is {mine}, expected {severity}")
        check(mine and (severity == "ok" or mine["remedy"]), f"{name}: no remedy for {mine}")


def the_real_host_gets_a_complete_answer():
    """On the real host, whatever it is like, the answer is complete."""
    answer, found = findings()
    for wanted in ("affinity", "perf", "collector", "git"):
        check(len(by_id(found, wanted)) == 1, f"here: {wanted} is not in {answer}")
    check(by_id(found, "collector")[0]["severity"] == "ok", f"here: {answer}")


def a_root_that_is_not_a_folder_is_refused():
    check("is not a folder" in run("--root", "nowhere", code=2).stderr, "--root nowhere")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    each_source_of_noise_is_found()
    programs_that_measure_badly_are_found()
    the_real_host_gets_a_complete_answer()
    a_root_that_is_not_a_folder_is_refused()
    os.chdir("/")
finish()
