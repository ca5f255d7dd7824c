#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An archive belongs to a run, and is there as a whole or not at all; who may not see the run gets nothing of it, and nothing lies outside its folder."""
import http.server
import json
import os
import signal
import socket
import subprocess
import threading

from archive_requests import PLACE, TYPE, bytes_taken, digest_of, download, files, make, upload, wait_for_bytes, wait_for_room
from attack import DATABASE, FASTGATE, MAKE_RUNS, PERFDB, RUN_TYPE, Server, expect, push, token
from checks import HUNG_S, call, check, finish_in_scratch

def gc(*words):
    return call(PERFDB, "gc", "--database", DATABASE, *PLACE, *words)


def only_who_may(server, admin):
    push(server, 2, secret=admin)
    run = server.runs(token=admin)[0]
    reader, uploader, triage = (token(scope, "--project", "tracker") for scope in ("read", "upload", "triage"))
    stranger, foreign_admin = token("upload", "--project", "other"), token("admin", "--project", "other")
    data = make("only who may")
    expect(upload(server, run, data), 401, "an upload without a token")
    for scope, secret in (("read", reader), ("triage", triage)):
        expect(upload(server, run, data, token=secret), 403, f"{scope} uploads")
    expect(upload(server, run, data, token=stranger), 404, "another project uploads")
    check(not files(), f"something was kept: {files()}")
    answer = expect(upload(server, run, data, token=uploader), 201, "upload").json()
    check(answer == {"run": run, "digest": digest_of(data), "bytes": len(data), "stored": True}, f"{answer}")
    answer = expect(upload(server, run, data, token=uploader), 200, "the same again").json()
    check(answer["stored"] is False and len(files()) == 1, f"{answer} {files()}")
    answer = expect(upload(server, run, make("something else"), token=uploader), 422, "another archive")
    check(answer.code() == "has_archive" and len(files()) == 1, f"{answer.body}")
    for secret in (reader, uploader, triage):
        answer = expect(download(server, run, token=secret), 200, "download")
        check(answer.body == data and answer.headers["content-sha256"] == digest_of(data), "what came is not what was sent")
    check(answer.headers["content-disposition"] == f'attachment; filename="{run}.tar.zst"', f"{answer.headers}")
    answer = expect(server.ask("HEAD", f"/api/v1/archives/{run}", {"Connection": "close"}, token=reader), 200, "HEAD")
    check((answer.headers["content-length"], answer.headers["content-sha256"], answer.body) == (str(len(data)), digest_of(data), b""), f"{answer.headers}")
    around = server.ask("GET", f"/api/v1/around?run={run}", token=reader).json()["archive"]
    check(around["bytes"] == len(data) and around["digest"] == digest_of(data), f"{around}")
    for secret, status in ((None, 401), (stranger, 404)):
        expect(download(server, run, token=secret), status, "a stranger's download")
    for secret, status in ((None, 401), (uploader, 403), (reader, 403), (triage, 403), (foreign_admin, 404)):
        expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=secret), status, "a stranger's removal")
    expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=admin), 200, "removal")
    expect(download(server, run, token=admin), 404, "what was removed")
    expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=admin), 404, "removing it again")
    check(not files(), f"the file stays: {files()}")
    entries = [json.loads(line) for line in server.ask("GET", "/api/v1/audit", token=admin).body.decode().splitlines()]
    seen = [(one["action"], one["subject"]) for one in entries if one["action"].startswith("archive.")]
    check(seen == [("archive.add", run), ("archive.remove", run)], f"{seen}")
    return run, uploader


def only_what_is_announced(server, run, secret):
    data = make("announced")
    for wrong in ("../../../../tmp/x", "..%2f..%2fx", digest_of(data)[:-1], digest_of(data).upper(), "0" * 64, "/" * 64, "../" * 21 + "x"):
        answer = expect(upload(server, run, data, wrong, token=secret), 400, f"the digest {wrong}")
        check(answer.code() in ("bad_request", "bad_content"), f"{answer.body}")
    for path in ("../" + run, run[:8], "..%2f..%2fetc%2fpasswd", "latest"):
        status = upload(server, path, data, token=secret).status
        check(status in (400, 404), f"an upload for {path}: {status}")
    plain = b"no archive"
    expect(upload(server, run, plain, token=secret), 400, "what is no archive")
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}):
        expect(upload(server, run, data, headers=headers, token=secret), 403, f"another page: {headers}")
    for kind in ("text/plain", "application/json", RUN_TYPE):
        expect(upload(server, run, data, headers={"Content-Type": kind}, token=secret), 415, f"the type {kind}")
    check(not files() and not os.path.exists("/tmp/x"), f"something was kept: {files()}")


