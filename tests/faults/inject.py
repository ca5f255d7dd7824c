#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
inject.py --library FILE --fastgate FILE --make-store FILE [--perfdb FILE --make-runs FILE] [--all] [SCENARIO...]

Lets one call after the other fail (faults.c) under a run, a push and a server's work, until a try in which nothing was left
to fail.  Whatever fails: no death by signal, no hang, an exit code of docs/exit-codes.md with a line that says why, earlier
runs readable, every repetition that had ended kept, and nothing lost that was told to be finished.

Without --all, a sample: the first calls of each kind, then one in so many.  With it, every call, and of memory and database,
which are thousands, the first call from every different stack.
"""
import argparse
import concurrent.futures
import contextlib
import dataclasses
import glob
import http.client
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

EXIT_CODES = {0, 1, 2, 3, 4, 5, 6}
TIMEOUT_S = 500
SERVER_START_S = 500
REPETITIONS = 3  # as CONFIG has it
MOST_CALLS = 200000  # none of the scenarios comes near it
CONFIG = """version: 1
project: tracker
benchmarks:
  - { name: quick, command: "true", prepare: [/bin/sh, -c, "echo >>begun"] }
measure: { schedule: stored, pairs: { min: 2, max: 3 }, warmup: 0, sampler: { rate: 1000 } }
baseline: { run: latest }
report: { json: r.json, junit: r.xml, markdown: r.md, html: r.html }
"""


@dataclasses.dataclass(frozen=True)
class Fault:
    """One way to fail.  `harmless`: the program must get over it.  `sample`: how many of the first calls, then one in how many."""
    kind: str
    error: str
    stays: bool = False
    harmless: bool = False
    sample: tuple = (4, 29)

    def name(self):
        return f"{self.kind} {self.error}{' from there on' if self.stays else ''}"


ENOENT, EINTR, EIO, EAGAIN, ENOMEM, EACCES, EMFILE, ENOSPC, ENOLCK, ECONNRESET = "2 4 5 11 12 13 24 28 37 104".split()
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


class Wrong(Exception):
    """What a scenario found."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def count_runs(store):
    """How many there are, in a store that is whole."""
    with contextlib.closing(sqlite3.connect(store)) as db:
        found = db.execute("PRAGMA integrity_check").fetchone()[0]
        expect(found == "ok", f"the store is damaged: {found}")
        return db.execute("SELECT count(*) FROM run").fetchone()[0]


