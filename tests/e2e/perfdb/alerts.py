#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alert rules: what a run found is told where the rule says, signed, once, again if it failed, and not while the rule is silent."""
import contextlib
import glob
import hashlib
import hmac
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "security"))

from attack import DATABASE, MAKE_RUNS, PERFDB, Server, expect, parcel, parts, send, token  # noqa: E402
from checks import HUNG_S, call, check, finish_in_scratch  # noqa: E402
from receiver import Receiver  # noqa: E402

HERE = ("--alert-allow", "127.0.0.0/8", "--alert-http", "--alert-retry", "50ms", "--public-url", "https://perf.example.org/")
SECRET = "a secret that both ends know"
seeds = iter(range(100, 1000))


def run_with(report):
    """A run like all others, with this report; its id."""
    spool = f"spool-{next(seeds)}"
    subprocess.run([MAKE_RUNS, spool, spool.rpartition("-")[2], "1"], check=True)
    envelope, dictionary, values = parts(glob.glob(os.path.join(spool, "*.fgrun"))[0])
    head = json.loads(envelope)
    head["report"] = report
    return head["id"] if "id" in head else head["run"]["id"], parcel(json.dumps(head).encode(), dictionary, values)


def verdict(outcome, benchmark="parse", metric="cpu_time"):
    return {"schema": "fastgate-report/1", "verdict": outcome, "benchmarks": [
        {"name": benchmark, "verdict": outcome, "metrics": [
            {"name": metric, "verdict": outcome, "ratio": 1.25, "interval": [1.24, 1.26]}]}]}


def add_rule(server, bearer, **words):
    words = {"project": "tracker", "events": ["regression"], **words}
    return expect(server.write("/api/v1/alert-rules", words, token=bearer), 201, f"the rule {words}").json()


def remove_rule(server, secret, rule):
    expect(server.ask("DELETE", f"/api/v1/alert-rules/{rule['id']}", token=secret), 200, "removing the rule")


def alerts(server, secret):
    return expect(server.ask("GET", "/api/v1/alerts?project=tracker", token=secret), 200, "the alerts").json()["alerts"]


def until(condition, what):
    """Asks again until it holds."""
    end = time.monotonic() + HUNG_S
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise SystemExit(f"in vain: {what}")


@contextlib.contextmanager
def telling(server, secret):
    """If something in here does not happen, tells what the server knows about its alerts."""
    try:
        yield
    except BaseException:
        try:
            print(json.dumps(alerts(server, secret), indent=1))
        except (OSError, ValueError, KeyError) as error:
            print(f"no alerts are to be had: {error!r}")
        print(server.story(), flush=True)
        raise


def settled(server, secret, state):
    return until(lambda: next((one for one in alerts(server, secret) if one["state"] == state), None), f"an alert that is {state}")


def regression_is_told_once_and_signed(server, secret):
    receiver = Receiver()
    rule = add_rule(server, secret, benchmark="p?r*", webhook=receiver.url("/hook?channel=7"), secret=SECRET, silence="1h")
    check(rule["secret"] == SECRET, f"the answer has another secret: {rule}")
    add_rule(server, secret, benchmark="other*", webhook=receiver.url("/other"))
    add_rule(server, secret, metric="wall_time", webhook=receiver.url("/other"))
    add_rule(server, secret, events=["error", "change"], webhook=receiver.url("/other"))
    name, data = run_with(verdict("regression"))
    expect(send(server, data, secret), 201, "the run")
    path, headers, body = receiver.take()
    check(path == "/hook?channel=7", f"it went to {path}")
    proof = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    check(headers.get("X-Perfdb-Signature-256") == proof, f"the signature: {headers}")
    told = json.loads(body)
    check((told["project"], told["run"], told["rule"], told["more"]) == ("tracker", name, rule["id"], 0), f"{told}")
    check(told["url"] == f"https://perf.example.org/?view=run&run={name}", told["url"])
    finding = told["findings"][0]
    check((finding["event"], finding["benchmark"], finding["metric"], finding["ratio"]) == ("regression", "parse", "cpu_time", 1.25), f"{finding}")
    entry = settled(server, secret, "delivered")
    check(str(entry["id"]) == headers.get("X-Perfdb-Delivery") and entry["attempts"] == 1, f"{entry}")

    expect(send(server, data, secret), 200, "the same run again")
    _, data = run_with(verdict("regression"))
    expect(send(server, data, secret), 201, "a second run")
    _, data = run_with(verdict("pass"))
    expect(send(server, data, secret), 201, "a run that passes")
    # Alerts are written with the run: what is not there now will never be.
    check(len(alerts(server, secret)) == 1, f"silence, or a rule that does not fit, was broken: {alerts(server, secret)}")
    for one in server.ask("GET", "/api/v1/alert-rules?project=tracker", token=secret).json()["rules"]:
        check("secret" not in one, f"the list tells the secret: {one}")
        remove_rule(server, secret, one)
    check(alerts(server, secret) == [], "alerts of a rule that is gone")


