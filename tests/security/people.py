#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A scope permits only its own actions, decisions carry the person's name, and the audit log records
all of them.
"""
import json

from attack import RUN_TYPE, Server, expect, push, token
from checks import check, finish_in_scratch

NOTE = {"project": "tracker", "text": "larger cache", "author": "somebody else"}


def lines(body):
    return [json.loads(line) for line in body.splitlines()]


def decisions(body):
    """Audit entries without refusals, which are recorded later."""
    return [entry for entry in lines(body) if entry["action"] != "refused"]


def audit(server, secret, query=""):
    return decisions(expect(server.ask("GET", f"/api/v1/audit{query}", token=secret), 200,
                            "the audit log").body)


def each_scope_opens_what_it_is_for(server, run):
    """Checks the rights of read, upload and triage tokens; an administrator has all of them."""
    secrets = {scope: token(scope, "--project", "tracker", "--note", f"the {scope}")
               for scope in ("read", "upload", "triage", "admin")}
    decision = {"project": "tracker", "benchmark": "parse", "metric": "cpu_time", "run": run,
                "kind": "accepted"}
    new_token = {"project": "tracker", "scope": "read"}
    wanted = {
        "see runs": (lambda secret: server.ask("GET", "/api/v1/runs", token=secret),
                     {"read", "upload", "triage", "admin"}),
        "send a run": (lambda secret: server.ask("POST", "/api/v1/runs", {"Content-Type": RUN_TYPE},
                                                 b"no run", token=secret), {"upload", "admin"}),
        "write a note": (lambda secret: server.write("/api/v1/annotations", NOTE, token=secret),
                         {"triage", "admin"}),
        "decide": (lambda secret: server.write("/api/v1/annotations", decision, token=secret),
                   {"triage", "admin"}),
        "see tokens": (lambda secret: server.ask("GET", "/api/v1/tokens", token=secret), {"admin"}),
        "make a token": (lambda secret: server.write("/api/v1/tokens", new_token, token=secret),
                         {"admin"}),
        "see the audit log": (lambda secret: server.ask("GET", "/api/v1/audit", token=secret),
                              {"admin"})}
    for what, (work, allowed) in wanted.items():
        for scope, secret in secrets.items():
            status = work(secret).status
            check((status != 403) == (scope in allowed), f"{scope}: {what}: {status}")
            check(scope not in allowed or status in (200, 201, 400), f"{scope}: {what}: {status}")
    return secrets


def author_is_who_is_signed_in(server, secrets):
    notes = server.ask("GET", "/api/v1/annotations?project=tracker",
                       token=secrets["read"]).json()["annotations"]
    check({note["author"] for note in notes} == {"the triage", "the admin"}, f"authors: {notes}")
    entries = audit(server, secrets["admin"])
    told = {(entry["who"], entry["action"]) for entry in entries}
    check(("the triage", "annotation.add") in told and ("the admin", "token.create") in told,
          f"{entries}")
    check(not any(entry["who"] in ("the read", "the upload") for entry in entries),
          f"what was refused is taken for a decision: {entries}")


def project_administrator_keeps_to_the_project(server, secrets, everything):
    mine = secrets["admin"]
    listed = expect(server.ask("GET", "/api/v1/tokens", token=mine), 200,
                    "tokens of the project").json()["tokens"]
    check({one["project"] for one in listed} == {"tracker"}, f"{listed}")
    check(all("fgt_" not in json.dumps(one) for one in listed), "a list has tokens themselves")
    expect(server.write("/api/v1/tokens", {"project": "other", "scope": "read"}, token=mine), 404,
           "a token for another project")
    expect(server.write("/api/v1/tokens", {"scope": "admin"}, token=mine), 404,
           "a token for all projects")
    whole = expect(server.ask("GET", "/api/v1/tokens", token=everything), 200,
                   "all tokens").json()["tokens"]
    foreign = next(one["id"] for one in whole if one["project"] is None)
    expect(server.ask("DELETE", f"/api/v1/tokens/{foreign}", token=mine), 404,
           "revoking a token of all projects")
    expect(server.ask("GET", "/api/v1/audit?project=other", token=mine), 404,
           "the log of another project")
    check({entry["project"] for entry in audit(server, mine)} == {"tracker"},
          "the log of one project has another's entries")


def token_works_until_it_is_revoked(server, everything):
    made = expect(server.write("/api/v1/tokens", {"scope": "read", "expires": "1d", "note": "for a day"},
                               token=everything),
                  201, "a token").json()
    expect(server.ask("GET", "/api/v1/runs", token=made["token"]), 200, "the new token")
    one = {}
    while "used_at" not in one:  # recorded by a background thread
        one = next(one for one in server.ask("GET", "/api/v1/tokens", token=everything).json()["tokens"]
                   if one["id"] == made["id"])
    check(one["note"] == "for a day" and not one["revoked"] and "used_at" in one, f"{one}")
    expect(server.ask("DELETE", f"/api/v1/tokens/{made['id']}", token=everything), 200, "revoking")
    expect(server.ask("GET", "/api/v1/runs", token=made["token"]), 401, "the revoked token")
    for wrong in ({"scope": "all"}, {"scope": "read", "expires": "soon"},
                  {"scope": "read", "expires": "0s"}):
        expect(server.write("/api/v1/tokens", wrong, token=everything), 400, f"{wrong}")
    expect(server.ask("DELETE", "/api/v1/tokens/x", token=everything), 400, "a token without a number")
    expect(server.ask("DELETE", "/api/v1/tokens/999999", token=everything), 404,
           "a token that is not there")


def decision_that_fails_leaves_no_entry(server, run, everything):
    before = audit(server, everything)
    expect(server.write("/api/v1/annotations", {"project": "tracker", "text": ""}, token=everything),
           400, "a note without text")
    expect(server.ask("DELETE", "/api/v1/annotations/999999?project=tracker", token=everything), 404,
           "a note that is not there")
    check(audit(server, everything) == before, "what failed stands in the log")
    expect(server.ask("DELETE", f"/api/v1/runs/{run}", token=everything), 200, "removing a run")
    last = audit(server, everything, f"?after={before[-1]['id']}")[-1]
    check((last["action"], last["subject"], last["project"]) == ("run.remove", run, "tracker"),
          f"{last}")


def attack():
    everything = token("admin", "--note", "root")
    with Server() as server:
        push(server, secret=everything)
        run = server.runs(token=everything)[0]
        secrets = each_scope_opens_what_it_is_for(server, run)
        author_is_who_is_signed_in(server, secrets)
        project_administrator_keeps_to_the_project(server, secrets, everything)
        token_works_until_it_is_revoked(server, everything)
        decision_that_fails_leaves_no_entry(server, run, everything)
        entries = audit(server, everything)
        check([entry["id"] for entry in entries] == sorted({entry["id"] for entry in entries}),
              "entries are not in order")
        pages = lines(server.ask("GET", "/api/v1/audit", token=everything).body)
        check(lines(server.ask("GET", f"/api/v1/audit?limit=2&after={pages[1]['id']}",
                               token=everything).body) == pages[2:4], "pages do not join")


finish_in_scratch(attack)
