#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Names that imitate other names or control a terminal are refused or shown as harmless text; an address
with a NUL is refused; projects reveal nothing to each other.
"""
import glob
import json
import os
import subprocess
import urllib.parse

from attack import DATABASE, MAKE_RUNS, PERFDB, Server, expect, parcel, parts, push, send, token
from checks import call, check, finish_in_scratch

BAD_NAMES = ("tracker\n", "a\x1b[31mb", "a\u009bb", "a\x7fb", "a\u202eb", "a\u2066b", "a\u200fb",
             "a\u061cb", "\t")
seeds = iter(range(50, 100))


def run_of(project, *kind):
    seed = str(next(seeds))
    subprocess.run([MAKE_RUNS, f"spool-{seed}", *(kind or (seed, "1"))], check=True)
    envelope, dictionary, values = parts(glob.glob(os.path.join(f"spool-{seed}", "*.fgrun"))[0])
    head = {**json.loads(envelope), "project": project}
    return parcel(json.dumps(head).encode(), dictionary, values)


def bad_project_names_are_refused(server):
    for name in BAD_NAMES:
        answer = send(server, run_of(name), server.key)
        check(answer.status == 400 and "control characters" in answer.json()["error"]["message"],
              f"{name!r}: {answer.status} {answer.body!r}")
    check(server.ask("GET", "/api/v1/projects").json()["projects"] == ["tracker"],
          "a project with such a name")


def nul_in_an_address_is_refused(server):
    for path in ("/api/v1/runs%00", "/api/v1/runs/latest%00x", "/%00",
                 "/api/v1/runs?project=tracker%00x", "/api/v1/runs?project%00=tracker",
                 "/assets/app.js%00.png", "/healthz%00", "/api/v1/runs%01"):
        expect(server.ask("GET", path), 400, path)


def function_of_another_project_is_unknown(server):
    """The other project measured a benchmark of the same name, which has different functions."""
    known = server.ask("GET", "/api/v1/search?q=a&project=tracker").json()["functions"][0]
    library, known = urllib.parse.quote(known["library"]), urllib.parse.quote(known["name"])
    asked = "/api/v1/function-trend?benchmark={}&library=" + library + "&name={}&project={}"
    expect(server.ask("GET", asked.format("parse", known, "tracker"),
                      token=token("read", "--project", "tracker")),
           200, "the function in its project")
    expect(send(server, run_of("other", "--hostile"), server.key), 201, "a run of another project")
    other = token("read", "--project", "other")
    benchmark = urllib.parse.quote(
        server.ask("GET", "/api/v1/benchmarks?project=other", token=other).json()["benchmarks"][0])
    told = []
    for function in (known, "nobody"):
        answer = expect(server.ask("GET", asked.format(benchmark, function, "other"), token=other), 404,
                        "a function of the other project")
        told.append(answer.body.replace(urllib.parse.unquote(function).encode(), b""))
    check(told[0] == told[1], f"it is told that another project has it: {told}")


def terminal_gets_no_escapes(server):
    for words in (("token", "create", "--note", "a\x1b[31m\u202eb", "--project", "p\x1b]0;x\x07"),
                  ("limit", "set", "--project", "p\x1b[2J", "--runs", "1")):
        done = call(PERFDB, *words, "--database", DATABASE)
        check(done.returncode == 0, done.stderr)
    check(server.ask("GET", "/api/v1/tokens").status == 200, "the tokens")
    for words in (("token", "list"), ("role", "list"), ("limit", "list"),
                  ("token", "revoke", "\x1b[31m"),
                  ("limit", "set", "--project", "\x1b[31m", "--newest", "2")):
        done = call(PERFDB, *words, "--database", DATABASE)
        check("\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stdout + done.stderr,
              f"{words}: {done.stdout!r} {done.stderr!r}")
    done = call(PERFDB, "x\x1b[31m\u202e")
    check(done.returncode == 2 and "\x1b" not in done.stderr and "\u202e" not in done.stderr,
          f"an unknown command: {done}")


def attack():
    with Server() as server:
        push(server)
        bad_project_names_are_refused(server)
        nul_in_an_address_is_refused(server)
        terminal_gets_no_escapes(server)
        function_of_another_project_is_unknown(server)


finish_in_scratch(attack)
