#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A webhook reaches no local or private address, by any spelling, name or redirection, unless the
server's options allow it.
"""
import glob
import http.server
import json
import os
import ssl
import subprocess
import threading
import time

from attack import MAKE_RUNS, Server, expect, parcel, parts, send, token
from checks import HUNG_S, check, finish_in_scratch
from receiver import Receiver

REPORT = {"schema": "fastgate-report/1", "verdict": "regression",
          "benchmarks": [{"name": "parse", "verdict": "regression", "metrics": [
              {"name": "cpu_time", "verdict": "regression", "ratio": 1.25, "interval": [1.24, 1.26]}]}]}
SPELLINGS = ("127.1", "2130706433", "0x7f000001", "0177.0.0.1")
FORBIDDEN = ("127.0.0.1", "[::ffff:7f00:1]", "0.0.0.0", "10.1.2.3", "100.64.0.1", "169.254.169.254",
             "172.16.0.1", "192.168.1.1", "192.0.2.1", "198.18.0.1", "224.0.0.1", "255.255.255.255",
             "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
             "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fc00::1]", "[fd00:ec2::254]",
             "[fe80::1]", "[ff02::1]")
seeds = iter(range(1, 1000))


def regress(server, secret):
    """Uploads a run with a regression."""
    seed = str(next(seeds))
    subprocess.run([MAKE_RUNS, f"spool-{seed}", seed, "1"], check=True)
    envelope, dictionary, values = parts(glob.glob(os.path.join(f"spool-{seed}", "*.fgrun"))[0])
    head = {**json.loads(envelope), "report": REPORT}
    expect(send(server, parcel(json.dumps(head).encode(), dictionary, values), secret), 201, "the run")


def set_webhook(server, secret, url):
    return server.write("/api/v1/webhook", {"project": "tracker", "url": url}, token=secret)


def after_a_run(server, secret, url):
    """The project's webhook after the server has called it, or has refused to."""
    expect(set_webhook(server, secret, url), 200, url)
    regress(server, secret)
    end = time.monotonic() + HUNG_S
    while time.monotonic() < end:
        found = server.ask("GET", "/api/v1/webhook?project=tracker", token=secret).json()
        if found["waiting"] == 0 or found["problem"]:
            expect(server.ask("DELETE", "/api/v1/webhook?project=tracker", token=secret), 200,
                   "removing the webhook")
            return found
        time.sleep(0.02)
    raise SystemExit("the call came to no end")


def no_spelling_reaches_a_local_address(server, secret, receiver):
    for host in (*FORBIDDEN, "localhost", *SPELLINGS):
        found = after_a_run(server, secret, receiver.url(host=host))
        problem = found["problem"]
        check(found["waiting"] == 0 and "local or private" in problem
              or host in SPELLINGS and "resolve" in problem, f"{host}: {found}")
    check(receiver.count == 0, "something arrived all the same")


def redirection_is_not_followed(server, secret, receiver):
    front = Receiver([(code, {"Location": receiver.url("/inside", "127.0.0.2")})
                      for code in (301, 302, 303, 307, 308)])
    for _ in range(5):
        found = after_a_run(server, secret, front.url())
        check(found["waiting"] == 0 and "the webhook answered 30" in found["problem"], f"{found}")
    check(front.count == 5 and receiver.count == 0, "a redirection was followed")


def only_what_is_allowed_is_reached(server, secret, receiver):
    problem = after_a_run(server, secret, receiver.url(host="127.0.0.2"))["problem"]
    check("local or private" in problem, f"an address next to the allowed one: {problem}")
    check(after_a_run(server, secret, receiver.url())["problem"] is None and receiver.count == 1,
          "the allowed address")


def proxies_of_the_environment_are_not_used(secret, receiver):
    """
    Proxies are ignored: a proxy would look the name up itself, and reach addresses forbidden to the
    server.
    """
    with Server("--webhook-http",
                environment={"http_proxy": receiver.url(""), "all_proxy": receiver.url("")}) as server:
        before = receiver.count
        found = after_a_run(server, secret, "http://localhost:1/hook")
        check(found["waiting"] == 0 and "local or private" in found["problem"]
              and receiver.count == before, f"{found}, {receiver.count - before} requests to the proxy")


def plain_http_needs_permission(secret, receiver):
    with Server("--webhook-allow", "127.0.0.1") as server:
        answer = set_webhook(server, secret, receiver.url())
        check(answer.status == 400 and "--webhook-http" in answer.json()["error"]["message"],
              f"{answer.status} {answer.body!r}")


def certificates_are_checked(secret):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem",
                    "-out", "cert.pem", "-days", "2", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("cert.pem", "key.pem")
    receiver = Receiver(tls=context)
    with Server("--webhook-allow", "127.0.0.1", "--webhook-retry", "1h") as server:
        found = after_a_run(server, secret, receiver.url(scheme="https"))
        check(found["waiting"] == 1 and "certificate" in found["problem"].lower(), f"{found}")
    check(receiver.count == 0, "a server without a valid certificate was told")
    with Server("--webhook-allow", "127.0.0.1", "--webhook-ca-file", "cert.pem") as server:
        check(after_a_run(server, secret, receiver.url(scheme="https"))["problem"] is None,
              "with its certificate trusted")


class Endless(http.server.BaseHTTPRequestHandler):
    """Answers endlessly with a text that must not reach a user."""

    def do_POST(self):
        self.send_response(200)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"inner secret " * 1000)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def endless_answer_is_cut_and_shown_to_nobody(server, secret):
    endless = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=endless.serve_forever, daemon=True).start()
    found = after_a_run(server, secret, f"http://127.0.0.1:{endless.server_address[1]}/")
    check("inner secret" not in json.dumps(found), f"{found}")
    check("the answer is larger than 8 MiB" in found["problem"],
          f"it was not cut, only timed out: {found}")
    endless.shutdown()


def attack():
    secret = token("admin")
    receiver = Receiver()
    with Server("--webhook-http") as server:
        no_spelling_reaches_a_local_address(server, secret, receiver)
    with Server("--webhook-http", "--webhook-allow", "127.0.0.1", "--webhook-retry", "1h") as server:
        redirection_is_not_followed(server, secret, receiver)
        endless_answer_is_cut_and_shown_to_nobody(server, secret)
        only_what_is_allowed_is_reached(server, secret, receiver)
    proxies_of_the_environment_are_not_used(secret, receiver)
    plain_http_needs_permission(secret, receiver)
    certificates_are_checked(secret)


finish_in_scratch(attack)
