#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Half an archive is never taken for a whole one, however its pieces come; what is begun and left has limits, and is nobody else's to see."""
import os
import time

from archive_requests import FOLDER, PIECE, PLACE, ask_offset, digest_of, download, files, make, send_piece, upload
from attack import DATABASE, PERFDB, Server, expect, push, token
from checks import call, check, finish_in_scratch

LARGE = 2 * PIECE + 1000
DAY_S = 86400


def begun():
    return [path for path in files() if f".begun{os.sep}" in path]


def offset_of(server, run, data, secret):
    return expect(ask_offset(server, run, data, token=secret), 200, "the offset").json()["offset"]


def send_all(server, run, data, secret, start=0):
    """What is answered to the last piece."""
    for offset in range(start, len(data), PIECE):
        last = offset + PIECE >= len(data)
        answer = expect(send_piece(server, run, data, offset, token=secret), 201 if last else 202, f"the piece at {offset}")
    return answer


def made_before(paths, seconds):
    """The same files, as if they had been put there before."""
    for path in paths:
        start, _, made = path.rpartition("-")
        os.rename(path, f"{start}-{int(made, 16) - seconds:010x}")


def only_who_may(server, admin, run):
    data = make("only who may", LARGE)
    reader, triage = (token(scope, "--project", "tracker") for scope in ("read", "triage"))
    stranger = token("upload", "--project", "other")
    for secret, status in ((None, 401), (reader, 403), (triage, 403), (stranger, 404)):
        expect(ask_offset(server, run, data, token=secret), status, "a stranger's question")
        expect(send_piece(server, run, data, 0, token=secret), status, "a stranger's piece")
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://elsewhere.example"}):
        expect(send_piece(server, run, data, 0, headers=headers, token=admin), 403, f"another page: {headers}")
    expect(send_piece(server, run, data, 0, headers={"Content-Type": "text/plain"}, token=admin), 415, "a form's type")
    for path in ("latest", run[:8], "..%2f..%2fx"):
        check(send_piece(server, path, data, 0, token=admin).status in (400, 404), f"a piece for {path}")
    check(not files(), f"something was kept: {files()}")


def another_run_learns_nothing(server, admin, run, other):
    """What is begun for one run is not begun for another, be it of the same project or not."""
    data = make("secret of one project", LARGE)
    expect(send_piece(server, run, data, 0, token=admin), 202, "the first piece")
    check(offset_of(server, run, data, admin) == PIECE, "the piece is not counted")
    check(offset_of(server, other, data, admin) == 0, "another run goes on with it")
    answer = expect(send_piece(server, other, data, PIECE, token=admin), 409, "going on with what another began")
    check(answer.code() == "other_offset", f"{answer.body}")
    expect(download(server, run, token=admin), 404, "half an archive")


def a_piece_is_what_it_says(server, run, secret):
    data = make("a piece", LARGE)
    for offset in (-1, 1, PIECE - 1, PIECE + 1, LARGE, 3 * PIECE, 1 << 62, (1 << 64) - 1, 1 << 64, "0x0", "", "1e3"):
        answer = send_piece(server, run, data, 0, data[:PIECE], {"Upload-Offset": offset}, token=secret)
        check(answer.status == 400, f"the offset {offset}: {answer.status} {answer.body}")
    for size in (0, -1, "", (1 << 64) - 1, 1 << 64, 1 << 50):
        answer = send_piece(server, run, data, 0, data[:PIECE], {"Upload-Length": size}, token=secret)
        check(answer.status in (400, 413), f"the length {size}: {answer.status} {answer.body}")
    for piece in (b"", data[:100], data[:PIECE - 1]):
        expect(send_piece(server, run, data, 0, piece, token=secret), 400, f"a piece of {len(piece)} bytes")
    expect(send_piece(server, run, data, 0, data[:PIECE + 1], token=secret), 413, "a piece that is too large")
    expect(send_piece(server, run, data, 0, b"x" * PIECE, token=secret), 400, "what begins like no archive")
    for name in ("Content-SHA256", "Archive-SHA256"):
        for wrong in ("", "0" * 63, digest_of(data).upper(), "../" * 21 + "x"):
            expect(send_piece(server, run, data, 0, headers={name: wrong}, token=secret), 400, f"{name}: {wrong}")
    expect(send_piece(server, run, data, 0, headers={"Content-SHA256": "0" * 64}, token=secret), 400, "another piece than announced")
    for query in ("", f"?digest={digest_of(data)}", "?digest=../x&bytes=5", f"?digest={digest_of(data)}&bytes=-1", f"?digest={digest_of(data)}&bytes=0"):
        expect(server.ask("GET", f"/api/v1/archive-uploads/{run}{query}", token=secret), 400, f"the question '{query}'")
    expect(server.ask("GET", f"/api/v1/archive-uploads/{run}?digest={digest_of(data)}&bytes={1 << 60}", token=secret), 413, "a question of an exabyte")
    check(not begun(), f"something was kept: {begun()}")


