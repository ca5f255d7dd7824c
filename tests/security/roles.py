#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
People named by a trusted proxy have exactly the rights of their roles; another spelling of a name
never gives the rights of another person or of a group.
"""
from attack import DATABASE, PERFDB, Server, expect, push, token
from checks import call, check, finish_in_scratch

PROXY = "127.0.0.2"
PEOPLE = ("--user-header", "X-User", "--groups-header", "X-Groups", "--trust-proxy", PROXY)
NOTE = {"project": "tracker", "text": "larger cache", "author": "somebody else"}


def role(*words):
    done = call(PERFDB, "role", words[0], "--database", DATABASE, *words[1:])
    check(done.returncode == 0, f"role {words}: {done.stderr}")
    return done.stdout


def ask(server, user, groups=None, path="/api/v1/runs?project=tracker", source=PROXY):
    return server.ask("GET", path,
                      {"X-User": user, **({"X-Groups": groups} if groups else {})}, source=source)


def person_does_what_the_role_says(server):
    expect(ask(server, "ann@example.org"), 403, "without a role")
    role("add", "ann@example.org", "--scope", "read", "--project", "tracker")
    expect(ask(server, "ann@example.org"), 200, "the role is there at once")
    expect(ask(server, "ann@example.org", path="/api/v1/runs?project=other"), 404, "another project")
    expect(server.write("/api/v1/annotations", NOTE, {"X-User": "ann@example.org"}, source=PROXY), 403,
           "read may write")
    role("add", "--group", "compiler team", "--scope", "triage", "--project", "tracker")
    named = {"X-User": "ann@example.org", "X-Groups": "others, compiler team"}
    expect(server.write("/api/v1/annotations", NOTE, named, source=PROXY), 201, "by the group's role")
    notes = ask(server, "ann@example.org",
                path="/api/v1/annotations?project=tracker").json()["annotations"]
    check([note["author"] for note in notes] == ["ann@example.org"], f"{notes}")
    number = next(line.split()[0] for line in role("list").splitlines() if "ann@" in line)
    role("remove", number)
    expect(ask(server, "ann@example.org"), 403, "a role that was taken away")


def names_are_not_groups(server):
    """A person may have any name that the identity server allows."""
    role("add", "--group", "admins", "--scope", "admin")
    for name in ("group:admins", "admins", "group admins", "Admins", "group=admins"):
        expect(ask(server, name), 403, f"a person named {name!r}")
    expect(ask(server, "eve", "group:admins"), 403, "a group named like the kind")
    expect(ask(server, "eve", "admins"), 200, "the group itself")
    role("add", "group:staff", "--scope", "read")
    expect(ask(server, "eve", "staff"), 403, "a group whose person-like name has a role")
    expect(ask(server, "group:staff"), 200, "the person of this name")


def names_that_do_not_fit_are_refused(server):
    """
    A request with a name that is too long or malformed is refused: without that name, it could get
    the rights of another name.
    """
    for user, groups in (("x" * 201, None), ("x" * 201, "admins"), ("eve", "x" * 201),
                         ("eve", f"admins,{'x' * 201}"), ("eve,root", None), ("eve\x1b[2J", None),
                         ("eve", ",".join(f"g{i}" for i in range(101)))):
        expect(ask(server, user, groups), 400, f"{user[:20]!r} in {str(groups)[:20]!r}")
    expect(ask(server, "", "admins"), 401, "a group of nobody")
    expect(server.ask("GET", "/api/v1/runs?project=tracker", {"X-Groups": "admins"}, source=PROXY), 401,
           "groups without a person")
    for wrong in ("", "x" * 201, "a\x1b[2J"):
        done = call(PERFDB, "role", "add", "--database", DATABASE, wrong)
        check(done.returncode != 0 and "a name must" in done.stderr,
              f"{wrong!r}: {done.returncode} {done.stderr}")


def only_the_proxy_is_believed(server):
    for source in ("127.0.0.1", "127.0.0.3"):
        expect(ask(server, "eve", "admins", source=source), 401, f"named from {source}")


def options_fit_together():
    for wrong in (("--user-header", "X-User"), (*PEOPLE, "--read-only"), (*PEOPLE, "--secret")):
        done = call(PERFDB, "serve", "--database", DATABASE, "--listen", "127.0.0.1:0", *wrong)
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1,
              f"{wrong}: {done.returncode} {done.stderr}")


def attack():
    everything = token("admin", "--note", "root")
    with Server(*PEOPLE) as server:
        push(server, secret=everything)
        person_does_what_the_role_says(server)
        names_are_not_groups(server)
        names_that_do_not_fit_are_refused(server)
        only_the_proxy_is_believed(server)
        expect(server.ask("GET", "/api/v1/runs", token=everything), 200, "tokens work as well")
    options_fit_together()


finish_in_scratch(attack)
