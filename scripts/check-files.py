#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks that the files of a room do not form a cycle, that every exported name is used, that an fg_
tag names one type, and that the tests in Python follow their rules and are all called.

A source depends on another source if it names one of the other's functions or objects; a header
depends on the headers that it includes. A cycle is printed with the name that causes each step.
"""

import ast
import collections
import pathlib
import re
import sys

from rooms import blank, read_rooms, room_of, sources
from sources import files_of

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
NAME = re.compile(r"\b[A-Za-z_]\w*\b")
# As clang-format lays it out, a definition starts in the first column, and its brace is alone on a
# line.
FUNCTION = re.compile(r"^(?!static\b|typedef\b|extern\b)[A-Za-z_][^;{}()=#\n]*?\b(\w+)\([^;{}]*?\)\n\{",
                      re.M)
OBJECT = re.compile(r"^(?!static\b|typedef\b|extern\b)(?:const |struct |_Atomic |unsigned |\w+ "
                    r"|\*)+(\w+)(?:\[[^\]]*\])* =", re.M)
# A long return type is on its own line.
TYPE_ALONE = re.compile(r"^([A-Za-z_][\w *]*)\n(?=\w+\()", re.M)
# A call in assembly, which is a string in C.
CALLED = re.compile(r'^"\tcall (fg_\w+)\\n"', re.M)

# A tag is not a call: `struct fg_post` is different from the function fg_post().
TAG = re.compile(r"\b(?:struct|enum|union)\s+\w+")
TYPE = re.compile(r"^(?:struct|enum|union)\s+(fg_\w+)\s*\{", re.M)

# Names that are exported only for tests: to check every row of a table, or to set up a state directly.
FOR_TESTS = {
    "fg_reporter_table": "every reporter is held to the rules of all",
    "fg_profile_push": "profiles made by hand",
}

# Functions whose names a macro pastes together (a row of cli/framework/commands.def), and functions
# that start files or generated code call.
PASTED = re.compile(r"fg_cmd_|__gmon_start__|__cyg_profile_func_|__fentry__")

PYTHON = re.compile(r"^#!.*python")
MAX_COLUMNS = 105
MAX_LINES_OF_TEST = 400
# A function of C, as a test writes it into a string.
C_FUNCTION = re.compile(r"\b(?:int|void|unsigned|long|double)[ *]+\w+\([^(){};]*\)\s*\{")
MAX_BODY_LINES = 3


def exported(code):
    """The functions and objects that a source defines for other sources."""
    for pattern in (FUNCTION, OBJECT):
        for match in pattern.finditer(TYPE_ALONE.sub(r"\1 ", code)):
            if not re.search(r"\bstatic\b", match[0]):
                yield match[1]


def read(root):
    """
    Returns the rooms; {file: its text without comments}; {source: names it exports, except names
    that assembly calls}; {header: headers it includes}; {tag: files that define a type of that
    name}.
    """
    rooms = read_rooms(root)
    texts, defined, includes = {}, {}, {}
    types = collections.defaultdict(set)
    theirs = interposed(root)
    for name, text in sources(root, rooms):
        theirs.update(CALLED.findall(text))
    for name, text in sources(root, rooms):
        texts[name] = blank(text)
        for tag in TYPE.findall(texts[name]):
            types[tag].add(name)
        if name.endswith(".c"):
            defined[name] = set(exported(texts[name])) - theirs
            texts[name] = TAG.sub(" ", texts[name])
        else:
            includes[name] = set(INCLUDE.findall(text))
    return rooms, texts, defined, includes, types


def interposed(root):
    """
    C library functions that the collector replaces: other code that names them means the C library's.
    """
    lists = (pathlib.Path(root) / "tests/lint" / name
             for name in ("collector-exports.txt", "collector-counting-exports.txt"))
    return {word for path in lists if path.exists() for word in path.read_text(encoding="utf-8").split()}


def steps(rooms, texts, defined, includes):
    """{file: {other file of the room: why}}."""
    graph = {header: {other: f"includes {other}" for other in others}
             for header, others in includes.items()}
    by_room = collections.defaultdict(dict)
    for file, names in defined.items():
        by_room[room_of(file, rooms)].update({name: file for name in names})
    for file in defined:
        owner = by_room[room_of(file, rooms)]
        graph[file] = {}
        for name in sorted(set(NAME.findall(texts[file])) & owner.keys()):
            if owner[name] != file:
                graph[file].setdefault(owner[name], f"names {name} of {owner[name]}")
    return graph


def shortest_circle(graph, start):
    """The files on the shortest cycle through `start`, or None."""
    came_from = {start: None}
    queue = collections.deque([start])
    while queue:
        at = queue.popleft()
        for other in sorted(graph.get(at, ())):
            if other == start:
                way = [at]
                while came_from[way[-1]] is not None:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if other not in came_from:
                came_from[other] = at
                queue.append(other)
    return None


def circles(graph):
    told = set()
    for file in sorted(graph):
        way = shortest_circle(graph, file)
        if way is None or told & set(way):
            continue
        told |= set(way)
        yield way


def unused(root, texts, defined):
    """
    Exported names that no other source of the product or of bench/ uses. A name that its own source
    uses may also be exported for tests.
    """
    entered, measured = set(), set()
    for top, names in (("tests", entered), ("bench", measured)):
        for path in (pathlib.Path(root) / top).rglob("*.[ch]"):
            names |= set(NAME.findall(blank(path.read_text(encoding="utf-8"))))
    places = collections.defaultdict(set)
    for name, code in texts.items():
        for word in set(NAME.findall(code)):
            places[word].add(name)
    for file in sorted(defined):
        for name in sorted(defined[file] - measured):
            if PASTED.match(name) or name in FOR_TESTS or any(
                    not place.endswith(".h") or uses(texts[place], name)
                    for place in places[name] - {file}):
                continue
            called_at_home = len(re.findall(rf"\b{name}\b", texts[file])) > 1
            if not called_at_home:
                yield file, f"nothing in the product uses {name}: remove it"
            elif name not in entered:
                yield file, f"{name} is used here only: make it static"


def uses(code, name):
    """Does this header use the name in a macro or an inline function, instead of only declaring it?"""
    return re.search(rf"^#.*\b{name}\b|^\t.*\b{name}\(|\\\n.*\b{name}\b", code, re.M)


def strings(text):
    """(line, contents) of each string of a Python source, without what f-strings insert."""
    inside = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            parts = (part.value for part in node.values if isinstance(part, ast.Constant))
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def is_c_program(text):
    """Is the text a C program, or does it have a function with a body of more than three lines?"""
    if "#include <" in text and "main(" in text:
        return True
    found = C_FUNCTION.search(text)
    return found and text[found.end():].strip().count("\n") > MAX_BODY_LINES


def python_files(root):
    for name in files_of(root) or ():
        path = pathlib.Path(root) / name
        if name.endswith(".py") or (not path.suffix and is_python(path)):
            yield name, path.read_text(encoding="utf-8")


def uncalled(root):
    """(file, reason) of each function at the top level of a test that no Python file calls."""
    texts = dict(python_files(root))
    count = collections.Counter(word for text in texts.values() for word in NAME.findall(text))
    for name, text in texts.items():
        for function in re.findall(r"^def (\w+)", text, re.M) if name.startswith("tests/") else ():
            if count[function] == 1:
                yield name, f"nothing calls {function}: call it or remove it"


def python_rules(root):
    """(file, reason) of Python that is too wide, tests that are too long, and C programs in tests."""
    for name, text in python_files(root):
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            columns = len(line.expandtabs(8))
            if columns > MAX_COLUMNS:
                yield f"{name}:{number}", f"{columns} columns: Python keeps to {MAX_COLUMNS}"
        if not name.startswith("tests/"):
            continue
        if len(lines) > MAX_LINES_OF_TEST:
            yield name, f"{len(lines)} lines: split it by subject ({MAX_LINES_OF_TEST})"
        for number, contents in strings(text):
            if is_c_program(contents):
                yield f"{name}:{number}", "a C program in a string: make it a file below tests/targets"


def is_python(path):
    with path.open(encoding="utf-8", errors="replace") as file:
        return PYTHON.match(file.readline(80))


def main():
    root = sys.argv[1]
    rooms, texts, defined, includes, types = read(root)
    graph = steps(rooms, texts, defined, includes)
    bad = 0
    for way in circles(graph):
        bad = 1
        print("a cycle of files:")
        for at, to in zip(way, way[1:] + way[:1]):
            print(f"  {at} {graph[at][to]}")
    for file, why in unused(root, texts, defined):
        bad = 1
        print(f"{file}: {why}")
    for tag in sorted(tag for tag, files in types.items() if len(files) > 1):
        bad = 1
        print(f"{tag} is a type in each of {', '.join(sorted(types[tag]))}: rename all but one")
    for place, why in (*python_rules(root), *uncalled(root)):
        bad = 1
        print(f"{place}: {why}")
    if not texts:
        print("no sources found")
        bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
