#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
mutants.py BUILD_FOLDER SECONDS [--count N] [--jobs N] [ROOM|FILE...]: do the unit tests notice when
the code is wrong?

Each mutant is a source folder (a room: by default gate and gate/statistics; arguments name rooms or
files in rooms) with one operator or constant changed in one line: < becomes <=, + becomes -, && becomes
||, 3 becomes 4, true becomes false. A mutant is killed when a unit test of its room fails, crashes or
takes five times as long; a change that does not compile does not count. The mutants are tried in a
random but fixed order, for SECONDS or until N were tried, so the mutants tried are a random sample.
Survivors are printed with their place, for people to read: each is a behaviour that no test covers, or a
change that makes no difference. Changes that were found to make no difference are listed in
equivalent-mutants.txt with the reason, and are not tried; an entry whose line is gone is an error. Fewer
than 90 % killed mutants are a failure.
"""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
EQUIVALENTS = pathlib.Path(__file__).with_name("equivalent-mutants.txt")
sys.path.insert(0, str(ROOT / "scripts"))
from rooms import blank  # noqa: E402
from visible_symbols import make_visible  # noqa: E402

ROOMS = ("gate", "gate/statistics")
KILLED_MIN = 0.9
LIBRARY = "libmutant.so"
SKIPPED = 77
# A test hangs if it takes HANG_FACTOR times as long as usual, and HANG_MIN_S seconds at least, of
# CPU time, which does not depend on other load.
HANG_FACTOR, HANG_MIN_S = 5, 2
# As in `./dev test`, sanitizers find faults that no assertion does. The address sanitizer limits a
# test's memory.
SANITIZE = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
SHARED = ["-O1", *SANITIZE, "-shared", f"-Wl,-soname,{LIBRARY}"]
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "hard_rss_limit_mb=2048:max_allocation_size_mb=1024"}
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
         "+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=",
         "++": "--", "true": "false", "false": "true"}
# Binary operators have spaces around them (clang-format); * before a name is usually a pointer.
PLACE = re.compile(r"(?<= )(?:<=|>=|==|!=|&&|\|\||<|>|\+=|-=|\*=|\+|-|/|\*)(?= )"
                   r"|\+\+|\b(?:true|false)\b|(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
# Lines without behaviour to test: preprocessor lines, assertions, and sizes of buffers.
LEFT_OUT = re.compile(r"^\s*#\s*(?!define)|FG_ASSERT|char \w+\[|_SIZE\b|snprintf|fg_error_set"
                      r"|fg_x(?:calloc|malloc|realloc)|fg_arena_array|fg_grow")

# The declared size of an array does not matter either, if it is large enough or only the size of
# its elements is used.
BOUND = re.compile(r"\b(?:struct \w+|\w+_t|double|float|bool|char|int|unsigned) (?:\*|const )*\w+\[$"
                   r"|\bsizeof\([\w.>-]+\[$|char ?\(\*\w+\)\[$")

Mutant = collections.namedtuple("Mutant", "file line column old new")


def read_equivalents(path):
    """
    Reads lines "FILE | OLD -> NEW [#N] | TEXT | REASON"; returns {(file, line's text, old, new,
    which of these on the line): place in the list}.
    """
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ")]
        swap = re.fullmatch(r"(\S+) -> (\S+)(?: #(\d+))?", fields[1]) if len(fields) > 3 else None
        if not swap or not fields[-1]:
            sys.exit(f"mutants: {path.name}:{number}: 'FILE | OLD -> NEW [#N] | TEXT | REASON' expected")
        key = (fields[0], " | ".join(fields[2:-1]), swap[1], swap[2], int(swap[3] or 1))
        found[key] = f"{path.name}:{number}"
    return found


class Room:
    """Commands that compile a room's sources, archive them and link them into its tests."""

    def __init__(self, build, name):
        self.build, self.name = build, name
        library = f"fg_{name.replace('/', '_')}"
        tests = name.rpartition("/")[2]
        self.archive = f"{name}/lib{library}.a"
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        self.compile = {entry["file"]: entry["command"] for entry in commands
                        if f" {name}/CMakeFiles/{library}.dir/" in entry["command"]}
        self.files = sorted(self.compile)
        # With sanitizers, an arena makes every allocation separately, so that overruns are noticed.
        self.arena = str(ROOT / "base/arena.c")
        self.compile.update((entry["file"], entry["command"])
                            for entry in commands if entry["file"] == self.arena)
        # The files may be edited during the run, so they are read once.
        self.lines = {file: pathlib.Path(file).read_text(encoding="utf-8").splitlines(keepends=True)
                      for file in self.files}
        self.links = {}
        for test in sorted((build / "tests/unit" / tests).glob(f"test_unit_{tests}_*")):
            target = str(test.relative_to(build))
            done = subprocess.run(["ninja", "-C", str(build), "-t", "commands", target],
                                  capture_output=True, text=True, check=True)
            self.links[target] = done.stdout.strip().splitlines()[-1]
        self.seconds = {}
        self.kills = collections.Counter()
        self.statements = set()  # (file, line)
        # (file, line) or (file, None): the tests that execute this line, or any line of the file
        self.executing = collections.defaultdict(set)
        # the folder is removed with the last reference to this object
        self.folder = tempfile.TemporaryDirectory(prefix="fastgate-mutants-")
        self.kept = pathlib.Path(self.folder.name)
        self.programs = {}
        self.lock = threading.Lock()

    def mutants(self, files):
        for file in files:
            for number, line in enumerate(blank("".join(self.lines[file])).splitlines()):
                if LEFT_OUT.search(line):
                    continue
                for match in PLACE.finditer(line):
                    if BOUND.search(line[:match.start()]):
                        continue
                    old = match[0]
                    new = SWAPS.get(old) or (str(int(old) + 1) if old.isdigit()
                                             else str(2 * float(old) or 1.0))
                    yield Mutant(file, number, match.start(), old, new)

    def run_test(self, program, target, work):
        """Runs the test and returns its exit code."""
        limit = max(HANG_MIN_S, math.ceil(HANG_FACTOR * self.seconds.get(target, 60)))
        words = ["sh", "-c", f'ulimit -t {limit} && exec "$0"', program]
        environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": str(work)}
        return subprocess.run(words,
                              cwd=work, capture_output=True, env=environment, check=False).returncode

    def link(self, target, program, objects, flags):
        """Links the test with these objects in place of the room's archive."""
        words = self.links[target].replace(self.archive, shlex.join(map(str, objects)))
        words = words.replace(f"-o {target}", f"{shlex.join(flags)} -o {program}")
        return subprocess.run(["sh", "-c", words],
                              cwd=self.build, capture_output=True, check=False).returncode == 0

    def compiles(self, file, source, made, flags):
        """
        Compiles the source in place of the room's file: into an object, or into a library if the
        flags say so.
        """
        command = shlex.split(self.compile[file])
        command[command.index("-o") + 1] = str(made)
        command[command.index("-c") + 1] = str(source)
        left_out = {"-MD", "ccache", "-fvisibility=hidden", *(["-c"] if "-shared" in flags else [])}
        command = [word for word in command
                   if word not in left_out and not re.fullmatch(r"-[gOW].*", word)] + ["-w", *flags]
        return subprocess.run(command, cwd=self.build, capture_output=True, check=False).returncode == 0

    def measure(self, files):
        """
        Measures the duration of each test and the lines that it executes; exits if a test fails
        without a mutant.
        """
        with tempfile.TemporaryDirectory(prefix="fastgate-mutant-") as name:
            work = pathlib.Path(name)
            objects = {file: work / f"{pathlib.Path(file).stem}.o" for file in files}
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                list(pool.map(lambda file: self.compiles(file, file, objects[file],
                                                         ["-O0", "--coverage"]), objects))
            for target in self.links:
                for counters in work.glob("*.gcda"):
                    counters.unlink()
                program = work / "program"
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                linked = self.link(target, program, [*objects.values(), self.archive], ["--coverage"])
                if not linked or self.run_test(program, target, work) not in (0, SKIPPED):
                    sys.exit(f"mutants: {target} fails without a mutant")
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                self.seconds[target] = (after.ru_utime - before.ru_utime
                                        + after.ru_stime - before.ru_stime)
                self.read_counters(target, work)

    def read_counters(self, target, work):
        for counters in work.glob("*.gcda"):
            done = subprocess.run(["gcov", "--json-format", "--stdout", counters.name],
                                  cwd=work, capture_output=True, check=True)
            for found in json.loads(done.stdout)["files"]:
                for line in found["lines"]:
                    self.statements.add((found["file"], line["line_number"] - 1))
                    if line["count"]:
                        self.executing[found["file"], line["line_number"] - 1].add(target)
                        self.executing[found["file"], None].add(target)

    def tests_of(self, mutant):
        """
        Tests that execute the line. A line without a statement, such as a constant, has the tests
        that execute any line of the file.
        """
        line = mutant.line if (mutant.file, mutant.line) in self.statements else None
        return self.executing[mutant.file, line]

    def visible(self, archive):
        """A copy of the archive, made once, without hidden symbols."""
        copy = self.kept / archive.replace("/", "_")
        if not copy.exists():
            copy.write_bytes(make_visible((self.build / archive).read_bytes()))
        return copy

    def parts_of(self, file):
        """Replaces the room's archive with this file's library and an archive of all other files."""
        name = pathlib.Path(file).stem
        folder = self.kept / name
        library, rest, arena = folder / LIBRARY, folder / "rest.a", self.kept / "arena.o"
        if not folder.exists():
            folder.mkdir()
            made = self.compiles(file, file, library, SHARED)
            if not made or not arena.exists() and not self.compiles(self.arena, self.arena, arena,
                                                                    ["-O1", *SANITIZE]):
                sys.exit(f"mutants: {file} or base/arena.c does not compile")
            shutil.copy(self.visible(self.archive), rest)
            subprocess.run(["ar", "d", str(rest), f"{name}.c.o"], check=True)
        return library, arena, rest

    def program_of(self, file, target):
        """
        Links the test, once, with everything but the file, which it loads as a library from
        LD_LIBRARY_PATH. Returns the program.
        """
        with self.lock:
            if (file, target) not in self.programs:
                parts = self.parts_of(file)
                program = parts[0].with_name(pathlib.Path(target).name)
                words = self.links[target].replace(self.archive, shlex.join(map(str, parts)))
                words = words.replace(f"-o {target}",
                                      f"{shlex.join(SANITIZE)} -Wl,--no-as-needed -o {program}")
                words = re.sub(r"(?<= )(?!/)(\S+\.a)(?= )",
                               lambda found: str(self.visible(found[1])), words)
                done = subprocess.run(["sh", "-c", words],
                                      cwd=self.build, capture_output=True, text=True, check=False)
                if done.returncode:
                    sys.exit(f"mutants: {target} cannot be linked: {done.stderr[-2000:]}")
                self.programs[file, target] = program
            return self.programs[file, target]

    def try_tests(self, mutant, work):
        """
        Returns the name of the first test that fails with this library, or "". Quick tests that
        have killed mutants of this file come first.
        """
        def cost(target):
            return (self.seconds[target] + 0.05) / (0.02 + self.kills[mutant.file, target])

        for target in sorted(self.tests_of(mutant), key=cost):
            if self.run_test(self.program_of(mutant.file, target), target, work) not in (0, SKIPPED):
                self.kills[mutant.file, target] += 1
                return target
        return ""

    def killer(self, mutant):
        """The test that kills the mutant; "" if none does, None if the mutant does not compile."""
        with tempfile.TemporaryDirectory(prefix="fastgate-mutant-") as name:
            work = pathlib.Path(name)
            lines = list(self.lines[mutant.file])
            line = lines[mutant.line]
            rest = line[mutant.column + len(mutant.old):]
            lines[mutant.line] = line[:mutant.column] + mutant.new + rest
            source = work / pathlib.Path(mutant.file).name
            source.write_text("".join(lines), encoding="utf-8")
            if not self.compiles(mutant.file, source, work / LIBRARY, SHARED):
                return None
            return self.try_tests(mutant, work)


