#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""With TLS a browser is told never to come back without it; a server without TLS does not say so."""
import ssl
import subprocess
import urllib.error
import urllib.request

from attack import Server, expect, token
from checks import HUNG_S, check, finish_in_scratch


def over_tls(server, path, secret=None):
    context = ssl.create_default_context(cafile="cert.pem")
    request = urllib.request.Request(f"https://127.0.0.1:{server.port}{path}",
                                     headers={"Authorization": f"Bearer {secret}"} if secret else {})
    try:
        with urllib.request.urlopen(request, context=context, timeout=HUNG_S) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers


def attack():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
                   check=True, capture_output=True)
    secret = token("read")
    with Server("--tls-cert", "cert.pem", "--tls-key", "key.pem") as server:
        check(server.url.startswith("https://"), f"the server serves {server.url}")
        for path, given, wanted in (("/healthz", None, 200), ("/api/v1/runs", secret, 200), ("/api/v1/runs", "wrong", 401), ("/none", None, 404)):
            status, headers = over_tls(server, path, given)
            check(status == wanted, f"{path}: {status} instead of {wanted}")
            check("max-age=31536000" in headers.get("Strict-Transport-Security", ""), f"{path}: {headers}")
        try:
            plain = server.ask("GET", "/healthz").status
        except OSError:
            plain = 0
        check(plain != 200, "what speaks no TLS was answered")
    with Server() as server:
        answer = expect(server.ask("GET", "/healthz"), 200, "health without TLS")
        check("strict-transport-security" not in answer.headers, f"without TLS: {answer.headers}")


finish_in_scratch(attack)
