#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the collector costs, how fast it is inside, and how true its shares are, in one run.

Arms are interleaved round by round, so that what disturbs the machine disturbs all of them; medians are compared, and
every figure stands beside its peer: the same program alone, an empty handler on the same timer, gperftools, perf record.
"""
import glob
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

DEPTH, LIBRARIES, MILLIONS = 300, 600, 900
HEADER_FIELDS = {"period_ns": 88, "allocated": 112, "samples": 120, "user_ns": 128, "system_ns": 136, "handler_ns": 280,
                 "handler_max_ns": 288, "handler_late_max_ns": 296, "frames": 304, "frames_reused": 312,
                 "startup_ns": 336, "end_user_ns": 384, "end_system_ns": 392}


def read_header(path):
    with open(path, "rb") as file:
        page = file.read(4096)
    return {name: struct.unpack_from("<Q", page, at)[0] for name, at in HEADER_FIELDS.items()}


class Bench:
    def __init__(self, build, scratch):
        self.scratch = scratch
        self.chain = f"{build}/bench/collector/bench_collector_chain"
        self.empty = f"{build}/bench/collector/bench_collector_empty.so"
        self.collector = glob.glob(f"{build}/lib*/**/fastgate/libfastgate_collector.so", recursive=True)
        self.collector = [path for path in self.collector if "lib32" not in path][0]
        self.targets = f"{build}/tests/targets"
        for i in range(LIBRARIES):
            shutil.copy(f"{build}/bench/collector/libchain{i % 4}.so", f"{scratch}/libchain{i}.so")

    def arms(self, rate):
        period = str(10**9 // rate)
        arms = {
            "alone": ([], {}),
            "empty handler": ([], {"LD_PRELOAD": self.empty, "BENCH_PERIOD_NS": period}),
            "fastgate": ([], {"LD_PRELOAD": self.collector, "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out",
                              "FASTGATE_COLLECTOR_PERIOD": period}),
        }
        profiler = glob.glob("/usr/lib/*/libprofiler.so*")
        if profiler and rate <= 4000:
            arms["gperftools"] = ([], {"LD_PRELOAD": sorted(profiler)[-1], "CPUPROFILE": f"{self.scratch}/gperf",
                                       "CPUPROFILE_FREQUENCY": str(rate)})
        perf = shutil.which("perf")
        if perf:
            command = [perf, "record", "-q", "-F", str(rate), "--call-graph", "dwarf,8192", "-o", f"{self.scratch}/perf.data"]
            if subprocess.run(command + ["true"], capture_output=True).returncode == 0:
                arms["perf record dwarf"] = (command, {})
        return arms

    def chain_ns(self, prefix, extra):
        shutil.rmtree(f"{self.scratch}/out", ignore_errors=True)
        os.mkdir(f"{self.scratch}/out")
        result = subprocess.run(prefix + [self.chain, str(DEPTH), str(LIBRARIES), self.scratch, str(MILLIONS)],
                                env={**os.environ, **extra}, capture_output=True, text=True, check=True)
        return int(result.stdout.split()[0])

    def cost(self, rate, rounds):
        arms = self.arms(rate)
        times = {name: [] for name in arms}
        headers = []
        for _ in range(rounds):
            for name, (prefix, extra) in arms.items():
                times[name].append(self.chain_ns(prefix, extra))
                if name == "fastgate":
                    headers += [read_header(path) for path in glob.glob(f"{self.scratch}/out/*.fgtrace")]
        print(f"\n{rate} samples/s, {DEPTH} frames, {LIBRARIES} libraries, {rounds} rounds interleaved")
        print(f"  {'arm':20} {'CPU ms':>9} {'cost %':>8}   (median of the ratios to 'alone' of the same round)")
        for name in arms:
            ratios = [t / a for t, a in zip(times[name], times["alone"])]
            print(f"  {name:20} {statistics.median(times[name]) / 1e6:9.1f} {100 * (statistics.median(ratios) - 1):8.2f}")
        ratio = statistics.median(f / e for f, e in zip(times["fastgate"], times["empty handler"]))
        print(f"  fastgate / empty handler, whole program: {ratio:.4f}")
        self.inside(headers, rate)

    @staticmethod
    def inside(headers, rate):
        total = {name: sum(h[name] for h in headers) for name in HEADER_FIELDS}
        used = total["end_user_ns"] + total["end_system_ns"]
        print(f"  handler, mean {total['handler_ns'] / max(1, total['samples']):.0f} ns;"
              f" worst {max(h['handler_max_ns'] for h in headers) / 1e3:.0f} us,"
              f" after 1 s {max(h['handler_late_max_ns'] for h in headers) / 1e3:.0f} us")
        print(f"  frames taken over verified {100 * total['frames_reused'] / max(1, total['frames']):.1f} %,"
              f" start-up {statistics.median(h['startup_ns'] for h in headers) / 1e6:.2f} ms")
        print(f"  achieved rate {100 * total['user_ns'] / max(1, total['end_user_ns']):.2f} % of user time;"
              f" weights / rusage: {(total['user_ns'] + total['system_ns']) / max(1, used):.4f}")
        print(f"  file {sum(h['allocated'] for h in headers) / max(1, total['samples']):.1f} bytes a sample, all records and rounding included")

    def truth(self, name, functions, runs):
        """How often a share lies within 3 binomial sigma of what the program measured of itself."""
        inside = 0
        for _ in range(runs):
            shutil.rmtree(f"{self.scratch}/out", ignore_errors=True)
            os.mkdir(f"{self.scratch}/out")
            env = {**os.environ, "LD_PRELOAD": self.collector, "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out"}
            said = subprocess.run([f"{self.targets}/{name}"], env=env, capture_output=True, text=True, check=True).stdout
            told = dict(line.split() for line in said.splitlines())
            known = [float(told[function]) for function in functions]
            fastgate = f"{self.targets}/../../cli/fastgate"
            folded = subprocess.run([fastgate, "export", "--format", "folded", f"{self.scratch}/out"],
                                    capture_output=True, text=True, check=True, env=os.environ).stdout
            seen = [0.0, 0.0]
            for line in folded.splitlines():
                stack, _, weight = line.rpartition(" ")
                for i, function in enumerate(functions):
                    if function in stack.split(";"):
                        seen[i] += float(weight)
            samples = sum(read_header(path)["samples"] for path in glob.glob(f"{self.scratch}/out/*.fgtrace"))
            share, true_share = seen[0] / sum(seen), known[0] / sum(known)
            inside += abs(share - true_share) <= 3 * (true_share * (1 - true_share) / samples) ** 0.5
        print(f"  {name:16} {inside} of {runs} runs within 3 sigma")


def main():
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(build, scratch)
        for rate in (100, 1000, 10000):
            bench.cost(rate, rounds)
        if runs and os.path.exists(f"{bench.targets}/lockstep"):
            print("\nshares of programs whose truth is known")
            bench.truth("lockstep", ("two_thirds", "one_third"), runs)
            bench.truth("short_threads", ("work_in_thread", "work_in_main"), runs)
            bench.truth("burst", ("work_alone", "work_together"), runs)


if __name__ == "__main__":
    main()
