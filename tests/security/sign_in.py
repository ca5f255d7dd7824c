#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""People sign in through an identity server and do what their roles say; who only pretends to come from there stays outside."""
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.parse

from attack import DATABASE, PERFDB, Server, expect, push, token
from checks import HUNG_S, check, finish_in_scratch
from identity import CLIENT, PUBLIC, SECRET, WEB, Browser, IdentityServer, Liar

if not shutil.which("node") or not shutil.which("openssl") or not os.path.isdir(f"{WEB}/node_modules/oidc-provider"):
    print("skipped: node, openssl and the packages of tests/web are needed ('npm ci' there)")
    sys.exit(77)


def role(*words):
    return subprocess.run([PERFDB, "role", words[0], "--database", DATABASE, *words[1:]], check=True, capture_output=True, text=True).stdout


def options(issuer, *more):
    with open("secret", "w", encoding="utf-8") as file:
        file.write(SECRET + "\n")
    return ["--oidc-issuer", issuer, "--oidc-client", CLIENT, "--oidc-secret-file", "secret", "--public-url", PUBLIC, *more]


def me(browser):
    return json.loads(browser.ask("/api/v1/me").text)


def nobody_gets_in_without_signing_in(server):
    stranger = Browser(server)
    check(stranger.ask("/api/v1/runs").status == 401, "a stranger sees runs")
    said = me(stranger)
    check(not said["is_admitted"] and said["name"] is None and said["sign_in"] == "/sign-in", f"{said}")
    check(stranger.ask("/api/v1/runs", headers={"Cookie": "perfdb_00000000=" + "0" * 64}).status == 401, "any cookie lets in")


def person_does_what_the_role_says(server):
    ann = Browser(server)
    done = ann.sign_in("ann", "/#/project?project=tracker")
    check(done.status == 302 and done.headers["Location"] == "/#/project?project=tracker", f"signed in: {done.status} {done.text[:300]!r}")
    check(ann.ask("/api/v1/runs").status == 403, "a person without a role sees runs")
    check(me(ann)["name"] == "ann@example.org" and not me(ann)["is_admitted"], f"{me(ann)}")
    role("add", "ann@example.org", "--scope", "read", "--project", "tracker")
    check(ann.ask("/api/v1/runs").status == 200, "the role is not there at once")
    note = {"project": "tracker", "text": "larger cache", "author": "somebody else"}
    check(ann.ask("/api/v1/annotations", "POST", note).status == 403, "read may write")
    role("add", "group:compiler team", "--scope", "triage", "--project", "tracker")
    made = ann.ask("/api/v1/annotations", "POST", note)
    check(made.status == 201, f"the group's role does nothing: {made.status} {made.text!r}")
    notes = json.loads(ann.ask("/api/v1/annotations?project=tracker").text)["annotations"]
    check(notes[0]["author"] == "ann@example.org", f"{notes}")
    check(ann.ask("/api/v1/annotations", "POST", note, {"Origin": "http://evil.test", "Sec-Fetch-Site": "cross-site"}).status == 403, "a foreign page writes")
    check(ann.ask("/api/v1/annotations?project=other").status == 404, "another project is there for her")
    check(ann.ask("/api/v1/roles").status == 403, "triage sees roles")
    return ann


