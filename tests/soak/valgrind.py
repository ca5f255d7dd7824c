#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
valgrind.py BUILD_FOLDER [NAME...]: the end-to-end tests, with fastgate and perfdb, but not the
programs that they start, under memcheck.

CTest lists the tests; in their commands, the programs are replaced by scripts that start them under
valgrind, both at once or, for some tests, one after the other. Any error and any memory that is
definitely lost is a finding, and so is a test that started no program. A test that fails because
everything is slow is named but is not a finding, because other runs check it.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

# Left out: tests with a browser, a compiler, clocks, injected faults, killed programs, or thousands
# of calls.
LEFT_OUT = re.compile(
    r"^e2e\.(web_|faults|perfdb_killed|cli_completions|cli_schema|cli_tables_agree|real_programs)")
CLOSED = "valgrind opens /dev/null in the place of a closed descriptor"
# Failures that valgrind itself causes, by a part of the test's output.
BEYOND = {
    "e2e.cli_calling": (("closed stdout:", CLOSED),
                        ("a pager that is not there", "valgrind makes vfork() a fork(), so that "
                         "posix_spawn() does not learn that exec failed")),
    "e2e.report_unwritable": (("with standard output closed: exit code 0", CLOSED),),
    "e2e.gate_hook": (("", "--quick gives 15 seconds, too few pairs for a verdict when everything "
                       "takes twenty times as long"),),
}
# Tested with one of the two programs under valgrind at a time: with both, a handshake can exceed
# the connection's time limit on a busy machine.
ONE_BY_ONE = ("e2e.perfdb_operations",)
TIMEOUT_S = 1500
PROGRAMS = ("cli/fastgate", "perfdb/server/perfdb")
VALGRIND = shutil.which("valgrind") or "valgrind"  # by path, because some tests empty PATH
SKIPPED = 77
LAST_LINES = 12
WRAPPER = """#!/bin/sh
exec '{valgrind}' --quiet --tool=memcheck --leak-check=full --show-leak-kinds=definite \\
	--errors-for-leak-kinds=definite --num-callers=30 \\
	--child-silent-after-fork=no --log-file='{logs}/%p.log' '{program}' "$@"
"""


def environment_of(test):
    """The variables that CTest adds to a test's environment."""
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
    listed = subprocess.run(["ctest", "--test-dir", build, "-L", "^e2e$", "--show-only=json-v1"],
                            capture_output=True, check=True)
    for test in json.loads(listed.stdout)["tests"]:
        if not LEFT_OUT.match(test["name"]) and (not wanted or test["name"] in wanted):
            for slow in [(name,) for name in PROGRAMS] if test["name"] in ONE_BY_ONE else [PROGRAMS]:
                programs = [f"{build}/{name}" for name in slow]
                yield test["name"], test["command"], environment_of(test), programs


def findings(logs):
    """The texts of valgrind's messages, without duplicates."""
    found = {}
    for log in sorted(pathlib.Path(logs).glob("*.log")):
        text = re.sub(r"^==\d+== ?", "", log.read_text(errors="replace"), flags=re.M)
        for block in re.split(r"\n\s*\n", text):
            if re.search(r"^(Invalid|Conditional jump|Use of uninit|Syscall param|Mismatched"
                         r"|Source and dest|Argument|.*definitely lost)", block, re.M):
                found.setdefault(re.sub(r"0x[0-9A-F]+|in loss record.*", "", block), block)
    return list(found.values())


def explain(name, words):
    """
    The reasons for a failure: the known ones, and the last lines of output that they do not explain.
    """
    known = BEYOND.get(name, ())
    lines = [line for line in words.splitlines() if line.strip()]
    reasons = [why for part, why in known if any(part in line for line in lines)]
    rest = [line for line in lines if not any(part in line for part, _ in known)]
    return reasons + rest[-LAST_LINES:]


def wrap(program, folder, logs):
    """Writes a script that starts the program under memcheck."""
    wrapper = pathlib.Path(folder) / os.path.basename(program)
    wrapper.write_text(WRAPPER.format(valgrind=VALGRIND, logs=logs, program=program))
    wrapper.chmod(0o755)
    return str(wrapper)


def try_test(name, command, environment, programs):
    """Runs the test; returns valgrind's findings."""
    with tempfile.TemporaryDirectory() as work:
        logs = f"{work}/logs"
        os.mkdir(logs)
        os.chmod(work, 0o755)  # some tests drop their privileges
        os.chmod(logs, 0o1777)
        wrappers = {program: wrap(program, work, logs) for program in programs}
        given = {key: wrappers.get(value, value) for key, value in environment.items()}
        said = pathlib.Path(work) / "said"
        with open(said, "wb") as output:
            try:
                code = subprocess.run([wrappers.get(word, word) for word in command],
                                      env={**os.environ, **given}, timeout=TIMEOUT_S,
                                      stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                      check=False).returncode
            except subprocess.TimeoutExpired:
                code = "timeout"
        words = said.read_text(encoding="utf-8", errors="replace")
        found = findings(logs)
        processes = len(os.listdir(logs))
    if processes == 0 and code != SKIPPED:
        found.append("nothing was tried")
    which = name if len(programs) == len(PROGRAMS) else f"{name} ({os.path.basename(programs[0])})"
    print(f"{which:32} {processes:4} processes, {len(found)} findings" +
          ("" if code in (0, SKIPPED) else f"; the test itself ended with {code}"), flush=True)
    if code not in (0, SKIPPED):
        print("".join(f"\t{line}\n" for line in explain(name, words)), end="", flush=True)
    for block in found:
        print(f"\n{block}\n", flush=True)
    return found


def main():
    build = str(pathlib.Path(sys.argv[1]).resolve())
    tests = list(end_to_end_tests(build, sys.argv[2:]))
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    try:
        bad = sum(pool.map(lambda test: len(try_test(*test)), tests))
    finally:
        pool.shutdown(cancel_futures=True)
    print(f"{len(tests)} tries, {bad} findings")
    return 1 if bad or not tests else 0


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
