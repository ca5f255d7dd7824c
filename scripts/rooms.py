#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The rooms listed in cmake/rooms.json, and their sources.

rooms.py ROOT           writes the table of docs/architecture.md
rooms.py ROOT --check   fails if the table differs from cmake/rooms.json
"""

import json
import pathlib
import re
import sys

TABLE = "cmake/rooms.json"
PAGE = "docs/architecture.md"
HEAD = "| folder | its job | may include | libraries |\n|---|---|---|---|\n"
PAGE_TABLE = re.compile(re.escape(HEAD) + r"(?:\|[^\n]*\n)*")
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)


class Room:
    """
    A row of the table: the room's task, the rooms and single headers that it may include, and the
    external libraries that it may use.
    """

    def __init__(self, row):
        self.job = row["job"]
        self.rooms = row["rooms"]
        self.headers = row["headers"]
        self.libraries = row["libraries"]


def read_rooms(root):
    """{folder: Room}, from the bottom up."""
    text = (pathlib.Path(root) / TABLE).read_text(encoding="utf-8")
    return {folder: Room(row) for folder, row in json.loads(text).items()}


def room_of(name, rooms):
    """The innermost room that contains this path, or None."""
    folder = name.rpartition("/")[0]
    while folder and folder not in rooms:
        folder = folder.rpartition("/")[0]
    return folder or None


def sources(root, rooms, suffixes=(".c", ".h")):
    """(name, text) of every C source in the rooms, except in build folders."""
    root = pathlib.Path(root)
    for top in sorted({room.split("/")[0] for room in rooms}):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in suffixes:
                yield str(path.relative_to(root)), path.read_text(encoding="utf-8")


def blank(text):
    """The text with comments and the contents of literals blanked; line numbers stay the same."""
    return COMMENT_OR_STRING.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def page_row(folder, room):
    may_include = room.rooms + [f"`{header}`" for header in room.headers]
    return (f"| `{folder}/` | {room.job} | {', '.join(may_include) or '–'} | "
            f"{', '.join(room.libraries) or '–'} |\n")


def main():
    root = pathlib.Path(sys.argv[1])
    page = root / PAGE
    text = page.read_text(encoding="utf-8")
    table = HEAD + "".join(page_row(folder, room) for folder, room in read_rooms(root).items())
    current, found = PAGE_TABLE.subn(lambda _: table, text)
    if found != 1:
        print(f"{PAGE}: expected one table of rooms, found {found}")
        return 1
    if "--check" not in sys.argv:
        page.write_text(current, encoding="utf-8")
    elif current != text:
        print(f"{PAGE}: the table differs from {TABLE}; ./dev docs writes it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
