#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
No page of another site can write to a server, either with its visitor's rights or by a host name
that resolves to it.
"""
from attack import NOBODY, Server, expect, push
from checks import check, finish_in_scratch

NOTE = {"project": "tracker", "text": "planted"}
NOTES = "/api/v1/annotations?project=tracker"


def notes(server, **more):
    return server.ask("GET", NOTES, **more).json()["annotations"]


def requests_of_other_pages_are_refused(server, secret=None):
    """Requests that a form or fetch() of another page can send without asking first, and a few more."""
    own = f"http://127.0.0.1:{server.port}"
    for headers in ({"Origin": "https://attacker.example"}, {"Origin": "null"},
                    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                    {"Origin": own, "Sec-Fetch-Site": "cross-site"}, {"Origin": own + "0"},
                    {"Origin": "http://127.0.0.1"}):
        expect(server.write("/api/v1/annotations", NOTE, headers, token=secret), 403,
               f"a note with {headers}")
        expect(server.ask("DELETE", f"/api/v1/runs/{server.runs(token=secret)[0]}", headers,
                          token=secret),
               403, f"removing with {headers}")
    for media_type in ("text/plain", "text/plain; application/json", "application/x-www-form-urlencoded",
                       "multipart/form-data", ""):
        expect(server.write("/api/v1/annotations", NOTE, {"Content-Type": media_type}, token=secret),
               415, f"a note as {media_type}")
        expect(server.ask("POST", "/api/v1/runs", {"Content-Type": media_type}, b"FGRUN/1\n",
                          token=secret),
               415, f"a run as {media_type}")
    check(notes(server, token=secret) == [], "a note was planted")


def attack():
    with Server() as server:
        push(server)
        requests_of_other_pages_are_refused(server)
        admin = server.key
    with Server("--anonymous-read") as server:
        expect(server.ask("GET", "/api/v1/runs"), 200, "what everybody may read")
        for host, status in (("attacker.example", 403), ("localhost.attacker.example", 403),
                             ("127.0.0.1.attacker.example", 403), ("127.0.0.10", 403),
                             ("LocalHost:8642", 200), ("[::1]:8642", 200)):
            expect(server.ask("GET", "/api/v1/runs", {"Host": host}), status, f"asked as {host}")
        own = {"Origin": f"http://127.0.0.1:{server.port}", "Sec-Fetch-Site": "same-origin"}
        expect(server.write("/api/v1/annotations", NOTE, own, token=NOBODY), 401,
               "the server's own page, without a token")
    with Server("--host", "perfdb.example.org") as server:
        requests_of_other_pages_are_refused(server, admin)
        for host in ("attacker.example", "perfdb.example.org.attacker.example", "[::1", ""):
            check(server.ask("GET", "/api/v1/runs", {"Host": host}, token=admin).status in (400, 403),
                  f"asked as {host!r}")
        for host in ("perfdb.example.org", "PERFDB.example.org:443", "localhost:1", "[::1]:80"):
            expect(server.ask("GET", "/api/v1/runs", {"Host": host}, token=admin), 200,
                   f"asked as {host}")
        page = {"Host": "perfdb.example.org", "Origin": "https://perfdb.example.org",
                "Sec-Fetch-Site": "same-origin"}
        expect(server.write("/api/v1/annotations", NOTE, page, token=admin), 201,
               "the server's own page with a token")


finish_in_scratch(attack)
