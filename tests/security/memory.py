#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many large bodies at once take neither the memory nor more than the bound that all share."""
import re
import socket

from attack import RUN_TYPE, Server, expect, push, token
from checks import HUNG_S, check, finish_in_scratch

SIZE = 40 << 20
SENT = 36 << 20  # of each: none is complete
BOUND = 512 << 20


def memory(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s+(\d+) kB", file.read()).group(1)) << 10


def held(server):
    return int(re.search(rb"^perfdb_body_bytes (\d+)", server.ask("GET", "/metrics").body, re.M).group(1))


def begin(server, secret):
    line = socket.create_connection(("127.0.0.1", server.port), HUNG_S)
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: {RUN_TYPE}\r\nContent-Length: {SIZE}\r\n"
    line.sendall((head + f"Authorization: Bearer {secret}\r\n\r\n").encode())
    sent, piece = 0, bytes(1 << 20)
    try:
        while sent < SENT:
            line.sendall(piece)
            sent += len(piece)
    except OSError:
        pass  # refused on the way
    return line


def attack():
    secret = token("upload")
    with Server("--behind-proxy") as server:
        push(server, secret=secret)
        # Nobody knows yet who these are: all of them together may hold one upload.
        strangers = [begin(server, f"fgt_{i:064x}") for i in range(4)]
        check(held(server) == 0, "strangers take from the bound of others")
        before = memory(server)
        lines = [begin(server, secret) for _ in range(20)]
        check(held(server) <= BOUND + SIZE, f"{held(server)} bytes are held")
        check(memory(server) - before < 100 << 20, f"{memory(server) - before} bytes of memory more")
        expect(server.ask("GET", "/healthz"), 200, "alive")
        expect(server.ask("GET", "/api/v1/runs", token=secret), 200, "a question meanwhile")
        for line in strangers + lines:
            line.close()
        push(server, secret=secret)


finish_in_scratch(attack)
