# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE SOURCES ROUNDS.

The cost is the part of its work that a busy program loses per second of CPU time while it is sampled 100
times a second, or at the highest rate of the tool.
"""
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

FASTGATE, SOURCES, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
BUSY = ("8", "30", "3000")


def build(folder, name, source):
    subprocess.run(["gcc", "-g", "-O2", f"-I{SOURCES}", f"-I{SOURCES}/include", source,
                    "-o", f"{folder}/{name}", "-pthread"], check=True)


def told(text):
    return {words[0]: float(words[1]) for words in map(str.split, text.splitlines()) if len(words) == 2}


def looked_at(folder, words, repeat):
    """
    Runs the tool on the program, again and again if `repeat`; returns the program's figures, the number
    of times, and the tool's messages.
    """
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
             "gdb -p": (["gdb", "-q", "-batch", "-p", "{pid}", "-ex", "thread apply all bt"], True)}
    print(f"{BUSY[0]} threads, {BUSY[1]} deep{'':<6}  stacks/s    work lost   99 % of gaps below")
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
    print("  number of stops by fastgate, and the 99th percentile of their duration: "
          + "; ".join(f"{stop[1]}: {stop[2]}" for stop in stops if stop))


with tempfile.TemporaryDirectory(prefix="fastgate-bench-") as where:
    costs(where)
