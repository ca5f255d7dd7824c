# SPDX-License-Identifier: Apache-2.0
"""A run, a push and a server's work under faults (inject.py), and the invariants after each."""
import contextlib
import glob
import http.client
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import time

EXIT_CODES = {0, 1, 2, 3, 4, 5, 6}
TIMEOUT_S = 500
SERVER_START_S = 500
REPETITIONS = 3  # the maximum in CONFIG
MOST_CALLS = 200000  # far more than any scenario makes
CONFIG = """version: 1
project: tracker
benchmarks:
  - { name: quick, command: "true", prepare: [/bin/sh, -c, "echo >>begun"] }
measure: { schedule: stored, pairs: { min: 2, max: 3 }, warmup: 0, sampler: { rate: 1000 } }
baseline: { run: latest }
report: { json: r.json, junit: r.xml, markdown: r.md, html: r.html }
"""


class Wrong(Exception):
    """A violation that a scenario found."""


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def count_runs(store):
    """The number of runs, in a store that must be intact."""
    with contextlib.closing(sqlite3.connect(store)) as db:
        found = db.execute("PRAGMA integrity_check").fetchone()[0]
        expect(found == "ok", f"the store is damaged: {found}")
        return db.execute("SELECT count(*) FROM run").fetchone()[0]


class Tools:
    """Starts the programs, with or without faults, and reads their stores."""

    def __init__(self, given):
        self.given = given

    def environment(self, program, fault, at, folder):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("FASTGATE", "FG_FAULTS"))}
        environment.update(HOME=folder, XDG_CACHE_HOME=os.path.join(folder, "cache"),
                           GIT_CEILING_DIRECTORIES=os.path.dirname(folder))
        if os.path.exists(os.path.join(folder, "perfdb.db.key")):
            environment["PERFDB_TOKEN"] = first_key(folder)
        if fault:
            environment.update(LD_PRELOAD=self.given.library, FG_FAULTS_PROGRAM=program,
                               FG_FAULTS_CLASS=fault.kind, FG_FAULTS_AT=str(at),
                               FG_FAULTS_ERRNO=fault.error, FG_FAULTS_LOG=os.path.join(folder, "struck"))
            if fault.stays:
                environment["FG_FAULTS_STAYS"] = "1"
        return environment

    def list_calls(self, environment, kind, path):
        environment.pop("FG_FAULTS_LOG", None)
        environment.update(FG_FAULTS_CLASS=kind, FG_FAULTS_AT=str(MOST_CALLS * 10), FG_FAULTS_LIST=path)

    def fastgate(self, folder, *words, environment=None):
        """Returns exit code, standard output and standard error, after all processes have ended."""
        process = subprocess.Popen([self.given.fastgate, *words],
                                   cwd=folder, env=environment or self.environment("", None, 0, folder),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Wrong(f"{words[0]} hangs") from None
        return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def runs(self, folder, store):
        """{id: is it complete?}"""
        count_runs(os.path.join(folder, store))
        code, out, err = self.fastgate(folder, "runs", "--store", store, "--limit", "1000")
        expect(code == 0, f"the runs cannot be listed: {code} {err!r}")
        # skips the heading; indented lines give a cause
        rows = [line for line in out.splitlines()[1:] if not line.startswith(" ")]
        return {row.split()[0]: " interrupted " not in row for row in rows}

    def repetitions(self, folder, store, run):
        """The number of stored repetitions of a run with one benchmark."""
        code, out, err = self.fastgate(folder, "show", "--store", store, run)
        expect(code == 0, f"run {run} cannot be shown: {code} {err!r}")
        return sum(map(int, re.findall(r"^quick .* (\d+) repetitions?\b", out, re.M)))

    def readable(self, folder, store, run):
        code, _, err = self.fastgate(folder, "export", "--store", store, "--format", "folded", run)
        expect(code in (0, 2), f"run {run} cannot be read: {code} {err!r}")


def expect_end(fault, code, err, what):
    """
    Expects an exit code of the table and, unless it is a verdict's, a line that gives the reason.
    """
    expect(code >= 0, f"{what} died of signal {-code}: {err!r}")
    expect(code in EXIT_CODES, f"{what} ended with {code}: {err!r}")
    lines = [line for line in err.splitlines() if re.match(r"(fastgate|perfdb): ", line)]
    expect(code in (0, 1, 3) or lines, f"{what} ended with {code} and no line that says why: {err!r}")
    expect(len(lines) <= 4, f"{what} says too much: {err!r}")
    expect("not an error" not in err and "Success" not in err,
           f"{what} does not know what failed: {err!r}")
    expect(not fault.harmless or code == 0, f"{what} did not get over {fault.name()}: {code} {err!r}")


class Run:
    """`fastgate run` of a small benchmark, compared with the previous run, with every report."""
    name = "run"
    program = "fastgate"
    skips = ("network",)

    def __init__(self, tools):
        self.tools = tools

    def prepare(self, folder):
        os.mkdir(os.path.join(folder, ".fastgate"))
        with open(os.path.join(folder, "fastgate.yml"), "w", encoding="ascii") as file:
            file.write(CONFIG)
        subprocess.run([self.tools.given.make_store, os.path.join(folder, ".fastgate/store.db")],
                       check=True)
        for _ in range(2):
            code, _, err = self.tools.fastgate(folder, "run", "--quiet")
            expect(code == 0, f"run without faults: {code} {err!r}")
        self.before = self.tools.runs(folder, ".fastgate/store.db")
        expect(self.begun(folder) >= 2 * REPETITIONS, "a run without faults begins too few repetitions")
        os.remove(os.path.join(folder, "begun"))

    @staticmethod
    def begun(folder):
        """The number of repetitions that have begun: each writes a line."""
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(folder, "begun"), encoding="ascii") as file:
                return len(file.readlines())
        return 0

    def expect_kept(self, folder, fresh, passed):
        """
        A repetition has ended when the next begins, and all have ended when the run passed. There
        are more than REPETITIONS if the host took the CPU away from a repetition, which is then set
        aside, kept, and measured again.
        """
        begun = self.begun(folder)
        ended = max(begun, REPETITIONS) if passed else begun - 1
        kept = sum(self.tools.repetitions(folder, ".fastgate/store.db", run) for run in fresh)
        expect(ended <= kept <= begun,
               f"{ended} repetitions had ended, {begun} had begun, {kept} are stored")

    def try_once(self, folder, fault, environment):
        # A thread measures the cost of samples for a tenth of a second, so the automatic rate is
        # used only if that thread may fail.
        may_fail = fault.kind == "spawn" or self.tools.given.all
        words = ("--set", "measure.sampler.rate=auto") if may_fail else ()
        code, out, err = self.tools.fastgate(folder, "run", *words, environment=environment)
        if code == 4 and "cannot " in out:
            err += "fastgate: " + out  # the report contains the reason
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
            for name, end in (("r.json", "}\n"), ("r.xml", "</testsuites>\n"),
                              ("r.html", "</html>\n"), ("r.md", "\n")):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    expect(file.read().endswith(end), f"{name} is not whole")


