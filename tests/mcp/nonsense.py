#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
nonsense.py FASTGATE: lines that make no sense. The server answers each according to the protocol,
or not at all, and continues.
"""
import json
import os
import random
import sys
import tempfile

from checks import call, check, finish

FASTGATE = os.path.abspath(sys.argv[1])
FOLDER = tempfile.mkdtemp()
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
              "params": {"protocolVersion": "2025-03-26", "capabilities": {}}}
PING = {"jsonrpc": "2.0", "id": "end", "method": "ping"}


def serve(*lines):
    """The answers to these lines (bytes, or values to be written as JSON)."""
    data = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"
                    for line in lines)
    with tempfile.TemporaryFile() as file:  # unlike a pipe, a file provides everything at once
        file.write(data)
        file.seek(0)
        done = call(FASTGATE, "mcp", FOLDER, stdin=file, text=False)
    check(done.returncode == 0, f"exit code {done.returncode}: {done.stderr!r}")
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line]


def request(method, params=None, **more):
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}, **more}


def expect_error(what, line, code, identity=1, words=""):
    answers = serve(line, PING)
    error = answers[0].get("error", {})
    check(len(answers) == 2 and error.get("code") == code and answers[0]["id"] == identity
          and words in error.get("message", ""), f"{what}: {answers}")


expect_error("no JSON", b"{", -32700, None, "not valid JSON")
expect_error("not UTF-8", b'"\xff"', -32700, None, "UTF-8")
expect_error("deep", b"[" * 100 + b"]" * 100, -32700, None)
expect_error("a number", b"7", -32600, None)
expect_error("no version", {"id": 1, "method": "ping"}, -32600)
expect_error("an object as id", {"jsonrpc": "2.0", "id": {}, "method": "ping"}, -32600, None)
expect_error("a broken number as id", {"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, -32600, None)
expect_error("a long id", {"jsonrpc": "2.0", "id": "x" * 1000, "method": "ping"}, -32600, None)
expect_error("no method", {"jsonrpc": "2.0", "id": 1}, -32600)
expect_error("an unknown method", request("tools/remove"), -32601, words="tools/remove")
expect_error("params as an array", {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": [1]}, -32602)
expect_error("an unknown tool", request("tools/call", {"name": "rm"}), -32602, words="'rm'")
expect_error("no tool", request("tools/call"), -32602)
expect_error("arguments as text", request("tools/call", {"name": "run", "arguments": "x"}), -32602)
expect_error("a cursor", request("tools/list", {"cursor": "x"}), -32602)
expect_error("a batch", [PING], -32600, None, "a message must be a JSON object")
expect_error("a line without end", b'{"a": "' + b"x" * (1 << 21) + b'"}', -32600, None, "1 MiB")
check([one["id"] for one in serve(b"", b"\r", {"jsonrpc": "2.0", "id": 1, "result": {}},
                                  {"jsonrpc": "2.0", "method": "notifications/any"}, PING)] == ["end"],
      "blank lines, responses and unknown notifications are not answered")
many = [request("tools/call", {"name": "history"}, id=number) for number in range(40)]
busy = [one for one in serve(*many, PING) if one.get("error", {}).get("code") == -32000]
check(len(busy) == 40 - 16, f"more than 16 calls at once: {len(busy)} were refused")
for version, agreed in (("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-11-25"),
                        ("1999-01-01", "2025-11-25"), (7, "2025-11-25")):
    found = serve(request("initialize", {"protocolVersion": version}))[0]["result"]["protocolVersion"]
    check(found == agreed, f"version {version}: {found}")

draw = random.Random(53)
good = [json.dumps(one).encode()
        for one in (INITIALIZE, request("tools/list"),
                    request("tools/call", {"name": "explain", "arguments": {"run": "a"}}), PING)]
lines = []
for _ in range(3000):
    line = bytearray(draw.choice(good))
    for _ in range(draw.randrange(1, 6)):
        at = draw.randrange(len(line))
        kind = draw.randrange(3)
        if kind == 0:
            line[at] = draw.choice(b'{}[]",:\\\x00\x7f\xc3\xff0e-')
        elif kind == 1:
            del line[at : at + draw.randrange(1, 9)]
        else:
            line[at:at] = bytes(draw.choice(b'{}[]",:\\u0') for _ in range(draw.randrange(1, 9)))
        line = line or bytearray(b"x")
    lines.append(bytes(line).replace(b"\n", b" "))
answers = serve(*lines, {**PING, "id": "the last"})
check(any(one.get("id") == "the last" for one in answers), "the server survives changed messages")
check(all(one["jsonrpc"] == "2.0" and ("result" in one) != ("error" in one)
          for one in answers if "method" not in one), "each answer is a result or an error")
finish()
