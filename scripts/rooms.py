# SPDX-License-Identifier: Apache-2.0
"""The rooms of the house, as the table of docs/architecture.md has them, and the sources in them."""

import pathlib
import re

PAGE = "docs/architecture.md"
ROW = re.compile(r"\|\s*`([a-z_/]+)/`\s*\|[^|]*\|([^|]*)\|([^|]*)\|")
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)


class Room:
    """One row: which rooms and which single headers it may include, and which outside libraries it may use."""

    def __init__(self, may_include, libraries):
        self.headers = set(re.findall(r"`([^`]+\.h)`", may_include))
        plain = re.sub(r"`[^`]*`", "", may_include)
        self.rooms = set(re.findall(r"[a-z_]+(?:/[a-z_]+)*", plain))
        self.libraries = {name.strip() for name in libraries.split(",")} - {"–", ""}


def read_rooms(root):
    """{folder: Room}, in the order of the page."""
    text = (pathlib.Path(root) / PAGE).read_text(encoding="utf-8")
    rooms = {}
    for line in text.splitlines():
        match = ROW.match(line)
        if match:
            rooms[match[1]] = Room(match[2], match[3])
    return rooms


def room_of(name, rooms):
    """The innermost room that this path lies in; None: no room."""
    folder = name.rpartition("/")[0]
    while folder and folder not in rooms:
        folder = folder.rpartition("/")[0]
    return folder or None


def sources(root, rooms, suffixes=(".c", ".h")):
    """(name, text) of every C source in the rooms, without what lies in a build folder."""
    root = pathlib.Path(root)
    for top in sorted({room.split("/")[0] for room in rooms}):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in suffixes:
                yield str(path.relative_to(root)), path.read_text(encoding="utf-8")


def blank(text):
    """The text with comments and the insides of literals blanked; line numbers stay."""
    return COMMENT_OR_STRING.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
