#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
valgrind.py BUILD_FOLDER [NAME...]: the end-to-end tests, with fastgate and perfdb (not what they start) under memcheck.

The tests are those that CTest knows; in their commands the programs are replaced by scripts that start them under valgrind.
Any error, and any memory that is lost for certain, is a finding, and so is a test in which no program was tried.  A test that
fails because everything is slow is named, but is no finding: what it checks is checked elsewhere.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Of no use here: a browser, a compiler, clocks, faults on purpose, or thousands of calls.
LEFT_OUT = re.compile(r"^e2e\.(web_|faults|cli_completions|cli_schema|cli_tables_agree|real_programs)")
TIMEOUT_S = 1500
SKIPPED = 77
WRAPPER = """#!/bin/sh
exec valgrind --quiet --tool=memcheck --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \\
	--num-callers=30 --child-silent-after-fork=no --log-file='{logs}/%p.log' '{program}' "$@"
"""


def environment_of(test):
    """What CTest sets for a test, beside its own environment."""
    environment = {}
    for item in test.get("properties", []):
        if item["name"] == "ENVIRONMENT":
            environment.update(pair.split("=", 1) for pair in item["value"])
        elif item["name"] == "ENVIRONMENT_MODIFICATION":
            for change in item["value"]:
                name, _, change_of = change.partition("=")
                how, _, value = change_of.partition(":")
                if how not in ("set", "path_list_prepend"):
                    raise NotImplementedError(change)
                before = os.environ.get(name) if how == "path_list_prepend" else None
                environment[name] = f"{value}:{before}" if before else value
    return environment


def end_to_end_tests(build, wanted):
    listed = subprocess.run(["ctest", "--test-dir", build, "-L", "^e2e$", "--show-only=json-v1"], capture_output=True, check=True)
    for test in json.loads(listed.stdout)["tests"]:
        if not LEFT_OUT.match(test["name"]) and (not wanted or test["name"] in wanted):
            yield test["name"], test["command"], environment_of(test)


def findings(logs):
    """Texts of valgrind's messages, each once."""
    found = {}
    for log in sorted(pathlib.Path(logs).glob("*.log")):
        text = re.sub(r"^==\d+== ?", "", log.read_text(errors="replace"), flags=re.M)
        for block in re.split(r"\n\s*\n", text):
            if re.search(r"^(Invalid|Conditional jump|Use of uninit|Syscall param|Mismatched|Source and dest|Argument|.*definitely lost)", block, re.M):
                found.setdefault(re.sub(r"0x[0-9A-F]+|in loss record.*", "", block), block)
    return list(found.values())


def wrap(program, folder, logs):
    """A script that starts the program under memcheck."""
    wrapper = pathlib.Path(folder) / os.path.basename(program)
    wrapper.write_text(WRAPPER.format(logs=logs, program=program))
    wrapper.chmod(0o755)
    return str(wrapper)


def try_test(build, name, command, environment):
    """What was found."""
    with tempfile.TemporaryDirectory() as work:
        logs = f"{work}/logs"
        os.mkdir(logs)
        programs = {program: wrap(program, work, logs) for program in (f"{build}/cli/fastgate", f"{build}/perfdb/server/perfdb")}
        given = {key: programs.get(value, value) for key, value in environment.items()}
        try:
            code = subprocess.run([programs.get(word, word) for word in command], env={**os.environ, **given}, timeout=TIMEOUT_S,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
        except subprocess.TimeoutExpired:
            code = "timeout"
        found = findings(logs)
        processes = len(os.listdir(logs))
    if processes == 0 and code != SKIPPED:
        found.append("nothing was tried")
    print(f"{name:28} {processes:4} processes, {len(found)} findings" +
          ("" if code in (0, SKIPPED) else f"; the test itself ended with {code}"), flush=True)
    for block in found:
        print(f"\n{block}\n", flush=True)
    return found


def main():
    build = str(pathlib.Path(sys.argv[1]).resolve())
    tests = list(end_to_end_tests(build, sys.argv[2:]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = sum(pool.map(lambda test: len(try_test(build, *test)), tests))
    print(f"{len(tests)} tests, {bad} findings")
    return 1 if bad or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
