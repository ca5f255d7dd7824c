#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Guessing does not lock out anybody who has a token, even at the same address or after a restart;
guesses are counted, and a few are in the audit log.
"""
import json
import re

from attack import NOBODY, Server, expect, token
from checks import HUNG_S, check, finish_in_scratch

GUESSES = 150


def guess(server):
    statuses = {server.ask("GET", "/api/v1/runs", token=f"fgt_{i:064x}").status for i in range(GUESSES)}
    check(statuses == {401}, f"guesses: {statuses}")


def audit(server):
    return [json.loads(line) for line in server.ask("GET", "/api/v1/audit").body.splitlines()]


def wait_for(server, action, who):
    """Waits for an entry, which a background thread writes."""
    for _ in range(HUNG_S * 1000):
        found = [entry for entry in audit(server) if entry["action"] == action and entry["who"] == who]
        if found:
            return found
    return check(False, f"{action} by {who} is not in the audit log")


def refusals_are_in_the_audit_log(server, reader):
    guesses = wait_for(server, "refused", "127.0.0.1")
    check(len(guesses) < GUESSES // 10, f"{len(guesses)} entries for guesses of one address")
    check(guesses[0]["subject"] == "GET /api/v1/runs" and guesses[0]["detail"] == "the token is unknown",
          f"{guesses[0]}")
    expect(server.ask("GET", "/api/v1/tokens", token=reader), 403, "a reader lists tokens")
    number = next(one["id"] for one in server.ask("GET", "/api/v1/tokens").json()["tokens"]
                  if one["note"] == "reader")
    refused = wait_for(server, "refused", f"token {number}")
    check(refused[0]["subject"] == "GET /api/v1/tokens" and refused[0]["project"] == "tracker",
          f"{refused}")


def failures_and_latencies_are_counted(server):
    told = server.ask("GET", "/metrics").body.decode()
    check(int(re.search(r"^perfdb_failed_tokens_total (\d+)$", told, re.M).group(1)) >= GUESSES,
          "guesses are not counted")
    counts = [int(number)
              for number in re.findall(r"^perfdb_latency_seconds_(?:bucket|count).* (\d+)$", told, re.M)]
    check(len(counts) == 10 and counts == sorted(counts) and counts[-1] > GUESSES,
          f"latencies: {counts}")
    check(re.search(r"^perfdb_connections [1-9]", told, re.M) and "\nperfdb_waiting " in told,
          "connections and the queue")


def attack():
    good, late = token("read"), token("read")
    reader = token("read", "--project", "tracker", "--note", "reader")
    with Server() as server:
        expect(server.ask("GET", "/api/v1/runs", token=good), 200, "a good token")
        guess(server)
        expect(server.ask("GET", "/api/v1/runs", token=good), 200,
               "the good token, from the same address")
        expect(server.ask("GET", "/api/v1/runs", token=late), 200,
               "a token that was never used, from the same address")
        expect(server.ask("GET", "/api/v1/runs", token=NOBODY), 401, "no token at all")
        failures_and_latencies_are_counted(server)
    with Server("--requests-per-minute", "20") as server:
        statuses = [server.ask("GET", "/api/v1/runs", token=f"fgt_{i:064x}").status for i in range(100)]
        check(set(statuses) == {401, 429},
              f"more guesses than an address may send requests: {set(statuses)}")
        expect(server.ask("GET", "/api/v1/runs", token=good), 200,
               "a token that this server has not seen")
    admin = token("admin")
    with Server() as server:
        server.key = admin
        guess(server)
        refusals_are_in_the_audit_log(server, reader)


finish_in_scratch(attack)
