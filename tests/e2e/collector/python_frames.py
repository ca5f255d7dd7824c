#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
python_frames.py FASTGATE COLLECTOR COMPILER: a profile of a Python program names its functions and
lines, with native ones between them. The callers of each leaf function are known; every sample in a
leaf must have exactly these callers. The test runs the program with every interpreter of a known
version: the system's, those on the path, and those of FASTGATE_TEST_PYTHONS (paths between colons).
"""
import json
import os
import re
import shutil
import sys

import folded
from checks import call, check, finish_in_scratch, target, write
from pythons import interpreters

FASTGATE, COLLECTOR = map(os.path.abspath, sys.argv[1:3])
COMPILER = sys.argv[3]
FOLDER = "record"

# Each leaf_* does a fixed amount of work; ROUNDS makes it long enough to be sampled a few times.
PROGRAM = '''import ctypes, functools, os, sys, threading, time
ROUNDS = int(sys.argv[1])
native = ctypes.CDLL("./libnative.so")
without_tables = ctypes.CDLL("./libdark.so")

def work(n):
    total = 0
    for i in range(n * ROUNDS):
        total += i & 7
    return total

def leaf_plain(): work(200)
def leaf_once(): work(100)
def leaf_twice(): work(100); work(100)
def leaf_sorted(x): work(2); return -x
def leaf_mapped(x): work(2); return x
def leaf_generated(): work(20)
def leaf_nested(): work(100)
def leaf_method(): work(100)
def leaf_caught(): work(100); raise ValueError("expected")
def leaf_late(): work(100)
def leaf_deep(): work(100)
def leaf_called_back(): work(100)
def leaf_thread_a(): work(100)
def leaf_thread_b(): work(100)
def leaf_child(): work(300)
def leaf_deleted(): work(2)

def plain(): leaf_plain()
def timed(f):
    before = time.thread_time()
    f()
    print(f.__name__, time.thread_time() - before)
def once(): leaf_once()
def twice(): leaf_twice()
def sorting(): sorted(range(60), key=leaf_sorted)
def mapping(): list(map(leaf_mapped, range(60)))
def generate():
    for _ in range(5):
        leaf_generated()
        yield 1
def generating(): sum(generate())
def delegate(): yield from generate()
def delegating(): list(delegate())
def nesting(): return [leaf_nested() for _ in range(1)]
class Model:
    def __getattr__(self, name): leaf_method(); return 1
    def step(self): return self.missing
    def __del__(self): leaf_deleted()
def modelling(): Model().step()
def catching():
    try:
        leaf_caught()
    except ValueError:
        leaf_late()
def down(n): return down(n - 1) if n else leaf_deep()
def recursing(): down(100)
CALLBACK = ctypes.CFUNCTYPE(None)(leaf_called_back)
def calling_back(): native.call_back(CALLBACK)
def multiply(): native.gemm(ctypes.c_uint(2000 * ROUNDS))
def darkness(): without_tables.dark(ctypes.c_uint(2000 * ROUNDS))
def foreign(): native.in_a_thread(ctypes.c_uint(2000 * ROUNDS))
def run_a(): leaf_thread_a()
def run_b(): leaf_thread_b()
def threaded():
    threads = [threading.Thread(target=f) for f in (run_a, run_b)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def forking():
    pid = os.fork()
    if pid == 0:
        leaf_child()
        os._exit(0)
    os.waitpid(pid, 0)
def made_up():
    for i in range(100):
        space = {"work": work}
        exec(compile(f"def made_{i}():\\n    work(2)\\nmade_{i}()\\n", f"made_{i}.py", "exec"), space)
        space.clear()
def main():
    for f in (plain, once, twice, sorting, mapping, generating, delegating, nesting, modelling, catching,
              recursing, calling_back, multiply, darkness, foreign, threaded, forking, made_up):
        timed(f)
main()
'''

# The callers of each leaf, outermost first: Python functions, and native ones of the library.
CALLERS = {
    "leaf_plain": [["main", "plain"]],
    "leaf_once": [["main", "once"]], "leaf_twice": [["main", "twice"]],
    "leaf_sorted": [["main", "sorting"]], "leaf_mapped": [["main", "mapping"]],
    "leaf_generated": [["main", "generating", "generate"],
                       ["main", "delegating", "delegate", "generate"]],
    # Before Python 3.12, a comprehension is a separate function.
    "leaf_nested": [["main", "nesting", "nesting.<locals>.<listcomp>"], ["main", "nesting"]],
    "leaf_method": [["main", "modelling", "Model.step", "Model.__getattr__"]],
    "leaf_deleted": [["main", "modelling", "Model.__del__"]],
    "leaf_caught": [["main", "catching"]], "leaf_late": [["main", "catching"]],
    "leaf_deep": [["main", "recursing"] + ["down"] * 101],
    "leaf_called_back": [["main", "calling_back", "call_back"]],
    "leaf_thread_a": [["run_a"]], "leaf_thread_b": [["run_b"]],
    "leaf_child": [["main", "forking"]],
    "gemm": [["main", "multiply"], ["burn"]],
    "dark": [["main", "darkness"]],
}
KNOWN = {name for chains in CALLERS.values() for chain in chains for name in chain}


def record(*words, options=()):
    shutil.rmtree(FOLDER, ignore_errors=True)
    rate = () if "--measure" in options else ("--rate", "1000")
    done = call(FASTGATE, "record", *rate, *options, "-o", FOLDER, "--", *words,
                env={**os.environ, "FASTGATE_COLLECTOR": COLLECTOR})
    check(done.returncode == 0, f"{words}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def stacks(*options):
    """(functions from the outside to the inside, samples) of each call path."""
    return folded.stacks(FASTGATE, "--samples", *options, trace=FOLDER)


def every_leaf_has_its_callers(python):
    met = {}
    bare, total = 0, 0
    for names, count in stacks():
        total += count
        bare += count if "_PyEval_EvalFrameDefault" in names else 0
        for leaf in (name for name in names if name in CALLERS):
            above = [name for name in names[:names.index(leaf)] if name in KNOWN]
            met[leaf] = met.get(leaf, 0) + count
            check(above in CALLERS[leaf], f"{python}: {leaf} is called by {above}")
        check("_PyEval_EvalFrameDefault" not in names or not KNOWN & set(names),
              f"{python}: an evaluation next to Python functions: {names}")
    # A sample at the beginning of an evaluation has no Python frame yet.
    check(bare <= 2 + total / 50, f"{python}: {bare} of {total} samples have no Python function")
    check(set(CALLERS) - set(met) <= {"leaf_deleted", "leaf_sorted", "leaf_mapped"},
          f"{python}: never met: {set(CALLERS) - set(met)}")


def code_at_the_address_of_other_code_is_distinguished(python):
    """
    Of a hundred functions created one after another, each in the memory of the previous one, those
    that are sampled appear under their own names.
    """
    rows = json.loads(call(FASTGATE, "view", "--json", "--all", FOLDER, check=True).stdout)["rows"]
    made = {row["name"]: row["library"] for row in rows
            if row["name"].startswith("made_") and row["name"] != "made_up"}
    check(len(made) >= 5, f"{python}: of a hundred functions only {sorted(made)}")
    check(all(library == name + ".py" for name, library in made.items()), f"{python}: {made}")


def shares_are_those_of_the_time(python, said):
    """Twice the work does not always take twice the time, so the program measures its own shares."""
    took = dict(line.split() for line in said.splitlines()
                if re.fullmatch(r"(once|twice) [0-9.e-]+", line))
    truth = float(took["twice"]) / float(took["once"])
    samples = {name: 0 for name in ("leaf_once", "leaf_twice")}
    for names, count in stacks():
        for name in samples:
            samples[name] += count if name in names else 0
    once, twice = samples["leaf_once"] * truth, samples["leaf_twice"]
    check(once < 1.8 * twice and twice < 1.8 * once, f"{python}: {samples}, expected 1 to {truth:.2f}")


def lines_are_those_of_the_source(python):
    source = PROGRAM.splitlines()
    numbers = {line.split("(")[0].removeprefix("def "): number for number, line in enumerate(source, 1)
               if line.startswith("def leaf_")}
    places = set()
    for names, _ in stacks("--by", "line"):
        places.update(names)
    lines = {int(place.rpartition(":")[2]) for place in places if place.startswith("program.py:")}
    check({8, 9} <= lines, f"{python}: the loop's lines: {sorted(lines)}")
    for name in ("leaf_plain", "leaf_twice", "leaf_deep", "leaf_child"):
        check(numbers[name] in lines,
              f"{python}: the line of {name}: {numbers[name]} of {sorted(lines)}")
    check(all(0 < line <= len(source) for line in lines), f"{python}: {sorted(lines)}")


def without_python_frames_there_are_native_ones(python):
    record(python, "program.py", "500", options=("--python", "off"))
    names = {name for names, _ in stacks() for name in names}
    check("_PyEval_EvalFrameDefault" in names and not names & {"plain", "work", "leaf_plain"},
          f"{python}: {sorted(names)}")


def deep_stacks_are_cut_in_the_middle(python):
    """
    Python calls need no native stack. Beyond some thousands of calls the middle is left out; far
    beyond, only the native frames remain.
    """
    for depth, cut in ((6000, True), (30000, False)):
        write("deep.py", "import sys\nsys.setrecursionlimit(10**6)\n"
              "def work():\n    t = 0\n    for i in range(3000000): t += i & 7\n"
              f"def down(n): return down(n - 1) if n else work()\ndown({depth})\nprint('done')\n")
        said = record(python, "deep.py")
        check("done" in said, f"{python}: {said}")
        whole = [names for names, _ in stacks() if names[-1] == "work" or "work" in names]
        if cut:
            names = {name for names in whole for name in names}
            check(any(name.startswith("[") and name.endswith(" frames left out]") for name in names),
                  f"{python}: {depth} deep")
            check(whole and all(names.count("down") > 1000 for names in whole),
                  f"{python}: {depth} deep")
        else:
            check(not whole, f"{python}: {depth} deep")


def counts_are_attributed_to_python_lines(python):
    write("heap.py", "def grow(n):\n    return [bytearray(100000) for _ in range(n)]\n"
          "def main():\n    grow(200)\nmain()\n")
    record(python, "heap.py", options=("--measure", "heap"))
    rows = json.loads(call(FASTGATE, "view", "--json", FOLDER, "--measure", "heap.bytes",
                           check=True).stdout)["rows"]
    grown = sum(row["self"] for row in rows if row["name"].startswith("grow"))
    check(20_000_000 <= grown < 21_000_000, f"{python}: {grown} bytes in grow")


def body():
    write("native.c", target("native_library.c"))
    call(COMPILER, "-O1", "-g", "-shared", "-fPIC", "-pthread", "-o", "libnative.so",
         "native.c", check=True)
    write("dark.c", target("dark_library.c"))
    call(COMPILER, "-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables",
         "-fno-unwind-tables", "-shared", "-fPIC", "-o", "libdark.so", "dark.c", check=True)
    write("program.py", PROGRAM)
    found = interpreters()
    if not found:
        print("no Python 3.11, 3.12 or 3.13 here")
        sys.exit(77)
    for python in found:
        said = record(python, "program.py", "10000")
        every_leaf_has_its_callers(python)
        code_at_the_address_of_other_code_is_distinguished(python)
        shares_are_those_of_the_time(python, said)
        lines_are_those_of_the_source(python)
        without_python_frames_there_are_native_ones(python)
        deep_stacks_are_cut_in_the_middle(python)
        counts_are_attributed_to_python_lines(python)


finish_in_scratch(body)
