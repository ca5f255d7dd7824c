#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests that two servers could interpret differently are refused, each with its own code."""
import json

from attack import NOBODY, Server, expect, push, token
from checks import check, finish_in_scratch

BODY = b'{"project":"tracker","text":"x"}'
START = b"POST /api/v1/annotations HTTP/1.1\r\nContent-Type: application/json\r\n"
HOST = b"Host: localhost\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)


def requests_with_two_readings_are_refused(server):
    start = START + b"Authorization: Bearer " + server.key.encode() + b"\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n"
    in_chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
    for what, data in (
            ("length and chunks", start + HOST + LENGTH + chunked + b"\r\n" + in_chunks),
            ("chunks and length", start + HOST + chunked + LENGTH + b"\r\n" + in_chunks),
            ("two lengths", start + HOST + LENGTH + b"Content-Length: 0\r\n\r\n" + BODY),
            ("the same length twice", start + HOST + LENGTH + LENGTH + b"\r\n" + BODY),
            ("no host", start + LENGTH + b"\r\n" + BODY),
            ("two hosts", start + HOST + HOST + LENGTH + b"\r\n" + BODY),
            ("no host for a page", b"GET / HTTP/1.1\r\n\r\n"),
            ("a NUL after the path", b"GET /healthz\0.html HTTP/1.1\r\n" + HOST + b"\r\n"),
            ("a NUL in a parameter", b"GET /healthz?a=b\0c HTTP/1.1\r\n" + HOST + b"\r\n"),
            ("two versions with NULs", b"GET /healthz\0HTTP/1.1\0 HTTP/1.1\r\n" + HOST + b"\r\n"),
            ("a NUL alone", b"GET \0 HTTP/1.1\r\n" + HOST + b"\r\n")):
        expect(server.say(data), 400, what)
    for what, line in (("plain", b"GET /healthz HTTP/1.1"), ("HTTP/1.0", b"GET /healthz HTTP/1.0"),
                       ("with a parameter", b"GET /healthz?a=b%20c HTTP/1.1")):
        expect(server.say(line + b"\r\n" + HOST + b"\r\n"), 200, f"a first line, {what}")
    expect(server.say(start + HOST + chunked + b"\r\n" + in_chunks), 201, "chunks alone")
    check(len(server.ask("GET", "/api/v1/annotations?project=tracker").json()["annotations"]) == 1,
          "a refused note was stored")


def malformed_texts_are_refused(server):
    for what, body in (("a NUL", b'{"project":"tracker","text":"a\\u0000b"}'),
                       ("a raw NUL", b'{"project":"tracker","text":"a\x00b"}'),
                       ("a NUL in a name", b'{"project":"tracker\\u0000x","text":"a"}'),
                       ("half a character", b'{"project":"tracker","text":"\xc3"}'),
                       ("an overlong one", b'{"project":"tracker","text":"\xc0\xaf"}')):
        expect(server.ask("POST", "/api/v1/annotations", {"Content-Type": "application/json"}, body),
               400, what)
    expect(server.ask("POST", "/api/v1/annotations", {"Content-Type": "application/json"},
                      b'{"project":"tracker","text":"\\\\u0000"}'),
           201, "a backslash before u0000")
    for path in ("/api/v1/runs/%ff", "/api/v1/runs?project=%c3%28",
                 "/api/v1/trend?project=tracker&benchmark=%f0%9f&metric=cpu_time", "/%ff%fe"):
        answer = server.ask("GET", path)
        try:
            json.loads(answer.body.decode("utf-8"))
        except ValueError:
            check(False, f"{path}: {answer.body[:200]!r} is not JSON")


def refusals_have_names():
    reader = token("read")
    with Server() as server:
        for what, answer, status, code in (
                ("no token", server.ask("GET", "/api/v1/runs", token=NOBODY), 401, "unauthorized"),
                ("a token for less", server.write("/api/v1/annotations", {}, token=reader),
                 403, "forbidden"),
                ("no such method", server.ask("PUT", "/api/v1/runs", token=reader),
                 405, "method_not_allowed"),
                ("no such address", server.ask("GET", "/api/v1/nothing", token=reader),
                 404, "not_found")):
            expect(answer, status, what)
            check(answer.code() == code, f"{what} is called {answer.code()}")


def attack():
    with Server() as server:
        push(server)
        requests_with_two_readings_are_refused(server)
        malformed_texts_are_refused(server)
    refusals_have_names()


finish_in_scratch(attack)
