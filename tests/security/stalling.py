# SPDX-License-Identifier: Apache-2.0
"""Ways to stall a database, and requests that are sent now and read later."""
import contextlib
import os
import signal
import socket
import subprocess
import urllib.parse

from attack import DATABASE
from checks import HUNG_S


class Waiting:
    """A request that has been sent, and whose answer is read later."""

    def __init__(self, server, method, path, secret):
        self.socket = socket.create_connection(("127.0.0.1", server.port), HUNG_S)
        more = "Content-Type: application/json\r\nContent-Length: 32\r\n" if method == "POST" else ""
        body = '{"project":"tracker","text":"x"}' if method == "POST" else ""
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
                            f"Authorization: Bearer {secret}\r\n{more}\r\n{body}".encode())

    def is_answered(self):
        self.socket.setblocking(False)
        try:
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return False
        finally:
            self.socket.settimeout(HUNG_S)

    def answer(self):
        with self.socket:
            return self.socket.recv(65536).decode("latin-1")


def postmaster():
    folder = urllib.parse.parse_qs(urllib.parse.urlsplit(DATABASE).query)["host"][0]
    with open(f"{folder}/data/postmaster.pid", encoding="ascii") as file:
        return int(file.readline())


def postgres_processes():
    main = postmaster()
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(main)],
                              capture_output=True, text=True, check=False).stdout.split()
    return [main, *map(int, children)]


@contextlib.contextmanager
def locked_tables():
    """Locks, in another session, tables that the tested requests need."""
    with subprocess.Popen(["psql", "-X", "-q", DATABASE],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as locker:
        locker.stdin.write("BEGIN; LOCK TABLE token, run, project, annotation IN ACCESS EXCLUSIVE MODE; "
                           "SELECT 'locked';\n")
        locker.stdin.flush()
        while "locked" not in locker.stdout.readline():
            pass
        yield
        locker.stdin.write("ROLLBACK;\n")
        locker.stdin.close()


@contextlib.contextmanager
def stopped_database():
    """Stops every process of the database."""
    stopped = postgres_processes()
    for process in stopped:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in stopped:
            os.kill(process, signal.SIGCONT)