def error_is_told(server, secret):
    receiver = Receiver()
    rule = add_rule(server, secret, events=["error"], silence="0s", webhook=receiver.url())
    _, data = run_with({"schema": "fastgate-report/1", "verdict": "error", "benchmarks": [{"name": "never", "verdict": "error", "metrics": []}]})
    expect(send(server, data, secret), 201, "the run")
    told = json.loads(receiver.take()[2])
    check([(one["event"], one.get("benchmark")) for one in told["findings"]] == [("error", "never")], f"{told}")
    remove_rule(server, secret, rule)


def failed_delivery_is_tried_again(server, secret):
    receiver = Receiver([(503, {}), (500, {})])
    rule = add_rule(server, secret, silence="0s", webhook=receiver.url())
    _, data = run_with(verdict("regression"))
    expect(send(server, data, secret), 201, "the run")
    numbers = {receiver.take()[1]["X-Perfdb-Delivery"] for _ in range(3)}
    entry = settled(server, secret, "delivered")
    check(entry["attempts"] == 3 and numbers == {str(entry["id"])}, f"{entry}, numbers {numbers}")
    remove_rule(server, secret, rule)


def refusal_is_not_tried_again(server, secret):
    receiver = Receiver([(410, {})])
    rule = add_rule(server, secret, silence="0s", webhook=receiver.url())
    _, data = run_with(verdict("regression"))
    expect(send(server, data, secret), 201, "the run")
    entry = settled(server, secret, "given up")
    check(entry["attempts"] == 1 and entry["reason"] == "the webhook answered 410", f"{entry}")
    remove_rule(server, secret, rule)


def change_point_is_told_once(server, secret):
    receiver = Receiver()
    rule = add_rule(server, secret, events=["change"], benchmark="parse", metric="cpu_time", silence="0s", webhook=receiver.url())

    def searched():
        text = server.ask("GET", "/metrics").body.decode()
        return int(re.search(r"^perfdb_alert_searches_total (\d+)$", text, re.M)[1])

    before = searched()
    for part in ((1, 8), (9, 4), (13, 2), (15, 1), (16, 1)):
        subprocess.run([MAKE_RUNS, "spool", *map(str, part)], check=True)
        push_spool(server, secret)
        count = part[0] + part[1] - 1
        until(lambda: searched() - before >= count, f"the search in {count} runs")  # pylint: disable=cell-var-from-loop
        told = len(alerts(server, secret))
        if told > (count > 8) or told < (count >= 13):
            raise SystemExit(f"{told} alerts after {count} runs")
    told = json.loads(receiver.take()[2])
    finding = told["findings"][0]
    check((finding["event"], finding["benchmark"], finding["metric"]) == ("change", "parse", "cpu_time"), f"{told}")
    check(1.25 < finding["ratio"] < 1.35, f"{finding}")
    remove_rule(server, secret, rule)


def push_spool(server, secret):
    """What lies in the spool, which make_runs filled."""
    for path in sorted(glob.glob(os.path.join("spool", "*.fgrun"))):
        expect(send(server, parcel(*parts(path)), secret), 201, path)
        os.remove(path)