def not_too_large(server, run, secret):
    """The server takes 64 KiB."""
    large = make("large", 64 << 10)
    expect(upload(server, run, large, token=secret), 413, "what is too large")
    head = (f"POST /api/v1/archives/{run} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\nContent-Type: {TYPE}\r\n"
            f"Content-SHA256: {digest_of(large)}\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
    pieces = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (large[i:i + 1000] for i in range(0, len(large), 1000)))
    check(server.say(head + pieces + b"0\r\n\r\n").status == 413, "what turns out to be too large")
    check(not files(), f"something was kept: {files()}")


def no_more_at_once_than_twice_the_largest(server, run, secret):
    data = make("half", 60 << 10)
    head = (f"POST /api/v1/archives/{run} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\nContent-Type: {TYPE}\r\n"
            f"Content-SHA256: {digest_of(data)}\r\nContent-Length: {len(data)}\r\n\r\n").encode()
    before = bytes_taken(server)
    lines = [socket.create_connection(("127.0.0.1", server.port), HUNG_S) for _ in range(2)]
    for line in lines:
        line.sendall(head + data[:-1])
    wait_for_bytes(server, before + 2 * (len(data) - 1))
    answer = expect(upload(server, run, make("more", 20 << 10), token=secret), 503, "more than there is room for")
    check(answer.headers.get("retry-after"), f"{answer.headers}")
    expect(server.ask("GET", "/api/v1/runs", token=secret), 200, "questions meanwhile")
    push(server, 3, secret=secret)  # runs have room of their own
    for line in lines:
        line.close()
    wait_for_room(server, run, len(data), secret)


def quota_counts_them(server, admin, run):
    used = server.ask("GET", "/api/v1/usage?project=tracker", token=admin).json()["bytes"]
    data = make("counted", 30000)
    expect(server.write("/api/v1/limits", {"project": "tracker", "most_bytes": used + len(data) - 1}, token=admin), 200, "a quota")
    answer = expect(upload(server, run, data, token=admin), 403, "more than the quota")
    check(answer.code() == "over_quota" and not files(), f"{answer.body}")
    expect(server.write("/api/v1/limits", {"project": "tracker", "most_bytes": used + len(data)}, token=admin), 200, "a larger one")
    expect(upload(server, run, data, token=admin), 201, "just as much as the quota")
    after = server.ask("GET", "/api/v1/usage?project=tracker", token=admin).json()["bytes"]
    check(after == used + len(data), f"{used} {after}")
    expect(server.write("/api/v1/limits", {"project": "tracker", "most_bytes": None}, token=admin), 200, "no quota")
    return data


def removed_runs_leave_nothing(server, admin, run):
    kept = files()
    check(len(kept) == 1, f"{kept}")
    expect(server.ask("DELETE", f"/api/v1/runs/{run}", token=admin), 200, "removing the run")
    expect(download(server, run, token=admin), 404, "the archive of a run that is gone")
    done = call(PERFDB, "gc", "--database", DATABASE)
    check(done.returncode == 0 and "archives of removed runs that stay: 1" in done.stderr, f"{done.stderr}")
    name = os.path.basename(kept[0])
    digest, _, chance = name.split("-")
    folder = os.path.dirname(kept[0])
    stray = os.path.join(folder, f"{digest}-0000000001-{chance}")
    litter, young, foreign = stray + ".Ab3dEf", os.path.join(folder, f"{name[:-8]}00000000"), os.path.join(folder, "README")
    for path in (stray, litter, young, foreign):
        with open(path, "w", encoding="ascii") as file:
            file.write("left")
    done = gc("--dry-run")
    check(done.returncode == 0 and "1 archive of removed runs and 2 without a run would be removed" in done.stderr, f"{done.stderr}")
    check(len(files()) == 5, f"{files()}")
    done = gc()
    check(done.returncode == 0 and "1 archive of removed runs and 2 without a run removed" in done.stderr, f"{done.stderr}")
    check(files() == sorted([young, foreign]), f"{files()}")
    said = [json.loads(line) for line in call(PERFDB, "audit", "--database", DATABASE).stdout.splitlines()][-2:]
    check([(one["action"], one["subject"]) for one in said] == [("archive.remove", run), ("archive.sweep", "2 objects without a run")], f"{said}")
    os.remove(young)
    os.remove(foreign)


