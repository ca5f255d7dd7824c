# SPDX-License-Identifier: Apache-2.0
"""A connection to a server that is cut, or stalls, after a given number of bytes."""
import contextlib
import socket
import threading

BYTES_AT_ONCE = 65536


class CutLine:
    """
    Listens on a free port of loopback and passes everything on to `port`. `cuts` lists the cuts: ("up"
    or "down", bytes since the previous cut, over all connections). A cut closes both ends; with
    `stalls`, it leaves them open but passes on nothing more. With `for_good`, no connection gets
    through after the last cut, because libcurl repeats a request that was cut off on a reused
    connection. `up` and `down` count the bytes to the server and back.
    """

    def __init__(self, port, cuts=(), stalls=False, for_good=False):
        self.server_port, self.cuts, self.stalls, self.for_good = port, list(cuts), stalls, for_good
        self.is_dead = False
        self.up = self.down = 0
        self.since_cut = {"up": 0, "down": 0}
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
                if self.is_dead:
                    end(client)
                    continue
                try:
                    server = socket.create_connection(("127.0.0.1", self.server_port))
                except OSError:
                    end(client)
                    continue
                self.sockets += [client, server]
                for way, source, target in (("up", client, server), ("down", server, client)):
                    threading.Thread(target=self.pass_on, args=(way, source, target),
                                     daemon=True).start()

    def count(self, way, size):
        """The number of bytes that pass, and whether the connection is cut after them."""
        with self.lock:
            cut_way, limit = self.cuts[0] if self.cuts else ("", 0)
            is_cut = cut_way == way and self.since_cut[way] + size >= limit
            passed = limit - self.since_cut[way] if is_cut else size
            self.since_cut[way] += passed
            setattr(self, way, getattr(self, way) + passed)
            if is_cut:
                self.cuts.pop(0)
                self.is_dead = self.for_good and not self.cuts
                self.since_cut = {"up": 0, "down": 0}
            return passed, is_cut

    def pass_on(self, way, source, target):
        is_cut = False
        with contextlib.suppress(OSError):
            while not is_cut and (data := source.recv(BYTES_AT_ONCE)):
                passed, is_cut = self.count(way, len(data))
                target.sendall(data[:passed])
        if self.stalls and is_cut:
            return
        end(source)
        end(target)


def end(one):
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
