#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Read-only means read-only, and only the user who started a local server can see its pages."""
import json
import re

from attack import DATABASE, FASTGATE, RUN_TYPE, Server, expect, push
from checks import check, finish_in_scratch

WRITES = (("POST", "/api/v1/runs", RUN_TYPE), ("POST", "/api/v1/annotations", "application/json"),
          ("DELETE", "/api/v1/runs/{run}", None),
          ("DELETE", "/api/v1/annotations/1?project=tracker", None), ("PUT", "/api/v1/runs", None))


def nothing_can_be_written(server, run, headers):
    for method, path, media_type in WRITES:
        body = b"{}" if media_type else None
        more = {"Content-Type": media_type} if media_type else {}
        answer = server.ask(method, path.format(run=run), {**headers, **more}, body)
        # A read-only server refuses the method, even at an address that accepts no other method.
        check(answer.status == 405, f"{method} {path}: {answer.status}")
        allow = answer.headers.get("allow", "")
        check("POST" not in allow and "DELETE" not in allow, f"{method} {path} may be tried: {allow!r}")
    check(run in server.runs(headers=headers), "the run is gone")
    capabilities = server.ask("GET", "/api/v1/capabilities", headers).json()
    check(capabilities["read_only"] is True, f"the server calls itself {capabilities}")


def pages_of_a_local_store_need_the_key(run):
    with Server(program=[FASTGATE, "web", "--store", DATABASE]) as server:
        key = re.search(r"\?key=([0-9a-f]{32,})$", server.url)
        check(key, f"the address has no key: {server.url}")
        key = key.group(1)
        expect(server.ask("GET", "/healthz"), 200, "health")
        icon = expect(server.ask("GET", "/favicon.ico"), 200,
                      "the icon, which a browser asks for on its own")
        check(icon.headers.get("content-type") == "image/svg+xml", f"the icon's type: {icon.headers}")
        for path in ("/", "/api/v1/runs", "/assets/app.js", "/metrics", "/?key=",
                     f"/?key={'0' * len(key)}", f"/api/v1/runs?key={key}"):
            expected = 200 if path == "/metrics" else 401
            expect(server.ask("GET", path), expected, f"another user asks for {path}")
        expect(server.ask("DELETE", f"/api/v1/runs/{run}"), 405, "another user removes a run")
        entry = expect(server.ask("GET", f"/?key={key}"), 200, "the printed address")
        cookie = entry.headers.get("set-cookie", "")
        check("SameSite=Strict" in cookie and "HttpOnly" in cookie, f"the cookie: {cookie!r}")
        check(key not in entry.body.decode(), "the key is in the page")
        known = {"Cookie": cookie.split(";")[0]}
        expect(server.ask("GET", "/", known), 200, "the page with the cookie")
        expect(server.ask("GET", "/api/v1/runs", {"Authorization": f"Bearer {key}"}), 200,
               "a script with the key")
        expect(server.ask("GET", "/api/v1/runs", {**known, "Host": "attacker.example:80"}),
               403, "DNS rebinding")
        expect(server.ask("GET", "/api/v1/runs",
                          {"Cookie": cookie.split("=")[0] + "=" + "0" * len(key)}),
               401, "a made-up cookie")
        nothing_can_be_written(server, run, known)


def attack():
    with Server() as server:
        push(server)
        run = server.runs()[0]
        body = json.dumps({"project": "tracker", "text": "kept"}).encode()
        expect(server.ask("POST", "/api/v1/annotations", {"Content-Type": "application/json"}, body),
               201, "a server that is not read-only")
    with Server("--read-only", "--anonymous-read") as server:
        nothing_can_be_written(server, run, {})
    if "://" not in DATABASE:
        pages_of_a_local_store_need_the_key(run)


finish_in_scratch(attack)
