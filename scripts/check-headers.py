#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
check-headers.py ROOT BUILD_FOLDER: checks that every header of the rooms compiles alone and can be
included twice.

The build shows this for every header that a source includes before anything else. The few other
headers are compiled here, with the flags of a source in their room.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

from rooms import read_rooms, room_of, sources

DIRECTIVE = re.compile(r"^\s*#\s*(\w+)\s*(\S*)\s*(.*)$", re.M)
GUARD = re.compile(r"^\s*#\s*(?:pragma once|ifndef (\w+)\s*\n\s*#\s*define \1$)", re.M)
# collector/arch/arch.h includes the header for the target's architecture.
INSIDE_ANOTHER = "collector/arch/"


def first_include(text):
    """The header that a source includes before any other directive."""
    found = DIRECTIVE.search(text)
    return found[2].strip('"<>') if found and found[1] == "include" else None


def read_commands(root, build):
    """{our source: the words of its compile command}."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(root) and not path.is_relative_to(build):
            found.setdefault(str(path.relative_to(root)), entry)
    return found


def words_alone(entry):
    """The source's compile command, changed to check standard input and write nothing."""
    words = shlex.split(entry["command"])
    for option in ("-o", "-c", "-MT", "-MF"):
        if option in words:
            at = words.index(option)
            del words[at:at + 2]
    words = [word for word in words if word not in ("-MD", "-MMD")]
    return [*words, "-fsyntax-only", "-Werror", "-x", "c", "-"]


def entry_for(header, commands, root, rooms):
    """
    A source in the header's room that is compiled like the room. Build tools do not count, because
    they include none of our headers.
    """
    ours = {source: entry for source, entry in commands.items()
            if f"-I{root} " in entry["command"] and source.endswith(".c")}
    room = room_of(header, rooms)
    return next((entry for source, entry in ours.items() if room_of(source, rooms) == room),
                next(iter(ours.values()), None))


def alone(header, entry):
    """The compiler's messages about the header, or ""."""
    done = subprocess.run(words_alone(entry), input=f'#include "{header}"\n#include "{header}"\n',
                          capture_output=True, text=True, cwd=entry["directory"], check=False)
    return "" if done.returncode == 0 else done.stderr


def main():
    root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    rooms = read_rooms(root)
    commands = read_commands(root, build)
    shown = {first_include((root / name).read_text(encoding="utf-8")) for name in commands
             if name.endswith(".c")}
    headers = [(name, text) for name, text in sources(root, {**rooms, "include": None}, (".h",))
               if not name.startswith(INSIDE_ANOTHER)]
    bad = 0
    for name, text in headers:
        if not GUARD.search(text):
            print(f"{name}: it cannot be included twice: no include guard or #pragma once")
            bad = 1
    rest = [name for name, _ in headers if name not in shown]
    for name in rest:
        said = alone(name, entry_for(name, commands, root, rooms))
        if said:
            print(f"{name} does not compile alone:\n{said}")
            bad = 1
    print(f"{len(headers)} headers; {len(headers) - len(rest)} stand first in a source, "
          f"{len(rest)} were compiled")
    return bad or (0 if headers and commands else 1)


if __name__ == "__main__":
    sys.exit(main())
