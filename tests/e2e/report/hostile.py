#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
hostile.py FASTGATE MAKE_STORE: a run whose names are attacks (markup, quotes, control characters, broken
UTF-8, a template of 60 KB) goes through every command and format: text is UTF-8 without control
characters, JSON and XML parse, and standard error stays empty.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

from checks import call, failures, finish_in_scratch

FASTGATE, MAKE_STORE = map(os.path.abspath, sys.argv[1:3])
# Commands that GitHub's runner obeys, wherever they are in a log.
ORDER = re.compile(r"^\s*::|##\[", re.M)
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
REPORTS = ("terminal", "json", "junit", "markdown", "comment", "html", "github", "gitlab", "csv",
           "csv-raw")
VIEWS = ("flat", "callgraph", "top-down", "bottom-up", "lines", "libraries", "classes", "namespaces",
         "files", "paths")
EXPORTS = ("folded", "json", "tables")
SIDE = ("--side", "candidate")


def text_of(arguments):
    done = call(FASTGATE, *arguments, text=False)
    said = done.stderr.decode(errors="replace")
    unexpected = said and not said.startswith("comparing ")
    if done.returncode != 0 or unexpected or ORDER.search(said) or CONTROL.search(said):
        failures.append(f"{arguments}: exit code {done.returncode}, {said[:300]!r}")
    try:
        text = done.stdout.decode("utf-8")
    except UnicodeDecodeError as error:
        failures.append(f"{arguments}: {error}")
        return ""
    found = CONTROL.search(text)
    if found:
        failures.append(f"{arguments}: control character {found.group()!r} at "
                        f"{text[max(0, found.start() - 40):found.end()]!r}")
    return text


def words_of(arguments):
    """Checks that a format whose output may end up in a CI log contains no commands for the runner."""
    found = ORDER.search(text_of(arguments))
    if found:
        failures.append(f"{arguments}: an order to the runner: {found.group()!r}")


def parses(arguments, parse):
    text = text_of(arguments)
    try:
        parse(text)
    except (ValueError, SyntaxError, csv.Error) as error:
        failures.append(f"{arguments}: {error}")


def same_width(text):
    widths = {len(row) for row in csv.reader(io.StringIO(text), strict=True)}
    if len(widths) != 1:
        raise ValueError(f"records of {sorted(widths)} cells")


PARSERS = {"json": json.loads, "junit": xml.etree.ElementTree.fromstring, "csv": same_width,
           "csv-raw": same_width}


def main():
    csv.field_size_limit(1 << 20)
    os.mkdir(".fastgate")
    subprocess.run([MAKE_STORE, ".fastgate/store.db", "hostile"], check=True)
    runs = text_of(("runs",))
    if "019" not in runs:
        failures.append(f"runs: {runs!r}")
    first = json.loads(text_of(("report", "--json")))["benchmarks"][0]["name"]
    bench = ("--bench", first, *SIDE)
    for name in REPORTS:
        parses(("report", "--format", name), PARSERS.get(name, str))
    for name in EXPORTS:
        parses(("export", "--format", name, *bench), PARSERS.get(name, str))
    for name in VIEWS:
        words_of(("view", "--view", name, *bench))
        parses(("view", "--view", name, "--json", *bench), json.loads)
        parses(("view", "--view", name, "--csv", *bench), str)
    parses(("graph", "--format", "dot", *bench), str)
    words_of(("report",))
    words_of(("report", "--verbose"))
    words_of(("show",))
    words_of(("compare", "latest", "latest"))
    words_of(("history", "--", first))
    parses(("runs", "--json"), json.loads)
    parses(("compare", "latest", "latest", "--json"), json.loads)


finish_in_scratch(main)
