# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE SOURCES ROUNDS.

Some programs measure the shares of their functions themselves. z is the difference between the
sampled share and that truth, in standard deviations for the same number of equal samples. The cost
is the part of its work that a busy program loses per second of CPU time while it is sampled 100
times a second, or at the highest rate of the tool.
"""
import json
import math
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

FASTGATE, SOURCES, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.path.insert(0, f"{SOURCES}/tests/support")

from pythons import interpreters  # noqa: E402

TRUTHS = (("shares", ["1500"], "work_a", "work_b"), ("lockstep", [], "two_thirds", "one_third"),
          ("two_threads", [], "work_left", "work_right"))
LEAVES = f"{SOURCES}/bench/outside/two_leaves.py"
BUSY = ("8", "30", "3000")


def build(folder, name, source):
    subprocess.run(["gcc", "-g", "-O2", f"-I{SOURCES}", f"-I{SOURCES}/include", source,
                    "-o", f"{folder}/{name}", "-pthread"], check=True)


def told(text):
    return {words[0]: float(words[1]) for words in map(str.split, text.splitlines()) if len(words) == 2}


def names(document, stack):
    stacks, frames, functions = document["stacks"], document["frames"], document["functions"]
    while stack:
        yield functions[frames[stacks["frame"][stack]]["function"]]["name"]
        stack = stacks["parent"][stack]


def share(folder, first, second):
    """The share of the first of two functions, and the number of equal samples with the same error."""
    document = json.loads(subprocess.run([FASTGATE, "--quiet", "export", "-F", "json", folder],
                                         stdout=subprocess.PIPE, check=True).stdout)
    sums, squares = {first: 0, second: 0}, 0
    for sample in document["samples"]:
        for name in set(names(document, sample["stack"])) & set(sums):
            sums[name] += sample["value"]
            squares += sample["value"] ** 2
    total = sum(sums.values())
    return sums[first] / total, total ** 2 / squares


def truth_programs(folder):
    """
    Builds the programs; yields (name, command, first function, second function) for each program.
    """
    for name, words, first, second in TRUTHS:
        build(folder, name, f"{SOURCES}/tests/targets/{name}.c")
        yield name, [f"{folder}/{name}", *words], first, second
    for version, python in {version: path for path, version in interpreters().items()}.items():
        yield f"python{version}", [python, LEAVES, "1500"], "leaf_a", "leaf_b"


def truths(folder):
    print(f"{'shares':<14} truth  found   worth      z")
    scores = []
    for name, command, first, second in truth_programs(folder):
        for _ in range(ROUNDS):
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
                subprocess.run([FASTGATE, "--quiet", "record", "--pid", str(program.pid), "--rate",
                                "500", "--budget", "50%", "-o", f"{folder}/traces"], check=True)
                truth = told(program.communicate()[0])
            truth = truth[first] / (truth[first] + truth[second])
            found, worth = share(f"{folder}/traces", first, second)
            scores.append((found - truth) / math.sqrt(truth * (1 - truth) / worth))
            print(f"  {name:<12} {truth:5.3f}  {found:5.3f}  {worth:6.0f}  {scores[-1]:+5.2f}")
    print(f"  root mean square of z {math.sqrt(statistics.fmean(z * z for z in scores)):.2f} (1 is "
          f"chance), largest {max(map(abs, scores)):.2f}\n")


def looked_at(folder, words, repeat):
    """Looks at the program until it ends; returns its output and the number of looks."""
    looks, said = 0, ""
    with subprocess.Popen([f"{folder}/busy", *BUSY], stdout=subprocess.PIPE, text=True) as program:
        while words and program.poll() is None:
            said = subprocess.run([word.format(pid=program.pid) for word in words],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  check=False).stderr
            looks += 1
            if not repeat:
                break
        return told(program.communicate()[0]), looks, said


def costs(folder):
    build(folder, "busy", f"{SOURCES}/bench/outside/busy.c")
    tools = {"alone": ([], False),
             "fastgate": ([FASTGATE, "record", "--pid", "{pid}", "--rate", "100",
                           "-o", f"{folder}/traces"], False),
             "perf record -p": (["perf", "record", "-q", "-g", "-F", "100", "-p", "{pid}",
                                 "-o", f"{folder}/perf.data"], False),
             "gdb -p": (["gdb", "-q", "-batch", "-p", "{pid}", "-ex", "thread apply all bt"], True),
             "eu-stack": (["eu-stack", "-p", "{pid}"], True),
             "py-spy": (["py-spy", "dump", "--native", "--pid", "{pid}"], True)}
    print(f"{BUSY[0]} threads, {BUSY[1]} deep{'':<6} looks a s   turns lost   99 % of gaps below")
    results = {tool: [] for tool, (words, _) in tools.items() if not words or shutil.which(words[0])}
    for _ in range(ROUNDS):
        for tool, found in results.items():
            found.append(looked_at(folder, *tools[tool]))
    base = statistics.median(result["turns"] for result, _, _ in results["alone"])
    for tool, (words, repeat) in tools.items():
        if tool not in results:
            print(f"  {tool:<20} not installed")
            continue
        turns, pause = (statistics.median(result[key] for result, _, _ in results[tool])
                        for key in ("turns", "pause"))
        looks = statistics.median(looks for _, looks, _ in results[tool]) * 1000 / float(BUSY[2])
        often = f"{looks:.1f}" if repeat else "at 100" if words else ""
        print(f"  {tool:<20} {often:>9}   {100 * (1 - turns / base):8.1f} %   {pause / 1000:8.2f} ms")
    stops = [re.search(r"stopped threads (\d+) times?; 99 % of the stops lasted at most (.*)", said)
             for _, _, said in results["fastgate"]]
    print("  fastgate's stops, and the time that 99 % of them took at most: "
          + "; ".join(f"{stop[1]}: {stop[2]}" for stop in stops if stop))


with tempfile.TemporaryDirectory(prefix="fastgate-bench-") as where:
    truths(where)
    costs(where)