def two_servers_send_each_once(server, secret):
    receiver = Receiver()
    rule = add_rule(server, secret, silence="0s", webhook=receiver.url())
    with Server(*HERE) as other:
        for i in range(12):
            _, data = run_with(verdict("regression"))
            expect(send((server, other)[i % 2], data, secret), 201, f"run {i}")
        numbers = [receiver.take()[1]["X-Perfdb-Delivery"] for _ in range(12)]
        until(lambda: all(one["state"] == "delivered" for one in alerts(server, secret)), "all delivered")
    check(len(set(numbers)) == 12 and receiver.count == 12, f"{receiver.count} requests for {sorted(numbers)}")
    remove_rule(server, secret, rule)


def what_waits_survives_the_server(secret):
    receiver = Receiver([(503, {})])
    with Server(*HERE[:-4], "--alert-retry", "1h") as server:
        rule = add_rule(server, secret, silence="0s", webhook=receiver.url())
        _, data = run_with(verdict("regression"))
        expect(send(server, data, secret), 201, "the run")
        receiver.take()
        entry = until(lambda: next((one for one in alerts(server, secret) if "reason" in one), None), "the failure")
        check((entry["state"], entry["reason"]) == ("waiting", "the webhook answered 503") and entry["due_at"] > entry["created_at"], f"{entry}")
    with Server(*HERE) as server:
        check([one["state"] for one in alerts(server, secret)] == ["waiting"], f"{alerts(server, secret)}")
        remove_rule(server, secret, rule)


def administrators_of_the_project_make_rules(server, secret):
    mine, other, triage = token("admin", "--project", "tracker", "--note", "boss"), token("admin", "--project", "other"), token("triage", "--project", "tracker")
    words = {"project": "tracker", "events": ["regression"], "webhook": "https://hooks.example.org/x"}
    expect(server.write("/api/v1/alert-rules", words, token=triage), 403, "a rule by who may triage")
    expect(server.write("/api/v1/alert-rules", words, token=other), 404, "a rule for another project")
    rule = expect(server.write("/api/v1/alert-rules", words, token=mine), 201, "a rule").json()
    check(re.fullmatch("[0-9a-f]{48}", rule["secret"]) is not None, f"the secret made here: {rule}")
    check(server.ask("GET", "/api/v1/alert-rules", token=other).json()["rules"] == [], "another project's rules")
    expect(server.ask("GET", "/api/v1/alerts?project=tracker", token=other), 404, "another project's alerts")
    expect(server.ask("DELETE", f"/api/v1/alert-rules/{rule['id']}", token=other), 404, "removing another project's rule")
    one = server.ask("GET", "/api/v1/alert-rules", token=mine).json()["rules"][0]
    check((one["author"], one["silence_s"], one["benchmark"], one["events"]) == ("boss", 86400, "*", ["regression"]), f"{one}")
    remove_rule(server, mine, rule)
    expect(server.ask("DELETE", f"/api/v1/alert-rules/{rule['id']}", token=mine), 404, "removing it again")
    log = [json.loads(line) for line in server.ask("GET", "/api/v1/audit?project=tracker", token=mine).body.decode().splitlines()]
    told = [(entry["who"], entry["action"], entry["subject"]) for entry in log][-2:]
    check(told == [("boss", "alert.add", f"alert rule {rule['id']}"), ("boss", "alert.remove", f"alert rule {rule['id']}")], f"{told}")


def change_rule(server, bearer, rule, **words):
    words = {"project": "tracker", "events": ["regression"], "silence": "0s", **words}
    return server.ask("PUT", f"/api/v1/alert-rules/{rule}", {"Content-Type": "application/json"}, json.dumps(words).encode(), token=bearer)


def send_test(server, bearer, rule, **words):
    return server.write("/api/v1/alert-tests", {"project": "tracker", "rule": rule, **words}, token=bearer)


