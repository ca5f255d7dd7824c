#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A project's webhook is called with the findings of runs, once, in the form of its template, and
again if it did not answer.
"""
import glob
import json
import os
import subprocess
import time

from attack import DATABASE, MAKE_RUNS, PERFDB, Server, expect, parcel, parts, send, token
from checks import HUNG_S, call, check, finish_in_scratch
from receiver import Receiver

THERE = ("--webhook-allow", "127.0.0.0/8", "--webhook-http")
HERE = (*THERE, "--webhook-retry", "50ms", "--public-url", "https://perf.example.org/")
ALL = json.dumps({name: "{" + name + "}"
                  for name in ("project", "verdict", "summary", "commit", "branch", "run", "url")})
HOSTILE = '"}, "admin": true, "x": "\\{url}\n\x1b[31m'
seeds = iter(range(100, 1000))


def run_with(report, **side):
    """Makes a run with this report; returns its id and the upload."""
    spool = f"spool-{next(seeds)}"
    subprocess.run([MAKE_RUNS, spool, spool.rpartition("-")[2], "1"], check=True)
    envelope, dictionary, values = parts(glob.glob(os.path.join(spool, "*.fgrun"))[0])
    head = json.loads(envelope)
    head["report"] = report
    head["candidate"].update(side)
    return head["id"], parcel(json.dumps(head).encode(), dictionary, values)


CREEP = {"sentence": "cpu time +3.1 % [+2.4, +3.8] over 41 commits since v1.2", "metric": "cpu_time",
         "label": "cpu time", "is_creep": True, "change": 0.031, "interval": [0.024, 0.038],
         "largest_step": 0.006, "commits": 41, "since": "v1.2", "by": [], "functions": []}


def verdict(outcome, benchmark="parse"):
    creep = {"creep": CREEP} if outcome == "creep" else {}
    return {"schema": "fastgate-report/1", "verdict": outcome,
            "benchmarks": [{"name": benchmark, "verdict": outcome, **creep, "metrics": [
                {"name": "cpu_time", "label": "cpu time", "unit": "ns", "gated": True, "decided": True,
                 "verdict": outcome, "ratio": 1.25, "interval": [1.24, 1.26], "baseline": 1e9,
                 "candidate": 1.25e9}]}]}


def set_webhook(server, bearer, receiver, template=ALL):
    answer = server.write("/api/v1/webhook",
                          {"project": "tracker", "url": receiver.url("/hook?channel=7"),
                           "template": template}, token=bearer)
    check(expect(answer, 200, "the webhook").json() == {"project": "tracker"}, answer.body)


def webhook(server, bearer):
    return expect(server.ask("GET", "/api/v1/webhook?project=tracker", token=bearer), 200,
                  "the webhook").json()


def until(condition, what):
    """Waits until the condition holds; returns its value."""
    end = time.monotonic() + HUNG_S
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise SystemExit(f"in vain: {what}")


def nothing_waits(server, bearer):
    until(lambda: webhook(server, bearer)["waiting"] == 0, "no call waits")


def regression_creep_and_error_are_sent(server, secret):
    receiver = Receiver()
    set_webhook(server, secret, receiver)
    for outcome in ("regression", "creep", "error"):
        name, data = run_with(verdict(outcome), commit="f" * 40, branch="main")
        expect(send(server, data, secret), 201, "the run")
        path, headers, body = receiver.take()
        told = json.loads(body)
        check(path == "/hook?channel=7" and headers["Content-Type"] == "application/json",
              f"{path} {headers}")
        check((told["project"], told["verdict"], told["run"], told["commit"], told["branch"])
              == ("tracker", outcome, name, "f" * 40, "main"), f"{told}")
        sentence = {"regression": "parse is 25.0 % slower",
                    "creep": "parse crept up: cpu time +3.1 % in 41 commits since v1.2",
                    "error": "parse could not be measured"}[outcome]
        check(told["summary"].startswith(sentence)
              and told["url"] == f"https://perf.example.org/?view=run&run={name}", f"{told}")
        expect(send(server, data, secret), 200, "the same run again")
        feed = expect(server.ask("GET", "/api/v1/feed?project=tracker", token=secret), 200, "the feed")
        check(f"<title>tracker: {sentence}" in feed.body.decode(), feed.body.decode())
        hover = expect(server.ask("GET", f"/api/v1/around?run={name}&benchmark=parse", token=secret),
                       200, "a point of a trend").json()
        check(hover["answer"]["sentence"].startswith(sentence), f"{hover}")
    _, data = run_with(verdict("pass"))
    expect(send(server, data, secret), 201, "a run that passes")
    nothing_waits(server, secret)
    check(receiver.count == 3, f"{receiver.count} calls for three runs that are worth one")


def hostile_names_stay_in_their_strings(server, secret):
    receiver = Receiver()
    set_webhook(server, secret, receiver,
                json.dumps({"text": "{summary}|{branch}", "list": ["{branch}"]}))
    _, data = run_with(verdict("regression", HOSTILE), branch=HOSTILE)
    expect(send(server, data, secret), 201, "the run")
    told = json.loads(receiver.take()[2])
    check(set(told) == {"text", "list"} and "\x1b" not in str(told) and "\n" not in str(told), f"{told}")
    check(told["list"][0].startswith('"}, "admin": true, "x": "\\{url}'), f"{told}")


def failed_call_is_made_again(server, secret):
    receiver = Receiver([(503, {}), (500, {})])
    set_webhook(server, secret, receiver)
    name, data = run_with(verdict("regression"))
    expect(send(server, data, secret), 201, "the run")
    check({json.loads(receiver.take()[2])["run"] for _ in range(3)} == {name}, "another run was told of")
    nothing_waits(server, secret)
    check(receiver.count == 3 and webhook(server, secret)["problem"] is None,
          f"{receiver.count} {webhook(server, secret)}")


def refusal_is_final(server, secret):
    receiver = Receiver([(410, {})])
    set_webhook(server, secret, receiver)
    _, data = run_with(verdict("regression"))
    expect(send(server, data, secret), 201, "the run")
    receiver.take()
    nothing_waits(server, secret)
    check(webhook(server, secret)["problem"] == "the webhook answered 410", f"{webhook(server, secret)}")


def change_point_is_sent_once(server, secret):
    receiver = Receiver()
    set_webhook(server, secret, receiver)
    for first in range(1, 17):
        subprocess.run([MAKE_RUNS, "spool", str(first), "1"], check=True)
        path = glob.glob(os.path.join("spool", "*.fgrun"))[0]
        envelope, dictionary, values = parts(path)
        head = {**json.loads(envelope), "report": verdict("pass")}
        os.remove(path)
        expect(send(server, parcel(json.dumps(head).encode(), dictionary, values), secret), 201, path)
        nothing_waits(server, secret)
        check(receiver.count <= (first > 8), f"{receiver.count} calls after {first} runs")
        check(first < 13 or receiver.count == 1, f"{receiver.count} calls after {first} runs")
    told = json.loads(receiver.take()[2])
    check(told["verdict"] == "change" and "change point: parse cpu time +30" in told["summary"],
          f"{told}")


def two_servers_make_each_call_once(secret):
    receiver = Receiver()
    sent = []
    with Server(*THERE) as one, Server(*THERE) as other:
        set_webhook(one, secret, receiver)
        for i in range(12):
            name, data = run_with(verdict("regression"))
            expect(send((one, other)[i % 2], data, secret), 201, f"run {i}")
            sent.append(name)
        told = [json.loads(receiver.take()[2])["run"] for _ in sent]
        nothing_waits(one, secret)
    check(sorted(told) == sorted(sent) and receiver.count == 12, f"{receiver.count} calls")


def waiting_calls_survive_the_server(secret):
    receiver = Receiver([(503, {})])
    with Server(*THERE, "--webhook-retry", "1h") as server:
        set_webhook(server, secret, receiver)
        _, data = run_with(verdict("regression"))
        expect(send(server, data, secret), 201, "the run")
        receiver.take()
        until(lambda: webhook(server, secret)["problem"] == "the webhook answered 503", "the failure")
    with Server(*HERE) as server:
        check(webhook(server, secret)["waiting"] == 1, f"{webhook(server, secret)}")
        expect(server.ask("DELETE", "/api/v1/webhook?project=tracker", token=secret), 200,
               "removing the webhook")
        check(webhook(server, secret)["url"] is None and webhook(server, secret)["waiting"] == 0,
              "a webhook that was removed")


def administrators_of_the_project_set_it(server, secret):
    mine = token("admin", "--project", "tracker", "--note", "boss")
    other = token("admin", "--project", "other")
    triage = token("triage", "--project", "tracker")
    words = {"project": "tracker", "url": "http://127.0.0.1:9/secret"}
    expect(server.write("/api/v1/webhook", words, token=triage), 403, "a webhook by who may triage")
    expect(server.write("/api/v1/webhook", words, token=other), 404, "a webhook of another project")
    expect(server.write("/api/v1/webhook", words, token=mine), 200, "a webhook")
    check(webhook(server, mine)["template"].startswith('{"text": '),
          "the template of those who give none")
    for path in ("/api/v1/webhook?project=tracker",):
        expect(server.ask("GET", path, token=other), 404, "another project's webhook")
        expect(server.ask("DELETE", path, token=other), 404, "removing another project's webhook")
    expect(server.ask("DELETE", "/api/v1/webhook?project=tracker", token=mine), 200, "removing it")
    audit = server.ask("GET", "/api/v1/audit?project=tracker", token=secret).body.decode()
    log = [json.loads(line) for line in audit.splitlines()]
    decided = [(one["who"], one["action"]) for one in log if one["action"] != "refused"]
    check(decided[-2:] == [("boss", "webhook.set"), ("boss", "webhook.remove")], f"{log[-4:]}")
    check("127.0.0.1:9" not in str(log), "the log tells the address, which may be a secret")


def mistakes_are_named(server, secret):
    url = "https://hooks.example.org/x"
    for words, reason in (
            (dict(url=url), "one project"), (dict(project="tracker"), "'url'"),
            (dict(project="tracker", url=url, x=1), "unknown member 'x'"),
            (dict(project="tracker", url=url, template="[]"), "inside strings"),
            (dict(project="tracker", url=url, template='{"run": {run}}'), "inside strings"),
            (dict(project="tracker", url=url, template='{"run": "\\{run}"}'), "inside strings"),
            (dict(project="tracker", url="https://user@example.org/"), "without a user"),
            (dict(project="tracker", url="https://example.org/\x7f"), "'url'")):
        answer = server.write("/api/v1/webhook", words, token=secret)
        check(answer.status == 400 and reason in answer.json()["error"]["message"],
              f"{words}: {answer.status} {answer.body!r}")


def copy_keeps_the_webhook(server, secret):
    receiver = Receiver()
    set_webhook(server, secret, receiver)
    copied = call(PERFDB, "migrate", "--database", DATABASE, "--to", "copy.db")
    check(copied.returncode == 0, copied.stderr)
    with Server(*HERE,
                program=[PERFDB, "serve", "--database", "copy.db", "--listen", "127.0.0.1:0"]) as other:
        check(webhook(other, secret)["url"] == receiver.url("/hook?channel=7"), "the webhook")


def work():
    secret = token("admin", "--note", "root")
    with Server(*HERE) as server:
        mistakes_are_named(server, secret)
        regression_creep_and_error_are_sent(server, secret)
        hostile_names_stay_in_their_strings(server, secret)
        failed_call_is_made_again(server, secret)
        refusal_is_final(server, secret)
        change_point_is_sent_once(server, secret)
        administrators_of_the_project_set_it(server, secret)
        copy_keeps_the_webhook(server, secret)
    two_servers_make_each_call_once(secret)
    waiting_calls_survive_the_server(secret)


finish_in_scratch(work)
