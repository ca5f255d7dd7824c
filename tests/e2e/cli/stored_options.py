#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
stored_options.py PERFDB FASTGATE MAKE_RUNS: options that choose and show stored runs,
and options that reach a server.
"""
import contextlib
import glob
import json
import os
import re
import signal
import socket
import subprocess
import time

from attack import FASTGATE, MAKE_RUNS, PERFDB, Server, parcel, parts, token
from checks import HUNG_S, call, check, finish_in_scratch, write

STORE = ("--store", "runs.db")
RUNS = 6


def fastgate(*words, code=0, **more):
    done = call(FASTGATE, *words, **more)
    check(done.returncode == code, f"{words}: {done.returncode} {done.stderr}")
    return done.stdout


def changed(path, change):
    envelope, dictionary, values = parts(path)
    run = json.loads(envelope)
    change(run)
    with open(path, "wb") as file:
        file.write(parcel(json.dumps(run).encode(), dictionary, values))


def store_runs():
    """Stores six runs in order, some of which differ."""
    subprocess.run([MAKE_RUNS, "spool", "1", str(RUNS)], check=True)
    paths = sorted(glob.glob("spool/*.fgrun"))
    tag = {"key": "git.tag", "value": "v1.4", "identity": False}
    mood = {"key": "host.mood", "value": "calm", "identity": False}
    changed(paths[0], lambda run: run["candidate"]["build"].append(tag))
    changed(paths[1], lambda run: run["series"][0].update(name="other"))
    changed(paths[2], lambda run: run.update(complete=False))
    changed(paths[3], lambda run: run["host"].append(mood))
    verdict = {"schema": "fastgate-report/1", "verdict": "error",
               "benchmarks": [{"name": "parse", "verdict": "error", "error": "it broke"}]}
    changed(paths[4], lambda run: run.update(project="second", report=verdict))
    fastgate("runs", "import", *STORE, *paths)
    return [os.path.basename(path)[:-6] for path in paths]


def listed(*words):
    return [run["id"] for run in json.loads(fastgate("runs", *STORE, "--json", *words))["runs"]]


def runs_are_chosen(ids):
    newest_first = ids[::-1]
    check(listed() == newest_first, f"{listed()}")
    commit = json.loads(fastgate("runs", *STORE, "--json"))["runs"][1]["commit"]
    for words, expected in ((("--benchmark", "other"), [ids[1]]),
                            (("--tag", "v1.4"), [ids[0]]),
                            (("--tag", "v9"), []),
                            (("--commit", commit[:7]), [newest_first[1]]),
                            (("--complete",), [one for one in newest_first if one != ids[2]]),
                            (("--fact", "host.mood"), [ids[3]]),
                            (("--fact", "host.mood=calm"), [ids[3]]),
                            (("--fact", "host.mood=sad"), []),
                            (("--project", "second"), [ids[4]]),
                            (("--branch", "main", "--limit", "2"), newest_first[:2]),
                            (("--benchmark", "other", "--complete"), [ids[1]])):
        check(listed(*words) == expected, f"runs {words}: {listed(*words)}")
    fastgate("runs", *STORE, "--commit", "abc", code=2)


def history_and_facts_are_limited_as_requested(ids):
    points = json.loads(fastgate("history", *STORE, "--project", "tracker", "--limit", "2",
                                 "--json", "parse"))["points"]
    every = json.loads(fastgate("history", *STORE, "--project", "tracker", "--json", "parse"))["points"]
    check(len(points) == 2 and points == every[-2:] and len(every) > 2,
          f"{len(points)} of {len(every)} points")
    short = fastgate("show", *STORE, ids[3])
    check("host.mood" not in short and
          re.search(r"host\.mood +calm", fastgate("show", *STORE, "--facts", ids[3])),
          "show --facts")
    other = fastgate("show", *STORE, "--project", "second", "latest")
    check(ids[4] in other, f"show --project: {other}")
    explained = json.loads(fastgate("explain", *STORE, "--project", "second", "--json", "latest"))
    check((explained["schema"], explained["run"]) == ("fastgate-explain/1", ids[4]),
          f"explain --json: {explained}")
    check(explained["answer"]["sentence"] == "parse could not be measured: it broke",
          f"explain --json: {explained}")
    check(fastgate("explain", *STORE, ids[4]).startswith("parse could not be measured: it broke\n"),
          "explain")


def free_port():
    with contextlib.closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(path):
    end = time.monotonic() + HUNG_S
    while not os.path.exists(path):
        if time.monotonic() > end:
            raise SystemExit(f"{path} never came")
        time.sleep(0.02)
    with open(path, encoding="utf-8") as file:
        return file.read().strip()


def pages_are_at_the_requested_address(*words):
    """
    Pages are served on the requested port and opened in the browser; a fake xdg-open records the page.
    """
    with contextlib.suppress(OSError):
        os.remove("opened")
    write("bin/xdg-open", '#!/bin/sh\ncat "$1" >opened.new && mv opened.new opened\n', 0o755)
    environment = {**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}", "DISPLAY": ":0"}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=environment, stdin=subprocess.DEVNULL)
    said = ""
    while not re.search(r"http://\S+", said):
        line = process.stdout.readline()
        check(line, f"{words} ended at once: {said}")
        if not line:
            break
        said += line
    url = re.search(r"http://\S+", said).group()
    opened = wait_for("opened")
    check(url in opened, f"{words}: opened {opened}, printed {url}")
    process.send_signal(signal.SIGINT)
    check(process.wait(HUNG_S) in (0, 130), f"{words} ended with {process.returncode}")
    process.stdout.close()
    return url


def web_listens_and_opens():
    port = free_port()
    url = pages_are_at_the_requested_address(FASTGATE, "web", *STORE, "--open", "--port", str(port))
    check(url.startswith(f"http://127.0.0.1:{port}/?key="), f"{url}")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = call(FASTGATE, "web", *STORE, "--port", str(taken.getsockname()[1]))
        check(done.returncode != 0 and str(taken.getsockname()[1]) in done.stderr,
              f"a port that is taken: {done.returncode} {done.stderr}")
    done = call(FASTGATE, "web", *STORE, "--port", "65536")
    check(done.returncode == 2 and "65536" in done.stderr, f"no port: {done.returncode} {done.stderr}")
    url = pages_are_at_the_requested_address(PERFDB, "serve", "--database", "pages.db",
                                             "--listen", "127.0.0.1:0", "--secret", "--open")
    check("?key=" in url, f"{url}")


def servers_are_known_by_their_certificate(secret):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec",
                    "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", "key.pem", "-out", "cert.pem"],
                   check=True, capture_output=True)
    environment = {**os.environ, "MY_TOKEN": secret, "PERFDB_TOKEN": "wrong"}
    with Server("--tls-cert", "cert.pem", "--tls-key", "key.pem") as server:
        url = ("--url", f"https://127.0.0.1:{server.port}", "--timeout", "90s")
        push = ("push", *STORE, "--spool", "own-spool", "--attempts", "1", *url)
        done = call(FASTGATE, *push, "--token-env", "MY_TOKEN", "latest", env=environment)
        check(done.returncode == 5 and "certificate" in done.stderr,
              f"an unknown certificate: {done.returncode} {done.stderr}")
        done = call(FASTGATE, *push, "--ca-file", "cert.pem", env=environment)
        check(done.returncode == 5 and "401" in done.stderr,
              f"another token: {done.returncode} {done.stderr}")
        fastgate(*push, "--ca-file", "cert.pem", "--token-env", "MY_TOKEN", env=environment)


def servers_that_say_nothing_are_left():
    """A push to a server that never answers ends at its time limit."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        done = call(FASTGATE, "push", *STORE, "--spool", "mute-spool", "--attempts", "1",
                    "--timeout", "200ms", "latest", "--url", f"http://127.0.0.1:{mute.getsockname()[1]}")
        check(done.returncode == 5, f"{done.returncode} {done.stderr}")


def body():
    os.environ.update(HOME=os.getcwd(), XDG_CACHE_HOME=os.path.join(os.getcwd(), "cache"))
    ids = store_runs()
    runs_are_chosen(ids)
    history_and_facts_are_limited_as_requested(ids)
    web_listens_and_opens()
    servers_are_known_by_their_certificate(token("upload"))
    servers_that_say_nothing_are_left()


finish_in_scratch(body)
