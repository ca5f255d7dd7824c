#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
together.py MOST < LIST: which sources the compiler can read in one go, without a name of one meaning something else in another.

Each line of LIST is a target and a source of it; each line of the answer is a target, a number and a source, and what has the same number
of the same target goes together, MOST sources at most.  Two sources stay apart if both have a function, variable, type or constant of
their own with the same name, or if one has a macro that stands anywhere in the other.  What this misses is a compiler's error.
"""
import pathlib
import re
import sys

NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)")
STATIC = re.compile(r"^static\b[^;=\[({]*?(?:\(\*)?(\w+)\s*(?!\(\*)[;=\[()]", re.M)
TYPE = re.compile(r"^(?:static )?(?:const )?(?:struct|union|enum) (\w+) \{", re.M)
CONSTANTS = re.compile(r"^(?:static )?(?:const )?enum(?: \w+)? \{(.*?)\}", re.M | re.S)
CONSTANT = re.compile(r"(?:^|,)\s*(\w+)")
WORD = re.compile(r"[A-Za-z_]\w*")


class Source:
    """A file's own names, its macros, and every word in it."""

    def __init__(self, path):
        text = ATTRIBUTE.sub("", NOT_CODE.sub(" ", pathlib.Path(path).read_text(encoding="utf-8")))
        self.path = path
        self.macros = set(MACRO.findall(text))
        self.names = {*self.macros, *STATIC.findall(text), *TYPE.findall(text)}
        for constants in CONSTANTS.findall(text):
            self.names.update(CONSTANT.findall(constants))
        self.words = set(WORD.findall(text))

    def fits(self, other):
        return not (self.names & other.names or self.macros & other.words or other.macros & self.words)


def groups_of(paths, most):
    """[[path]]: each goes to the first group that has room for it."""
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
