#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
counted.py FASTGATE COMPILER: with `measure.also: [heap]` one extra allocation in ten thousand, or one
block that is not freed, fails the run, and the function responsible is named with its call path. The
same program passes. If peak memory fails, the functions that hold more of it are named without being
requested; if the heap does not explain the growth, the report says so.
"""
import os
import sys

from checks import call, check, finish_in_scratch, first_benchmark, git, metric, target, write

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]

CONFIGURATION = f"""version: 1
project: app
build: {{ command: {COMPILER} -g -O1 app.c -o app }}
benchmarks:
  - {{ name: app, command: ./app }}
measure:
  also: [heap]
  schedule: abba
  pairs: {{ min: 4, max: 4 }}
  warmup: 0
  sampler: {{ enabled: false }}
gate:
  metrics:
    heap.allocations: {{ tolerated: 0 }}
    heap.live: {{ tolerated: 0.1% }}
    heap.peak: {{ tolerated: 50% }}
    cpu_time: {{ gated: false }}
    wall_time: {{ gated: false }}
    max_rss: {{ gated: false }}
"""


def gate():
    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "report.json=report.json")
    return done, first_benchmark()


def shown(metric):
    return metric["baseline"], metric["candidate"], metric["verdict"]


def make(loads, held, more=""):
    write("app.c", target("allocating.c", LOADS=loads, HELD=held) + more)


def larger(held, mapped):
    """
    Gates a program that holds more memory than before; returns the output and the benchmark's
    report.
    """
    write("app.c", target("hoarding.c", HELD=held, MAPPED=mapped))
    only_memory = "{max_rss: {gated: true}, cpu_time: {gated: false}, wall_time: {gated: false}}"
    done = call(FASTGATE, "run", "--against", "HEAD", "--pairs", "12:12", "--set", "gate.alpha=0.05",
                "--set", "measure.also=[]", "--set", f"gate.metrics={only_memory}",
                "--set", "report.json=report.json")
    check(done.returncode == 1, f"more memory: {done.returncode}\n{done.stdout}{done.stderr}")
    return done, first_benchmark()


def stored_runs_are_compared_by_count():
    """
    Compares three stored runs: the first made one more allocation than the second, and
    the third held more memory than both.
    """
    for measure, a, b, code, blamed in (("heap.allocations", "latest~1", "latest~2", 1, "load"),
                                        ("heap.allocations", "latest~1", "latest", 0, None),
                                        ("heap.live", "latest~1", "latest", 1, "keep")):
        done = call(FASTGATE, "compare", "--measure", measure, a, b)
        check(done.returncode == code,
              f"compare --measure {measure} {a} {b}: {done.returncode}\n{done.stdout}{done.stderr}")
        check(not blamed or f"main → {blamed}" in done.stdout,
              f"{measure}: {blamed} is not blamed\n{done.stdout}")
        check("cpu time" not in done.stdout, f"{measure} is not judged alone:\n{done.stdout}")
    done = call(FASTGATE, "compare", "--measure", "nothing", "latest~1", "latest")
    check(done.returncode == 2 and "nothing" in done.stderr, f"{done.returncode} {done.stderr}")


def more_memory_is_blamed_on_who_holds_it():
    write("app.c", target("hoarding.c", HELD=1000000, MAPPED=1000000))
    git("commit", "-q", "-a", "-m", "another program")
    done, benchmark = larger(9000000, 1000000)
    blamed = next(one for one in benchmark["measures"] if one["measure"] == "heap.peak")["functions"]
    check((blamed[0]["name"], blamed[0]["standing"], blamed[0]["delta"]) == ("hoard", "guilty", 8000000),
          f"{blamed}")
    check("max rss" in benchmark["answer"]["sentence"] and
          ": hoard app.c:" in benchmark["answer"]["sentence"],
          benchmark["answer"]["sentence"])
    check("the rest is mapped memory" not in done.stdout, done.stdout)
    check([one["measure"] for one in benchmark["measures"]] == ["heap.peak"],
          f"one list tells who holds it: {benchmark['measures']}")
    check("everything else" not in done.stdout, f"nothing is left: {done.stdout}")

    done, benchmark = larger(1000000, 9000000)
    check(not any(one["functions"]
                  for one in benchmark.get("measures", []) if one["measure"] == "heap.peak"),
          f"{benchmark}")
    check("max rss grew by" in done.stdout and
          "the peak of the heap grew by 0 B: the rest is mapped memory" in done.stdout,
          done.stdout)


def body():
    make("5000", "3000")
    write("fastgate.yml", CONFIGURATION)
    write(".gitignore", "app\n.fastgate/\nreport.json\n")
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")

    make("5001", "3000")
    done, benchmark = gate()
    check(done.returncode == 1, f"one allocation more: {done.returncode}\n{done.stdout}{done.stderr}")
    allocations = metric(benchmark, "heap.allocations")
    check(shown(allocations) == (10001, 10002, "regression"), f"{allocations}")
    check("heap.bytes" in {one["name"] for one in benchmark["metrics"]}, "bytes are not shown")
    blamed = benchmark["measures"][0]["functions"]
    check(blamed[0]["name"] == "load" and blamed[0]["measure"] == "heap.allocations", f"{blamed}")
    check("100 %  load" in done.stdout and "main → load" in done.stdout, done.stdout)

    make("4000 + 1000", "3000", "int unused(int a) { return a * 3; }\n")
    done, benchmark = gate()
    check(done.returncode == 0, f"as many allocations: {done.returncode}\n{done.stdout}{done.stderr}")
    check(metric(benchmark, "heap.allocations")["verdict"] == "pass", f"{benchmark['metrics']}")

    make("5000", "3100")
    done, benchmark = gate()
    check(done.returncode == 1, f"more held at the end: {done.returncode}\n{done.stdout}{done.stderr}")
    live, peak = metric(benchmark, "heap.live"), metric(benchmark, "heap.peak")
    check(shown(live) == (3000, 3100, "regression"), f"{live}")
    check(shown(peak) == (3000, 3100, "pass"), f"{peak}")
    blamed = next(one for one in benchmark["measures"] if one["measure"] == "heap.live")["functions"]
    check(blamed[0]["name"] == "keep", f"{blamed}")

    stored_runs_are_compared_by_count()

    done = call(FASTGATE, "run", "--against", "HEAD", "--set", "measure.also=[heat]")
    check(done.returncode == 2 and "heat" in done.stderr, f"an event that is not known: {done}")
    more_memory_is_blamed_on_who_holds_it()


finish_in_scratch(body)