def administrator_gives_roles(server, ann):
    root = Browser(server)
    role("add", "root@example.org", "--scope", "admin")
    check(root.sign_in("root").status == 302, "root cannot sign in")
    listed = json.loads(root.ask("/api/v1/roles").text)["roles"]
    check({one["who"] for one in listed} == {"ann@example.org", "group:compiler team", "root@example.org"}, f"{listed}")
    made = root.ask("/api/v1/roles", "POST", {"who": "ann@example.org", "scope": "admin", "project": "tracker"})
    check(made.status == 201, f"{made.status} {made.text!r}")
    mine = json.loads(ann.ask("/api/v1/roles").text)["roles"]
    check({one["project"] for one in mine} == {"tracker"}, f"an administrator of one project sees others' roles: {mine}")
    check(ann.ask("/api/v1/roles", "POST", {"who": "ann@example.org", "scope": "admin"}).status == 404, "she makes herself administrator of all")
    foreign = next(one["id"] for one in listed if one["who"] == "root@example.org")
    check(ann.ask(f"/api/v1/roles/{foreign}", "DELETE").status == 404, "she takes root's role")
    for wrong in ({"who": "", "scope": "read"}, {"who": "x", "scope": "all"}, {"who": "x" * 300, "scope": "read"}):
        check(root.ask("/api/v1/roles", "POST", wrong).status == 400, f"{wrong}")
    check(root.ask(f"/api/v1/roles/{json.loads(made.text)['id']}", "DELETE").status == 200, "a role cannot be taken away")
    check(ann.ask("/api/v1/roles").status == 403, "the role is still there")
    told = {(one["who"], one["action"]) for one in map(json.loads, root.ask("/api/v1/audit").text.decode().splitlines())}
    for wanted in (("root@example.org", "role.add"), ("root@example.org", "role.remove"), ("ann@example.org", "sign-in"), ("ann@example.org", "annotation.add")):
        check(wanted in told, f"{wanted} is not in the audit log: {told}")
    return root


def several_projects_are_kept_apart(server, root):
    """Roles in two of three projects: lists want to know which one."""
    bob = Browser(server)
    bob.sign_in("bob")
    for project in ("tracker", "other"):
        role("add", "bob@example.org", "--scope", "read", "--project", project)
    check(bob.ask("/api/v1/runs").status == 400, "all runs are shown to one who may see two projects")
    check(bob.ask("/api/v1/runs?project=tracker").status == 200 and bob.ask("/api/v1/runs?project=third").status == 404, "projects")
    check([one for one in json.loads(bob.ask("/api/v1/projects").text)["projects"]] == ["tracker"], "projects")
    role("sign-out", "bob@example.org")
    check(bob.ask("/api/v1/runs?project=tracker").status == 401, "bob was signed out, and is still in")
    check(root.ask("/api/v1/runs").status == 200, "root was signed out, too")


def signing_out_ends_it(server, root):
    kept = dict(root.cookies["perfdb.test"])
    check(root.ask("/api/v1/sign-out", "POST", {}).status == 200, "sign-out")
    check("perfdb.test" not in root.cookies or not root.cookies["perfdb.test"], f"{root.cookies}")
    root.cookies["perfdb.test"] = kept
    check(root.ask("/api/v1/runs").status == 401, "a kept cookie works after signing out")


def attempt_belongs_to_one_browser(server):
    """A code that was meant for another browser, a state of one's own, a second use: nobody is signed in."""
    ann, victim = Browser(server), Browser(server)
    url, page = ann.follow(ann.begin())
    while page:
        answer = ann.go("POST", url, {"prompt": "login" if b'value="login"' in page.text else "consent", "login": "ann", "password": "x"})
        url, page = ann.follow(urllib.parse.urljoin(url, answer.headers["Location"]))
    check(victim.go("GET", url).status == 401, "another browser finishes the sign-in")
    victim.begin()
    check(victim.go("GET", url).status == 401, "another attempt finishes the sign-in")
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
    state = next(value for name, value in victim.cookies["perfdb.test"].items() if name.endswith("_attempt")).split(".")[0]
    mixed = f"{PUBLIC}/sign-in/done?" + urllib.parse.urlencode({"code": query["code"][0], "state": state})
    check(victim.go("GET", mixed).status == 401, "a code that was drawn for another challenge works")
    check(victim.ask("/api/v1/sign-out", "POST", {}).status == 200, "sign-out of nobody")


def pages_to_come_back_to_are_our_own(server):
    for to in ("//evil.test/", "https://evil.test/", "/\\evil.test", "/a;b", "/a\r\nSet-Cookie: x=y", "x"):
        browser = Browser(server)
        browser.begin(to)
        kept = next(iter(browser.cookies["perfdb.test"].values()))
        check(kept.endswith("./"), f"comes back to {to!r}: {kept}")


def unverified_address_is_nobody(server):
    answer = Browser(server).sign_in("unverified")
    check(answer.status == 401 and b"has not verified" in answer.text, f"{answer.status} {answer.text!r}")


