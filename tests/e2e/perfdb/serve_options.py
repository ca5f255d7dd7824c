#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
serve_options.py PERFDB FASTGATE MAKE_RUNS: limits and other options of `perfdb serve` without their
own test.
"""
import socket

from attack import DATABASE, PERFDB, RUN_TYPE, Server, expect, token
from checks import HUNG_S, call, check, finish_in_scratch


def large_uploads_are_refused(admin):
    with Server("--body-limit", "1KiB") as server:
        answer = expect(server.ask("POST", "/api/v1/runs", {"Content-Type": RUN_TYPE}, b"x" * 1025,
                                   token=admin),
                        413, "more than the limit")
        check(answer.code() == "too_large", f"{answer.body}")
        expect(server.ask("POST", "/api/v1/runs", {"Content-Type": RUN_TYPE}, b"x" * 1024, token=admin),
               400, "just as much, which is not a run")


def ends_by_itself(server, data):
    """
    The server ends the connection of a silent client. Only the limit under test can do that, because all
    other limits are minutes.
    """
    with socket.create_connection(("127.0.0.1", server.port), HUNG_S) as line:
        line.sendall(data)
        try:
            while line.recv(4096):
                pass
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
    return True


def slow_clients_are_left(admin):
    head = (f"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {admin}\r\n"
            f"Content-Type: {RUN_TYPE}\r\nContent-Length: 1000\r\n\r\n")
    with Server("--header-time", "300ms", "--request-time", "1h") as server:
        check(ends_by_itself(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"),
              "headers may take for ever")
    with Server("--request-time", "300ms", "--header-time", "1h") as server:
        check(ends_by_itself(server, head.encode() + b"x"), "a body may take for ever")
    for words in (("--header-time", "soon"), ("--request-time", "-1s"), ("--body-limit", "much")):
        done = call(PERFDB, "serve", "--database", DATABASE, "--listen", "127.0.0.1:0", *words)
        check(done.returncode == 2 and words[0] in done.stderr,
              f"{words}: {done.returncode} {done.stderr}")


def body():
    admin = token("admin")
    large_uploads_are_refused(admin)
    slow_clients_are_left(admin)


finish_in_scratch(body)
