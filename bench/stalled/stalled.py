# SPDX-License-Identifier: Apache-2.0
"""
Called by run: PERFDB FASTGATE MAKE_RUNS [ROUNDS], with PERFDB_TEST_URL naming a separate PostgreSQL.
"""
import contextlib
import os
import sys
import tempfile
import time

from attack import Server, expect, push, token
from stalling import Waiting, locked_tables, stopped_database

ROUNDS = int(sys.argv[4]) if len(sys.argv) > 4 else 5
WAITING = 20
HEALTH = 50


def milliseconds(work):
    start = time.monotonic()
    work()
    return (time.monotonic() - start) * 1000


def row(name, values, goal):
    values.sort()
    print(f"  {name:<44} {values[len(values) // 2]:8.1f} {values[-1]:8.1f}   {goal}")


def measure(server, secret, trouble, expected):
    """One round: health is requested while requests that need the database are pending."""
    health, ready, told = [], [], []
    with trouble():
        start = time.monotonic()
        waiting = [Waiting(server, "GET", "/api/v1/runs", secret) for _ in range(WAITING)]
        for _ in range(HEALTH):
            health.append(milliseconds(lambda: expect(server.ask("GET", "/healthz"), 200, "health")))
            ready.append(milliseconds(lambda: server.ask("GET", "/readyz")))
        for request in waiting:
            answer = request.answer()
            told.append((time.monotonic() - start) * 1000)
            if not answer.startswith(f"HTTP/1.1 {expected} "):
                raise SystemExit(f"expected {expected}: {answer[:200]!r}")
    while server.ask("GET", "/readyz").status != 200:
        pass
    return health, ready, told


def main():
    os.chdir(tempfile.mkdtemp(prefix="fastgate-bench-"))
    secret = token("admin")
    with Server() as server:
        push(server, secret=secret)
        print(f"milliseconds over {ROUNDS} rounds{'':<21} median    worst   goal")
        for name, trouble, expected in (("in order", contextlib.nullcontext, 200),
                                        ("stopped", stopped_database, 503),
                                        ("tables locked", locked_tables, 503)):
            rounds = [measure(server, secret, trouble, expected) for _ in range(ROUNDS)]
            health, ready, told = ([value for one in rounds for value in one[part]] for part in range(3))
            row(f"{name}: /healthz", health, "100")
            row(f"{name}: /readyz", ready, "100")
            row(f"{name}: a request that needs it, {expected}", told, "5000")


main()