class Tally:
    """Killed and tried mutants, by file."""

    def __init__(self):
        self.killed, self.tried = collections.Counter(), collections.Counter()
        self.lock = threading.Lock()

    def add(self, room, mutant, killer):
        file = str(pathlib.Path(mutant.file).relative_to(ROOT))
        with self.lock:
            self.tried[file] += 1
            self.killed[file] += bool(killer)
            if not killer:
                line = room.lines[mutant.file][mutant.line].strip()
                which = "survived" if room.tests_of(mutant) else "not executed"
                print(f"{which}: {file}:{mutant.line + 1}:{mutant.column + 1}: "
                      f"{mutant.old} -> {mutant.new}   {line}", flush=True)

    def show(self):
        """Prints the result; returns whether enough mutants were killed."""
        killed, tried = self.killed.total(), self.tried.total()
        for file in sorted(self.tried, key=lambda name: self.killed[name] / self.tried[name]):
            print(f"{file:32} {self.killed[file]:4} of {self.tried[file]:4} killed")
        if not tried:
            print("no mutant was tried")
            return False
        low, high = wilson(killed, tried)
        print(f"{killed} of {tried} mutants killed: {100 * killed / tried:.1f} % (95 %: "
              f"{100 * low:.1f} to {100 * high:.1f} %)")
        return killed >= KILLED_MIN * tried


