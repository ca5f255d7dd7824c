# SPDX-License-Identifier: Apache-2.0
"""A web server on a free loopback port that records requests, and answers as the test specifies."""
import http.server
import queue
import threading

from checks import HUNG_S


class Receiver:
    """`answers` are (status, headers) for the first requests; later requests get 204."""

    def __init__(self, answers=(), tls=None):
        self.answers = list(answers)
        self.arrived = queue.Queue()
        self.count = 0
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, headers = outer.answers.pop(0) if outer.answers else (204, {})
                self.send_response(status)
                for name, value in {"Content-Length": "0", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                outer.count += 1
                outer.arrived.put((self.path, dict(self.headers), body))

            do_GET = do_POST

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path="/hook", host="127.0.0.1", scheme="http"):
        return f"{scheme}://{host}:{self.port}{path}"

    def take(self):
        """Waits for the next request: path, headers, body."""
        return self.arrived.get(timeout=HUNG_S)


def refusing():
    """
    Starts a server that answers everything with 404: its address, and a list of
    the requests with their headers.
    """
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            seen.append(f"{self.command} {self.path}\n{self.headers}")
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_HEAD = do_POST

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}", seen