def test_is_sent_at_once(server, secret):
    receiver = Receiver([(410, {})])
    rule = add_rule(server, secret, events=["change"], webhook=receiver.url(), secret=SECRET, silence="24h")
    for state in ("given up", "delivered", "delivered"):
        alert = expect(send_test(server, secret, rule["id"]), 201, "a test").json()["alert"]
        _, headers, body = receiver.take()
        check(headers["X-Perfdb-Delivery"] == str(alert), f"{alert} {headers}")
        check(headers["X-Perfdb-Signature-256"] == f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}", "the signature of a test")
        told = json.loads(body)
        check(told["findings"] == [{"event": "test"}] and told["rule"] == rule["id"] and "run" not in told, f"{told}")
        check(told["url"] == "https://perf.example.org/?view=alerts", f"{told}")
        until(lambda: next(one for one in alerts(server, secret) if one["id"] == alert)["state"] == state, f"a test that is {state}")
    remove_rule(server, secret, rule)


def changed_rule_tells_as_it_is_now(server, secret):
    before, after = Receiver(), Receiver()
    rule = add_rule(server, secret, benchmark="other*", webhook=before.url(), secret=SECRET, silence="0s")["id"]
    answer = expect(change_rule(server, secret, rule, benchmark="p*", webhook=after.url()), 200, "a change").json()
    check(answer == {"id": rule}, f"the secret that it had is told again, or is another: {answer}")
    _, data = run_with(verdict("regression"))
    expect(send(server, data, secret), 201, "a run")
    _, headers, body = after.take()
    check(headers["X-Perfdb-Signature-256"] == f"sha256={hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()}", "the secret did not stay")
    check(before.count == 0, "the address that it had was told")
    expect(change_rule(server, secret, rule, metric="wall*", events=["error"], webhook=after.url("/new"), secret="another secret that both know"), 200, "another secret")
    seen = next(one for one in server.ask("GET", "/api/v1/alert-rules?project=tracker", token=secret).json()["rules"] if one["id"] == rule)
    check((seen["events"], seen["benchmark"], seen["metric"], seen["silence_s"], seen["webhook"], seen["author"])
          == (["error"], "*", "wall*", 0, after.url("/new"), "root"), f"{seen}")
    log = [json.loads(line) for line in server.ask("GET", "/api/v1/audit", token=secret).body.decode().splitlines()]
    log = [(one["action"], one["who"], one["detail"]) for one in log if one["subject"] == f"alert rule {rule}"][-3:]
    check(log == [("alert.add", "root", "other*, *: webhook"), ("alert.change", "root", "p*, *: webhook"), ("alert.change", "root", "*, wall*: webhook")], f"{log}")
    only_administrators_change_and_try(server, secret, rule, after)
    remove_rule(server, secret, {"id": rule})
    expect(change_rule(server, secret, rule, webhook=after.url()), 404, "a change of what is gone")
    expect(send_test(server, secret, rule), 404, "a test of what is gone")


def only_administrators_change_and_try(server, secret, rule, receiver):
    before = receiver.count
    for scope in ("read", "upload", "triage"):
        bearer = token(scope, "--project", "tracker")
        expect(change_rule(server, bearer, rule, webhook=receiver.url()), 403, f"{scope} changes a rule")
        expect(send_test(server, bearer, rule), 403, f"{scope} sends a test")
    stranger = token("admin", "--project", "other")
    for project in ("tracker", "other"):
        expect(change_rule(server, stranger, rule, project=project, webhook=receiver.url()), 404, "another project's administrator changes a rule")
        expect(send_test(server, stranger, rule, project=project), 404, "another project's administrator sends a test")
    for wrong in ({"events": []}, {"webhook": "http://10.1.2.3/"}, {"webhook": "ftp://x"}, {"webhook": None}, {"silence": "99d"}, {"project": "other"}):
        check(change_rule(server, secret, rule, **{"webhook": receiver.url(), **wrong}).status == 400, f"{wrong} is taken")
    for wrong in (0, -1, "1", 1e300, None):
        expect(send_test(server, secret, wrong), 400, f"the rule {wrong}")
    body = json.dumps({"project": "tracker", "events": ["error"], "webhook": receiver.url()}).encode()
    expect(server.ask("PUT", f"/api/v1/alert-rules/{rule}", {"Content-Type": "text/plain"}, body, token=secret), 415, "a change as text")
    expect(server.ask("PUT", f"/api/v1/alert-rules/{rule}", {"Content-Type": "application/json", "Origin": "https://elsewhere.example"}, body, token=secret), 403, "another page")
    check(receiver.count == before, "something was sent")


