#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
inject.py --library FILE --fastgate FILE --make-store FILE [--perfdb FILE --make-runs FILE] [--all]
          [SCENARIO...]

Lets one call after another fail (faults.c) during a run, a push and a server's work, until no call
is left to fail. Whatever fails: no death by signal, no hang, an exit code of docs/exit-codes.md
with a line that gives the reason, earlier runs readable, every finished repetition kept, and
nothing lost that was reported as done.

Without --all, it tries a sample: the first calls of each kind, then one in N. With --all, it tries
every call, but of the thousands of memory and database calls only the first from each stack.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import shutil
import signal
import sys
import tempfile
import threading

from scenarios import MOST_CALLS, SCENARIOS, Tools, Wrong


@dataclasses.dataclass(frozen=True)
class Fault:
    """
    A way to fail. `harmless`: the program must cope with it. `sample`: (N, M) tries the first N
    calls, then one in M.
    """
    kind: str
    error: str
    stays: bool = False
    harmless: bool = False
    sample: tuple = (4, 29)

    def name(self):
        return f"{self.kind} {self.error}{' from there on' if self.stays else ''}"


ENOENT, EINTR, EIO, EAGAIN, ENOMEM, EACCES, EMFILE, ENOSPC, ENOLCK, ECONNRESET = (
    "2 4 5 11 12 13 24 28 37 104".split())
SQLITE_BUSY, SQLITE_NOMEM, SQLITE_IOERR, SQLITE_FULL = "5 7 10 13".split()
FAULTS = (
    Fault("memory", ENOMEM, sample=(2, 1999)),
    Fault("open", EMFILE, sample=(4, 13)),
    Fault("open", EACCES, sample=(2, 37)),
    Fault("open", EMFILE, stays=True, sample=(2, 23)),
    Fault("read", EIO, sample=(3, 41)),
    Fault("read", EINTR, harmless=True, sample=(2, 83)),
    Fault("read", "SHORT", harmless=True, sample=(2, 61)),
    Fault("write", ENOSPC, sample=(3, 17)),
    Fault("write", ENOSPC, stays=True, sample=(2, 17)),
    Fault("write", EINTR, harmless=True, sample=(2, 37)),
    Fault("write", "SHORT", harmless=True, sample=(2, 37)),
    Fault("close", EIO, sample=(2, 23)),
    Fault("sync", EIO, sample=(1, 3)),
    Fault("rename", EACCES, sample=(2, 7)),
    Fault("mmap", ENOMEM, sample=(2, 3)),
    Fault("truncate", EIO, sample=(2, 3)),
    Fault("lock", ENOLCK, sample=(2, 29)),
    Fault("spawn", EAGAIN, sample=(4, 7)),
    Fault("spawn", EAGAIN, stays=True, sample=(4, 7)),
    Fault("database", SQLITE_IOERR, sample=(3, 97)),
    Fault("database", SQLITE_NOMEM, sample=(1, 397)),
    Fault("database", SQLITE_FULL, sample=(1, 397)),
    Fault("database", SQLITE_BUSY, sample=(1, 397)),
    Fault("database", SQLITE_IOERR, stays=True, sample=(1, 397)),
    Fault("network", ECONNRESET, sample=(3, 7)),
    Fault("network", "SHORT", harmless=True, sample=(2, 7)),
)


stopping = threading.Event()  # set when the sweep is interrupted: no further try begins