def first_key(folder):
    """The administrator's key, which a server writes next to its database at its first start."""
    with open(os.path.join(folder, "perfdb.db.key"), encoding="ascii") as file:
        return file.read()


class Server:
    """A perfdb server in a folder, with or without faults."""

    def __init__(self, tools, folder, environment=None):
        self.folder = folder
        self.err_path = os.path.join(folder, "server.err")
        with open(self.err_path, "wb") as err:
            self.process = subprocess.Popen([tools.given.perfdb, "serve", "--quiet", "--threads", "1",
                                             "--database", "perfdb.db", "--listen", "127.0.0.1:0"],
                                            cwd=folder, env=environment, stdin=subprocess.DEVNULL,
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
        """Status and body; the status is None if the connection ended without an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            headers = {"Authorization": f"Bearer {first_key(self.folder)}"}
            if body:
                headers["Content-Type"] = "application/vnd.fastgate.run"
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            return reply.status, reply.read()
        except TimeoutError:
            raise Wrong(f"no answer to {method} {path}") from None
        except (OSError, http.client.HTTPException):
            return None, b""
        finally:
            connection.close()

    def stop(self):
        """Stops the server; returns its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Wrong("the server does not stop") from None


class Push:
    """`fastgate push` of a spooled run to a healthy server."""
    name = "push"
    program = "fastgate"
    skips = ()

    def __init__(self, tools):
        self.tools = tools

    def prepare(self, folder):
        subprocess.run([self.tools.given.make_runs, os.path.join(folder, "spool")], check=True)
        for path in sorted(glob.glob(os.path.join(folder, "spool/*.fgrun")))[1:]:
            os.remove(path)
        # Creates the database's tables now: this scenario does not test that.
        server = Server(self.tools, folder)
        expect(server.port, f"the server does not start: {server.words()!r}")
        server.stop()

    def try_once(self, folder, fault, environment):
        server = Server(self.tools, folder)
        try:
            words = ("push", "--spool", "spool", "--url", server.url())
            code, _, err = self.tools.fastgate(folder, *words, "--attempts", "1",
                                               environment=environment)
            expect_end(fault, code, err, "push")
            waiting = glob.glob(os.path.join(folder, "spool/*.fgrun"))
            expect(not glob.glob(os.path.join(folder, "spool/*.rejected")),
                   "a good run is called rejected")
            expect(code != 0 or not waiting, "the push passed and the run still waits")
            stored = count_runs(os.path.join(folder, "perfdb.db"))
            expect(waiting or stored == 1, "the run is neither in the spool nor in the database")
            code, _, err = self.tools.fastgate(folder, *words)
            expect(code == 0, f"the next push: {code} {err!r}")
            expect(len(self.tools.runs(folder, "perfdb.db")) == 1, "the run is not stored once")
        finally:
            server.stop()


class Serve:
    """A server that starts, accepts an upload, serves it in every way, and stops."""
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
        expect(stored == 2 or stored == 1 and status not in (200, 201),
               f"{stored} runs, and the upload was answered {status}")
        expect(status in (None, 200, 201) or status >= 500 or status == 429,
               f"a good upload was answered {status}")
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
