#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the sampler costs five programs, in pairs: with it and without it, interleaved.

usage: overhead.py BUILD_FOLDER [PAIRS [RATE...]]; RATE is auto (the default), or samples a second.

`auto` is the rate that `fastgate record` settles for the program, and the price of a sample is what it says.  Order within a
pair alternates.  CPU time is that of the program and all its children, as the kernel counts it for the parent.
"""
import ctypes
import glob
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SQL = ("with recursive c(x) as (select 1 union all select x+1 from c where x<1500000) select sum(x%7), count(distinct x%1000), "
       "max(length(hex(x))) from c;")
PYTHON = "import json\nfor i in range(40000): json.loads(json.dumps({str(i): [i, {'a': i}]}))\nsum(i * i for i in range(1500000))"


def programs(scratch):
    data = f"{scratch}/data"
    with open(data, "wb") as file:
        for path in sorted(glob.glob("/usr/lib/*/lib*.so.*"))[:40]:
            with open(path, "rb") as library:
                file.write(library.read(1 << 20))
    subprocess.run(["gcc", "-O2", "-o", f"{scratch}/p_fan", f"{HERE}/../exact/p_fan.c", "-lm"], check=True)
    return {
        "p-fan": [f"{scratch}/p_fan"],
        "python3": [os.path.realpath(sys.executable), "-c", PYTHON],
        "sqlite3": ["sqlite3", ":memory:", SQL],
        "zstd": ["zstd", "-q", "-f", "-9", "-T1", "-o", f"{scratch}/data.zst", data],
        "gcc": ["gcc", "-O2", "-D_GNU_SOURCE", f"-I{HERE}/../..", "-c", f"{HERE}/../../collector/rules.c", "-o", f"{scratch}/rules.o"],
    }


def cpu_s(command, extra):
    child = subprocess.Popen(command, env={**os.environ, **extra}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{command[0]} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def settled(fastgate, command, scratch):
    """The rate that `auto` takes for this program, and what it said."""
    said = subprocess.run([fastgate, "record", "-o", f"{scratch}/record", "--"] + command, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=True).stderr
    found = re.search(r"(\d+) samples a second.*", said)
    if not found:
        raise SystemExit(f"record names no rate: {said}")
    # The rate of context switches, which `fastgate run` knows after the warm-up.
    lower = re.search(r"--rate (\d+) stays within", said)
    return int((lower or found).group(1)), found.group(0)


def keep_event_open():
    """As fastgate does while programs run: the first perf event on an idle system makes its opener wait."""
    attr = bytearray(112)
    struct.pack_into("<IIQ", attr, 0, 1, len(attr), 1) # software, task clock
    struct.pack_into("<Q", attr, 40, 1 | 1 << 5 | 1 << 6) # disabled, without kernel and hypervisor
    ctypes.CDLL(None).syscall(298, (ctypes.c_char * len(attr)).from_buffer(attr), 0, -1, -1, 8)


def interval(values):
    """A 95 % interval of the median, by order statistics."""
    values = sorted(values)
    half = 0.98 * len(values) ** 0.5
    return values[max(0, int(len(values) / 2 - half))], values[min(len(values) - 1, int(len(values) / 2 + half))]


def main():
    sys.stdout.reconfigure(line_buffering=True)
    build = os.path.abspath(sys.argv[1])
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    rates = sys.argv[3:] or ["auto"]
    collector = [path for path in glob.glob(f"{build}/lib*/**/libfastgate_collector.so", recursive=True) if "lib32" not in path][0]
    with tempfile.TemporaryDirectory() as scratch:
        out = f"{scratch}/out"
        keep_event_open()
        print(f"{'program':9} {'asked':>6} {'rate':>6} {'CPU s':>7} {'cost':>7}  95 % of it       {'pairs':>5}")
        for name, command in programs(scratch).items():
            if not shutil.which(command[0]):
                print(f"{name:9} not installed")
                continue
            for asked in rates:
                rate, said = settled(f"{build}/cli/fastgate", command, scratch) if asked == "auto" else (int(asked), "")
                with_it = {"LD_PRELOAD": collector, "FASTGATE_COLLECTOR_OUTPUT": out, "FASTGATE_COLLECTOR_RATE": str(rate)}
                ratios, alone = [], []
                for turn in range(pairs + 1):
                    shutil.rmtree(out, ignore_errors=True)
                    os.mkdir(out)
                    times = {}
                    for sampled in ((False, True) if turn % 2 else (True, False)):
                        times[sampled] = cpu_s(command, with_it if sampled else {})
                    if turn: # the first one warms up
                        ratios.append(100 * (times[True] / times[False] - 1))
                        alone.append(times[False])
                low, high = interval(ratios)
                print(f"{name:9} {asked:>6} {rate:6} {statistics.median(alone):7.3f} {statistics.median(ratios):+6.2f}%"
                      f"  {low:+6.2f} {high:+6.2f}  {pairs:5}  {said}")


if __name__ == "__main__":
    main()