def lies():
    """(what is wrong, what the token endpoint answers)"""
    def signed(**changes):
        return lambda liar: ({"id_token": liar.token(liar.claims(**changes))},)

    return {
        "no signature": lambda liar: ({"id_token": liar.token(algorithm="none")},),
        "the public key as a password": lambda liar: ({"id_token": liar.token(algorithm="HS256")},),
        "another key": lambda liar: ({"id_token": liar.token(key="other.pem")},),
        "an unknown key": lambda liar: ({"id_token": liar.token(header={"kid": "two"})},),
        "critical extensions": lambda liar: ({"id_token": liar.token(header={"crit": ["b64"]})},),
        "another issuer": signed(iss="http://evil.test"),
        "another client": signed(aud="other"),
        "several clients": signed(aud=["perfdb", "other"]),
        "made for another party": signed(aud=["perfdb", "other"], azp="other"),
        "another sign-in": signed(nonce="0" * 64),
        "no nonce": signed(nonce=None),
        "expired": signed(exp=1),
        "issued long ago": signed(iat=1),
        "issued in the future": signed(iat=1 << 40),
        "nobody": signed(sub=None),
        "no address": signed(email=None),
        "an unverified address": signed(email_verified="true"),
        "a name as long as a book": signed(email="x" * 5000),
        "no token": lambda liar: ({"error": "invalid_grant"}, 400),
        "no JSON": lambda liar: (b"<html>",),
        "a list": lambda liar: ([],),
        "nonsense": lambda liar: ({"id_token": "a.b.c"},),
        "a megabyte": lambda liar: (b"{" + b" " * (1 << 20) + b"}",),
        "a redirection": lambda liar: ({}, 302, {"Location": f"{liar.issuer}/keys"}),
    }


def liars_are_not_believed(liar, server):
    def attempt(answer, state=None):
        browser = Browser(server)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(browser.begin()).query)
        liar.nonce, liar.answer = query["nonce"][0], answer
        check(query["code_challenge_method"] == ["S256"] and len(query["code_challenge"][0]) == 43, f"{query}")
        return browser.go("GET", f"{PUBLIC}/sign-in/done?code=x&state={state or query['state'][0]}")

    for what, answer in lies().items():
        said = attempt(answer)
        check(said.status in (401, 502), f"{what}: {said.status} {said.text!r}")
    check(attempt(lambda liar: ({"id_token": liar.token()},)).status == 302, "the honest answer is refused, so this test shows nothing")
    check(attempt(lambda liar: ({"id_token": liar.token()},), "0" * 64).status == 401, "another state is taken")
    said = attempt(lambda liar: ({"error": "down"}, 500))
    check(said.status == 502, f"an identity server that fails: {said.status}")


def honest(liar, server, **claims):
    """A browser that signed in with such a token, and what was asked of the identity server for it."""
    browser = Browser(server)
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(browser.begin()).query)
    liar.nonce, liar.answer = query["nonce"][0], lambda liar: ({"id_token": liar.token(liar.claims(**claims))},)
    said = browser.go("GET", f"{PUBLIC}/sign-in/done?code=x&state={query['state'][0]}")
    return browser, said, query


