#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
valgrind.py BUILD_FOLDER [NAME...]: the end-to-end tests, with fastgate and perfdb (not what they start) under memcheck.

The tests are those that CTest knows; in their commands the programs are replaced by scripts that start them under valgrind.
Any error, and any memory that is lost for certain, is a finding.  A test that fails because everything is slow is named, but
is no finding: what it checks is checked elsewhere.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Of no use here: a browser, a compiler, clocks, faults on purpose, or thousands of calls.
LEFT_OUT = re.compile(r"^e2e\.(web_|faults_|cli_completions|.*real_programs)")
TIMEOUT_S = 1500
WRAPPER = """#!/bin/sh
exec valgrind --quiet --tool=memcheck --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \\
	--num-callers=30 --child-silent-after-fork=no --log-file='{logs}/%p.log' '{program}' "$@"
"""


def end_to_end_tests(build, wanted):
    listed = subprocess.run(["ctest", "--test-dir", build, "-L", "^e2e$", "--show-only=json-v1"], capture_output=True, check=True)
    for test in json.loads(listed.stdout)["tests"]:
        if LEFT_OUT.match(test["name"]) or (wanted and test["name"] not in wanted):
            continue
        environment = {}
        for item in test.get("properties", []):
            if item["name"] == "ENVIRONMENT":
                environment = dict(pair.split("=", 1) for pair in item["value"])
        yield test["name"], test["command"], environment


def findings(logs):
    """Texts of valgrind's messages, each once."""
    found = {}
    for log in sorted(pathlib.Path(logs).glob("*.log")):
        text = re.sub(r"^==\d+== ?", "", log.read_text(errors="replace"), flags=re.M)
        for block in re.split(r"\n\s*\n", text):
            if re.search(r"^(Invalid|Conditional jump|Use of uninit|Syscall param|Mismatched|Source and dest|Argument|.*definitely lost)", block, re.M):
                found.setdefault(re.sub(r"0x[0-9A-F]+|in loss record.*", "", block), block)
    return list(found.values())


def main():
    build = str(pathlib.Path(sys.argv[1]).resolve())
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        programs = {}
        for program in (f"{build}/cli/fastgate", f"{build}/perfdb/server/perfdb"):
            wrapper = pathlib.Path(work) / os.path.basename(program)
            wrapper.write_text(WRAPPER.format(logs=f"{work}/logs", program=program))
            wrapper.chmod(0o755)
            programs[program] = str(wrapper)
        for name, command, environment in end_to_end_tests(build, sys.argv[2:]):
            os.makedirs(f"{work}/logs", exist_ok=True)
            given = {key: programs.get(value, value) for key, value in environment.items()}
            try:
                code = subprocess.run([programs.get(word, word) for word in command], env={**os.environ, **given}, timeout=TIMEOUT_S,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
            except subprocess.TimeoutExpired:
                code = "timeout"
            found = findings(f"{work}/logs")
            processes = len(os.listdir(f"{work}/logs"))
            print(f"{name:28} {processes:4} processes, {len(found)} findings" +
                  ("" if code in (0, 77) else f"; the test itself ended with {code}"), flush=True)
            for block in found:
                print(f"\n{block}\n")
            bad += len(found)
            subprocess.run(["rm", "-rf", f"{work}/logs"], check=True)
    print(f"{bad} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
