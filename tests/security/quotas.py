#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A project holds no more than its quota, refused runs are not lost, and the administrator sets the limits.
"""
import glob
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor

from attack import (DATABASE, FASTGATE, MAKE_RUNS, PERFDB, Server, expect, parcel,
                    parts, push, token)
from attack import send as send_parcel
from checks import check, finish_in_scratch


def send(server, secret):
    return subprocess.run(
        [FASTGATE, "push", "--spool", "spool", "--url", f"http://127.0.0.1:{server.port}"],
        env={**os.environ, "PERFDB_TOKEN": secret}, capture_output=True, text=True, check=False)


def usage(server, secret, project="tracker"):
    return expect(server.ask("GET", f"/api/v1/usage?project={project}", token=secret),
                  200, "usage").json()


def keep(*words):
    done = subprocess.run([PERFDB, *words, "--database", DATABASE],
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"perfdb {words}: {done.stderr}")
    return done


def limit(project, *words):
    keep("limit", "set", "--project", project, *words)


def spool_keeps_what_is_refused(server, admin, upload):
    push(server, 2, secret=upload)
    held = usage(server, upload)
    check(held["runs"] == 2 and held["bytes"] > 0 and "limits" not in held, f"{held}")
    limit("tracker", "--runs", "3")
    subprocess.run([MAKE_RUNS, "spool", "3", "3"], check=True)
    done = send(server, upload)
    check(done.returncode == 5 and "project 'tracker' has reached its quota of 3 runs" in done.stderr,
          f"{done.returncode}: {done.stderr}")
    left = glob.glob(os.path.join("spool", "*.fgrun"))
    check(len(left) == 2 and len(server.runs(token=admin)) == 3, f"{left}")
    with open(left[0], "rb") as file:
        answer = expect(server.ask("POST", "/api/v1/runs",
                                   {"Content-Type": "application/vnd.fastgate.run"}, file.read(),
                                   token=upload),
                        403, "over")
    check(answer.code() == "over_quota", f"{answer.body}")
    subprocess.run([MAKE_RUNS, "copies", "1", "1"], check=True)
    with open(glob.glob(os.path.join("copies", "*.fgrun"))[0], "rb") as file:
        expect(server.ask("POST", "/api/v1/runs", {"Content-Type": "application/vnd.fastgate.run"},
                          file.read(), token=upload),
               200, "a copy")
    metrics = server.ask("GET", "/metrics").body.decode()
    check("perfdb_over_quota_total 2" in metrics, "refusals are not counted")
    check("tracker" not in metrics, "strangers are told the names of projects")
    expect(server.ask("GET", "/api/v1/usage?project=other", token=upload), 404,
           "what another project holds")


def quota_that_is_raised_lets_them_in(server, admin, upload):
    taken = usage(server, admin)["bytes"]
    limit("tracker", "--bytes", str(taken))
    done = send(server, upload)
    check(done.returncode == 5 and "the runs of project 'tracker' would need" in done.stderr,
          f"{done.returncode}: {done.stderr}")
    limit("tracker", "--bytes", str(100 * taken))
    done = send(server, upload)
    check(done.returncode == 0 and len(server.runs(token=admin)) == 5,
          f"{done.returncode}: {done.stderr}")


def parallel_uploads_stay_within_the_quota(server):
    upload = token("upload", "--project", "crowded")
    limit("crowded", "--runs", "5")
    subprocess.run([MAKE_RUNS, "crowd", "1", "30"], check=True)
    bodies = []
    for path in sorted(glob.glob(os.path.join("crowd", "*.fgrun"))):
        envelope, dictionary, values = parts(path)
        run = json.loads(envelope)["id"]
        envelope = envelope.replace(b'"project":"tracker"', b'"project":"crowded"')
        envelope = envelope.replace(run.encode(), f"{run[:9]}c{run[10:]}".encode())
        bodies.append(parcel(envelope, dictionary, values))
    with ThreadPoolExecutor(len(bodies)) as pool:
        answers = list(pool.map(lambda body: send_parcel(server, body, upload).status, bodies))
    check(sorted(answers) == [201] * 5 + [403] * 25, f"{answers}")
    check(usage(server, upload, "crowded")["runs"] == 5, "more are stored than the quota allows")


def all_stored_bytes_count(server):
    """Facts about a run's machine and benchmarks also count, in bytes, not characters."""
    upload = token("upload", "--project", "talkative")
    limit("talkative", "--bytes", "1000000")
    subprocess.run([MAKE_RUNS, "talk", "1", "1"], check=True)
    envelope, dictionary, values = parts(glob.glob(os.path.join("talk", "*.fgrun"))[0])
    run = json.loads(envelope)
    run["project"], run["id"] = "talkative", run["id"][:9] + "d" + run["id"][10:]
    facts = [{"key": f"user.fact{i}", "value": f"{i:01024d}"} for i in range(1900)]
    command = "\U0001d11e" * 260000
    series = [{**run["series"][0], "command": command}, *run["series"][1:]]
    for what, large in (("1,900 facts", {**run, "host": run["host"] + facts}),
                        ("a long command", {**run, "series": series})):
        body = parcel(json.dumps(large, ensure_ascii=False).encode(), dictionary, values)
        answer = expect(send_parcel(server, body, upload), 403, f"a run of {what}")
        check(answer.code() == "over_quota", f"{what}: {answer.body}")
        check(usage(server, upload, "talkative")["runs"] == 0, f"a run of {what} is stored")
    expect(send_parcel(server, parcel(json.dumps(run).encode(), dictionary, values), upload),
           201, "without them")


