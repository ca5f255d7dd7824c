#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The include rule of docs/architecture.md: which room may include which, and who may use which outside library."""

import pathlib
import re
import sys

BELOW_STORE = {"base", "model"}

# room: the rooms it may include besides itself
ROOMS = {
    "base": set(),
    "model": {"base"},
    "stats": {"base"},
    "collector": set(),
    "symbols": {"base"},
    "profile": {"base", "model", "symbols"},
    "views": {"base", "model", "symbols", "profile"},
    "exchange": {"base", "model", "symbols", "profile"},
    "config": {"base", "model"},
    "runner": {"base", "model"},
    "gate": {"base", "model", "stats"},
    "store": BELOW_STORE,
    "reporters": BELOW_STORE,
    "perfdb/client": {"base", "model"},
    "perfdb/server": BELOW_STORE | {"stats", "store", "reporters", "gate"},
    "perfdb": {"base"},
    "cli": {"base", "model", "stats", "symbols", "profile", "views", "exchange", "config", "runner", "gate", "store", "reporters", "perfdb/client"},
}

# single headers that are shared across a border
SHARED_HEADERS = {
    "collector": {"base/attrs.h", "include/fastgate/region.h", "fastgate/region.h"},
    "symbols": {"collector/trace_format.h"},
    "profile": {"collector/trace_format.h"},
    "runner": {"collector/collector_env.h"},
    "cli": {"collector/collector_env.h", "collector/trace_format.h", "perfdb/protocol.h"},
    "perfdb/client": {"perfdb/protocol.h"},
    "perfdb/server": {"perfdb/protocol.h"},
}

# outside library: the rooms that may see its headers
LIBRARIES = {
    r"cjson/": {"base"},
    r"yaml\.h": {"config"},
    r"sqlite3\.h": {"store"},
    r"libpq-fe\.h": {"store"},
    r"curl/": {"perfdb/client"},
    r"microhttpd\.h": {"perfdb/server"},
    r"zstd\.h": {"symbols", "store", "perfdb/client", "perfdb/server"},
    r"zlib\.h": {"base", "symbols", "perfdb/server"},
    r"(elfutils/|dwarf\.h|libelf\.h|gelf\.h)": {"symbols"},
    r"lzma\.h": {"symbols"},
    r"libunwind": set(),
    r"cmocka\.h": set(),
}

INCLUDE = re.compile(r'\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def room_of(path):
    parts = path.split("/")
    two = "/".join(parts[:2])
    return two if two in ROOMS else parts[0]


def breach(room, header, quoted):
    """Why this include is not allowed here, or None."""
    if not quoted:
        for pattern, rooms in LIBRARIES.items():
            if re.match(pattern, header) and room not in rooms:
                return f"{room}/ may not use <{header}>"
        return None
    target = room_of(header)
    if target == room or target in ROOMS[room] or header in SHARED_HEADERS.get(room, ()):
        return None
    if target not in ROOMS and "/" not in header:
        return f'includes are written from the root: "{header}"'
    return f"{room}/ may not include {header}"


def main():
    root = pathlib.Path(sys.argv[1])
    bad = 0
    seen = set()
    for top in sorted({room.split("/")[0] for room in ROOMS}):
        for path in sorted((root / top).rglob("*.[ch]")):
            name = str(path.relative_to(root))
            room = room_of(name)
            seen.add(room)
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                why = match and breach(room, match[1] or match[2], match[1] is not None)
                if why:
                    print(f"{name}:{number}: {why}")
                    bad = 1
    if "base" not in seen:
        print(f"{root}: no sources found")
        bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
