#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
documents.py FASTGATE ROOT: every command in the documents exists. Every `fastgate COMMAND --option` in a
Markdown file names a command and an option of the program, and fastgate accepts every complete
fastgate.yml in these files.
"""
import pathlib
import re
import sys
import tempfile

from checks import call, check, failures, finish

fastgate, root = sys.argv[1], pathlib.Path(sys.argv[2])
helps = {}


def run(*arguments):
    return call(fastgate, *arguments)


commands = set(re.findall(r"^  ([a-z]+)  +\S", run("help").stdout, re.M))


def options_of(command):
    if command not in helps:
        text = run(command, "--help").stdout
        helps[command] = set(re.findall(r"--[\w-]+", text)) | set(re.findall(r"(?<!\S)-\w(?=,)", text))
    return helps[command]


def check_call(place, words):
    """
    Checks the words after "fastgate": global options, a command, and its options up to the end of
    the call.
    """
    while words and words[0].startswith("-"):
        words = words[1:]
    if not words or not re.fullmatch(r"[a-z]+", words[0]):
        return
    if words[0] not in commands:
        failures.append(f"{place}: unknown command '{words[0]}'")
        return
    for word in words[1:]:
        if word in ("--", "|", "||", "&&", ";", ">", "#", "…"):
            break
        option = re.fullmatch(r"(--[a-z][\w-]*|-[a-zA-Z])(=.*)?", word)
        if option and option.group(1) not in options_of(words[0]):
            failures.append(f"{place}: '{words[0]}' has no option {option.group(1)}")


def pieces(text):
    """Code: text in backticks, and the lines of fenced blocks."""
    fenced = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)
    for match in fenced.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield line, match.group(1), match.group(2)
    plain = fenced.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    for match in re.finditer(r"`([^`\n]+)`", plain):
        yield plain.count("\n", 0, match.start()) + 1, "inline", match.group(1)


files = [root / "README.md", *sorted(root.glob("docs/**/*.md")), *sorted(root.glob("examples/**/*.md"))]
calls = configurations = 0
for path in files:
    if path.name == "mistakes.md" or "decisions" in path.parts:
        continue
    for line, kind, code in pieces(path.read_text(encoding="utf-8")):
        place = f"{path.relative_to(root)}:{line}"
        if kind in ("inline", "sh", "bash", "console", "yaml", ""):
            for words in re.findall(r"(?:^|[\s$(`])fastgate (.+)", code):
                calls += 1
                check_call(place, words.rstrip(")`'\"").split())
        complete = re.search(r"^version: 1$", code, re.M) and re.search(r"^benchmarks:", code, re.M)
        if kind == "yaml" and complete:
            configurations += 1
            with tempfile.NamedTemporaryFile("w", suffix=".yml", encoding="utf-8") as file:
                file.write(code)
                file.flush()
                done = run("config", "--check", "--config", file.name)
            if done.returncode != 0:
                failures.append(f"{place}: {done.stderr}")
print(f"{calls} calls and {configurations} configurations looked at")
check(calls and configurations, "the documents show no call or no configuration")
finish()