def unknown_members_are_refused(server, everything):
    """
    If unknown members were ignored, a misspelled name would count as missing: a token would never
    expire, for example.
    """
    bodies = {"tokens": {"scope": "read"}, "annotations": {"text": "x"},
              "webhook": {"url": "https://example.org/"}}
    for path, members in bodies.items():
        body = {"project": "tracker", **members}
        answer = expect(server.write(f"/api/v1/{path}", {**body, "expiress": "1h"}, token=everything),
                        400, f"{path} with a slip")
        check("unknown member 'expiress'" in answer.body.decode(), f"{path}: {answer.body}")
        twice = json.dumps(body)[:-1] + ', "project": "other"}'
        answer = expect(server.ask("POST", f"/api/v1/{path}", {"Content-Type": "application/json"},
                                   twice.encode(), token=everything),
                        400, f"{path} for two projects")
        check("duplicate" in answer.body.decode(), f"{path}: {answer.body}")


def removal_makes_room(server, admin, upload):
    limit("tracker", "--runs", "5")
    subprocess.run([MAKE_RUNS, "spool", "6", "1"], check=True)
    check(send(server, upload).returncode == 5, "more than the quota was taken")
    expect(server.ask("DELETE", f"/api/v1/runs/{server.runs(token=admin)[-1]}", token=admin), 200,
           "removing")
    done = send(server, upload)
    check(done.returncode == 0, f"{done.stderr}")


def gc_keeps_to_the_limits_of_each_project():
    keep("limit", "set", "--runs", "2", "--older-than", "400d", "--keep", "9")
    keep("limit", "set", "--project", "tracker", "--bytes", "2G", "--older-than", "36h", "--keep", "4")
    listed = keep("limit", "list").stdout
    check("tracker               at most 2147483648 bytes; kept for 2 days, "
          "the newest 4 of each branch whatever their age\n" in listed, listed)
    check(listed.startswith("(all others)          at most 2 runs;"), listed)
    check("1 run would be removed" in keep("gc", "--older-than", "36500d", "--dry-run").stderr,
          "the project's own retention does not hold")
    check("1 run removed" in keep("gc", "--older-than", "36500d").stderr,
          "the project's own retention is not carried out")
    keep("limit", "set", "--project", "tracker")
    check("tracker" not in keep("limit", "list").stdout, "without a limit, the row stays")


def attack():
    everything = token("admin", "--note", "root")
    admin, upload = token("admin", "--project", "tracker"), token("upload", "--project", "tracker")
    with Server() as server:
        spool_keeps_what_is_refused(server, admin, upload)
        quota_that_is_raised_lets_them_in(server, admin, upload)
        removal_makes_room(server, admin, upload)
        parallel_uploads_stay_within_the_quota(server)
        all_stored_bytes_count(server)
        unknown_members_are_refused(server, everything)
    gc_keeps_to_the_limits_of_each_project()


finish_in_scratch(attack)
