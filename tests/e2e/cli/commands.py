#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
commands.py FASTGATE MAKE_STORE: the smaller commands, on a store whose only run has many failures.
"""
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

from checks import HUNG_S, call, check, failures, finish_in_scratch

FASTGATE, MAKE_STORE = (os.path.abspath(path) for path in sys.argv[1:3])
CONFIG = """version: 1
project: tracker
benchmarks:
  - { name: loop, command: "sh -c 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done'" }
measure: { pairs: { min: 4, max: 4 } }
"""


def run(*words):
    done = call(FASTGATE, *words)
    return done.returncode, done.stdout, done.stderr


def expect(code, pattern, *words):
    """
    Checks the exit code, and a pattern in the output: standard output, or after a failure standard
    error.
    """
    got, out, err = run(*words)
    if got != code or not re.search(pattern, out if code == 0 else err, re.M):
        failures.append(f"{' '.join(words)}: {got}, expected {code} and {pattern!r}\n"
                        f"{out[:600]}{err[:600]}")
    return out


def expect_json(*words):
    out = expect(0, r"^\{", *words, "--json")
    try:
        return json.loads(out)
    except ValueError as error:
        failures.append(f"{' '.join(words)} --json: {error}")
        return {}


def doctor_reports_the_host():
    expect(0, r"^ok +sampler library: .*libfastgate_collector\.so", "doctor")
    check("\nok " not in "\n" + run("doctor", "--quiet")[1], "doctor --quiet tells what is well")
    findings = expect_json("doctor").get("findings", [])
    check(len(findings) > 5 and all(finding.get("severity") for finding in findings),
          f"doctor --json: {findings}")


def every_key_is_explained():
    keys = []
    path = []
    for line in expect(0, "^version", "config", "--explain").splitlines():
        found = re.match(r"( *)([a-z_<>]+) {2,}", line)
        if found:
            path[len(found.group(1)) // 2:] = [found.group(2)]
            keys.append(".".join(path))
    check(len(keys) > 60, f"config --explain lists {len(keys)} keys")
    for key in keys[::7]:
        # A word in capitals replaces each user-defined name.
        pattern = re.escape(key).replace("\\.", r"\.(?:[A-Z]+\.)?")
        if "<" not in key:
            expect(0, f"^{pattern}: ", "config", "--explain", key)
    expect(2, "did you mean 'gate.alpha'", "config", "--explain", "gate.alfa")


def the_configuration_in_effect_is_shown():
    shown = expect(0, r"^  alpha: 0\.005  # --set gate\.alpha=0\.005$", "config", "--show",
                   "--set", "gate.alpha=0.005")
    check(re.search(r"^    budget: 3%  # default$", shown, re.M), f"defaults are shown as such: {shown}")
    with open("shown.yml", "w", encoding="utf-8") as file:
        file.write(shown)
    expect(0, "", "config", "--check", "--config", "shown.yml")
    again = expect(0, "", "config", "--show", "--config", "shown.yml")
    check(again.count("# ") < shown.count("# default"), "what was a default is given now")


def runs_are_found_by_outcome():
    """`runs --outcome` finds the run by its own outcome only."""
    outcome = expect_json("runs")["runs"][0]["outcome"]
    check(outcome, "the run has no outcome")
    for other in {outcome, "pass", "regression", "inconclusive", "error"}:
        found = expect_json("runs", "--outcome", other)["runs"]
        check(len(found) == (other == outcome),
              f"runs --outcome {other}: {len(found)}, the run's is {outcome}")
    code, _, err = run("runs", "--outcome", "nonsense")
    check(code in (0, 2), f"runs --outcome nonsense: {code} {err}")


def traces_are_kept():
    """Traces are kept only on request."""
    for words, expected in (((), False), (("--keep-traces",), True)):
        code, _, err = run("run", "--quiet", *words)
        check(code == 0, f"run {words}: {code} {err}")
        kept = [name for _, _, names in os.walk(".fastgate/traces")
                for name in names if name.endswith(".fgtrace")]
        check(bool(kept) == expected, f"run {words}: {len(kept)} traces are kept")


def gc_keeps_the_newest_run_of_a_branch():
    check(expect_json("gc", "--older-than", "1s", "--keep", "0", "--dry-run").get("dry_run") is True,
          "gc --dry-run")
    check(expect_json("gc", "--older-than", "1s", "--keep", "1").get("runs") == 0,
          "gc removed the newest run of a branch")
    check(expect_json("gc", "--older-than", "1s", "--keep", "0").get("runs") == 1, "gc left the run")
    code, out, err = run("runs")
    check(code == 0 and not out.strip(), f"runs of an empty store: {code} {out!r} {err!r}")


def pages_show_the_run_and_change_nothing():
    server = subprocess.Popen([FASTGATE, "web"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, stdin=subprocess.DEVNULL)
    try:
        url = None
        while url is None:
            line = server.stdout.readline()
            check(line, "fastgate web ended at once")
            if not line:
                return
            found = re.search(r"http://\S+", line)
            url = found.group() if found else None
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with browser.open(url, timeout=HUNG_S) as page:
            check(b"<html" in page.read(), "the first page is not a page")
        url = url[:url.index("?key=")]
        with browser.open(f"{url}api/v1/runs", timeout=HUNG_S) as answer:
            check(len(json.load(answer)["runs"]) == 1, "the run is not listed")
        try:
            browser.open(urllib.request.Request(f"{url}api/v1/runs/latest", method="DELETE"),
                         timeout=HUNG_S)
            failures.append("the pages let a run be removed")
        except urllib.error.HTTPError as error:
            check(error.code == 405, f"removing a run is answered {error.code}")
        server.send_signal(signal.SIGINT)
        check(server.wait(timeout=HUNG_S) in (0, 130), f"fastgate web ended with {server.returncode}")
    finally:
        if server.poll() is None:
            server.kill()
        server.wait()
        server.stdout.close()


def main():
    work = os.getcwd()
    os.environ.update(HOME=work, XDG_CACHE_HOME=os.path.join(work, "cache"),
                      GIT_CEILING_DIRECTORIES=os.path.dirname(work))
    os.mkdir(".fastgate")
    with open("fastgate.yml", "w", encoding="ascii") as file:
        file.write(CONFIG)
    subprocess.run([MAKE_STORE, ".fastgate/store.db"], check=True)
    doctor_reports_the_host()
    every_key_is_explained()
    the_configuration_in_effect_is_shown()
    pages_show_the_run_and_change_nothing()
    waiting = expect_json("push", "--status")
    check(waiting.get("waiting") == 0, f"push --status: {waiting}")
    runs_are_found_by_outcome()
    gc_keeps_the_newest_run_of_a_branch()
    traces_are_kept()


finish_in_scratch(main)