def bad_rules_are_refused(server, secret):
    good = {"project": "tracker", "events": ["regression"], "webhook": "https://hooks.example.org/x"}
    for change, words in (({"project": None}, "one project"), ({"events": ["sunrise"]}, "'sunrise' is not an event"), ({"events": []}, "'events'"),
                          ({"events": "error"}, "'events'"), ({"benchmark": ""}, "'benchmark'"), ({"metric": "x" * 201}, "'metric'"),
                          ({"silence": "31d"}, "'silence'"), ({"silence": "-1s"}, "'silence'"), ({"silence": "soon"}, "'silence'"),
                          ({"secret": "short"}, "'secret'"), ({"webhook": None}, "'webhook'"),
                          ({"webhook": "ftp://example.org/"}, "not the address"), ({"webhook": "https://u:p@example.org/"}, "'@'"),
                          ({"webhook": "https://example.org/a b"}, "no address")):
        rule = {name: value for name, value in {**good, **change}.items() if value is not None}
        answer = expect(server.write("/api/v1/alert-rules", rule, token=secret), 400, f"{change}")
        check(words in answer.json()["error"]["message"], f"{change}: {answer.body!r}")
    for i in range(50):
        add_rule(server, secret, **good)
    answer = expect(server.write("/api/v1/alert-rules", good, token=secret), 400, "one rule too many")
    check("50 alert rules" in answer.json()["error"]["message"], f"{answer.body!r}")
    for one in server.ask("GET", "/api/v1/alert-rules", token=secret).json()["rules"]:
        remove_rule(server, secret, one)


def rules_move_with_the_database(secret):
    receiver = Receiver()
    with Server(*HERE) as server:
        rule = add_rule(server, secret, silence="2h", benchmark="p*", webhook=receiver.url(), secret=SECRET)
    for _ in range(2):
        done = call(PERFDB, "migrate", "--database", DATABASE, "--to", "copy.db")
        check(done.returncode == 0, f"perfdb migrate: {done.stderr}")
    with Server(*HERE, program=[PERFDB, "serve", "--database", "copy.db", "--listen", "127.0.0.1:0"]) as server:
        rules = server.ask("GET", "/api/v1/alert-rules?project=tracker", token=secret).json()["rules"]
        check([(one["benchmark"], one["silence_s"], one["webhook"]) for one in rules] == [("p*", 7200, receiver.url())], f"{rules} for {rule}")
        _, data = run_with(verdict("regression"))
        expect(send(server, data, secret), 201, "the run")
        _, headers, body = receiver.take()
        proof = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        check(headers["X-Perfdb-Signature-256"] == f"sha256={proof}", "the secret did not move along")


def scenario():
    secret = token("admin", "--note", "root")
    with Server(*HERE, environment={"FASTGATE_DEBUG": "server,net"}) as server, telling(server, secret):
        change_point_is_told_once(server, secret)
        regression_is_told_once_and_signed(server, secret)
        error_is_told(server, secret)
        failed_delivery_is_tried_again(server, secret)
        refusal_is_not_tried_again(server, secret)
        two_servers_send_each_once(server, secret)
        administrators_of_the_project_make_rules(server, secret)
        bad_rules_are_refused(server, secret)
        test_is_sent_at_once(server, secret)
        changed_rule_tells_as_it_is_now(server, secret)
    what_waits_survives_the_server(secret)
    rules_move_with_the_database(secret)


finish_in_scratch(scenario)