def wilson(hits, tries):
    """The 95 % interval of a rate."""
    z = 1.96
    middle = (hits + z * z / 2) / (tries + z * z)
    half = z / (tries + z * z) * math.sqrt(hits * (tries - hits) / tries + z * z / 4)
    return middle - half, middle + half


def choose(build, names):
    """
    (room, mutant) pairs of these rooms and files, in random order; and the number of equivalent
    mutants left out.
    """
    found = []
    for name in dict.fromkeys(name.split("/")[0] for name in names):
        room = Room(build, name)
        if not room.files or not room.links:
            sys.exit(f"mutants: no sources or no unit tests of '{name}' in {build}")
        wanted = [file for file in room.files
                  if name in names or str(pathlib.Path(file).relative_to(ROOT)) in names]
        room.measure(wanted)
        found += [(room, mutant) for mutant in room.mutants(wanted)]
    kept = without_equivalents(found, read_equivalents(EQUIVALENTS), names)
    random.Random(1).shuffle(kept)
    return kept, len(found) - len(kept)


def without_equivalents(mutants, equivalents, names):
    """
    The mutants that are not in the list of equivalent ones; exits if an entry of the list has no mutant.
    """
    kept, used, seen = [], set(), collections.Counter()
    for room, mutant in sorted(mutants, key=lambda pair: pair[1]):
        file = str(pathlib.Path(mutant.file).relative_to(ROOT))
        text = room.lines[mutant.file][mutant.line].strip()
        seen[mutant.file, mutant.line, mutant.old] += 1
        key = (file, text, mutant.old, mutant.new, seen[mutant.file, mutant.line, mutant.old])
        if key in equivalents:
            used.add(key)
        else:
            kept.append((room, mutant))
    for key, place in equivalents.items():
        if key not in used and (key[0] in names or key[0].split("/")[0] in names):
            sys.exit(f"mutants: {place}: {key[0]} has no line '{key[1]}' with {key[2]} -> {key[3]}")
    return kept


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("names", nargs="*", default=ROOMS)
    parser.add_argument("--count", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_intermixed_args()
    mutants, equivalent = choose(asked.build.resolve(), asked.names)
    print(f"{len(mutants)} mutants, without {equivalent} that are known to make no difference",
          flush=True)
    end = time.monotonic() + asked.seconds
    tally = Tally()

    def judge(pair):
        room, mutant = pair
        if time.monotonic() < end:
            killer = room.killer(mutant)
            if killer is not None:
                tally.add(room, mutant, killer)

    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(judge, mutants[:asked.count]))
    return 0 if tally.show() else 1


if __name__ == "__main__":
    sys.exit(main())
