# SPDX-License-Identifier: Apache-2.0
"""A line to a server that is cut, or stalls, after so many bytes."""
import contextlib
import socket
import threading

BYTES_AT_ONCE = 65536


class CutLine:
    """
    Listens on a free port of this machine and passes everything on to `port`. `cuts` has a limit for each connection, in its
    order: ("up" or "down", bytes); then both ends are closed. With `stalls`, they stay open instead, and nothing moves any more.
    Connections after the last are not cut. `up` and `down` count what went to the server and came back.
    """

    def __init__(self, port, cuts=(), stalls=False):
        self.server_port, self.cuts, self.stalls = port, list(cuts), stalls
        self.up = self.down = 0
        self.lock = threading.Lock()
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for one in (self.listener, *self.sockets):
            end(one)

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                with self.lock:
                    limits = dict([self.cuts.pop(0)]) if self.cuts else {}
                try:
                    server = socket.create_connection(("127.0.0.1", self.server_port))
                except OSError:
                    end(client)
                    continue
                self.sockets += [client, server]
                for way, source, target in (("up", client, server), ("down", server, client)):
                    threading.Thread(target=self.pass_on, args=(way, source, target, limits.get(way)), daemon=True).start()

    def pass_on(self, way, source, target, limit):
        passed = 0
        with contextlib.suppress(OSError):
            while limit is None or passed < limit:
                data = source.recv(BYTES_AT_ONCE if limit is None else min(BYTES_AT_ONCE, limit - passed))
                if not data:
                    break
                passed += len(data)
                with self.lock:
                    setattr(self, way, getattr(self, way) + len(data))
                target.sendall(data)
        if self.stalls and passed == limit:
            return
        end(source)
        end(target)


def end(one):
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
