#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
together.py MOST < LIST: groups sources that the compiler can read in one run, because no name of
one source has another meaning in the others.

Each line of LIST is a target and one of its sources. Each line of output is a target, a number and
a source: sources of a target with the same number form a group, of at most MOST. Two sources are
kept apart if both have a private function, variable, type or constant of the same name, or if a
macro of one occurs anywhere in the other. A conflict that this misses is a compile error.
"""
import pathlib
import re
import sys

NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)")
STATIC = re.compile(r"^static\b[^;=\[({]*?(?:\(\*)?(\w+)\s*(?!\(\*)[;=\[()]", re.M)
ORDER = re.compile(r"^(?:FG_ORDER_BY|FG_TEST(?:_IN)?|FG_SERVER_TEST)\((\w+)", re.M)
TYPE = re.compile(r"^(?:static )?(?:const )?(?:struct|union|enum) (\w+) \{", re.M)
CONSTANTS = re.compile(r"^(?:static )?(?:const )?enum(?: \w+)? \{(.*?)\}", re.M | re.S)
CONSTANT = re.compile(r"(?:^|,)\s*(\w+)")
WORD = re.compile(r"[A-Za-z_]\w*")


class Source:
    """A source's own names, its macros, and every word in it."""

    def __init__(self, path):
        text = ATTRIBUTE.sub("", NOT_CODE.sub(" ", pathlib.Path(path).read_text(encoding="utf-8")))
        self.path = path
        self.macros = set(MACRO.findall(text))
        self.names = {*self.macros, *STATIC.findall(text), *ORDER.findall(text), *TYPE.findall(text)}
        for constants in CONSTANTS.findall(text):
            self.names.update(CONSTANT.findall(constants))
        self.words = set(WORD.findall(text))

    def fits(self, other):
        return not (self.names & other.names or self.macros & other.words or other.macros & self.words)


def groups_of(paths, most):
    """[[path]]: puts each source into the first group that has room for it."""
    groups = []
    for source in map(Source, paths):
        for group in groups:
            if len(group) < most and all(source.fits(other) for other in group):
                group.append(source)
                break
        else:
            groups.append([source])
    return [[source.path for source in group] for group in groups]


def main():
    most = int(sys.argv[1])
    targets = {}
    for line in sys.stdin:
        target, path = line.rstrip("\n").split(" ", 1)
        targets.setdefault(target, []).append(path)
    for target, paths in targets.items():
        for number, group in enumerate(groups_of(sorted(paths), most)):
            for path in group:
                print(target, number, path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