def killed_in_the_middle(admin):
    data = make("killed", 3 << 20)
    with Server(*PLACE) as server:
        run = server.runs(token=admin)[0]
        head = (f"POST /api/v1/archives/{run} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {admin}\r\nContent-Type: {TYPE}\r\n"
                f"Content-SHA256: {digest_of(data)}\r\nContent-Length: {len(data)}\r\n\r\n").encode()
        with socket.create_connection(("127.0.0.1", server.port), HUNG_S) as line:
            line.sendall(head + data[:-1000])
            wait_for_bytes(server, 2 << 20)  # more than what is kept in memory
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
    check(not files(), f"half of it is there: {files()}")
    with Server(*PLACE) as server:
        expect(download(server, run, token=admin), 404, "half an archive")
        expect(upload(server, run, data, token=admin), 201, "the next try")
    return run, data


def read_only_server_only_shows(run, data, admin):
    with Server("--read-only", *PLACE) as server:
        answer = expect(upload(server, run, make("more"), token=admin), 405, "an upload to a server that only shows runs")
        check(answer.headers["allow"] == "GET, HEAD", f"{answer.headers}")
        expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=admin), 405, "a removal")
        check(download(server, run, token=admin).body == data, "the archive is not shown")
    with Server() as server:
        for answer in (upload(server, run, data, token=admin), download(server, run, token=admin)):
            check(answer.status == 403 and answer.code() == "no_archives", f"{answer.status} {answer.body}")


class Polite(http.server.BaseHTTPRequestHandler):
    """A login page, which answers 200 to everything."""

    def do_GET(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b"<html>please sign in</html>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_HEAD = do_GET

    def log_message(self, *_):
        pass


def send(url, secret, *words):
    return subprocess.run([FASTGATE, "push", "--spool", "own-spool", "--attempts", "1", "--url", url, *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "PERFDB_TOKEN": secret}, stdin=subprocess.DEVNULL)


def client_loses_nothing(admin):
    """What waits goes only when a body says that it is there."""
    run = [name for name in os.listdir("spool-copy") if name.endswith(".fgrun")][0]
    data = make("by the client", 200000)
    with open("client.tar.zst", "wb") as file:
        file.write(data)
    waiting = os.path.join("own-spool", run.replace(".fgrun", ".fgarchive"))
    login = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Polite)
    threading.Thread(target=login.serve_forever, daemon=True).start()
    done = send(f"http://127.0.0.1:{login.server_port}", admin, "--archive", "client.tar.zst", os.path.join("spool-copy", run))
    login.shutdown()
    login.server_close()
    check(done.returncode == 5 and os.path.exists(waiting), f"a login page took it: {done.returncode} {done.stderr}")
    with Server(*PLACE) as server:
        url = f"http://127.0.0.1:{server.port}"
        done = send(url, admin)
        check(done.returncode == 0 and not os.path.exists(waiting) and "archives: 1 sent" in done.stderr, f"{done.returncode} {done.stderr}")
        done = send(url, admin, "--archive", "client.tar.zst", os.path.join("spool-copy", run))
        check(done.returncode == 0 and "archives: 0 sent, 1 already there" in done.stderr, f"{done.returncode} {done.stderr}")
        fetch = [FASTGATE, "archive", "--fetch", run[:-6], "-o", "fetched.tar.zst", "--url", url]
        done = call(*fetch, env={**os.environ, "PERFDB_TOKEN": admin})
        with open("fetched.tar.zst", "rb") as file:
            check(done.returncode == 0 and file.read() == data, f"{done.stderr}")
        path = [one for one in files() if digest_of(data) in one][0]
        with open(path, "r+b") as file:
            file.seek(100)
            file.write(b"damage")
        os.remove("fetched.tar.zst")
        done = call(*fetch, env={**os.environ, "PERFDB_TOKEN": admin})
        check(done.returncode == 5 and not os.path.exists("fetched.tar.zst"), f"what was damaged is taken: {done.returncode} {done.stderr}")


def attack():
    admin = token("admin")
    with Server(*PLACE, "--archive-max", "64KiB") as server:
        run, uploader = only_who_may(server, admin)
        only_what_is_announced(server, run, uploader)
        not_too_large(server, run, uploader)
        no_more_at_once_than_twice_the_largest(server, run, uploader)
        quota_counts_them(server, admin, run)
        removed_runs_leave_nothing(server, admin, run)
    run, data = killed_in_the_middle(admin)
    read_only_server_only_shows(run, data, admin)
    subprocess.run([MAKE_RUNS, "spool-copy", "7", "1"], check=True)
    client_loses_nothing(admin)


finish_in_scratch(attack)
