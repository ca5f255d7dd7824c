#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The cost of the sampler at its defaults for five programs, compared with perf at the same rate.

usage: overhead.py BUILD_FOLDER [PAIRS [LOAD...]]; LOAD: busy processes on the machine (default: 0 4 12)

A pair is two copies of the program that run at once on one CPU, one of them sampled, so that noise
hits both alike; they take turns in starting first. CPU time is that of the program and all its
children, as the kernel reports it to the parent.
"""
import glob
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUDGET = 30000 # millionths: record's default
SQL = ("with recursive c(x) as (select 1 union all select x+1 from c where x<1500000)"
       " select sum(x%7), count(distinct x%1000), max(length(hex(x))) from c;")
PYTHON = ("import json\nfor i in range(80000): json.loads(json.dumps({str(i): [i, {'a': i}]}))\n"
          "sum(i * i for i in range(3000000))")
SAMPLES, USER_NS = 120, 128 # struct fg_trace_header


def programs(scratch):
    data = f"{scratch}/data"
    with open(data, "wb") as file:
        for path in sorted(glob.glob("/usr/lib/*/lib*.so.*"))[:6]:
            with open(path, "rb") as library:
                file.write(library.read(1 << 20))
    source = f"{HERE}/../../collector/unwind"
    return {
        "python3": [os.path.realpath(sys.executable), "-c", PYTHON],
        "sqlite3": ["sqlite3", ":memory:", SQL],
        "xz": ["xz", "-c", "-6", "-T1", data],
        "gcc": ["gcc", "-O2", "-D_GNU_SOURCE", f"-I{HERE}/../..", "-c", f"{source}/walk.c",
                "-o", "/dev/null"],
        "openssl": ["openssl", "dgst", "-sha512", f"{scratch}/big"],
    }


def start(command, extra):
    return subprocess.Popen(command, env={**os.environ, **extra}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cpu_s(child):
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{child.args[0]} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def rate_of(folder):
    """Samples of all processes per second of the CPU time that they represent."""
    samples, ns = 0, 0
    for path in glob.glob(f"{folder}/*.fgtrace"):
        with open(path, "rb") as file:
            header = file.read(4096)
        samples += struct.unpack_from("<Q", header, SAMPLES)[0]
        ns += sum(struct.unpack_from("<2Q", header, USER_NS))
    return samples / ns * 1e9 if ns else 0.0


def pair(plain, sampled, extra, turn):
    """Returns the cost of sampling in percent, and the CPU seconds of the plain program."""
    order = [(plain, {}), (sampled, extra)]
    started = [start(*side) for side in (order if turn % 2 else order[::-1])]
    times = [cpu_s(child) for child in started]
    alone, with_it = times if turn % 2 else times[::-1]
    return 100 * (with_it / alone - 1), alone


def interval(values):
    """The 95 % interval of the median, by order statistics."""
    values = sorted(values)
    half = 0.98 * len(values) ** 0.5
    low, high = int(len(values) / 2 - half), int(len(values) / 2 + half)
    return values[max(0, low)], values[min(len(values) - 1, high)]


def say(values):
    low, high = interval(values)
    return f"{statistics.median(values):+6.2f} % [{low:+5.2f}, {high:+5.2f}]"


def measure(command, pairs, collector, scratch):
    out = f"{scratch}/out"
    extra = {"LD_PRELOAD": collector, "FASTGATE_COLLECTOR_OUTPUT": out,
             "FASTGATE_COLLECTOR_BUDGET": str(BUDGET)}
    ours, peers, alone, rates = [], [], [], []
    for turn in range(pairs + 1):
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)
        cost, seconds = pair(command, command, extra, turn)
        rate = rate_of(out)
        peer = 0.0
        if shutil.which("perf"):
            perf = ["perf", "record", "-q", "-g", "-e", "task-clock:u", "-F", str(max(1, round(rate))),
                    "-o", f"{scratch}/perf.data", "--"] + command
            peer, _ = pair(command, perf, {}, turn)
        if turn: # the first turn warms up
            ours.append(cost)
            peers.append(peer)
            alone.append(seconds)
            rates.append(rate)
    return ours, peers, statistics.median(alone), statistics.median(rates)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    build = os.path.abspath(sys.argv[1])
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    loads = [int(word) for word in sys.argv[3:]] or [0, 4, 12]
    collector = [path for path in glob.glob(f"{build}/lib*/**/libfastgate_collector.so", recursive=True)
                 if "lib32" not in path][0]
    everywhere = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory() as scratch:
        with open(f"{scratch}/big", "wb") as file:
            file.write(os.urandom(1 << 20) * 256)
        print(f"{'load':>4} {'program':9} {'CPU s':>6} {'rate':>5}  {'sampled':24}  "
              f"{'perf record -g, same rate':24}")
        for load in loads:
            os.sched_setaffinity(0, everywhere)
            busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
            os.sched_setaffinity(0, {min(everywhere)})
            try:
                for name, command in programs(scratch).items():
                    if not shutil.which(command[0]):
                        print(f"{load:4} {name:9} not installed")
                        continue
                    ours, peers, alone, rate = measure(command, pairs, collector, scratch)
                    print(f"{load:4} {name:9} {alone:6.3f} {rate:5.0f}  {say(ours):24}  {say(peers):24}")
            finally:
                for process in busy:
                    process.kill()
                    process.wait()


if __name__ == "__main__":
    main()
