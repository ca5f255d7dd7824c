#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""serve_options.py PERFDB FASTGATE MAKE_RUNS: limits and other choices of `perfdb serve` and `perfdb audit` that no other test is about."""
import json
import os
import socket
import ssl
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "security"))

from archive_requests import digest_of  # noqa: E402
from attack import DATABASE, PERFDB, RUN_TYPE, Server, expect, push, token  # noqa: E402
from checks import HUNG_S, call, check, finish_in_scratch  # noqa: E402


def large_uploads_are_refused(admin):
    with Server("--body-limit", "1KiB") as server:
        answer = expect(server.ask("POST", "/api/v1/runs", {"Content-Type": RUN_TYPE}, b"x" * 1025, token=admin), 413, "more than the limit")
        check(answer.code() == "too_large", f"{answer.body}")
        expect(server.ask("POST", "/api/v1/runs", {"Content-Type": RUN_TYPE}, b"x" * 1024, token=admin), 400, "just as much, which is no run")


def ends_by_itself(server, data):
    """The server ends the connection of a client that goes on saying nothing; only its limit can be meant: the others are minutes."""
    with socket.create_connection(("127.0.0.1", server.port), HUNG_S) as line:
        line.sendall(data)
        try:
            while line.recv(4096):
                pass
        except ConnectionResetError:
            pass
        except TimeoutError:
            return False
    return True


def slow_clients_are_left(admin):
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {admin}\r\nContent-Type: {RUN_TYPE}\r\nContent-Length: 1000\r\n\r\n"
    with Server("--header-time", "300ms", "--request-time", "1h") as server:
        check(ends_by_itself(server, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"), "headers may take for ever")
    with Server("--request-time", "300ms", "--header-time", "1h") as server:
        check(ends_by_itself(server, head.encode() + b"x"), "a body may take for ever")
    for words in (("--header-time", "soon"), ("--request-time", "-1s"), ("--body-limit", "much")):
        done = call(PERFDB, "serve", "--database", DATABASE, "--listen", "127.0.0.1:0", *words)
        check(done.returncode == 2 and words[0] in done.stderr, f"{words}: {done.returncode} {done.stderr}")


def audit_goes_on_after_an_entry():
    def entries(*words):
        done = call(PERFDB, "audit", "--database", DATABASE, *words)
        check(done.returncode == 0, f"audit {words}: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    for number in range(3):
        token("read", "--note", f"reader {number}")
    every = entries()
    check(len(every) >= 3, f"{every}")
    check(entries("--after", str(every[-2]["id"])) == every[-1:], "--after the last but one")
    check(entries("--after", str(every[-1]["id"])) == [], "--after the last")


def send_archive(server, run, secret):
    """What the server answers, as it comes."""
    data = b"\x28\xb5\x2f\xfdarchive"
    named = f"Content-Type: application/vnd.fastgate.archive\r\nContent-SHA256: {digest_of(data)}\r\nContent-Length: {len(data)}\r\n"
    line = socket.create_connection(("127.0.0.1", server.port), HUNG_S)
    line.sendall(f"POST /api/v1/archives/{run} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n{named}\r\n".encode() + data)
    return line


def storage_is_asked_as_was_said(admin):
    """In the name of a region, and over TLS with a certificate of one's own: something that keeps what is said stands in its place."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("cert.pem", "key.pem")
    for trusted in (True, False):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(HUNG_S)
            words = ["--archives", "s3://traces/x", "--archives-url", f"https://127.0.0.1:{listener.getsockname()[1]}", "--archives-region", "eu-north-9"]
            with Server(*words, *(["--archives-ca-file", "cert.pem"] if trusted else []),
                        environment={"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"}) as server:
                push(server, 2, secret=admin)
                with send_archive(server, server.runs(token=admin)[trusted], admin) as line:
                    heard = answer_once(context, listener)
                    status = line.recv(65536).split(b" ")[1]
        check(status == (b"201" if trusted else b"503"), f"trusted: {trusted}, answered {status}")
        check(("/eu-north-9/s3/aws4_request" in heard) == trusted, f"trusted: {trusted}, heard {heard!r}")


def answer_once(context, listener):
    """What was asked; nothing if the line was not trusted."""
    storage, _ = listener.accept()
    try:
        with context.wrap_socket(storage, server_side=True) as line:
            heard = line.recv(65536).decode("latin-1")
            line.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return heard
    except OSError:
        return ""


def body():
    admin = token("admin")
    large_uploads_are_refused(admin)
    slow_clients_are_left(admin)
    audit_goes_on_after_an_entry()
    storage_is_asked_as_was_said(admin)


finish_in_scratch(body)
