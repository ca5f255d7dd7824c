#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Many large bodies at once use no more memory than the shared limit, and a stalling client makes
nobody else wait.
"""
import glob
import re
import socket
import subprocess

from attack import MAKE_RUNS, RUN_TYPE, Server, expect, parcel, parts, push, send, token
from checks import HUNG_S, check, finish_in_scratch

SIZE = 40 << 20
SENT = 36 << 20  # bytes sent of each body: no body is complete
BOUND = 512 << 20


def memory(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s+(\d+) kB", file.read()).group(1)) << 10


def held(server):
    metrics = server.ask("GET", "/metrics").body
    return int(re.search(rb"^perfdb_body_bytes (\d+)", metrics, re.M).group(1))


def begin(server, secret):
    line = socket.create_connection(("127.0.0.1", server.port), HUNG_S)
    head = (f"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: {RUN_TYPE}\r\n"
            f"Content-Length: {SIZE}\r\n")
    line.sendall((head + f"Authorization: Bearer {secret}\r\n\r\n").encode())
    sent, piece = 0, bytes(1 << 20)
    try:
        while sent < SENT:
            line.sendall(piece)
            sent += len(piece)
    except OSError:
        pass  # refused while sending
    return line


def new_run(seed):
    subprocess.run([MAKE_RUNS, f"late{seed}", str(seed), "1"], check=True)
    return parcel(*parts(glob.glob(f"late{seed}/*.fgrun")[0]))


def nobody_waits_for_those_who_stall():
    with Server() as server:
        before = memory(server)
        strangers = [begin(server, f"fgt_{i:064x}") for i in range(20)]
        check(held(server) == 0, "strangers take from the bound of all")
        expect(send(server, new_run(77), token("upload")), 201,
               "the first run of a token while strangers stall")
        mine = token("upload")
        lines = [begin(server, mine) for _ in range(20)]
        check(held(server) <= BOUND // 2 + SIZE, f"one token holds {held(server)} bytes")
        expect(send(server, new_run(78), token("upload")), 201,
               "another's first run while a token stalls")
        check(memory(server) - before < 100 << 20, f"{memory(server) - before} bytes of memory more")
        for line in strangers + lines:
            line.close()


def attack():
    nobody_waits_for_those_who_stall()
    secret = token("upload")
    with Server("--behind-proxy") as server:
        push(server, secret=secret)
        strangers = [begin(server, f"fgt_{i:064x}") for i in range(4)]
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