class Tools:
    """The programs, and how each is started."""

    def __init__(self, given):
        self.given = given

    def environment(self, program, fault, at, folder):
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("FASTGATE", "FG_FAULTS"))}
        environment.update(HOME=folder, XDG_CACHE_HOME=os.path.join(folder, "cache"), GIT_CEILING_DIRECTORIES=os.path.dirname(folder))
        if os.path.exists(os.path.join(folder, "perfdb.db.key")):
            environment["PERFDB_TOKEN"] = first_key(folder)
        if fault:
            environment.update(LD_PRELOAD=self.given.library, FG_FAULTS_PROGRAM=program, FG_FAULTS_CLASS=fault.kind, FG_FAULTS_AT=str(at),
                               FG_FAULTS_ERRNO=fault.error, FG_FAULTS_LOG=os.path.join(folder, "struck"))
            if fault.stays:
                environment["FG_FAULTS_STAYS"] = "1"
        return environment

    def list_calls(self, environment, kind, path):
        environment.pop("FG_FAULTS_LOG", None)
        environment.update(FG_FAULTS_CLASS=kind, FG_FAULTS_AT=str(MOST_CALLS * 10), FG_FAULTS_LIST=path)

    def fastgate(self, folder, *words, environment=None):
        """Exit code, standard output, standard error. All processes that it started are gone afterwards."""
        process = subprocess.Popen([self.given.fastgate, *words], cwd=folder, env=environment or self.environment("", None, 0, folder),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Wrong(f"{words[0]} hangs") from None
        return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def runs(self, folder, store):
        """{id: whether it is complete}."""
        count_runs(os.path.join(folder, store))
        code, out, err = self.fastgate(folder, "runs", "--store", store, "--limit", "1000")
        expect(code == 0, f"the runs cannot be listed: {code} {err!r}")
        rows = [line for line in out.splitlines()[1:] if not line.startswith(" ")]  # below the heading; a cause is indented
        return {row.split()[0]: " interrupted " not in row for row in rows}

    def repetitions(self, folder, store, run):
        """How many of them are stored, of a run with one benchmark."""
        code, out, err = self.fastgate(folder, "show", "--store", store, run)
        expect(code == 0, f"run {run} cannot be shown: {code} {err!r}")
        return sum(map(int, re.findall(r"^quick .* (\d+) repetitions?\b", out, re.M)))

    def readable(self, folder, store, run):
        code, _, err = self.fastgate(folder, "export", "--store", store, "--format", "folded", run)
        expect(code in (0, 2), f"run {run} cannot be read: {code} {err!r}")


def expect_end(fault, code, err, what):
    """An exit code of the table and, unless it is a pass, a line with the reason."""
    expect(code >= 0, f"{what} died of signal {-code}: {err!r}")
    expect(code in EXIT_CODES, f"{what} ended with {code}: {err!r}")
    lines = [line for line in err.splitlines() if re.match(r"(fastgate|perfdb): ", line)]
    expect(code in (0, 1, 3) or lines, f"{what} ended with {code} and no line that says why: {err!r}")
    expect(len(lines) <= 4, f"{what} says too much: {err!r}")
    expect("not an error" not in err and "Success" not in err, f"{what} does not know what failed: {err!r}")
    expect(not fault.harmless or code == 0, f"{what} did not get over {fault.name()}: {code} {err!r}")


class Run:
    """`fastgate run` of a small benchmark, against the run before, with every report."""
    name = "run"
    program = "fastgate"
    skips = ("network",)

    def __init__(self, tools):
        self.tools = tools

    def prepare(self, folder):
        os.mkdir(os.path.join(folder, ".fastgate"))
        with open(os.path.join(folder, "fastgate.yml"), "w", encoding="ascii") as file:
            file.write(CONFIG)
        subprocess.run([self.tools.given.make_store, os.path.join(folder, ".fastgate/store.db")], check=True)
        for _ in range(2):
            code, _, err = self.tools.fastgate(folder, "run", "--quiet")
            expect(code == 0, f"run without faults: {code} {err!r}")
        self.before = self.tools.runs(folder, ".fastgate/store.db")
        expect(self.begun(folder) >= 2 * REPETITIONS, "a run without faults begins too few repetitions")
        os.remove(os.path.join(folder, "begun"))

    @staticmethod
    def begun(folder):
        """Repetitions: each writes a line when it begins."""
        with contextlib.suppress(FileNotFoundError), open(os.path.join(folder, "begun"), encoding="ascii") as file:
            return len(file.readlines())
        return 0

    def expect_kept(self, folder, fresh, passed):
        """
        A repetition has ended when the next begins, and all of them if the run passed. There are more than REPETITIONS if the
        host took the CPU away from one: it is set aside, kept, and measured again.
        """
        begun = self.begun(folder)
        ended = max(begun, REPETITIONS) if passed else begun - 1
        kept = sum(self.tools.repetitions(folder, ".fastgate/store.db", run) for run in fresh)
        expect(ended <= kept <= begun, f"{ended} repetitions had ended, {begun} had begun, {kept} are stored")

    def try_once(self, folder, fault, environment):
        # The cost of samples is measured by a thread, for a tenth of a second: only where that thread may fail.
        words = ("--set", "measure.sampler.rate=auto") if fault.kind == "spawn" or self.tools.given.all else ()
        code, out, err = self.tools.fastgate(folder, "run", *words, environment=environment)
        if code == 4 and "cannot " in out:
            err += "fastgate: " + out  # the report says it
        expect_end(fault, code, err, "run")
        after = self.tools.runs(folder, ".fastgate/store.db")
        expect(set(self.before) <= set(after), "an earlier run is lost")
        for run in self.before:
            expect(after[run] >= self.before[run], f"run {run} was complete")
        self.tools.readable(folder, ".fastgate/store.db", min(after))
        fresh = [run for run in after if run not in self.before]
        self.expect_kept(folder, fresh, code == 0)
        if code == 0:
            expect(len(fresh) == 1 and after[fresh[0]], "the run passed and is not stored")
            expect("quick" in out, f"the run passed and said nothing: {out!r}")
            for name, end in (("r.json", "}\n"), ("r.xml", "</testsuites>\n"), ("r.html", "</html>\n"), ("r.md", "\n")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    expect(file.read().endswith(end), f"{name} is not whole")


def first_key(folder):
    """That the first start of a server left beside its database."""
    with open(os.path.join(folder, "perfdb.db.key"), encoding="ascii") as file:
        return file.read()


class Server:
    """A perfdb server in a folder, with or without faults."""

    def __init__(self, tools, folder, environment=None):
        self.folder = folder
        self.err_path = os.path.join(folder, "server.err")
        with open(self.err_path, "wb") as err:
            self.process = subprocess.Popen([tools.given.perfdb, "serve", "--quiet", "--threads", "1", "--database", "perfdb.db",
                                             "--listen", "127.0.0.1:0"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=err)
        self.port = None
        end = time.monotonic() + SERVER_START_S
        while self.process.poll() is None and self.port is None:
            found = re.search(r" at http://127\.0\.0\.1:(\d+)", self.words())
            self.port = int(found.group(1)) if found else None
            if time.monotonic() > end:
                self.process.kill()
                self.process.wait()
                raise Wrong(f"the server neither starts nor ends: {self.words()!r}")
            time.sleep(0.005)

    def words(self):
        with open(self.err_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method, path, body=None):
        """The status, or None when the connection ended without one."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            headers = {"Authorization": f"Bearer {first_key(self.folder)}"}
            connection.request(method, path, body, {**headers, "Content-Type": "application/vnd.fastgate.run"} if body else headers)
            reply = connection.getresponse()
            return reply.status, reply.read()
        except TimeoutError:
            raise Wrong(f"no answer to {method} {path}") from None
        except (OSError, http.client.HTTPException):
            return None, b""
        finally:
            connection.close()

    def stop(self):
        """The exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Wrong("the server does not stop") from None


class Push:
    """`fastgate push` of what waits in the spool, to a server that works."""
    name = "push"
    program = "fastgate"
    skips = ()

    def __init__(self, tools):
        self.tools = tools

    def prepare(self, folder):
        subprocess.run([self.tools.given.make_runs, os.path.join(folder, "spool")], check=True)
        for path in sorted(glob.glob(os.path.join(folder, "spool/*.fgrun")))[1:]:
            os.remove(path)
        # A database that knows its tables: the server is not what is tried here.
        server = Server(self.tools, folder)
        expect(server.port, f"the server does not start: {server.words()!r}")
        server.stop()

    def try_once(self, folder, fault, environment):
        server = Server(self.tools, folder)
        try:
            words = ("push", "--spool", "spool", "--url", server.url())
            code, _, err = self.tools.fastgate(folder, *words, "--attempts", "1", environment=environment)
            expect_end(fault, code, err, "push")
            waiting = glob.glob(os.path.join(folder, "spool/*.fgrun"))
            expect(not glob.glob(os.path.join(folder, "spool/*.rejected")), "a good run is called rejected")
            expect(code != 0 or not waiting, "the push passed and the run still waits")
            stored = count_runs(os.path.join(folder, "perfdb.db"))
            expect(waiting or stored == 1, "the run is neither in the spool nor in the database")
            code, _, err = self.tools.fastgate(folder, *words)
            expect(code == 0, f"the next push: {code} {err!r}")
            expect(len(self.tools.runs(folder, "perfdb.db")) == 1, "the run is not stored once")
        finally:
            server.stop()


class Serve:
    """A server that starts, takes an upload, shows it in every way, and stops."""
    name = "serve"
    program = "perfdb"
    skips = ()
    asks = ("/", "/api/v1/runs", "/api/v1/runs/latest", "/metrics")

    def __init__(self, tools):
        self.tools = tools

    def prepare(self, folder):
        subprocess.run([self.tools.given.make_runs, os.path.join(folder, "spool")], check=True)
        paths = sorted(glob.glob(os.path.join(folder, "spool/*.fgrun")))
        self.bodies = []
        for path in paths[:2]:
            with open(path, "rb") as file:
                self.bodies.append(file.read())
        shutil.rmtree(os.path.join(folder, "spool"))
        server = Server(self.tools, folder)
        expect(server.port, f"the server does not start: {server.words()!r}")
        status, _ = server.ask("POST", "/api/v1/runs", self.bodies[0])
        expect(status == 201, f"an upload without faults: {status}")
        server.stop()

    def try_once(self, folder, fault, environment):
        server = Server(self.tools, folder, environment)
        status = None
        try:
            if server.port:
                status, _ = server.ask("POST", "/api/v1/runs", self.bodies[1])
                for path in self.asks:
                    server.ask("GET", path)
        finally:
            code = server.stop()
        expect_end(fault, code, server.words(), "serve")
        stored = count_runs(os.path.join(folder, "perfdb.db"))
        expect(stored == 2 or stored == 1 and status not in (200, 201), f"{stored} runs, and the upload was answered {status}")
        expect(status in (None, 200, 201) or status >= 500 or status == 429, f"a good upload was answered {status}")
        expect(not fault.harmless or status == 201, f"did not get over {fault.name()}: {status}")
        server = Server(self.tools, folder)
        try:
            again, body = server.ask("POST", "/api/v1/runs", self.bodies[1])
            expect(again in (200, 201), f"the next upload was answered {again} {body!r}")
        finally:
            server.stop()
        stored = self.tools.runs(folder, "perfdb.db")
        expect(len(stored) == 2, f"{len(stored)} runs after the next upload")
        self.tools.readable(folder, "perfdb.db", max(stored))


SCENARIOS = {scenario.name: scenario for scenario in (Run, Push, Serve)}


stopping = threading.Event()  # somebody ended the sweep: no further try begins


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
        """Whether there was such a call."""
        folder = tempfile.mkdtemp(dir=self.work)
        place = os.path.join(folder, "in")
        log = os.path.join(place, "struck")
        shutil.copytree(self.template, place, symlinks=True)
        try:
            self.scenario.try_once(place, fault, self.tools.environment(self.scenario.program, fault, at, place))
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
        """Try until there is no such call; where all are tried, twice, for no two runs are quite the same.  How many there were."""
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("library", "fastgate", "make-store"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    for name in ("perfdb", "make-runs"):
        parser.add_argument(f"--{name}", type=os.path.abspath, help="for push and serve")
    parser.add_argument("--state", help="a file that keeps what has been tried: the next call with it goes on from there")
    parser.add_argument("--all", action="store_true", help="every call instead of a sample")
    parser.add_argument("--only", metavar="KIND", help="only this kind of call")
    parser.add_argument("--at", type=int, help="only the call of this number")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="run, push, serve; all of them when none is named")
    return parser.parse_args()


class State:
    """What has been tried: one line for each fault of a scenario, so that a long sweep can be taken up again."""

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
    """How many calls failed, and were borne or not."""
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
            faults = [fault for fault in FAULTS if fault.kind not in driver.scenario.skips and given.only in (None, fault.kind)]
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
