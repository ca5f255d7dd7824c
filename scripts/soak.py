#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
soak.py BUILD_FOLDER                     lists the soak tests
soak.py BUILD_FOLDER NAME SECONDS        runs one soak test
soak.py BUILD_FOLDER all SECONDS         runs all, one after the other, except tests that have passed
                                         at this commit
soak.py BUILD_FOLDER all SECONDS --anew  runs all soak tests again

A soak test is tests/soak/NAME.sh BUILD_FOLDER SECONDS, whose last line of output sums it up.
build/soak contains the logs, and the state from which an interrupted `all` continues.
"""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "soak"
STATE = FOLDER / "state.json"
SKIPPED = 77
CLEANING_S = 20


def programs():
    return {path.stem: path for path in sorted((ROOT / "tests" / "soak").glob("*.sh"))}


def commit():
    found = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"],
                           capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


def load_state():
    try:
        return json.loads(STATE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def keep_state(state):
    fresh = STATE.with_suffix(".new")
    fresh.write_text(json.dumps(state, indent=1), encoding="utf-8")
    fresh.replace(STATE)


def last_words(log):
    text = log.read_text(encoding="utf-8", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def end_group(process):
    """
    Ends the process group. Processes that clean up on a signal, such as a database server, get time
    for that.
    """
    latest = time.monotonic() + CLEANING_S
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        while time.monotonic() < latest:
            process.poll()
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_one(name, build, seconds):
    """Runs one program, with its output in the log; returns {code, took, words}."""
    log = FOLDER / f"{name}.log"
    started = time.monotonic()
    print(f"== {name} ({log.relative_to(ROOT)})", file=sys.stderr, flush=True)
    with open(log, "wb") as output:
        process = subprocess.Popen(["sh", str(programs()[name]), build, seconds],
                                   stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            code = process.wait()
        finally:  # also after an interruption, or if the program left processes behind
            end_group(process)
    return {"code": code, "took": round(time.monotonic() - started), "words": last_words(log)}


def print_table(state, names):
    print(f"{'':12} {'exit':>4} {'seconds':>8}  at")
    for name in names:
        if name in state:
            done = state[name]
            print(f"{name:12} {done['code']:>4} {done['took']:>8}  {done['commit']}: {done['words']}")
        else:
            print(f"{name:12} {'-':>4} {'-':>8}  not done")


def run_all(names, build, seconds, anew):
    here = commit()
    state = load_state()
    try:
        for name in names:
            done = state.get(name, {})
            passed = {"code": 0, "commit": here, "seconds": seconds}
            if not anew and all(done.get(key) == value for key, value in passed.items()):
                continue
            state.pop(name, None)
            keep_state(state)
            state[name] = {**run_one(name, build, seconds), "commit": here, "seconds": seconds}
            keep_state(state)
    finally:
        print_table(state, names)
    return 0 if all(state[name]["code"] in (0, SKIPPED) for name in names) else 1


def main():
    words = [word for word in sys.argv[1:] if word != "--anew"]
    known = list(programs())
    if len(words) == 1:
        print("\n".join(known))
        return 0
    if len(words) != 3 or not words[2].isdigit() or words[1] not in (*known, "all"):
        print(f"soak: expected one of {', '.join(known)} or all, and a number of seconds",
              file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    FOLDER.mkdir(parents=True, exist_ok=True)
    names = known if words[1] == "all" else [words[1]]
    return run_all(names, words[0], words[2], "--anew" in sys.argv or words[1] != "all")


if __name__ == "__main__":
    sys.exit(main())
