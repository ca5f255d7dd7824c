#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
python_outside.py FASTGATE COMPILER: of a Python program that runs already, its functions and lines are named, with native ones between them.  The
program knows by which functions each of its leaves is called; every sample in a leaf must have just these.  It is run by every interpreter of a
known version that is found, once a version, and by one that is linked into a static program, where that can be built.
"""
import glob
import os
import shutil
import subprocess
import sys

import folded
from checks import call, check, finish_in_scratch, write
from pythons import interpreters

FASTGATE = os.path.abspath(sys.argv[1])
COMPILER = sys.argv[2]
FOLDER = "record"
ROUNDS = 400  # of a recording, at most

LIBRARY = """static volatile unsigned sink;
__attribute__((noinline)) void gemm(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i * i; }
__attribute__((noinline)) void call_back(void (*function)(void)) { function(); sink++; }
"""

# Without ctypes, for an interpreter that has no room for extension modules.
PROGRAM = '''import os, sys, threading

def work(n):
    total = 0
    for i in range(n * 50):
        total += i & 7
    return total

def leaf_once(): work(10)
def leaf_sorted(x): work(2); return -x
def leaf_generated(): work(4)
def leaf_method(): work(10)
def leaf_deep(): work(10)
def leaf_thread(): work(10)
def leaf_called_back(): work(10)

def once(): leaf_once()
def sorting(): sorted(range(5), key=leaf_sorted)
def generate():
    for _ in range(3):
        leaf_generated()
        yield 1
def generating(): sum(generate())
class Model:
    def __getattr__(self, name): leaf_method(); return 1
    def step(self): return self.missing
def modelling(): Model().step()
def down(n): return down(n - 1) if n else leaf_deep()
def recursing(): down(300)
def made_up():
    for i in range(10):
        space = {"work": work}
        exec(compile(f"def made_{i}():\\n    work(2)\\nmade_{i}()\\n", f"made_{i}.py", "exec"), space)
        space.clear()
def in_a_thread():
    while True: leaf_thread()
PARTS = [once, sorting, generating, modelling, recursing, made_up]
if "native" in sys.argv:
    import ctypes
    native = ctypes.CDLL("./libnative.so")
    CALLBACK = ctypes.CFUNCTYPE(None)(leaf_called_back)
    def calling_back(): native.call_back(CALLBACK)
    def multiply(): native.gemm(ctypes.c_uint(20000))
    PARTS += [calling_back, multiply]
def main():
    threading.Thread(target=in_a_thread, daemon=True).start()
    print("ready", flush=True)
    while os.getppid() == PARENT:
        for part in PARTS: part()
PARENT = os.getppid()
main()
'''

WAITING = '''import os, threading
def reader(end): os.read(end, 1)
def both(ends):
    reader(ends[0])
def sleeper(lock):
    lock.acquire()
lock = threading.Lock()
lock.acquire()
threading.Thread(target=sleeper, args=(lock,), daemon=True).start()
print("ready", flush=True)
both(os.pipe())
'''

# By whom each leaf is called, from the outside to the inside: Python functions, and native ones of the library.
CALLERS = {
    "leaf_once": ["main", "once"], "leaf_sorted": ["main", "sorting"],
    "leaf_generated": ["main", "generating", "generate"],
    "leaf_method": ["main", "modelling", "Model.step", "Model.__getattr__"],
    "leaf_deep": ["main", "recursing"] + ["down"] * 301,
    "leaf_thread": ["in_a_thread"],
}
NATIVE_CALLERS = {"leaf_called_back": ["main", "calling_back", "call_back"], "gemm": ["main", "multiply"]}
KNOWN = {name for callers in ({**CALLERS, **NATIVE_CALLERS}).values() for name in callers} | set(CALLERS) | set(NATIVE_CALLERS)
PYTHON = KNOWN - {"main", "call_back", "gemm"}  # of these there are native ones, too


def record(*words):
    shutil.rmtree(FOLDER, ignore_errors=True)
    done = call(FASTGATE, "record", "-o", FOLDER, *words)
    check(done.returncode == 0, f"{words}: {done.returncode}: {done.stdout}{done.stderr}")


def stacks(*options):
    """(functions from the outside to the inside, samples) of each call path."""
    return folded.stacks(FASTGATE, "--samples", *options, trace=FOLDER)


def running(python, *words):
    """The program, when it has said that it is there."""
    process = subprocess.Popen([python, *words], stdout=subprocess.PIPE, text=True)
    check(process.stdout.readline() == "ready\n", f"{python} {words} does not run")
    return process


def end(process):
    process.kill()
    process.wait()
    process.stdout.close()


def judge(python, callers, met):
    """Adds the samples of each leaf of a recording, of which every one must be called as it is."""
    for names, count in stacks():
        met["all"] = met.get("all", 0) + count
        met["bare"] = met.get("bare", 0) + (count if "_PyEval_EvalFrameDefault" in names else 0)
        for leaf in (name for name in names if name in callers):
            above = [name for name in names[:names.index(leaf)] if name in KNOWN]
            met[leaf] = met.get(leaf, 0) + count
            check(above == callers[leaf], f"{python}: {leaf} is called by {above}, in {';'.join(names)}")
        if "_PyEval_EvalFrameDefault" in names and PYTHON & set(names):
            met["beside"] = met.get("beside", 0) + count
        made = [name for name in names if name.startswith("made_") and name != "made_up"]
        met["made"] = met.get("made", set()) | set(made)


def every_leaf_has_its_callers(python, process, callers):
    """However slow the machine is: recorded until each was met."""
    met = {}
    for _ in range(ROUNDS):
        record("--pid", str(process.pid), "--duration", "300ms", "--rate", "1000", "--budget", "50%")
        judge(python, callers, met)
        if set(callers) <= set(met) and len(met["made"]) >= 3:
            break
    check(set(callers) <= set(met), f"{python}: never met: {set(callers) - set(met)}")
    check(len(met["made"]) >= 3, f"{python}: of functions at the addresses of others only {met['made']}")
    # An evaluation has no function yet in its first instructions.
    check(met.get("beside", 0) <= 2 + met["all"] / 50, f"{python}: {met.get('beside')} of {met['all']} samples have an evaluation beside Python functions")
    # Code that is given up at once, as of made_up(), may be gone before its name is read.
    check(met["bare"] <= 2 + met["all"] / 4, f"{python}: {met['bare']} of {met['all']} samples have no Python function")


def lines_are_those_of_the_source(python):
    source = PROGRAM.splitlines()
    lines = {int(place.rpartition(":")[2]) for names, _ in stacks("--by", "line") for place in names if place.startswith("program.py:")}
    loop = {source.index("    for i in range(n * 50):") + 1, source.index("        total += i & 7") + 1}
    check(loop & lines and all(0 < line <= len(source) for line in lines), f"{python}: {sorted(lines)}")


def switched_off(python, process):
    record("--pid", str(process.pid), "--duration", "300ms", "--rate", "1000", "--budget", "50%", "--python", "off")
    names = {name for names, _ in stacks() for name in names}
    check(not names & PYTHON, f"{python}: --python off: {sorted(names & PYTHON)}")


def waiting_threads_have_their_lines(python):
    process = running(python, "waiting.py")
    wanted = {("both", "reader"), ("sleeper",)}
    met = set()
    for _ in range(ROUNDS):
        record("--pid", str(process.pid), "--duration", "200ms", "--clock", "wall")
        met |= {tuple(name for name in names if name in ("both", "reader", "sleeper")) for names, _ in stacks()}
        if wanted <= met:
            break
    end(process)
    check(wanted <= met, f"{python}: waiting: {met}")


def attached(python):
    process = running(python, "program.py", "native")
    every_leaf_has_its_callers(python, process, {**CALLERS, **NATIVE_CALLERS})
    lines_are_those_of_the_source(python)
    switched_off(python, process)
    end(process)
    waiting_threads_have_their_lines(python)


def linked_into_a_static_program():
    """It exports nothing, and nothing can be preloaded into it: `record` samples it from outside by itself."""
    library = next(iter(glob.glob("/usr/lib/python3.1[123]/config-*/libpython3.1[123].a")), None)
    write("embedding.c", "int Py_BytesMain(int, char **);\nint main(int argc, char **argv) { return Py_BytesMain(argc, argv); }\n")
    built = call(COMPILER, "-static", "-o", "embedding", "embedding.c", library, "-lexpat", "-lz", "-lm", "-ldl", "-lpthread",
                 "-lutil") if library else None
    if not built or built.returncode != 0 or "ready" not in call("./embedding", "-c", "import threading; print('ready')").stdout:
        print("no static interpreter can be built here: not tried")
        return
    process = running("./embedding", "program.py")
    every_leaf_has_its_callers("static", process, CALLERS)
    end(process)
    write("short.py", "def work(n):\n    t = 0\n    for i in range(n): t += i & 7\ndef main(): work(5000000)\nmain()\n")
    record("--rate", "1000", "--budget", "50%", "--", "./embedding", "short.py")
    check(any(names[-2:] == ["main", "work"] for names, _ in stacks()), f"static, started by us: {list(stacks())[:5]}")


def body():
    write("native.c", LIBRARY)
    call(COMPILER, "-O1", "-g", "-shared", "-fPIC", "-o", "libnative.so", "native.c", check=True)
    write("program.py", PROGRAM)
    write("waiting.py", WAITING)
    found = interpreters()
    if not found:
        print("no Python 3.11, 3.12 or 3.13 here")
        sys.exit(77)
    for python in {version: path for path, version in found.items()}.values():
        attached(python)
    linked_into_a_static_program()


finish_in_scratch(body)
