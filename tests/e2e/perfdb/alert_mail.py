#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alerts by mail, through a real relay: with and without TLS and credentials, refused for now and for good, with names that no mail server should see."""
import glob
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "security"))

from attack import MAKE_RUNS, PERFDB, Server, expect, parcel, parts, send, token  # noqa: E402
from checks import HUNG_S, call, check, finish_in_scratch  # noqa: E402

PYTHON = next((one for one in (sys.executable, "/usr/bin/python3") if call(one, "-c", "import aiosmtpd").returncode == 0), None)
if not PYTHON:
    print("no aiosmtpd here (python3-aiosmtpd)")
    sys.exit(77)
FROM = ("--mail-from", "perfdb@example.org", "--alert-retry", "50ms")
seeds = iter(range(1, 1000))


class Relay:
    def __init__(self, *options):
        self.folder = f"mails-{next(seeds)}"
        os.mkdir(self.folder)
        script = os.path.join(HERE, "..", "..", "support", "relay.py")
        self.process = subprocess.Popen([PYTHON, script, self.folder, *options], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"smtp://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def count(self):
        return len(glob.glob(os.path.join(self.folder, "*.json")))

    def first(self):
        """The first mail, waited for."""
        path = os.path.join(self.folder, "1.json")
        end = time.monotonic() + HUNG_S
        while not os.path.exists(path):
            if time.monotonic() > end:
                raise SystemExit("no mail came")
            time.sleep(0.02)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def regress(server, secret, benchmark="parse"):
    seed = str(next(seeds))
    subprocess.run([MAKE_RUNS, f"spool-{seed}", seed, "1"], check=True)
    envelope, dictionary, values = parts(glob.glob(os.path.join(f"spool-{seed}", "*.fgrun"))[0])
    shutil.rmtree(f"spool-{seed}")
    head = {**json.loads(envelope), "report": {"schema": "fastgate-report/1", "verdict": "error", "benchmarks": [
        {"name": benchmark, "verdict": "error", "metrics": []}]}}
    expect(send(server, parcel(json.dumps(head).encode(), dictionary, values), secret), 201, "the run")


def add_rule(server, secret, address="ann@example.org"):
    words = {"project": "tracker", "events": ["error"], "silence": "0s", "mail": address}
    return expect(server.write("/api/v1/alert-rules", words, token=secret), 201, "the rule").json()["id"]


def remove_rule(server, secret, rule):
    expect(server.ask("DELETE", f"/api/v1/alert-rules/{rule}", token=secret), 200, "removing the rule")


def outcome(server, secret, rule, state):
    end = time.monotonic() + HUNG_S
    while time.monotonic() < end:
        for one in server.ask("GET", "/api/v1/alerts?project=tracker", token=secret).json()["alerts"]:
            if one["rule"] == rule and one["state"] == state and (state != "waiting" or "reason" in one):
                return one
        time.sleep(0.02)
    raise SystemExit(f"no alert is {state}")


def plain_mail_arrives(secret):
    with Relay() as relay, Server("--mail-relay", relay.url, *FROM, "--public-url", "https://perf.example.org") as server:
        rule = add_rule(server, secret)
        regress(server, secret)
        mail = relay.first()
        check((mail["from"], mail["to"]) == ("perfdb@example.org", ["ann@example.org"]), f"{mail}")
        headers = mail["headers"]
        check(headers["Subject"] == "tracker: error: parse" and headers["To"] == "ann@example.org" and headers["From"] == "perfdb@example.org", f"{headers}")
        check(headers.get("Auto-Submitted") == "auto-generated" and "Date" in headers and "Message-ID" in headers, f"{headers}")
        check("error: parse\n" in mail["text"].replace("\r", "") and "https://perf.example.org/?view=run&run=" in mail["text"], mail["text"])
        outcome(server, secret, rule, "delivered")
        for wrong in ("ann", "ann@example.org, bob@example.org", "ann@example.org\r\nBcc: bob@example.org", "<ann@example.org>"):
            answer = server.write("/api/v1/alert-rules", {"project": "tracker", "events": ["error"], "mail": wrong}, token=secret)
            check(answer.status == 400 and "no mail address" in answer.json()["error"]["message"], f"{wrong!r}: {answer.status} {answer.body!r}")
        remove_rule(server, secret, rule)


def names_begin_no_header_and_end_no_mail(secret):
    hostile = "é\r\nBcc: bob@example.org\r\n\r\n.\r\nRCPT TO:<bob@example.org>\r\n" + "名" * 60
    with Relay() as relay, Server("--mail-relay", relay.url, *FROM) as server:
        rule = add_rule(server, secret)
        regress(server, secret, hostile)
        mail = relay.first()
        check(mail["to"] == ["ann@example.org"] and "Bcc" not in mail["headers"], f"{mail}")
        check(mail["headers"]["Subject"].startswith("tracker: error: é"), mail["headers"]["Subject"])
        check("名名" in mail["text"] and "page:" in mail["text"], mail["text"])
        outcome(server, secret, rule, "delivered")
        check(relay.count() == 1, "more than one mail")
        remove_rule(server, secret, rule)


def refusal_for_now_is_tried_again_and_one_for_good_is_not(secret):
    with Relay("--refuse", "451 452 554") as relay, Server("--mail-relay", relay.url, *FROM) as server:
        rule = add_rule(server, secret)
        regress(server, secret)
        found = outcome(server, secret, rule, "given up")
        check(found["attempts"] == 3 and "reply 554" in found["reason"], f"{found}")
        check(relay.count() == 0, "a mail that was refused")
        remove_rule(server, secret, rule)


def credentials_go_over_tls_only(secret):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
                    "-subj", "/CN=relay", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    for name, text in (("right", "perfdb:open sesame\n"), ("wrong", "perfdb:open rye\n")):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    with Relay("--auth", "perfdb:open sesame", "--tls", "cert.pem", "key.pem") as relay:
        with Server("--mail-relay", relay.url, *FROM, "--alert-retry", "1h", "--mail-credentials-file", "right") as server:
            rule = add_rule(server, secret)
            regress(server, secret)
            found = outcome(server, secret, rule, "waiting")
            check(relay.count() == 0, f"a relay with an unknown certificate was trusted: {found}")
            remove_rule(server, secret, rule)
        with Server("--mail-relay", relay.url, *FROM, "--alert-retry", "1h", "--mail-credentials-file", "wrong", "--alert-ca-file", "cert.pem") as server:
            rule = add_rule(server, secret)
            regress(server, secret)
            found = outcome(server, secret, rule, "waiting")
            check("reply 535" in found["reason"] and "rye" not in json.dumps(found) and relay.count() == 0, f"{found}")
            remove_rule(server, secret, rule)
        with Server("--mail-relay", relay.url, *FROM, "--mail-credentials-file", "right", "--alert-ca-file", "cert.pem") as server:
            rule = add_rule(server, secret)
            regress(server, secret)
            mail = relay.first()
            check(mail["tls"] and mail["user"] == "perfdb", f"{mail}")
            remove_rule(server, secret, rule)


def mistyped_options_are_refused():
    with open("no-colon", "w", encoding="utf-8") as file:
        file.write("perfdb\n")
    relay = ("--mail-relay", "smtp://127.0.0.1:25")
    for options, words in ((relay, "--mail-from"), ((*relay, "--mail-from", "nobody"), "no mail address"),
                           (("--mail-relay", "http://relay", *FROM), "expected smtp://"), (("--mail-relay", "smtp://u:p@relay", *FROM), "expected smtp://"),
                           ((*relay, *FROM, "--mail-credentials-file", "no-colon"), "USER:PASSWORD"),
                           ((*relay, *FROM, "--mail-credentials-file", "not-there"), "not-there"),
                           (("--alert-allow", "10.0.0.0/40"), "range of addresses")):
        done = call(PERFDB, "serve", "--database", "other.db", "--listen", "127.0.0.1:0", *options)
        check(done.returncode in (1, 2) and words in done.stderr and done.stderr.count("\n") == 1, f"{options}: {done.returncode} {done.stderr!r}")


def scenario():
    secret = token("admin", "--note", "root")
    plain_mail_arrives(secret)
    names_begin_no_header_and_end_no_mail(secret)
    refusal_for_now_is_tried_again_and_one_for_good_is_not(secret)
    credentials_go_over_tls_only(secret)
    mistyped_options_are_refused()


finish_in_scratch(scenario)
