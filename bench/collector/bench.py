#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Measures the collector's cost, the time of its parts, and the accuracy of its profiles.

Arms are interleaved round by round, so that a disturbance of the machine affects all arms. The
report compares medians, each with its peer: the same program alone, an empty handler on the same
timer, gperftools, perf record.
"""
import csv
import glob
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

DEPTH, LIBRARIES, MILLIONS = 300, 600, 3000
CLOCK_MONOTONIC_COARSE = 6 # Linux: steps by the kernel's tick
HEADER_FIELDS = {"period_ns": 88, "allocated": 112, "samples": 120, "user_ns": 128, "system_ns": 136,
                 "handler_ns": 280, "handler_max_ns": 288, "handler_late_max_ns": 296, "frames": 304,
                 "frames_reused": 312, "startup_ns": 336, "end_user_ns": 384, "end_system_ns": 392}
LOSSES = ["no room", "paths full", "without a stack", "truncated", "merged", "stray", "no clock", "deep",
          "re-entered", "modules full", "small stack"]
BUCKETS = 80


def read_header(path):
    with open(path, "rb") as file:
        page = file.read(4096)
    header = {name: struct.unpack_from("<Q", page, at)[0] for name, at in HEADER_FIELDS.items()}
    header["losses"] = struct.unpack_from("<16Q", page, 152)
    header["late"] = struct.unpack_from(f"<{BUCKETS}Q", page, 400)
    return header


def bucket_end(i):
    """Upper end of a bucket of handler_late, in ns (docs/formats/trace.md)."""
    return (4 + i % 4) * 2 ** (8 + i // 4)


def quantile(counts, part):
    left = part * sum(counts)
    for i, count in enumerate(counts):
        left -= count
        if count and left <= 0:
            return bucket_end(i)
    return 0


class Bench:
    def __init__(self, build, scratch):
        self.scratch = scratch
        self.chain = f"{build}/bench/collector/bench_collector_chain"
        self.walk = f"{build}/bench/collector/bench_collector_walk"
        self.handler = f"{build}/bench/collector/bench_collector_handler"
        self.empty = f"{build}/bench/collector/bench_collector_empty.so"
        self.collector = glob.glob(f"{build}/lib*/**/fastgate/libfastgate_collector.so", recursive=True)
        self.collector = [path for path in self.collector if "lib32" not in path][0]
        self.targets = f"{build}/tests/targets"
        self.fastgate = f"{build}/cli/fastgate"
        for i in range(LIBRARIES):
            shutil.copy(f"{build}/bench/collector/libchain{i % 4}.so", f"{scratch}/libchain{i}.so")

    def arms(self, rate):
        period = str(10**9 // rate)
        arms = {
            "alone": ([], {}),
            "empty handler": ([], {"LD_PRELOAD": self.empty, "BENCH_PERIOD_NS": period}),
            "fastgate": ([], {"LD_PRELOAD": self.collector,
                              "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out",
                              "FASTGATE_COLLECTOR_PERIOD": period}),
        }
        # The collector's own index is the one that it uses on a glibc without _dl_find_object().
        arms["fastgate own index"] = ([], {**arms["fastgate"][1], "FASTGATE_COLLECTOR_INDEX": "own"})
        profiler = glob.glob("/usr/lib/*/libprofiler.so*")
        if profiler and rate <= 4000:
            arms["gperftools"] = ([], {"LD_PRELOAD": sorted(profiler)[-1],
                                       "CPUPROFILE": f"{self.scratch}/gperf",
                                       "CPUPROFILE_FREQUENCY": str(rate)})
        perf = shutil.which("perf")
        if perf:
            command = [perf, "record", "-q", "-F", str(rate), "--call-graph", "dwarf,8192",
                       "-o", f"{self.scratch}/perf.data"]
            if subprocess.run(command + ["true"], capture_output=True).returncode == 0:
                arms["perf record dwarf"] = (command, {})
        return arms

    def fresh_output(self):
        shutil.rmtree(f"{self.scratch}/out", ignore_errors=True)
        os.mkdir(f"{self.scratch}/out")

    def headers(self):
        return [read_header(path) for path in glob.glob(f"{self.scratch}/out/*.fgtrace")]

    def sampled(self, command, rate):
        """Runs a command under the collector; returns its trace."""
        self.fresh_output()
        env = {**os.environ, "LD_PRELOAD": self.collector,
               "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out",
               "FASTGATE_COLLECTOR_PERIOD": str(10**9 // rate)}
        subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True)
        return self.headers()

    def chain_ns(self, prefix, extra, millions=MILLIONS):
        self.fresh_output()
        result = subprocess.run(prefix
                                + [self.chain, str(DEPTH), str(LIBRARIES), self.scratch, str(millions)],
                                env={**os.environ, **extra}, capture_output=True, text=True, check=True)
        cpu_ns, self.chain_system_ns = (int(word) for word in result.stdout.split())
        return cpu_ns

    def cost(self, rate, rounds):
        arms = self.arms(rate)
        times = {name: [] for name in arms}
        systems = {name: [] for name in arms}
        headers = {"fastgate": [], "fastgate own index": []}
        for _ in range(rounds):
            for name, (prefix, extra) in arms.items():
                times[name].append(self.chain_ns(prefix, extra))
                systems[name].append(self.chain_system_ns)
                if name in headers:
                    headers[name] += self.headers()
        print(f"\n{rate} samples/s, {DEPTH} frames, {LIBRARIES} libraries, {rounds} rounds interleaved")
        print(f"  {'arm':20} {'CPU ms':>9} {'cost %':>8}   (median of the ratios to 'alone' of "
              "the same round)")
        for name in arms:
            ratios = [t / a for t, a in zip(times[name], times["alone"])]
            print(f"  {name:20} {statistics.median(times[name]) / 1e6:9.1f} "
                  f"{100 * (statistics.median(ratios) - 1):8.2f}")
        ratio = statistics.median(f / e for f, e in zip(times["fastgate"], times["empty handler"]))
        print(f"  fastgate / empty handler, whole program: {ratio:.4f}")
        # System time that the kernel accounts for each signal of this timer, whatever its handler.
        signals = sum(times["empty handler"]) * rate / 1e9
        cost_ns = (sum(systems["empty handler"]) - sum(systems["alone"])) / signals
        self.inside(headers["fastgate"], cost_ns)
        means = {name: sum(h["handler_ns"] for h in of) / max(1, sum(h["samples"] for h in of))
                 for name, of in headers.items()}
        print("  handler on its own index / on the loader's: "
              f"{means['fastgate own index'] / means['fastgate']:.3f}")

    @staticmethod
    def inside(headers, cost_ns):
        total = {name: sum(h[name] for h in headers) for name in HEADER_FIELDS}
        used = total["end_user_ns"] + total["end_system_ns"]
        print(f"  handler, mean {total['handler_ns'] / max(1, total['samples']):.0f} ns; frames taken "
              f"over verified {100 * total['frames_reused'] / max(1, total['frames']):.1f} %;"
              f" start-up {statistics.median(h['startup_ns'] for h in headers) / 1e6:.2f} ms")
        print(f"  weights / CPU time: {(total['user_ns'] + total['system_ns']) / max(1, used):.4f}; "
              "difference, as a share of all CPU time:"
              f" user {100 * (total['user_ns'] - total['end_user_ns']) / max(1, used):+.2f} %,"
              f" system {100 * (total['system_ns'] - total['end_system_ns']) / max(1, used):+.2f} %"
              " (getrusage counts our signals as system time)")
        signals_ns = total["samples"] * cost_ns
        user = total["user_ns"] - total["end_user_ns"] - signals_ns
        system = total["system_ns"] - total["end_system_ns"] + signals_ns
        print("  the same, less the cost of a signal as the empty handler shows it, "
              f"{cost_ns / 1e3:.1f} us: user {100 * user / max(1, used):+.2f} %,"
              f" system {100 * system / max(1, used):+.2f} %")
        lost = {name: sum(h["losses"][i] for h in headers) for i, name in enumerate(LOSSES)}
        print(f"  achieved rate {100 * total['user_ns'] / max(1, used - total['system_ns']):.2f} % of "
              "the requested rate; lost or marked: "
              f"{', '.join(f'{count} {name}' for name, count in lost.items() if count) or 'none'}")
        print(f"  file {sum(h['allocated'] for h in headers) / max(1, total['samples']):.1f} bytes a "
              "sample, all records and rounding included")

    def walks(self):
        self.fresh_output()
        env = {**os.environ, "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out",
               "FASTGATE_COLLECTOR_PAUSED": "1"}
        print(f"\none walk of {DEPTH} frames, CPU time, median of 21 rounds interleaved")
        sys.stdout.flush()
        subprocess.run([self.walk, str(LIBRARIES), self.scratch], env=env, check=True)

    def handlers(self, rate, seconds):
        """
        Measures the handler by the thread's own clock, which other work on the machine does not advance.
        """
        self.fresh_output()
        env = {**os.environ, "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out",
               "FASTGATE_COLLECTOR_PERIOD": str(10**9 // rate)}
        print(f"\nhandlers after the first second, {rate} samples/s, "
              "us (upper ends of buckets, except for the mean)")
        sys.stdout.flush()
        subprocess.run([self.handler, str(seconds)], env=env, check=True)

    def worst(self, rate, rounds):
        """
        The longest handlers after the first second, compared with a handler that only spins for as long.
        """
        period = str(10**9 // rate)
        ours, empty, mean = [0] * BUCKETS, [0] * BUCKETS, 2000
        for _ in range(rounds):
            self.chain_ns([], {"LD_PRELOAD": self.collector,
                               "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out",
                               "FASTGATE_COLLECTOR_PERIOD": period}, 2 * MILLIONS)
            for header in self.headers():
                ours = [a + b for a, b in zip(ours, header["late"])]
                mean = header["handler_ns"] // max(1, header["samples"])
            self.chain_ns([], {"LD_PRELOAD": self.empty, "BENCH_PERIOD_NS": period,
                               "BENCH_SPIN_NS": str(mean), "BENCH_LATE": f"{self.scratch}/late"},
                          2 * MILLIONS)
            with open(f"{self.scratch}/late", encoding="ascii") as file:
                empty = [a + int(b) for a, b in zip(empty, file)]
        print(f"\nhandlers after the first second, {rate} samples/s, elapsed time, "
              "us (upper ends of buckets)")
        for name, counts in (("fastgate", ours), ("empty, as long", empty)):
            print(f"  {name:20} {sum(counts):8} handlers: "
                  + ", ".join(f"p{100 * part:g} {quantile(counts, part) / 1e3:.1f}"
                              for part in (0.5, 0.99, 0.999, 0.9999, 1)))

    def real(self):
        """Prints the share of samples of real programs with an incomplete stack."""
        scratch, source = self.scratch, os.path.dirname(os.path.abspath(__file__))
        commands = {
            "gcc": ["gcc", "-O2", "-D_GNU_SOURCE", f"-I{source}/../..",
                    "-c", f"{source}/../../collector/unwind/rules.c", "-o", f"{scratch}/rules.o"],
            "python3": ["python3", "-c", "import json\n"
                        "for i in range(60000): json.loads(json.dumps({str(i): [i]}))\n"
                        "sum(i * i for i in range(2000000))"],
            "sqlite3": ["sqlite3", ":memory:", "with recursive c(x) as"
                        " (select 1 union all select x+1 from c where x<1000000) select sum(x) from c;"],
            "bash": ["bash", "-c", "for i in $(seq 100); do x=$(echo $i | tr 0-9 a-j); done"],
            "zstd": ["zstd", "-q", "-f", "-12", "-T2", "-o", f"{scratch}/zst",
                     self.collector_of("/usr/bin/git")],
            "xz": ["xz", "-T2", "-1", "-k", "-c", self.collector_of("/usr/bin/git")],
            "git": ["git", "-C", source, "fsck", "--connectivity-only", "--no-progress"],
            "openssl rsa2048": ["openssl", "speed", "-seconds", "1", "rsa2048"],
            "openssl sha256": ["openssl", "speed", "-seconds", "1", "-bytes", "1024", "-evp", "sha256"],
            "C++ exceptions": [f"{self.targets}/throwing", f"{self.targets}/libthrowing.so"],
        }
        print("\nreal programs, 5000 samples/s: stacks that end early, "
              "and samples without any (system time that no tick hit)")
        for name, command in commands.items():
            if not shutil.which(command[0]):
                print(f"  {name:20} not installed")
                continue
            headers = self.sampled(command, 5000)
            samples = sum(h["samples"] for h in headers)
            early, none = (sum(h["losses"][i] for h in headers) for i in (3, 2))
            print(f"  {name:20} {samples:7} samples in {len(headers):3} images: "
                  f"{early:3} end early ({100 * early / max(1, samples):.3f} %), {none} without a stack")

    @staticmethod
    def collector_of(path):
        return path if os.path.exists(path) else sys.executable

    def coverage(self, runs):
        """
        Counts how often the 95 % interval of a function's share, as `fastgate view` prints it,
        contains the truth in short runs.
        """
        held = 0
        for _ in range(runs):
            self.fresh_output()
            env = {**os.environ, "LD_PRELOAD": self.collector,
                   "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out",
                   "FASTGATE_COLLECTOR_PERIOD": "250000"}
            said = subprocess.run([f"{self.targets}/shares", "60"],
                                  env=env, capture_output=True, text=True, check=True).stdout
            told = dict(line.split() for line in said.splitlines())
            truth = float(told["work_a"]) / (float(told["work_a"]) + float(told["work_b"]))
            table = subprocess.run([self.fastgate, "view", "--csv", "--focus", "^work_[ab] ",
                                    f"{self.scratch}/out"],
                                   capture_output=True, text=True, check=True).stdout
            row = next(row for row in csv.DictReader(table.splitlines()) if row["name"] == "work_a")
            away = abs(float(row["inclusive_share"]) - truth)
            held += away <= 1.959964 * float(row["inclusive_share_error"])
        sigma = 100 * (0.95 * 0.05 / runs) ** 0.5
        print(f"\nintervals: the stated 95 % interval contains the truth in {100 * held / runs:.1f} % "
              f"of {runs} runs (1 sigma of that: {sigma:.1f} %)")

    def truth(self, name, functions, runs, arguments=(), look_ns=1e6):
        """
        Counts how often a share lies within 3 sigma of the program's own measurement. Sigma is binomial:
        a sample of the first function stands for look_ns, and a sample of the second stands for a
        period.
        """
        inside, shares, true_shares, system, rusage = 0, [], [], [], []
        for _ in range(runs):
            self.fresh_output()
            env = {**os.environ, "LD_PRELOAD": self.collector,
                   "FASTGATE_COLLECTOR_OUTPUT": f"{self.scratch}/out"}
            said = subprocess.run([f"{self.targets}/{name}"] + list(arguments),
                                  env=env, capture_output=True, text=True, check=True).stdout
            told = dict(line.split() for line in said.splitlines())
            known = [float(told[function]) for function in functions]
            folded = subprocess.run([self.fastgate, "export", "--format", "folded",
                                     f"{self.scratch}/out"],
                                    capture_output=True, text=True, check=True, env=os.environ).stdout
            seen = [0.0, 0.0]
            for line in folded.splitlines():
                stack, _, weight = line.rpartition(" ")
                for i, function in enumerate(functions):
                    if function in stack.split(";"):
                        seen[i] += float(weight)
            share, true_share = seen[0] / sum(seen), known[0] / sum(known)
            look = (1 - true_share) * look_ns + true_share * 1e6
            sigma = (true_share * (1 - true_share) * look / sum(seen)) ** 0.5
            inside += abs(share - true_share) <= 3 * sigma
            shares.append(share)
            true_shares.append(true_share)
            for header in self.headers():
                system.append(header["system_ns"] / max(1, header["user_ns"] + header["system_ns"]))
                rusage.append(header["end_system_ns"]
                              / max(1, header["end_user_ns"] + header["end_system_ns"]))
        print(f"  {' '.join([name, *arguments]):16} {inside} of {runs} runs within 3 sigma; means: "
              f"share {100 * statistics.mean(shares):.2f} %,"
              f" in truth {100 * statistics.mean(true_shares):.2f} %; "
              f"system time {100 * statistics.mean(system):.2f} % of all, by getrusage"
              f" {100 * statistics.mean(rusage):.2f} %")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    build = os.path.abspath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    intervals = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(build, scratch)
        bench.walks()
        bench.handlers(1000, 12)
        bench.handlers(10000, 12)
        for rate in (100, 1000, 10000) if rounds else ():
            bench.cost(rate, rounds)
        if rounds:
            bench.worst(10000, rounds)
            bench.real()
        if runs:
            print("\nshares of programs whose truth is known")
            bench.truth("lockstep", ("two_thirds", "one_third"), runs)
            bench.truth("short_threads", ("work_in_thread", "work_in_main"), runs)
            bench.truth("burst", ("work_alone", "work_together"), runs)
            # the kernel measures system time by its ticks
            bench.truth("kernel", ("read_in_turn", "work_in_turn"), runs, ("mixed",),
                        look_ns=1e9 * time.clock_getres(CLOCK_MONOTONIC_COARSE))
        if intervals:
            bench.coverage(intervals)


if __name__ == "__main__":
    main()
