#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is system time booked where it was spent?  usage: system_time.py BUILD_FOLDER [RUNS] [load] [CLOCK...]

Programs that measure their own truth run repeatedly under the collector: they wake in step with the kernel's ticks, or have
threads shorter than a tick.  A share counts as found if it is within three sigma of the truth; sigma comes from the weights
of the samples.  With the right to SCHED_FIFO, a case runs undisturbed; with `load`, all run in parallel with a busy process
per CPU.  Each case runs with both clocks for system time: the default (cpu), which uses perf events of the kernel where the
kernel may be sampled, and the kernel's ticks without these events (ticks).
"""
import glob
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

FIFO = ["chrt", "-f", "10"]
CASES = [
    ("system, in step, 1 ms", ["tick_aliasing", "1", "700"], "asks_twice", "asks_once"),
    ("system, in step, 4 ms", ["tick_aliasing", "4", "700"], "asks_twice", "asks_once"),
    ("system, in step, 10 ms", ["tick_aliasing", "10", "700"], "asks_twice", "asks_once"),
    ("1 ms, undisturbed", [*FIFO, "tick_aliasing", "1", "700"], "asks_twice", "asks_once"),
    ("4 ms, undisturbed", [*FIFO, "tick_aliasing", "4", "700"], "asks_twice", "asks_once"),
    ("10 ms, undisturbed", [*FIFO, "tick_aliasing", "10", "700"], "asks_twice", "asks_once"),
    ("1,000 threads of 1.5 ms, user", ["short_threads", "1000"], "work_in_thread", "work_in_main"),
    ("1,000 threads of 1.5 ms, system", ["short_threads", "1000", "system"], "work_in_thread", "work_in_main"),
]
TRUTH_SLACK = 0.005  # the truth is measured by a clock around calls
CLOCKS = {
    "cpu": {"FASTGATE_COLLECTOR_CLOCK": "cpu"},
    "ticks": {"FASTGATE_COLLECTOR_CLOCK": "cpu", "FASTGATE_COLLECTOR_KERNEL": "off"},
}
SAMPLE_CLOCK = 0x07  # the bits of a sample's first byte that hold its clock
CLOCK_SYSTEM = 2


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def weights(path):
    """
    The weight of every sample of a trace (docs/formats/trace.md), parts of one sample added up; and the clock of system
    time.
    """
    with open(path, "rb") as file:
        data = file.read()
    period = int.from_bytes(data[88:96], "little")
    end = min(int.from_bytes(data[112:120], "little"), len(data))
    found = []
    chunk = 4096
    while chunk + 40 <= end:
        size = int.from_bytes(data[chunk + 4:chunk + 8], "little")
        if data[chunk:chunk + 4] != b"FGCK" or size == 0:
            chunk += 4096
            continue
        at = chunk + 40
        last = None  # kind of the previous sample
        stop = at + int.from_bytes(data[chunk + 32:chunk + 36], "little")
        while at < stop:
            kind = data[at]
            if kind & 0x80:
                since, at = varint(data, at + 1)
                _, at = varint(data, at)
                weight = period
                if kind & 0x08:
                    weight, at = varint(data, at)
                if since == 0 and last == kind & SAMPLE_CLOCK == CLOCK_SYSTEM:
                    found[-1] += weight
                else:
                    found.append(weight)
                last = kind & SAMPLE_CLOCK
            else:
                length, at = varint(data, at + 1)
                at += length
        chunk += size
    return found, int.from_bytes(data[80:84], "little")


def inclusive(folded, name):
    """Nanoseconds below a function, and those without any function."""
    inside = nowhere = 0
    for line in folded.splitlines():
        stack, _, ns = line.rpartition(" ")
        frames = re.split(";", stack)
        inside += int(ns) if name in frames else 0
        nowhere += int(ns) if frames[-1].startswith("[no stack") else 0
    return inside, nowhere


def once(build, collector, clock, words):
    folder = tempfile.mkdtemp()
    try:
        environment = dict(os.environ, LD_PRELOAD=collector, FASTGATE_COLLECTOR_OUTPUT=folder, **CLOCKS[clock])
        before = FIFO if words[:len(FIFO)] == FIFO else []
        words = words[len(before):]
        said = subprocess.run([*before, f"{build}/tests/targets/{words[0]}", *words[1:]], env=environment, capture_output=True, text=True,
                              check=True).stdout
        truth = {line.split()[0]: float(line.split()[1]) for line in said.splitlines()}
        traces = [weights(path) for path in glob.glob(f"{folder}/*.fgtrace")]
        export = subprocess.run([f"{build}/cli/fastgate", "export", "-F", "folded", folder], capture_output=True, text=True, check=True)
    finally:
        shutil.rmtree(folder)
    return truth, [w for trace in traces for w in trace[0]], traces[-1][1], export


def main():
    build = sys.argv[1]
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    clocks = [word for word in sys.argv[3:] if word in CLOCKS] or list(CLOCKS)
    busy = []
    if "load" in sys.argv[3:]:
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        measure(build, runs, clocks)
    finally:
        for process in busy:
            process.kill()
            process.wait()


def measure(build, runs, clocks):
    collector = [path for path in glob.glob(f"{build}/lib*/**/libfastgate_collector.so", recursive=True) if "lib32" not in path][0]
    print(f"{'program':34} {'clock':7} {'found':>9} {'mean':>7} {'truth':>7} {'sigma':>6} {'no stack':>8}")
    for clock in clocks:
        for title, words, a, b in CASES:
            found, seen_shares, true_shares, sigmas, nowhere = 0, [], [], [], []
            if words[:len(FIFO)] == FIFO and subprocess.run([*FIFO, "true"], capture_output=True, check=False).returncode != 0:
                print(f"{title:34} {clock:7} not permitted here")
                continue
            for _ in range(runs):
                truth, given, system_clock, export = once(build, collector, clock, words)
                seen_a, lost = inclusive(export.stdout, a)
                seen_b, _ = inclusive(export.stdout, b)
                seen = seen_a / (seen_a + seen_b)
                true = truth[a] / (truth[a] + truth[b])
                sigma = math.sqrt(true * (1 - true) * sum(w * w for w in given)) / (seen_a + seen_b)
                found += abs(seen - true) <= 3 * sigma + TRUTH_SLACK
                seen_shares.append(seen)
                true_shares.append(true)
                sigmas.append(sigma)
                nowhere.append(lost / sum(given))
            mean = [100 * sum(list_) / len(list_) for list_ in (seen_shares, true_shares, sigmas, nowhere)]
            print(f"{title:34} {clock:7} {found:4}/{runs:<4} {mean[0]:6.2f}% {mean[1]:6.2f}% {mean[2]:5.2f}% {mean[3]:7.2f}%",
                  flush=True)


if __name__ == "__main__":
    main()