def pieces_follow_each_other(server, run, secret):
    """Neither gaps nor what lies over another: each piece is the next."""
    data = make("one after the other", LARGE)
    expect(send_piece(server, run, data, PIECE, token=secret), 409, "the second piece first")
    expect(send_piece(server, run, data, 2 * PIECE, token=secret), 409, "the last piece first")
    check(not begun(), f"something was kept: {begun()}")
    answer = expect(send_piece(server, run, data, 0, token=secret), 202, "the first piece").json()
    check(answer == {"run": run, "digest": digest_of(data), "offset": PIECE, "piece_bytes": PIECE}, f"{answer}")
    answer = expect(send_piece(server, run, data, 0, make("over it", PIECE)[:PIECE], token=secret), 409, "another one over the first")
    check(answer.code() == "other_offset" and str(PIECE) in answer.json()["error"]["message"] and len(begun()) == 1, f"{answer.body} {begun()}")
    expect(download(server, run, token=secret), 404, "what is not whole")
    send_all(server, run, data, secret, PIECE)
    check(download(server, run, token=secret).body == data, "another thing was kept")
    check(not begun() and len(files()) == 1, f"pieces stay: {files()}")
    answer = expect(send_piece(server, run, data, 0, token=secret), 200, "a piece of what is there").json()
    check(answer["digest"] == digest_of(data) and answer["stored"] is False, f"{answer}")
    check(expect(ask_offset(server, run, data, token=secret), 200, "the question").json()["stored"] is False, "it is there")
    answer = expect(send_piece(server, run, make("another", LARGE), 0, token=secret), 422, "another archive of the run")
    check(answer.code() == "has_archive" and not begun(), f"{answer.body}")


def only_the_announced_whole_is_kept(server, run, secret):
    """Pieces that are fine by themselves, and another archive together."""
    data = make("announced", LARGE)
    other = make("slipped in", LARGE)
    expect(send_piece(server, run, data, 0, other[:PIECE], token=secret), 202, "a piece of another archive")
    expect(send_piece(server, run, data, PIECE, token=secret), 202, "the second")
    answer = expect(send_piece(server, run, data, 2 * PIECE, token=secret), 409, "the last")
    check("begins anew" in answer.json()["error"]["message"] and not files(), f"{answer.body} {files()}")
    expect(download(server, run, token=secret), 404, "what was slipped in")
    check(offset_of(server, run, data, secret) == 0, "it does not begin anew")
    send_all(server, run, data, secret)
    check(download(server, run, token=secret).body == data, "another thing was kept")


def damage_in_the_place_is_seen(server, run, secret):
    data = make("damaged", LARGE)
    expect(send_piece(server, run, data, 0, token=secret), 202, "the first piece")
    expect(send_piece(server, run, data, PIECE, token=secret), 202, "the second")
    with open(sorted(begun())[0], "r+b") as file:
        file.seek(100)
        file.write(b"damage")
    expect(send_piece(server, run, data, 2 * PIECE, token=secret), 409, "the last")
    check(not files(), f"something was kept: {files()}")


