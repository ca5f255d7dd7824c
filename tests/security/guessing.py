#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tokens cannot be guessed by trying, and attempts do not lock out clients that have one."""
import re

from attack import Server, expect, token
from checks import check, finish_in_scratch


def attack():
    good = token("read")
    late = token("read")
    with Server() as server:
        expect(server.ask("GET", "/api/v1/runs", token=good), 200, "a good token")
        statuses = [server.ask("GET", "/api/v1/runs", token=f"fgt_{i:064x}").status for i in range(100)]
        check(statuses[0] == 401 and statuses.count(429) >= 30, f"guesses: {statuses}")
        check(set(statuses) == {401, 429}, f"guesses: {set(statuses)}")
        answer = next(answer for answer in (server.ask("GET", "/api/v1/runs", token=f"fgt_{i:064x}") for i in range(100, 140)) if answer.status == 429)
        check(answer.code() == "too_many_requests" and int(answer.headers["retry-after"]) in range(1, 61), f"{answer.headers}")
        expect(server.ask("GET", "/api/v1/runs", token=good), 200, "the good token, from the same address")
        expect(server.ask("GET", "/api/v1/runs", token=late, source="127.0.0.2"), 200, "another one, from another address")
        expect(server.ask("GET", "/api/v1/runs"), 401, "no token at all")
        told = server.ask("GET", "/metrics").body.decode()
        check(int(re.search(r"^perfdb_failed_tokens_total (\d+)$", told, re.M).group(1)) >= statuses.count(401), "guesses are counted")
        counts = [int(number) for number in re.findall(r"^perfdb_latency_seconds_(?:bucket|count).* (\d+)$", told, re.M)]
        check(len(counts) == 10 and counts == sorted(counts) and counts[-1] > 100, f"latencies: {counts}")
        check(re.search(r"^perfdb_connections [1-9]", told, re.M) and "\nperfdb_waiting " in told, "connections and the queue")


finish_in_scratch(attack)
