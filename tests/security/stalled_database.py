#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
With a database that is stalled, locked, full or gone, health checks and refusals still work, and
the server recovers afterwards.
"""
import os
import resource
import signal
import sqlite3

from attack import DATABASE, Server, expect, push, token
from checks import check, finish_in_scratch
from stalling import Waiting, locked_tables, postgres_processes, stopped_database

ON_POSTGRESQL = "://" in DATABASE


def wait_until(what, is_so):
    for _ in range(100000):
        if is_so():
            return
    check(False, f"never: {what}")


def stall(server, secret, questions):
    """
    Sends requests that need the stalled database; health answers before they do. Returns the
    pending requests.
    """
    waiting = [Waiting(server, method, path, secret) for method, path in questions for _ in range(20)]
    for _ in range(5):
        expect(server.ask("GET", "/healthz"), 200, "alive")
        check(server.ask("GET", "/readyz").status in (200, 503), "readiness is not answered")
        expect(server.ask("GET", "/"), 200, "a page without data")
    return waiting


def all_must_retry(waiting, what):
    for request in waiting:
        answer = request.answer()
        check(answer.startswith("HTTP/1.1 503 ") and "retry-after: " in answer.lower(),
              f"{what}: {answer[:300]!r}")


def is_ready(server):
    return server.ask("GET", "/readyz").status == 200


def is_running(process):
    try:
        with open(f"/proc/{process}/stat", encoding="latin-1") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


QUESTIONS = (("GET", "/api/v1/runs"), ("POST", "/api/v1/annotations"))


def stalled_postgresql_stops_no_health_check(server, secret):
    with stopped_database():
        waiting = stall(server, secret, QUESTIONS)
        check(not waiting[0].is_answered(), "the database was not stopped")
        all_must_retry(waiting, "a database that stands still")
        wait_until("not ready without a database", lambda: not is_ready(server))
        expect(server.ask("GET", "/api/v1/runs", token=secret), 503, "the next one is refused at once")
    wait_until("ready again", lambda: is_ready(server))
    expect(server.ask("GET", "/api/v1/runs", token=secret), 200, "after it went on")

    with locked_tables():
        all_must_retry(stall(server, secret, QUESTIONS), "locked tables")
    wait_until("ready again", lambda: is_ready(server))
    expect(server.ask("GET", "/api/v1/runs", token=secret), 200, "after the lock")

    stopped = postgres_processes()
    os.kill(stopped[0], signal.SIGQUIT)
    wait_until("PostgreSQL ends", lambda: not any(is_running(process) for process in stopped))
    all_must_retry(stall(server, secret, QUESTIONS), "a database that is gone")
    wait_until("not ready without a database", lambda: not is_ready(server))


def locked_or_full_sqlite_stops_no_reader(server, secret):
    unused = token("read")
    with sqlite3.connect("perfdb.db", 60, isolation_level=None) as locker:
        locker.execute("BEGIN EXCLUSIVE")
        waiting = stall(server, secret, (("POST", "/api/v1/annotations"),))
        expect(server.ask("GET", "/api/v1/runs", token=secret), 200, "readers do not wait for a writer")
        expect(server.ask("GET", "/api/v1/runs", token=unused), 200,
               "nor does a token whose first use cannot be noted yet")
        all_must_retry(waiting, "a locked file")
        locker.execute("ROLLBACK")
    expect(server.write("/api/v1/annotations", {"project": "tracker", "text": "x"}, token=secret), 201,
           "after the lock")
    # From here on no file can grow: SQLite sees a full disk.
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    answer = expect(server.write("/api/v1/annotations", {"project": "tracker", "text": "x"},
                                 token=secret),
                    507, "a full disk")
    check("retry-after" in answer.headers and answer.code() == "storage", f"{answer.headers}")
    expect(server.ask("GET", "/healthz"), 200, "alive with a full disk")
    expect(server.ask("GET", "/api/v1/runs", token=secret), 200, "reading with a full disk")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                     (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    expect(server.write("/api/v1/annotations", {"project": "tracker", "text": "x"}, token=secret), 201,
           "with room again")


def attack():
    secret = token("admin")
    with Server() as server:
        push(server, secret=secret)
        check(is_ready(server), "not ready with everything in order")
        if ON_POSTGRESQL:
            stalled_postgresql_stops_no_health_check(server, secret)
        else:
            locked_or_full_sqlite_stops_no_reader(server, secret)


finish_in_scratch(attack)
