#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
costs.py BUILD_FOLDER [REGEX]: the CPU time of each test whose name matches, most expensive last,
and the total. The tests run one after the other, with a line on standard error when each ends.
Processes that a test starts count, even if they outlive their parent, as a browser's or a database
server's processes may.
"""
import ctypes
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

PR_SET_CHILD_SUBREAPER = 36
SKIPPED = 77


def read_tests(build):
    """[(name, command, environment, folder)]"""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                            capture_output=True, text=True, check=True).stdout
    found = []
    for test in json.loads(listed)["tests"]:
        if "command" not in test:
            continue  # not built
        properties = {one["name"]: one["value"] for one in test.get("properties", [])}
        environment = dict(pair.split("=", 1) for pair in properties.get("ENVIRONMENT", []))
        for change in properties.get("ENVIRONMENT_MODIFICATION", []):
            name, _, operation = change.partition("=")
            kind, _, value = operation.partition(":")
            before = os.environ.get(name)
            environment[name] = f"{value}:{before}" if kind == "path_list_prepend" and before else value
        found.append((test["name"], test["command"], environment,
                      properties.get("WORKING_DIRECTORY", build)))
    return found


def used():
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime, now.ru_stime


def measure(command, environment, folder):
    """
    (seconds of CPU time, seconds of CPU time in the kernel, seconds elapsed, exit code, output)
    """
    (before, system), began = used(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fastgate-costs-") as scratch:
        os.chmod(scratch, 0o755)  # a database server runs as another user
        with open(os.path.join(scratch, "output"), "w+b") as output:
            done = subprocess.run(command,
                                  cwd=folder, env={**os.environ, **environment, "TMPDIR": scratch},
                                  stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=subprocess.STDOUT, check=False)
            while True:  # orphans are now our children: wait for them as well
                try:
                    os.wait()
                except ChildProcessError:
                    break
            took = time.monotonic() - began
            output.seek(0)
            said = output.read().decode(errors="replace")
    after, system_after = used()
    return after - before, system_after - system, took, done.returncode, said


def line_of(row):
    return "{:8.2f} {:8.2f} {:8.2f}  {}".format(*row)


def main():
    build = os.path.abspath(sys.argv[1])
    pattern = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # a shell makes its background jobs ignore these signals, but tests send them
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    rows, bad = [], 0
    for name, command, environment, folder in read_tests(build):
        if not pattern.search(name):
            continue
        cpu, system, took, code, said = measure(command, environment, folder)
        if code not in (0, SKIPPED):
            bad += 1
            print(f"FAILED  {name}\n{said}", flush=True)
        rows.append((cpu, system, took, name + (" (skipped)" if code == SKIPPED else "")))
        print(line_of(rows[-1]), file=sys.stderr, flush=True)
    print(f"{'CPU s':>8} {'system':>8} {'passed':>8}")
    for row in sorted(rows):
        print(line_of(row))
    print(f"{sum(row[0] for row in rows):8.2f} {sum(row[1] for row in rows):8.2f} "
          f"{sum(row[2] for row in rows):8.2f}  {len(rows)} tests")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