def what_is_left_expires(server, run, secret):
    data = make("left", LARGE)
    expect(send_piece(server, run, data, 0, token=secret), 202, "the first piece")
    made_before(begun(), DAY_S - 600)
    check(offset_of(server, run, data, secret) == PIECE, "a piece that is not a day old does not count")
    made_before(begun(), 1200)
    check(offset_of(server, run, data, secret) == 0, "a piece that is a day old counts")
    expect(send_piece(server, run, data, PIECE, token=secret), 409, "going on with what has expired")
    check(not begun(), f"what has expired stays: {begun()}")
    expect(send_piece(server, run, data, 0, token=secret), 202, "beginning anew")
    kept = begun()
    made_before(kept, DAY_S + 60)
    words = (PERFDB, "gc", "--database", DATABASE, *PLACE)
    done = call(*words, "--dry-run")
    check(done.returncode == 0 and "1 piece of unfinished archives would be removed" in done.stderr and len(begun()) == 1, f"{done.stderr}")
    done = call(*words)
    check(done.returncode == 0 and "1 piece of unfinished archives removed" in done.stderr and not begun(), f"{done.stderr} {begun()}")
    expect(send_piece(server, run, data, 0, token=secret), 202, "a young piece")
    done = call(*words)
    check(done.returncode == 0 and "unfinished" not in done.stderr and len(begun()) == 1, f"{done.stderr} {begun()}")
    send_all(server, run, data, secret, PIECE)


def what_is_begun_has_limits(admin):
    """Four of the largest archives in a project, here 9 MiB each, and as the quota says."""
    with Server(*PLACE, "--archive-max", "9MiB") as server:
        run = server.runs(token=admin)[2]
        expect(send_piece(server, run, make("too large", LARGE), 0, token=admin), 413, "what is larger than an archive may be")
        for number in range(4):
            expect(send_piece(server, run, make(f"begun {number}", PIECE), 0, token=admin), 202, f"beginning {number}")
        answer = expect(send_piece(server, run, make("one too many", PIECE), 0, token=admin), 503, "one too many")
        check("begun" in answer.json()["error"]["message"] and int(answer.headers["retry-after"]) >= 1 and len(begun()) == 4, f"{answer.body} {begun()}")
        small = make("as a whole", 1000)
        expect(upload(server, run, small, token=admin), 201, "an archive as a whole meanwhile")
        expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=admin), 200, "removal")
        made_before(begun(), 2 * DAY_S)
        expect(send_piece(server, run, make("one too many", PIECE), 0, token=admin), 202, "when they are old")
        check(len(begun()) == 1, f"{begun()}")
        used = server.ask("GET", "/api/v1/usage?project=tracker", token=admin).json()["bytes"]
        data = make("as the quota says", PIECE)
        expect(server.write("/api/v1/limits", {"project": "tracker", "most_bytes": used + PIECE + len(data) + 100}, token=admin), 200, "a quota")
        expect(send_piece(server, run, data, 0, token=admin), 202, "what is within the quota")
        answer = expect(send_piece(server, run, make("beyond the quota", PIECE), 0, token=admin), 403, "what is begun counts")
        check(answer.code() == "over_quota" and len(begun()) == 2, f"{answer.status} {answer.headers} {answer.body}")
        expect(server.write("/api/v1/limits", {"project": "tracker", "most_bytes": None}, token=admin), 200, "no quota")
        for path in begun():
            os.remove(path)


def killed_between(admin):
    """Another server goes on, and a removed run takes nothing."""
    data = make("killed", LARGE)
    with Server(*PLACE) as server:
        run = server.runs(token=admin)[2]
        expect(send_piece(server, run, data, 0, token=admin), 202, "the first piece")
        server.process.kill()
    with Server(*PLACE) as one, Server(*PLACE) as other:
        check(offset_of(one, run, data, admin) == PIECE, "the piece is lost")
        expect(send_piece(other, run, data, PIECE, token=admin), 202, "the second piece, at another server")
        expect(one.ask("DELETE", f"/api/v1/runs/{run}", token=admin), 200, "removing the run")
        expect(send_piece(one, run, data, 2 * PIECE, token=admin), 404, "the last piece of a run that is gone")
    with Server("--read-only", *PLACE) as server:
        answer = expect(send_piece(server, server.runs(token=admin)[0], data, 0, token=admin), 405, "a piece for a server that only shows runs")
        check(answer.headers["allow"] == "GET, HEAD", f"{answer.headers}")
    with Server() as server:
        check(send_piece(server, server.runs(token=admin)[0], data, 0, token=admin).code() == "no_archives", "a server without archives")


