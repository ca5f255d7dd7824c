#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A stranger behind a proxy uses up only their own allowance, and nobody can use up another client's
allowance or pass for another client.
"""
import json

from attack import Server, expect, token
from checks import check, finish_in_scratch

LIMIT = 5
STRANGER = "198.51.100.7"
NEIGHBOUR = "203.0.113.9"


def ask(server, forwarded, path="/", **more):
    return server.ask("GET", path, {"X-Forwarded-For": forwarded} if forwarded else {}, **more)


def is_exhausted(server, forwarded, **more):
    return ask(server, forwarded, **more).status == 429


def exhaust(server, name, **more):
    """Sends requests until they are limited. The minute may change once meanwhile."""
    for _ in range(3 * LIMIT):
        if is_exhausted(server, name(), **more):
            return
    check(False, "requests are not limited")


def each_client_of_a_proxy_has_its_own_allowance():
    with Server("--behind-proxy", "--requests-per-minute", str(LIMIT)) as server:
        exhaust(server, lambda: STRANGER)
        expect(ask(server, NEIGHBOUR), 200, "the neighbour")
        for path in ("/healthz", "/metrics"):
            for _ in range(3 * LIMIT):
                expect(ask(server, STRANGER, path), 200, f"{path} is outside the limits")
        # The proxy appends on the right; everything to the left is the stranger's own claim.
        claims = (f"192.0.2.{i}, {STRANGER}" for i in range(1, 200))
        exhaust(server, lambda: next(claims))
        expect(ask(server, NEIGHBOUR), 200, "the neighbour, whose address nobody claimed")
        lines = [json.loads(line) for line in open("server.log", encoding="utf-8")]
        check({line["client"] for line in lines} == {STRANGER, NEIGHBOUR},
              "the log does not name the clients")


def untrusted_peers_name_nobody():
    with Server("--behind-proxy", "--trust-proxy", "127.0.0.9",
                "--requests-per-minute", str(LIMIT)) as server:
        names = (f"192.0.2.{i}" for i in range(1, 200))
        exhaust(server, lambda: next(names))
        expect(ask(server, None, source="127.0.0.2"), 200, "another address")
        expect(ask(server, NEIGHBOUR, source="127.0.0.9"), 200, "through the proxy that is trusted")


def forged_header_is_not_believed():
    """The proxy sets one header; another one comes from the client."""
    with Server("--behind-proxy", "--requests-per-minute", str(LIMIT)) as server:
        for i in range(3 * LIMIT):
            server.ask("GET", "/", {"X-Forwarded-For": STRANGER, "Forwarded": f"for=192.0.2.{i}"})
        expect(ask(server, NEIGHBOUR), 200, "the neighbour")
        last = [json.loads(line)["client"] for line in open("server.log", encoding="utf-8")][-3 * LIMIT:]
        check(not any(name.startswith("192.0.2.") for name in last),
              f"a forged address was believed: {last}")


def every_form_of_an_address_is_read():
    with Server("--behind-proxy", "--trust-proxy", "127.0.0.0/8", "--trust-proxy", "10.0.0.0/8",
                "--trust-proxy", "fd00::/8") as server:
        for header, value, client in (
                ("X-Forwarded-For", "192.0.2.1, 10.1.2.3", "192.0.2.1"),
                ("X-Forwarded-For", "192.0.2.1:4711", "192.0.2.1"),
                ("X-Forwarded-For", "10.0.0.1,10.0.0.2", "10.0.0.1"),
                ("X-Forwarded-For", "192.0.2.1, nonsense", "127.0.0.1"),
                ("X-Forwarded-For", "", "127.0.0.1"),
                ("X-Forwarded-For", "," * 5000, "127.0.0.1")):
            server.ask("GET", "/", {header: value})
            found = json.loads(open("server.log", encoding="utf-8").readlines()[-1])["client"]
            check(found == client, f"{header}: {value[:60]} is {found} instead of {client}")


def attack():
    token("read")
    for part in (each_client_of_a_proxy_has_its_own_allowance, untrusted_peers_name_nobody,
                 forged_header_is_not_believed, every_form_of_an_address_is_read):
        open("server.log", "w", encoding="utf-8").close()
        part()


finish_in_scratch(attack)