def identity_servers_differ():
    """Which claims name people and groups, what is asked for, how long it lasts, and whose certificate counts."""
    claims = {"email": None, "login": "zoe", "teams": ["compiler team"], "groups": ["others"]}
    role("add", "group:compiler team", "--scope", "triage", "--project", "tracker")
    with Liar() as liar:
        with Server(*options(liar.issuer, "--oidc-name-claim", "login", "--oidc-groups-claim", "teams", "--oidc-scopes", "openid people",
                             "--sign-in-time", "90s")) as server:
            zoe, said, query = honest(liar, server, **claims)
            check(said.status == 302 and query["scope"] == ["openid people"], f"{said.status} {said.text!r} {query}")
            check(me(zoe)["name"] == "zoe" and zoe.ask("/api/v1/runs?project=tracker").status == 200, f"{me(zoe)}")
            check("Max-Age=90;" in said.headers["Set-Cookie"] + ";", f"{said.headers['Set-Cookie']}")
        with Server(*options(liar.issuer, "--oidc-name-claim", "login")) as server:
            zoe, said, query = honest(liar, server, **claims)
            check(query["scope"] == ["openid profile email"] and zoe.ask("/api/v1/runs?project=tracker").status == 403, f"{query} {me(zoe)}")
        with Server(*options(liar.issuer, "--sign-in-time", "1s")) as server:
            ann, said, _ = honest(liar, server)
            check(said.status == 302, f"{said.status} {said.text!r}")
            end = time.monotonic() + HUNG_S
            while me(ann)["name"] and time.monotonic() < end:
                time.sleep(0.05)
            check(not me(ann)["name"], "the sign-in lasts for ever")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "tls-key.pem", "-out", "tls-cert.pem"], check=True, capture_output=True)
    with Liar(("tls-cert.pem", "tls-key.pem")) as liar:
        with Server(*options(liar.issuer)) as server:
            check(Browser(server).ask("/sign-in").status == 502, "an unknown certificate is trusted")
        with Server(*options(liar.issuer, "--oidc-ca-file", "tls-cert.pem")) as server:
            check(honest(liar, server)[1].status == 302, "the certificate that was given is not trusted")


def proxies_name_people_when_they_are_trusted():
    with Server("--user-header", "X-User", "--groups-header", "X-Groups", "--trust-proxy", "127.0.0.2") as server:
        named = {"X-User": "eve@example.org", "X-Groups": "others, compiler team"}
        answer = server.ask("GET", "/api/v1/annotations?project=tracker", named, source="127.0.0.2")
        expect(answer, 200, "named by the trusted proxy")
        expect(server.ask("GET", "/api/v1/runs", named, source="127.0.0.3"), 401, "named by anybody")
        expect(server.ask("GET", "/api/v1/runs", {"X-User": "eve@example.org"}, source="127.0.0.2"), 403, "without the group")
        expect(server.ask("GET", "/api/v1/runs", {"X-User": "eve,root@example.org"}, source="127.0.0.2"), 400, "two people")
        expect(server.ask("GET", "/api/v1/runs", {"X-User": "group:compiler team"}, source="127.0.0.2"), 400, "a group as a person")
    for wrong in (["--user-header", "X-User"], ["--oidc-issuer", "http://evil.test", "--oidc-client", "x", "--public-url", PUBLIC],
                  ["--oidc-issuer", "https://idp.test"], [*options("https://idp.test"), "--read-only"]):
        done = subprocess.run([PERFDB, "serve", "--database", DATABASE, "--listen", "127.0.0.1:0", *wrong], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=HUNG_S, check=False)
        check(done.returncode == 2 and len(done.stderr.splitlines()) == 1, f"{wrong}: {done.returncode} {done.stderr}")


def attack():
    everything = token("admin", "--note", "root")
    with IdentityServer() as identity, Server(*options(identity.issuer)) as server:
        push(server, secret=everything)
        nobody_gets_in_without_signing_in(server)
        ann = person_does_what_the_role_says(server)
        root = administrator_gives_roles(server, ann)
        several_projects_are_kept_apart(server, root)
        signing_out_ends_it(server, root)
        attempt_belongs_to_one_browser(server)
        pages_to_come_back_to_are_our_own(server)
        unverified_address_is_nobody(server)
        expect(server.ask("GET", "/api/v1/runs", token=everything), 200, "tokens work beside")
    with Liar() as liar, Server(*options(liar.issuer)) as server:
        liars_are_not_believed(liar, server)
    with Liar() as liar, Server(*options(liar.issuer)[:-2], "--public-url", "https://perfdb.test") as server:
        said = Browser(server).ask("/sign-in")
        check(said.headers["Set-Cookie"].endswith("; Secure") and "HttpOnly" in said.headers["Set-Cookie"], f"{said.headers['Set-Cookie']}")
    identity_servers_differ()
    proxies_name_people_when_they_are_trusted()
    with Server(*options("http://127.0.0.1:1")) as server:
        check(Browser(server).ask("/sign-in").status == 502, "an identity server that is not there")


finish_in_scratch(attack)
