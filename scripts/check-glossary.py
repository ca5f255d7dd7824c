#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One word per concept: text for people uses the words of docs/glossary.md."""

import re
import sys

import sources

# Words of other tools or of earlier versions, and the word to use instead.
SYNONYMS = {
    r"\bnot (?:yet )?decided\b(?! by)": "not judged (a metric), inconclusive (a verdict)",
    r"\b(?:shown only|only shown)\b": "informational",
    r"\b(?:minimum|minimal|least|smallest) detectable (?:effect|difference)\b|\bMDE\b":
        "smallest detectable change",
    r"\blog (?:in|on) (?:to|with|as)\b|\bsign-on\b|[\"'`]Log ?[io]n[\"'`]": "sign in",
    r"\boffenders?\b": "to blame",
    r"\b(?:call|stack)[ -]?chains?\b": "call path",
    r"\bflame ?charts?\b|\bicicles?\b": "flame graph",
    r"\b(?:reference|control) (?:build|side|arm)\b": "baseline",
    r"\b(?:treatment|contender|experiment) (?:build|side|arm)\b": "candidate",
    r"\bsub-?benchmarks?\b": "benchmark",
    r"\bconfidence (?:interval|band|range)s?\b": "interval",
    r"\bindecisive\b": "inconclusive",
    r"\b(?:results?|runs?) database\b": "store",
    r"[\"'`>](?:Not found|No such page)[\"'`<]": "Page not found",
}
READ_BY_PEOPLE = ("docs/", "README.md")
ROOMS = ("cli/", "config/", "gate/", "reporters/", "perfdb/", "profile/views/", "runner/")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"' + r"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`")
# Exempt: a page that quotes other tools' words, the glossary itself, decisions and the schema.
APART = ("docs/migrating.md", "docs/glossary.md", "docs/decisions/", "docs/schema/")


def text_for_people(name, line):
    if name.endswith(".md"):
        return line
    return " ".join(LITERAL.findall(line))


def problems(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        said = text_for_people(name, line)
        for pattern, word in SYNONYMS.items():
            if re.search(pattern, said, re.IGNORECASE):
                yield number, f"the glossary's word is '{word}'"


def is_read(name):
    if name.startswith(APART):
        return False
    return ((name.endswith(".md") and name.startswith(READ_BY_PEOPLE))
            or (name.endswith((".c", ".h", ".js")) and name.startswith(ROOMS)))


if __name__ == "__main__":
    sys.exit(sources.check(sys.argv[1], is_read, problems))
