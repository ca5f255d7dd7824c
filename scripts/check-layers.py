#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks #include lines: cmake/rooms.json defines which rooms and libraries a room may include.
"""

import re
import sys

from rooms import TABLE, read_rooms, room_of, sources

# Library name in cmake/rooms.json: how its headers are included.
LIBRARY_HEADERS = {
    "cJSON": r"cjson/",
    "libyaml": r"yaml\.h",
    "sqlite3": r"sqlite3\.h",
    "libpq": r"libpq-fe\.h",
    "libcurl": r"curl/",
    "libarchive": r"archive(_entry)?\.h",
    "libmicrohttpd": r"microhttpd\.h",
    "libzstd": r"zstd\.h",
    "zlib": r"zlib\.h",
    "liblzma": r"lzma\.h",
    "libdw": r"(elfutils/|dwarf\.h|libelf\.h|gelf\.h)",
    "Zydis": r"Zydis/",
    "libunwind": r"libunwind",
    "cmocka": r"cmocka\.h",
}

INCLUDE = re.compile(r'\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def breach(rooms, room, header, quoted):
    """The reason why this include is not allowed here, or None."""
    law = rooms[room]
    if not quoted:
        for library, pattern in LIBRARY_HEADERS.items():
            if re.match(pattern, header) and library not in law.libraries:
                return f"{room}/ may not use <{header}>"
        return None
    target = room_of(header, rooms)
    if target == room or target in law.rooms or header in law.headers:
        return None
    if target is None and "/" not in header:
        return f'includes are written from the root: "{header}"'
    return f"{room}/ may not include {header}"


def main():
    root = sys.argv[1]
    rooms = read_rooms(root)
    bad = 0
    seen = set()
    for name, text in sources(root, rooms):
        room = room_of(name, rooms)
        if room is None:
            continue
        seen.add(room)
        for number, line in enumerate(text.splitlines(), 1):
            match = INCLUDE.match(line)
            why = match and breach(rooms, room, match[1] or match[2], match[1] is not None)
            if why:
                print(f"{name}:{number}: {why}")
                bad = 1
    if "base" not in seen:
        print(f"{root}: no room base/ in {TABLE}, or no sources in it")
        bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