def ask_range(server, run, secret, header, **more):
    return server.ask("GET", f"/api/v1/archives/{run}", {"Range": header, **more}, token=secret)


def ranges_stay_inside(server, run, secret):
    """Of the archive that pieces_follow_each_other() left."""
    whole = expect(download(server, run, token=secret), 200, "the whole")
    data, tag = whole.body, whole.headers["etag"]
    check(tag == f'"{digest_of(data)}"' and whole.headers["accept-ranges"] == "bytes", f"{whole.headers}")
    end = len(data) - 1
    for header, first, last in (("bytes=0-0", 0, 0), ("bytes=5-", 5, end), ("bytes=-7", end - 6, end), ("bytes=100-1000000000000000000000", 100, end),
                                (f"bytes={PIECE - 1}-{PIECE}", PIECE - 1, PIECE)):
        answer = expect(ask_range(server, run, secret, header), 206, header)
        check(answer.body == data[first:last + 1], f"{header}: {len(answer.body)} other bytes")
        check(answer.headers["content-range"] == f"bytes {first}-{last}/{len(data)}", f"{header}: {answer.headers}")
        check(answer.headers["etag"] == tag and "content-sha256" not in answer.headers, f"{answer.headers}")
    for header in (f"bytes={len(data)}-", "bytes=18446744073709551615-", "bytes=18446744073709551616-18446744073709551617", "bytes=-0"):
        answer = expect(ask_range(server, run, secret, header), 416, header)
        check(answer.code() == "no_such_range" and answer.headers["content-range"] == f"bytes */{len(data)}", f"{answer.headers} {answer.body}")
    for header in ("bytes=0-0,5-5", "bytes=9-5", "bytes=x-", "lines=0-1", "bytes=" + "0-0," * 500 + "0-0"):
        answer = expect(ask_range(server, run, secret, header), 200, header[:20])
        check(answer.body == data and "content-range" not in answer.headers, f"{header[:20]}: {answer.headers}")
    for condition, status in ((tag, 206), ('"other"', 200), (f"W/{tag}", 200), (time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime()), 200)):
        answer = ask_range(server, run, secret, "bytes=1-2", **{"If-Range": condition})
        check(answer.status == status, f"If-Range {condition}: {answer.status}")
    answer = expect(server.ask("HEAD", f"/api/v1/archives/{run}", {"Range": "bytes=1-2", "Connection": "close"}, token=secret), 200, "HEAD")
    check((answer.headers["content-length"], answer.headers["etag"], answer.headers["accept-ranges"]) == (str(len(data)), tag, "bytes"), f"{answer.headers}")
    for who, status in ((None, 401), (token("read", "--project", "other"), 404)):
        answer = expect(ask_range(server, run, who, "bytes=0-10"), status, "a stranger's range")
        check("content-range" not in answer.headers and "etag" not in answer.headers, f"{answer.headers}")


def attack():
    admin = token("admin")
    uploader = token("upload", "--project", "tracker")
    with Server(*PLACE) as server:
        push(server, 4, secret=admin)
        runs = server.runs(token=admin)
        only_who_may(server, admin, runs[0])
        a_piece_is_what_it_says(server, runs[0], uploader)
        pieces_follow_each_other(server, runs[0], uploader)
        ranges_stay_inside(server, runs[0], uploader)
        expect(server.ask("DELETE", f"/api/v1/archives/{runs[0]}", token=admin), 200, "removal")
        only_the_announced_whole_is_kept(server, runs[0], uploader)
        expect(server.ask("DELETE", f"/api/v1/archives/{runs[0]}", token=admin), 200, "removal")
        damage_in_the_place_is_seen(server, runs[0], uploader)
        what_is_left_expires(server, runs[1], uploader)
        another_run_learns_nothing(server, admin, runs[3], runs[2])
        for path in begun():
            os.remove(path)
    what_is_begun_has_limits(admin)
    killed_between(admin)
    check(os.path.isdir(FOLDER) and not [path for path in files() if path.endswith(".part")], f"{files()}")


finish_in_scratch(attack)
