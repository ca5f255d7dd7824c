#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
perfdb.py BUILD_FOLDER SECONDS [--servers N] [--runs N] [--cut PERCENT] [--seed N]

Clients push runs to servers through a relay that cuts some connections, at any byte of a request or
of its answer; meanwhile servers and clients are killed with SIGKILL at random instants and started
again. Two clients hold the same runs, so each run is sent at least twice. After every kill of a
server, runs that a client considers confirmed (they have left its spool) must be stored. After each
round, exactly the runs that were sent must be stored, each once and with the same bytes: if they
are sent again, the server knows every run.

With PERFDB_TEST_URL (integration/perfdb/with-postgresql.sh sets it), several servers share that
database, and its connections are also broken. With --runs N, rounds continue until N runs are
stored, even after SECONDS.
"""
import argparse
import json
import math
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROUND_RUNS = 24
BIG_ROUND_RUNS = 500
KILLS_A_ROUND = 10
ALL = 1 << 60
REQUEST_BYTES = 40000
ANSWER_BYTES = 200
QUIET_SECONDS = 10
PAGE = 1000
DEADLINE_SECONDS = 120
BREAK_CONNECTIONS = ("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                     "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")


class Broken(Exception):
    """A promise that was broken."""


class Relay:
    """Passes requests on to any running server, and cuts some connections."""

    def __init__(self, cut_percent, seed):
        self.cut_percent = cut_percent
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.ports = {}
        self.requests = 0
        self.cuts = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def target(self):
        with self.lock:
            ports = sorted(self.ports.values())
            return self.random.choice(ports) if ports else 1

    def draw(self):
        """For a new request: the number of bytes of the request and of its answer that pass."""
        with self.lock:
            self.requests += 1
            if self.random.randrange(100) >= self.cut_percent:
                return [ALL, ALL]
            if self.random.randrange(2):
                return [ALL, self.random.randrange(ANSWER_BYTES)]
            return [int(math.exp(self.random.uniform(0, math.log(REQUEST_BYTES)))), ALL]

    def carry(self, client):
        try:
            with client, socket.create_connection(("127.0.0.1", self.target()),
                                                  timeout=QUIET_SECONDS) as server:
                self.pass_on(client, server)
        except OSError:
            pass  # the server was just killed

    def pass_on(self, client, server):
        sides = [client, server]
        last = server
        left = [ALL, ALL]
        while True:
            ready, _, _ = select.select(sides, [], [], QUIET_SECONDS)
            if not ready:
                return
            speaker = ready[0]
            if speaker is client and last is server:
                left = self.draw()
            last = speaker
            at = sides.index(speaker)
            data = speaker.recv(65536)
            if not data:
                return
            sides[1 - at].sendall(data[:left[at]])
            left[at] -= len(data)
            if left[at] <= 0:
                break
        with self.lock:
            self.cuts += 1


class Storm:
    def __init__(self, given, folder):
        self.given = given
        self.folder = pathlib.Path(folder)
        self.build = pathlib.Path(given.build).resolve()
        self.random = random.Random(given.seed)
        self.relay = Relay(given.cut, given.seed + 1)
        self.postgresql = os.environ.get("PERFDB_TEST_URL")
        self.database = self.postgresql or str(self.folder / "perfdb.db")
        self.servers = {}
        self.clients = {}
        self.sent = set()
        self.kills = 0
        self.broken_connections = 0
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.lower().endswith("_proxy")}

    def program(self, name):
        return str(self.build / name)

    # --- servers

    def start_server(self, number):
        words = self.folder / f"words.{number}"
        with open(words, "wb") as output:
            process = subprocess.Popen(
                [self.program("perfdb/server/perfdb"), "serve", "--quiet", "--database", self.database,
                 "--listen", "127.0.0.1:0", "--requests-per-minute", "100000000"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=output, env=self.environment)
        until = time.monotonic() + DEADLINE_SECONDS
        while True:
            text = words.read_text(encoding="utf-8", errors="replace")
            if " at http://127.0.0.1:" in text:
                break
            if process.poll() is not None or time.monotonic() > until:
                raise Broken(f"a server does not start: {text}")
            time.sleep(0.01)
        port = int(text.split(" at http://127.0.0.1:")[1].split("/")[0])
        self.servers[number] = process
        self.relay.ports[number] = port

    def kill_server(self, number):
        self.relay.ports.pop(number)
        process = self.servers.pop(number)
        process.kill()
        process.wait()
        self.kills += 1

    def stop_servers(self):
        for number, process in list(self.servers.items()):
            self.relay.ports.pop(number, None)
            process.send_signal(signal.SIGTERM)
            if process.wait(timeout=DEADLINE_SECONDS) != 0:
                raise Broken("a server did not stop in order")
            del self.servers[number]

    def ask(self, path):
        port = next(iter(self.relay.ports.values()))
        for attempt in range(4):
            try:
                request = urllib.request.Request(
                    f"http://127.0.0.1:{port}{path}",
                    headers={"Authorization": f"Bearer {self.environment['PERFDB_TOKEN']}"})
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                # The server's idle connections to the database may have been broken; the next
                # request shows that.
                if error.code < 500 or attempt == 3:
                    raise Broken(f"{path}: {error.code} {error.read()!r}") from error
        return None

    def stored(self):
        """The ids of all runs, page by page; duplicates are not allowed."""
        ids = []
        after = ""
        while True:
            page = self.ask(f"/api/v1/runs?limit={PAGE}{after}")
            ids += [run["id"] for run in page["runs"]]
            if "next" not in page:
                break
            after = f"&after={page['next']}"
        if len(ids) != len(set(ids)):
            raise Broken("a run is listed twice")
        return set(ids)

    # --- clients

    def spool(self, number):
        return self.folder / f"spool.{number}"

    def waiting(self, number):
        found = list(self.spool(number).iterdir())
        if any(path.suffix == ".rejected" for path in found):
            raise Broken("a run was rejected")
        return {path.stem for path in found if path.suffix == ".fgrun"}

    def start_client(self, number):
        self.clients[number] = subprocess.Popen(
            [self.program("cli/fastgate"), "push", "--quiet", "--attempts", "1", "--timeout", "20s",
             "--spool", str(self.spool(number)), "--url", self.relay.url],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=self.folder, env=self.environment)

    def stop_clients(self):
        for process in self.clients.values():
            process.kill()
            process.wait()
        self.clients = {}

    # --- one round

    def make_runs(self, first, count):
        whole = self.folder / "whole"
        shutil.rmtree(whole, ignore_errors=True)
        subprocess.run([self.program("tests/web/fg_web_runs"), str(whole), str(first), str(count)],
                       check=True)
        for number in range(self.given.clients):
            shutil.rmtree(self.spool(number), ignore_errors=True)
            shutil.copytree(whole, self.spool(number))
        return {path.stem for path in whole.glob("*.fgrun")}

    def check_confirmed(self, of_round):
        confirmed = set()
        for number in range(self.given.clients):
            confirmed |= of_round - self.waiting(number)
        missing = (self.sent | confirmed) - self.stored()
        if missing:
            raise Broken(f"{len(missing)} confirmed runs are not there, as {min(missing)}")

    def strike(self, of_round):
        """Kills something, and starts it again."""
        connections = ["connections"] if self.postgresql else []
        what = self.random.choice(["server", "server", "client", *connections])
        if what == "server":
            number = self.random.choice(sorted(self.servers))
            self.kill_server(number)
            self.start_server(number)
            self.check_confirmed(of_round)
        elif what == "client" and self.clients:
            number = self.random.choice(sorted(self.clients))
            self.clients.pop(number).kill()
            self.kills += 1
        elif what == "connections":
            subprocess.run(["psql", "-q", "-X", "-o", "/dev/null", "-c", BREAK_CONNECTIONS,
                            self.postgresql], check=True)
            self.broken_connections += 1

    def round(self, first, count):
        of_round = self.make_runs(first, count)
        until = time.monotonic() + DEADLINE_SECONDS + count
        strikes = KILLS_A_ROUND
        next_strike = time.monotonic() + self.random.random() * 0.3
        while any(self.waiting(number) for number in range(self.given.clients)):
            for number in range(self.given.clients):
                if number not in self.clients or self.clients[number].poll() is not None:
                    if self.waiting(number):
                        self.start_client(number)
            if strikes and time.monotonic() >= next_strike:
                strikes -= 1
                self.strike(of_round)
                next_strike = time.monotonic() + self.random.random() * 0.3
            if time.monotonic() > until:
                raise Broken(f"after {DEADLINE_SECONDS + count} s runs still wait to be sent")
            time.sleep(0.005)
        self.stop_clients()
        self.sent |= of_round
        found = self.stored()
        if found != self.sent:
            raise Broken(f"{len(found)} runs are stored, {len(self.sent)} were sent")
        self.send_again(count)

    def send_again(self, count):
        """Sends the runs again, directly to a server: it must know every run, including its content."""
        done = subprocess.run([self.program("cli/fastgate"), "push", "--quiet", "--json",
                               "--spool", str(self.folder / "whole"),
                               "--url", f"http://127.0.0.1:{next(iter(self.relay.ports.values()))}"],
                              stdout=subprocess.PIPE, cwd=self.folder, env=self.environment, check=False)
        result = json.loads(done.stdout)
        if done.returncode != 0 or result["known"] != count:
            raise Broken(f"sent again, {result['known']} of {count} runs are known: {result}")

    def check_database(self):
        self.stop_servers()
        subprocess.run([self.program("perfdb/server/perfdb"), "check", "--database", self.database],
                       check=True, env=self.environment, stderr=subprocess.DEVNULL)

    def run(self):
        until = time.monotonic() + self.given.seconds
        rounds = 0
        size = BIG_ROUND_RUNS if self.given.runs else ROUND_RUNS
        self.environment["PERFDB_TOKEN"] = subprocess.run(
            [self.program("perfdb/server/perfdb"), "token", "create", "--database", self.database,
             "--scope", "admin"],
            check=True, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True).stdout.strip()
        for number in range(self.given.servers):
            self.start_server(number)
        while rounds == 0 or (len(self.sent) < self.given.runs if self.given.runs
                              else time.monotonic() < until):
            self.round(1 + rounds * size,
                       min(size, self.given.runs - len(self.sent)) if self.given.runs else size)
            rounds += 1
        self.check_database()
        also = (f", {self.broken_connections} times all connections of PostgreSQL broken"
                if self.postgresql else "")
        print(f"{rounds} rounds, {self.kills} kills{also}, {self.relay.cuts} of {self.relay.requests} "
              f"requests cut: {len(self.sent)} runs sent by {self.given.clients} clients each, "
              f"{len(self.sent)} there, each once")

    def end(self):
        self.relay.listener.close()
        self.stop_clients()
        for process in self.servers.values():
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--cut", type=int, default=40,
                        help="per cent of the requests; some end before the place that was drawn")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if os.environ.get("PERFDB_TEST_URL") and not shutil.which("psql"):
        print("skipped: psql is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="fastgate-storm-") as folder:
        storm = Storm(given, folder)
        try:
            storm.run()
        except Broken as broken:
            print(f"seed {given.seed}: {broken}")
            return 1
        finally:
            storm.end()
    return 0


if __name__ == "__main__":
    # exit normally on SIGTERM, so that the clean-up ends every child process
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(main())