class Driver:
    """All faults of one scenario."""

    def __init__(self, given, scenario, work):
        self.given = given
        self.tools = Tools(given)
        self.scenario = scenario(self.tools)
        self.work = os.path.join(work, scenario.name)
        self.template = os.path.join(self.work, "template")
        os.makedirs(self.template)
        self.scenario.prepare(self.template)
        self.failures = []

    def try_call(self, fault, at):
        """Lets this call fail; returns False if there was no such call."""
        folder = tempfile.mkdtemp(dir=self.work)
        place = os.path.join(folder, "in")
        log = os.path.join(place, "struck")
        shutil.copytree(self.template, place, symlinks=True)
        try:
            self.scenario.try_once(place, fault,
                                   self.tools.environment(self.scenario.program, fault, at, place))
        except Wrong as wrong:
            stack = ""
            if os.path.exists(log):
                with open(log, encoding="utf-8", errors="replace") as file:
                    stack = "".join(file.readlines()[:16])
            self.failures.append(f"{self.scenario.name}, {fault.name()}, call {at}: {wrong}\n{stack}")
        struck = os.path.exists(log)
        shutil.rmtree(folder, ignore_errors=True)
        return struck

    def different_stacks(self, kind):
        """The number of the first call from each stack."""
        folder = tempfile.mkdtemp(dir=self.work)
        place = os.path.join(folder, "in")
        shutil.copytree(self.template, place, symlinks=True)
        fault = Fault(kind, "0")
        environment = self.tools.environment(self.scenario.program, fault, 0, place)
        path = os.path.join(folder, "list")
        self.tools.list_calls(environment, kind, path)
        self.scenario.try_once(place, fault, environment)
        numbers = set()
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                numbers = {int(line) for line in file}
        shutil.rmtree(folder, ignore_errors=True)
        return sorted(numbers)

    def numbers(self, fault):
        """Calls to try, in order."""
        first, step = fault.sample
        if self.given.all and fault.kind in ("memory", "database"):
            yield from self.different_stacks(fault.kind)
            return
        at = 0
        while at < MOST_CALLS:
            at += 1 if self.given.all or at < first else step
            yield at

    def run_fault(self, fault):
        """
        Lets each call of `numbers` fail, until a call does not exist, and with --all once more, because
        no two runs are quite the same. Returns the number of failed calls.
        """
        beyond = 0
        struck = 0
        for at in self.numbers(fault):
            if stopping.is_set():
                break
            beyond = 0 if self.try_call(fault, at) else beyond + 1
            struck += beyond == 0
            if beyond > self.given.all:
                break
        return struck


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("library", "fastgate", "make-store"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    for name in ("perfdb", "make-runs"):
        parser.add_argument(f"--{name}", type=os.path.abspath, help="for push and serve")
    parser.add_argument(
        "--state",
        help="a file that keeps what has been tried: the next call with it goes on from there")
    parser.add_argument("--all", action="store_true", help="every call instead of a sample")
    parser.add_argument("--only", metavar="KIND", help="only this kind of call")
    parser.add_argument("--at", type=int, help="only the call of this number")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []],
                        help="run, push, serve; all of them when none is named")
    return parser.parse_args()


class State:
    """
    The faults tried so far: one line for each fault of a scenario, so that a long sweep can be resumed.
    """

    def __init__(self, path):
        self.path = path
        self.counts = {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    count, _, name = line.rstrip("\n").partition(" ")
                    self.counts[name] = int(count)

    def keep(self, name, count):
        print(f"{name:36} {count:5} calls failed", flush=True)
        if self.path:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(f"{count} {name}\n")


def sweep(driver, state, fault):
    """Tries the fault, unless an earlier sweep has; returns the number of failed calls."""
    name = f"{driver.scenario.name}: {fault.name()}"
    if name in state.counts:
        return state.counts[name]
    if stopping.is_set():
        return 0
    known = len(driver.failures)
    count = int(driver.try_call(fault, driver.given.at)) if driver.given.at else driver.run_fault(fault)
    if len(driver.failures) == known and not stopping.is_set():
        state.keep(name, count)
    return count


def stop(number, _):
    stopping.set()
    sys.exit(128 + number)


def main():
    given = parse()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    work = tempfile.mkdtemp(prefix="fastgate-faults-")
    state = State(given.state)
    failures = []
    tried = 0
    try:
        for name in given.scenario or SCENARIOS:
            driver = Driver(given, SCENARIOS[name], work)
            faults = [fault for fault in FAULTS
                      if fault.kind not in driver.scenario.skips and given.only in (None, fault.kind)]
            with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
                tried += sum(pool.map(lambda fault, driver=driver: sweep(driver, state, fault), faults))
            failures += driver.failures
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for failure in failures:
        print(f"\n{failure}")
    print(f"{tried} calls failed, {len(failures)} of them were not borne")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
