#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The first start is closed: strangers have no rights, even behind a proxy that looks local, and only
an explicit option gives everybody read access.
"""
import glob
import os
import stat
import subprocess

from attack import DATABASE, MAKE_RUNS, NOBODY, Server, expect, parcel, parts, push, send, token
from checks import check, finish_in_scratch

BODY = bytearray()
READS = ("/api/v1/runs", "/api/v1/projects", "/api/v1/capabilities", "/api/v1/feed?project=tracker",
         "/api/v1/dashboard?project=tracker")
ADMINISTERS = (("GET", "/api/v1/tokens"), ("GET", "/api/v1/audit"),
               ("GET", "/api/v1/webhook?project=tracker"))
# The headers of nginx's plain proxy_pass: its own loopback Host, nothing about forwarding.
DISGUISES = ({}, {"Host": "127.0.0.1"}, {"Host": "localhost:8642"}, {"Host": "[::1]"},
             {"Host": "127.0.0.1", "Connection": "close"}, {"X-Forwarded-For": "127.0.0.1"},
             {"Authorization": "Bearer "}, {"Authorization": "Basic YTpi"},
             {"Authorization": "Bearer fgt_" + "0" * 64})


def may_not(server, headers, reads):
    for path in READS:
        status = server.ask("GET", path, headers, token=NOBODY).status
        check(status == 200 if reads
              and "Bearer" not in headers.get("Authorization", "") else status == 401,
              f"GET {path} with {headers}: {status}")
    for method, path in ADMINISTERS:
        expect(server.ask(method, path, headers, token=NOBODY), 401, f"{method} {path} with {headers}")
    for path, words in (("/api/v1/tokens", {"scope": "admin"}),
                        ("/api/v1/annotations", {"project": "tracker", "text": "x"}),
                        ("/api/v1/webhook", {"project": "tracker", "url": "https://example.org/"})):
        expect(server.write(path, words, headers, token=NOBODY), 401, f"POST {path} with {headers}")
    expect(server.ask("DELETE", "/api/v1/runs/latest", headers, token=NOBODY), 401,
           f"removing a run with {headers}")
    check(send(server, bytes(BODY), NOBODY).status == 401, "a stranger's run is stored")


def key_is_printed_once_and_kept_for_its_owner():
    with Server() as server:
        check(server.key is not None, "the first start prints no key")
        check(server.key not in server.url, "the key is in the address that is printed at every start")
        expect(server.ask("GET", "/api/v1/tokens"), 200, "the printed key")
        if "://" not in DATABASE:
            mode = stat.S_IMODE(os.stat("perfdb.db.key").st_mode)
            check(mode == 0o600, f"others may read the key: {mode:o}")
            with open("perfdb.db.key", encoding="ascii") as file:
                check(file.read() == server.key, "the file has another key")
        push(server)
        with open("server.log", encoding="utf-8") as log:
            check(server.key not in log.read(), "the key is in the log")
        for headers in DISGUISES:
            may_not(server, headers, reads=False)
        key = server.key
    with Server() as again:
        check(again.key is None, "the second start prints another key")
        expect(again.ask("GET", "/api/v1/tokens", token=key), 200, "the key of the first start")
        may_not(again, {}, reads=False)
    return key


def revoked_key_opens_nothing_and_brings_no_other(key):
    with Server() as server:
        number = server.ask("GET", "/api/v1/tokens", token=key).json()["tokens"][0]["id"]
        expect(server.ask("DELETE", f"/api/v1/tokens/{number}", token=key), 200,
               "revoking the first key")
        expect(server.ask("GET", "/api/v1/runs", token=key), 401, "the revoked key")
    with Server() as server:
        check(server.key is None, "a start after the first prints a key")
        may_not(server, {}, reads=False)


def everybody_reads_if_that_was_requested():
    for options in (("--anonymous-read",), ("--anonymous-read", "--behind-proxy")):
        with Server(*options) as server:
            for headers in DISGUISES:
                may_not(server, headers, reads=True)


def attack():
    subprocess.run([MAKE_RUNS, "strange", "77", "1"], check=True)
    BODY.extend(parcel(*parts(glob.glob("strange/*.fgrun")[0])))
    key = key_is_printed_once_and_kept_for_its_owner()
    everybody_reads_if_that_was_requested()
    token("admin")
    revoked_key_opens_nothing_and_brings_no_other(key)


finish_in_scratch(attack)
