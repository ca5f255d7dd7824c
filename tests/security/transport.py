#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
TLS is 1.2 or later with authenticated encryption; a TLS-only server tells browsers to use nothing else.
"""
import ssl
import subprocess
import urllib.error
import urllib.request

from attack import Server, expect, token
from checks import HUNG_S, check, finish_in_scratch


def over_tls(server, path, secret=None, cookie=None):
    context = ssl.create_default_context(cafile="cert.pem")
    request = urllib.request.Request(f"https://127.0.0.1:{server.port}{path}",
                                     headers={"Authorization": f"Bearer {secret}"} if secret
                                     else {"Cookie": cookie} if cookie else {})
    try:
        with urllib.request.urlopen(request, context=context, timeout=HUNG_S) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers


def handshake(server, *options):
    """Connects with an OpenSSL that accepts everything."""
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}",
                           "-CAfile", "cert.pem", *options],
                          input="", text=True, capture_output=True, check=False, timeout=HUNG_S)
    return done.returncode == 0 and "Cipher is (NONE)" not in done.stdout


def old_tls_is_refused(server):
    for options in (["-tls1_2"], ["-tls1_3"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"]):
        check(handshake(server, *options), f"{options} is refused")
    for options in (["-tls1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"],
                    ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0"],
                    ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256:@SECLEVEL=0"]):
        check(not handshake(server, *options), f"{options} is accepted")


def secret_is_a_cookie_of_this_host_alone():
    with Server("--tls-cert", "cert.pem", "--tls-key", "key.pem", "--secret") as server:
        _, headers = over_tls(server, "/" + server.url.rpartition("/")[2])
        cookie = headers.get("Set-Cookie", "")
        check(cookie.startswith("__Host-perfdb_") and cookie.endswith("; Path=/; Secure"),
              f"the cookie: {cookie!r}")
        status, _ = over_tls(server, "/api/v1/runs", cookie=cookie.split(";")[0])
        check(status == 200, f"with the cookie: {status}")


def attack():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
                   check=True, capture_output=True)
    secret = token("read")
    with Server("--tls-cert", "cert.pem", "--tls-key", "key.pem") as server:
        check(server.url.startswith("https://"), f"the server serves {server.url}")
        old_tls_is_refused(server)
        for path, given, wanted in (("/healthz", None, 200), ("/api/v1/runs", secret, 200),
                                    ("/api/v1/runs", "wrong", 401), ("/none", None, 404)):
            status, headers = over_tls(server, path, given)
            check(status == wanted, f"{path}: {status} instead of {wanted}")
            check("max-age=31536000" in headers.get("Strict-Transport-Security", ""),
                  f"{path}: {headers}")
        try:
            plain = server.ask("GET", "/healthz").status
        except OSError:
            plain = 0
        check(plain != 200, "what speaks no TLS was answered")
    secret_is_a_cookie_of_this_host_alone()
    with Server() as server:
        answer = expect(server.ask("GET", "/healthz"), 200, "health without TLS")
        check("strict-transport-security" not in answer.headers, f"without TLS: {answer.headers}")


finish_in_scratch(attack)
