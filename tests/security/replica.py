#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
With a read replica, queries do not use the primary, and nobody sees less or may do more than
without a replica: recent writes are visible, a revoked token is refused, and a replica that stops
or lags is not used.
"""
import json
import os
import re
import subprocess
import time

from attack import PERFDB, Server, expect, push, token
from checks import HUNG_S, check, finish_in_scratch

REPLICA, CONTROL = (os.environ[name] for name in ("PERFDB_TEST_REPLICA", "PERFDB_TEST_REPLICA_CONTROL"))


def control(word):
    subprocess.run([CONTROL, word], check=True)


def metric(server, name):
    found = re.search(rf"^perfdb_{name} (\S+)$", server.ask("GET", "/metrics").body.decode(), re.M)
    return float(found.group(1)) if found else None


def until(what, holds):
    """Waits until `holds()` is true; a slow process delays the test and changes nothing else."""
    end = time.monotonic() + HUNG_S
    while not holds():
        if time.monotonic() > end:
            raise SystemExit(f"still not true after {HUNG_S} s: {what}")


def questions_of(server, work):
    before = metric(server, "replica_questions_total")
    work()
    return metric(server, "replica_questions_total") - before


def questions_go_to_the_replica(server, reader, run):
    until("the replica is up", lambda: metric(server, "replica_up") == 1)
    def ask_for_the_run():
        return server.ask("GET", f"/api/v1/runs/{run}", token=reader)

    until("the replica has the run", lambda: questions_of(server, ask_for_the_run) == 1)
    for path in ("/api/v1/runs", "/api/v1/dashboard?project=tracker", f"/api/v1/runs/{run}",
                 "/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time"):
        asked = questions_of(server, lambda: expect(server.ask("GET", path, token=reader), 200, path))
        check(asked == 1, f"{path} was not asked of the replica")

    def ask_for_tokens():
        expect(server.ask("GET", "/api/v1/tokens", token=reader), 403, "tokens")

    check(questions_of(server, ask_for_tokens) == 0, "who may enter is the first's matter")


def recent_writes_are_seen(server, admin, reader):
    control("pause")
    note = {"project": "tracker", "text": "after the pause"}
    expect(server.write("/api/v1/annotations", note, token=admin), 201, "a note")
    seen = server.ask("GET", "/api/v1/annotations?project=tracker", token=admin).json()["annotations"]
    check([one["text"] for one in seen] == ["after the pause"], f"its author does not see it: {seen}")
    push(server, 3, secret=admin)
    newest = server.runs(token=admin)
    check(len(newest) == 3, f"the sender of runs does not see them: {newest}")
    for run in newest:
        answer = expect(server.ask("GET", f"/api/v1/runs/{run}", token=reader), 200,
                        "a run that the replica does not have yet")
        check(run.encode() in answer.body, f"{run} is not shown: {answer.body[:200]!r}")
    revoked = token("read")
    expect(server.ask("GET", "/api/v1/runs", token=revoked), 200,
           "a token that the replica does not know")
    number = max(one["id"] for one in server.ask("GET", "/api/v1/tokens", token=admin).json()["tokens"])
    expect(server.ask("DELETE", f"/api/v1/tokens/{number}", token=admin), 200, "revoking")
    expect(server.ask("GET", "/api/v1/runs", token=revoked), 401,
           "a token that the replica takes for good")
    control("resume")


def replica_that_stops_is_not_missed(server, reader):
    control("stop")
    for _ in range(20):
        expect(server.ask("GET", "/api/v1/runs", token=reader), 200, "while the replica is stopped")
    until("it is known to be down", lambda: metric(server, "replica_up") == 0)
    check(metric(server, "replica_lag_seconds") is None, "a replica that is down has a lag")
    expect(server.ask("GET", "/readyz"), 200, "ready without the replica")
    control("start")
    until("it is asked again",
          lambda: questions_of(server, lambda: server.ask("GET", "/api/v1/runs", token=reader)) == 1)


def nonsense_is_refused():
    for words, reason in ((["--database", "perfdb.db", "--read-url", REPLICA],
                           "--read-url is for a replica of a PostgreSQL database"),
                          (["--database", os.environ["PERFDB_TEST_URL"], "--read-url", REPLICA,
                            "--read-only"], "without --read-url")):
        done = subprocess.run([PERFDB, "serve", "--listen", "127.0.0.1:0", *words],
                              capture_output=True, text=True, check=False)
        check(done.returncode != 0 and reason in done.stderr and done.stderr.count("\n") == 1,
              f"{words}: {done.returncode}: {done.stderr}")


def attack():
    admin, reader = token("admin"), token("read")
    nonsense_is_refused()
    with Server("--read-url", REPLICA) as server:
        push(server, 1, secret=admin)
        questions_go_to_the_replica(server, reader, server.runs(token=admin)[0])
        recent_writes_are_seen(server, admin, reader)
        replica_that_stops_is_not_missed(server, reader)
    with open("server.log", encoding="utf-8") as log:
        check(all(json.loads(line)["status"] != 500 for line in log),
              "a question failed inside the server")


finish_in_scratch(attack)
