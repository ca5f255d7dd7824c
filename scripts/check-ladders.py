#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions return early on failure: refuses ladders of `if (status == FG_OK) status = next(...);`.

A ladder is two such steps in a row in one block, or one right before `return status;`. One step
before a clean-up is not a ladder.
"""

import re
import sys

import sources

STEP = re.compile(r"^(\t+)if \(status == FG_OK(?: &&|\))")
COMMENT = re.compile(r"^\s*(/\*|\*|$)")


def end_of_statement(lines, start):
    """The line after the `if` at `start`, or None if an `else` follows."""
    indent = re.match(r"\t*", lines[start]).group()
    at = start + 1
    while at < len(lines) and (lines[at].startswith(indent + "\t") or lines[at].startswith(indent + " ")
                               or not lines[at].strip()):
        at += 1
    if at < len(lines) and lines[at] == indent + "}":
        at += 1
    if at < len(lines) and re.match(r"\t*(\} )?else\b", lines[at]):
        return None
    return at


def statements_from(lines, at):
    """The number of the next line of code, that line, and the one after it."""
    while at < len(lines) and COMMENT.match(lines[at]):
        at += 1
    return at, *(lines[at:at + 2] + ["", ""])[:2]


def ladders(lines):
    for number, line in enumerate(lines):
        step = STEP.match(line)
        after = end_of_statement(lines, number) if step else None
        if after is None:
            continue
        indent = step.group(1)
        at, following, then = statements_from(lines, after)
        is_last = following == f"{indent}return status;"
        is_left_late = (following == f"{indent}if (status != FG_OK)"
                        and then == f"{indent}\treturn status;")
        is_step = following.startswith(f"{indent}if (status == FG_OK") and end_of_statement(lines, at)
        if is_step or is_last or is_left_late:
            yield number + 1


def problems(_, text):
    for number in ladders(text.splitlines()):
        yield number, "failures leave early: `if (status != FG_OK) return status;`"


if __name__ == "__main__":
    sys.exit(sources.check(sys.argv[1], lambda name: name.endswith(".c"), problems))
