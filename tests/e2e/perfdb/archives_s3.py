#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives in S3-compatible storage (OpenStack Swift's S3 API): signed, compared, away and back, removed, and never under a wrong key."""
import json
import os
import subprocess
import sys
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "security"))

from archive_requests import PIECE, ask_offset, digest_of, make, send_piece, upload  # noqa: E402
from attack import DATABASE, FASTGATE, MAKE_RUNS, PERFDB, Server, expect, push, token  # noqa: E402
from checks import HUNG_S, call, check, finish_in_scratch  # noqa: E402

PYTHON = next((one for one in (sys.executable, "/usr/bin/python3") if call(one, "-c", "import swift.proxy.server").returncode == 0), None)
if not PYTHON:
    print("no Swift here (python3-swift)")
    sys.exit(77)
KEY_ID, KEY = "team:ci", "a/key+with=letters"
BUCKET, PREFIX = "traces", "perf/one"


class Storage:
    def __enter__(self):
        script = os.path.join(HERE, "..", "..", "support", "s3_server.py")
        self.process = subprocess.Popen([PYTHON, script, os.path.abspath("storage"), KEY_ID, KEY, BUCKET],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        self.url = self.process.stdout.readline().strip()
        check(self.url, "the storage did not start")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def own(self, method, path, data=None):
        """Through Swift's own interface, past the signatures."""
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/auth/v1.0", headers={"X-Auth-User": KEY_ID, "X-Auth-Key": KEY}), timeout=HUNG_S) as answer:
            headers = {"X-Auth-Token": answer.headers["X-Auth-Token"]}
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/v1/AUTH_team/{BUCKET}{path}", data, headers, method=method), timeout=HUNG_S) as answer:
            return answer.read()

    def objects(self):
        return [one["name"] for one in json.loads(self.own("GET", ""))]


def server_of(storage, key=KEY, *options):
    """The key comes from the environment."""
    return Server("--archives", f"s3://{BUCKET}/{PREFIX}", "--archives-url", storage if isinstance(storage, str) else storage.url, *options,
                  environment={"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": key})


def download(server, run, secret):
    return server.ask("GET", f"/api/v1/archives/{run}", token=secret)


def last_error():
    with open("server.log", encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")][-1].get("error", "")


def taken_and_given_back(storage, admin):
    data = make("kept", 3 << 20)
    with server_of(storage) as server:
        push(server, 3, secret=admin)
        runs = server.runs(token=admin)
        run = runs[0]
        with open(f"/proc/{server.process.pid}/environ", "rb") as file:
            check(KEY.encode() not in file.read(), "the key stays in the environment")
        expect(upload(server, run, data, token=admin), 201, "upload")
        expect(upload(server, run, data, token=admin), 200, "the same again")
        names = storage.objects()
        check(len(names) == 1 and names[0].startswith(PREFIX + "/"), f"{names}")
        check(storage.own("GET", "/" + names[0]) == data, "another thing was put there")
        check(expect(download(server, run, admin), 200, "download").body == data, "another thing comes back")
    return run, runs[1], data, names[0]


def under_a_wrong_key_nothing_happens(storage, admin, run, other):
    with server_of(storage, "a wrong key") as server:
        answer = expect(upload(server, other, make("wrong", 100), token=admin), 503, "an upload under a wrong key")
        check(answer.code() == "unavailable" and answer.headers.get("retry-after") and b"Signature" not in answer.body, f"{answer.body}")
        check("403 SignatureDoesNotMatch" in last_error(), f"the log does not say why: {last_error()}")
        expect(download(server, run, admin), 503, "a download under a wrong key")
        expect(download(server, other, admin), 404, "what was not stored")
    check(len(storage.objects()) == 1, f"{storage.objects()}")


def what_comes_back_is_compared(storage, admin, run, data, name):
    storage.own("PUT", "/" + name, data[:-1] + b"?")
    with server_of(storage) as server:
        expect(download(server, run, admin), 503, "what was changed in the storage")
        check("is not what was put there" in last_error(), f"{last_error()}")
        storage.own("PUT", "/" + name, data)
        expect(download(server, run, admin), 200, "what was put right again")


def parts_come_signed(storage, admin, run, data, name):
    """Only the part is asked for, so it is not compared with the digest of the whole: the whole is."""
    with server_of(storage) as server:
        for header, first, last in (("bytes=0-9", 0, 9), ("bytes=1048570-1048580", 1048570, 1048580), ("bytes=-5", len(data) - 5, len(data) - 1)):
            answer = expect(server.ask("GET", f"/api/v1/archives/{run}", {"Range": header}, token=admin), 206, header)
            check(answer.body == data[first:last + 1], f"{header}: other bytes")
            check(answer.headers["content-range"] == f"bytes {first}-{last}/{len(data)}" and answer.headers["etag"] == f'"{digest_of(data)}"', f"{answer.headers}")
        storage.own("PUT", "/" + name, data[:100])
        expect(server.ask("GET", f"/api/v1/archives/{run}", {"Range": "bytes=90-110"}, token=admin), 503, "a part that the storage cannot give")
        storage.own("PUT", "/" + name, data)


def pieces_wait_in_the_storage(storage, admin, run):
    """Whichever server they came to; only the whole is an archive."""
    data = make("in pieces", 2 * PIECE + 1000)
    with server_of(storage) as server:
        expect(send_piece(server, run, data, 0, token=admin), 202, "the first piece")
        server.process.kill()
    with server_of(storage) as server:
        check(ask_offset(server, run, data, token=admin).json()["offset"] == PIECE, "the piece is lost")
        expect(send_piece(server, run, data, PIECE, token=admin), 202, "the second piece")
        check(len([one for one in storage.objects() if ".begun/" in one]) == 2, f"{storage.objects()}")
        expect(download(server, run, admin), 404, "half an archive")
        expect(send_piece(server, run, data, 2 * PIECE, token=admin), 201, "the last piece")
        check(not [one for one in storage.objects() if ".begun/" in one] and len(storage.objects()) == 2, f"{storage.objects()}")
        check(download(server, run, admin).body == data, "another thing comes back")
        expect(server.ask("DELETE", f"/api/v1/archives/{run}", token=admin), 200, "removal")
        changed = make("changed", 2 * PIECE)
        expect(send_piece(server, run, changed, 0, token=admin), 202, "the first piece")
        piece = [one for one in storage.objects() if ".begun/" in one][0]
        storage.own("PUT", "/" + piece, data[:PIECE])
        expect(send_piece(server, run, changed, PIECE, token=admin), 202, "the second piece")
        expect(send_piece(server, run, changed, 2 * PIECE, token=admin), 409, "the last piece, with another thing in the storage")
        check(len(storage.objects()) == 1, f"{storage.objects()}")
        expect(send_piece(server, run, data, 0, token=admin), 202, "what will be left")
    (piece,) = [one for one in storage.objects() if ".begun/" in one]
    start, _, made = piece.rpartition("-")
    storage.own("DELETE", "/" + piece)
    storage.own("PUT", f"/{start}-{int(made, 16) - 2 * 86400:010x}", b"x")


def storage_that_is_away_loses_nothing(admin, run, gone_url):
    with open("client.tar.zst", "wb") as file:
        file.write(make("away", 200000))
    subprocess.run([MAKE_RUNS, "own-runs", "9", "1"], check=True)
    own = os.listdir("own-runs")[0]
    words = [FASTGATE, "push", "--spool", "own-spool", "--attempts", "1"]
    environment = {**os.environ, "PERFDB_TOKEN": admin}
    with server_of(gone_url) as server:
        url = ("--url", f"http://127.0.0.1:{server.port}")
        done = call(*words, *url, "--archive", "client.tar.zst", os.path.join("own-runs", own), env=environment)
        check(done.returncode == 5 and os.listdir("own-spool") == [own.replace(".fgrun", ".fgarchive")], f"{done.returncode} {done.stderr}")
        answer = expect(download(server, run, admin), 503, "a download while the storage is away")
        check(answer.code() == "unavailable" and int(answer.headers["retry-after"]) >= 1, f"{answer.headers}")
        expect(server.ask("GET", "/readyz"), 200, "all else")
    with Storage() as storage, server_of(storage) as server:
        done = call(*words, "--url", f"http://127.0.0.1:{server.port}", env=environment)
        check(done.returncode == 0 and not os.listdir("own-spool"), f"{done.returncode} {done.stderr}")
        expect(download(server, run, admin), 200, "what was there before")
        with open("client.tar.zst", "rb") as file:
            check(download(server, own[:-6], admin).body == file.read(), "what waited is not there")
        expect(server.ask("DELETE", f"/api/v1/archives/{own[:-6]}", token=admin), 200, "removal")
        check(len(storage.objects()) == 2, f"{storage.objects()}")  # and the piece that is left
        gc_removes_what_no_run_has(storage, server, admin, run)


def gc_removes_what_no_run_has(storage, server, admin, run):
    name = [one for one in storage.objects() if ".begun/" not in one][0]
    folder, _, last = name.rpartition("/")
    digest, _, chance = last.split("-")
    strays = [f"{folder}/{digest}-{number:010x}-{chance}" for number in range(1, 4)]
    kept = [f"{folder}/notes", f"{PREFIX}/other/{strays[0].rpartition('/')[2]}", f"elsewhere/{strays[0].rpartition('/')[2]}"]
    for path in (*strays, *kept):
        storage.own("PUT", "/" + path, b"x")
    expect(server.ask("DELETE", f"/api/v1/runs/{run}", token=admin), 200, "removing the run")
    with open("key", "w", encoding="ascii") as file:
        file.write(f"{KEY_ID}\n{KEY}\n")
    done = call(PERFDB, "gc", "--database", DATABASE, "--archives", f"s3://{BUCKET}/{PREFIX}/", "--archives-url", storage.url, "--archives-key-file", "key")
    check(done.returncode == 0 and "1 archive of removed runs and 3 without a run removed" in done.stderr, f"{done.stderr}")
    check("1 piece of unfinished archives removed" in done.stderr, f"{done.stderr}")
    check(storage.objects() == sorted(kept), f"{storage.objects()}")


def wrong_options_are_said():
    for words, said in ((("s3://traces/x",), "needs --archives-url"),
                        (("s3://traces/x", "--archives-url", "http://storage.example"), "http:// only to this machine"),
                        (("s3://traces/x", "--archives-url", "https://storage.example"), "needs a key"),
                        (("s3:///x", "--archives-url", "https://storage.example", "--archives-key-file", "key"), "expected s3://BUCKET/PREFIX"),
                        (("s3://traces/../x", "--archives-url", "https://storage.example", "--archives-key-file", "key"), "expected s3://BUCKET/PREFIX"),
                        (("folder", "--archives-url", "https://storage.example"), "is for --archives s3:")):
        done = call(PERFDB, "gc", "--database", DATABASE, "--archives", *words)
        check(done.returncode == 2 and said in done.stderr, f"{words}: {done.returncode} {done.stderr}")


def body():
    admin = token("admin")
    with Storage() as storage:
        run, other, data, name = taken_and_given_back(storage, admin)
        under_a_wrong_key_nothing_happens(storage, admin, run, other)
        what_comes_back_is_compared(storage, admin, run, data, name)
        parts_come_signed(storage, admin, run, data, name)
        pieces_wait_in_the_storage(storage, admin, other)
    storage_that_is_away_loses_nothing(admin, run, storage.url)
    wrong_options_are_said()


finish_in_scratch(body)
