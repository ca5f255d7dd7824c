#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
api_stand_in.py FOLDER: serves GitHub's comments API on a free port of loopback, for a repository with
pull request 7 from guest:topic, until its input ends.

FOLDER/url gets the address as soon as it listens; FOLDER/comments.json holds the thread after every
change, FOLDER/statuses.json the commits' statuses. FOLDER/mode, read before each answer, makes it
misbehave: "403" refuses to write, "flaky" answers every fourth request with 503.
"""
import http.server
import json
import pathlib
import sys
import threading
import urllib.parse

folder = pathlib.Path(sys.argv[1])
comments = [{"id": n, "body": f"nice, number {n}"} for n in range(1, 131)]
statuses = {}
asked = 0


class Comments(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, code, value, **headers):
        data = json.dumps(value).encode()
        self.send_response(code)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def misbehaves(self):
        global asked
        asked += 1
        mode = (folder / "mode").read_text().strip() if (folder / "mode").exists() else ""
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization") != "Bearer not-so-secret":
            self.reply(401, {"message": "Bad credentials"})
        elif mode == "flaky" and asked % 4 == 0:
            self.reply(503, {"message": "try again"})
        elif mode == "403" and self.command != "GET":
            self.reply(403, {"message": "Resource not accessible by integration"})
        else:
            return False
        return True

    def do_GET(self):
        if self.misbehaves():
            return
        split = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(split.query)
        if split.path == "/repos/acme/demo/pulls":
            ours = query["head"][0] == "guest:topic"
            self.reply(200, [{"number": 7, "head": {"sha": "a" * 40}}] if ours else [])
            return
        size, page = int(query["per_page"][0]), int(query["page"][0])
        self.reply(200, comments[(page - 1) * size:page * size])

    def write(self, code, comment):
        comment["body"] = json.loads(self.body)["body"]
        (folder / "comments.json").write_text(json.dumps(comments))
        self.reply(code, comment)

    def do_POST(self):
        if self.misbehaves():
            return
        if self.path.startswith("/repos/acme/demo/statuses/"):
            statuses[self.path.rpartition("/")[2]] = json.loads(self.body)
            (folder / "statuses.json").write_text(json.dumps(statuses))
            self.reply(201, {})
            return
        if self.path != "/repos/acme/demo/issues/7/comments":
            self.reply(404, {"message": "Not Found"})
            return
        comments.append({"id": 1000 + len(comments)})
        self.write(201, comments[-1])

    def do_PATCH(self):
        if self.misbehaves():
            return
        ours = [c for c in comments if self.path == f"/repos/acme/demo/issues/comments/{c['id']}"]
        if ours:
            self.write(200, ours[0])
        else:
            self.reply(404, {"message": "Not Found"})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Comments)
(folder / "url.new").write_text(f"http://127.0.0.1:{server.server_port}")
(folder / "url.new").rename(folder / "url")
print("ready", flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
