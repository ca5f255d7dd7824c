#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
mutants.py BUILD_FOLDER SECONDS [ROOM...]: do the unit tests notice when the code is wrong?

Each mutant is a room (gate and stats, unless others are named) with one operator or constant of one line changed: < becomes <=, + becomes -,
&& becomes ||, 3 becomes 4, true becomes false.  A mutant is killed when it does not compile or a unit test of its room fails, crashes or
hangs.  They are tried in a random order that is always the same, for SECONDS; survivors are printed with their place, to be read: each is a
behaviour that no test states, or a change that makes no difference.  Fewer than 90 % killed is a failure.
"""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from rooms import blank  # noqa: E402

ROOMS = ("gate", "stats")
KILLED_MIN = 0.9
HANG_FACTOR, HANG_MIN_S = 20, 30
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*",
         "+=": "-=", "-=": "+=", "*=": "/=", "++": "--", "true": "false", "false": "true"}
# Binary operators have blanks around them (clang-format); * before a name is usually a pointer.
PLACE = re.compile(r"(?<= )(?:<=|>=|==|!=|&&|\|\||<|>|\+=|-=|\*=|\+|-|/|\*)(?= )|\+\+|\b(?:true|false)\b|(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
# Lines that state no behaviour: what the preprocessor reads, assertions, and buffers' sizes.
LEFT_OUT = re.compile(r"^\s*#|FG_ASSERT|char \w+\[|_SIZE\b|snprintf|fg_error_set|fg_x(?:calloc|malloc|realloc)|fg_grow")


class Room:
    """How a room's sources are compiled, archived and linked into its tests."""

    def __init__(self, build, name):
        self.build, self.name = build, name
        self.archive = f"{name}/libfg_{name}.a"
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        self.compile = {entry["file"]: entry["command"] for entry in commands if f" {name}/CMakeFiles/fg_{name}.dir/" in entry["command"]}
        self.links = {}
        for test in sorted((build / "tests/unit" / name).glob(f"test_unit_{name}_*")):
            target = str(test.relative_to(build))
            done = subprocess.run(["ninja", "-C", str(build), "-t", "commands", target], capture_output=True, text=True, check=True)
            self.links[target] = done.stdout.strip().splitlines()[-1]
        self.seconds = {}

    def mutants(self):
        """(file, line number, column, old, new) of everything that can be changed."""
        for file in sorted(self.compile):
            text = pathlib.Path(file).read_text(encoding="utf-8")
            lines = blank(text).splitlines()
            for number, line in enumerate(lines):
                if LEFT_OUT.search(line):
                    continue
                for match in PLACE.finditer(line):
                    old = match[0]
                    new = SWAPS.get(old) or (str(int(old) + 1) if old.isdigit() else str(2 * float(old) or 1.0))
                    yield file, number, match.start(), old, new

    def try_tests(self, work, archive):
        """The name of the first test that fails when linked with this archive; None: all pass.  The quick ones come first."""
        for target in sorted(self.links, key=lambda name: self.seconds.get(name, 0)):
            program = work / "program"
            words = self.links[target].replace(self.archive, str(archive)).replace(f"-o {target}", f"-o {program}")
            if subprocess.run(["sh", "-c", words], cwd=self.build, capture_output=True, check=False).returncode != 0:
                return target
            began = time.monotonic()
            limit = max(HANG_MIN_S, HANG_FACTOR * self.seconds.get(target, HANG_MIN_S))
            try:
                code = subprocess.run([program], cwd=work, capture_output=True, check=False, timeout=limit).returncode
            except subprocess.TimeoutExpired:
                return target
            self.seconds.setdefault(target, time.monotonic() - began)
            if code not in (0, 77):
                return target
        return None

    def survives(self, mutant):
        file, number, column, old, new = mutant
        with tempfile.TemporaryDirectory(prefix="fastgate-mutant-") as name:
            work = pathlib.Path(name)
            lines = pathlib.Path(file).read_text(encoding="utf-8").splitlines(keepends=True)
            lines[number] = lines[number][:column] + new + lines[number][column + len(old):]
            source = work / pathlib.Path(file).name
            source.write_text("".join(lines), encoding="utf-8")
            command = shlex.split(self.compile[file])
            made = pathlib.Path(command[command.index("-o") + 1]).name
            command[command.index("-o") + 1] = str(work / made)
            command[command.index("-c") + 1] = str(source)
            command = [word for word in command if word not in ("-MD", "ccache")] + ["-Wno-error"]
            if subprocess.run(command, cwd=self.build, capture_output=True, check=False).returncode != 0:
                return False
            archive = work / pathlib.Path(self.archive).name
            shutil.copy(self.build / self.archive, archive)
            subprocess.run(["ar", "r", str(archive), str(work / made)], check=True, capture_output=True)
            return self.try_tests(work, archive) is None


def try_room(build, name, seconds):
    """(killed, tried) mutants."""
    room = Room(build, name)
    with tempfile.TemporaryDirectory(prefix="fastgate-mutant-") as work:
        failing = room.try_tests(pathlib.Path(work), build / room.archive)
    if failing:
        sys.exit(f"mutants: {failing} fails without a mutant")
    mutants = list(room.mutants())
    random.Random(1).shuffle(mutants)
    end = time.monotonic() + seconds
    killed = tried = 0

    def judge(mutant):
        return (mutant, room.survives(mutant)) if time.monotonic() < end else None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for judged in filter(None, pool.map(judge, mutants)):
            mutant, survived = judged
            tried += 1
            killed += not survived
            if survived:
                file, number, column, old, new = mutant
                line = pathlib.Path(file).read_text(encoding="utf-8").splitlines()[number].strip()
                print(f"survived: {pathlib.Path(file).relative_to(ROOT)}:{number + 1}:{column + 1}: {old} -> {new}   {line}", flush=True)
    print(f"{name}: {killed} of {tried} mutants killed, {len(mutants)} there are", flush=True)
    return killed, tried


def main():
    build, seconds = pathlib.Path(sys.argv[1]).resolve(), float(sys.argv[2])
    rooms = sys.argv[3:] or ROOMS
    found = [try_room(build, room, seconds / len(rooms)) for room in rooms]
    killed, tried = (sum(column) for column in zip(*found))
    print(f"{killed} of {tried} mutants killed: {100 * killed / max(1, tried):.0f} %")
    return 0 if tried and killed >= KILLED_MIN * tried else 1


if __name__ == "__main__":
    sys.exit(main())
