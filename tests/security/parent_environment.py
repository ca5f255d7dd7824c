#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
parent_environment.py FASTGATE ROOT: a benchmark that searches the environment of every process
finds no secret in the CI recipes, which send the results in a separate step; `run` warns if a
benchmark could find one.
"""
import os
import pathlib
import re
import secrets
import sys

from checks import call, check, finish_in_scratch, git, write
from receiver import refusing

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)

FASTGATE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
HOST, SERVER = secrets.token_hex(20), secrets.token_hex(20)
URL, SEEN = refusing()
# Searches for the two values under any name, and tries to change the environment of later steps.
SPY = f"""#!/bin/sh
grep -l -a -e {HOST} -e {SERVER} /proc/[0-9]*/environ >>"$HOME/found" 2>/dev/null
echo looked >>"$HOME/looked"
for file in "$RUNNER_TEMP"/GITHUB_*; do echo LD_PRELOAD=/evil.so >>"$file"; done
true
"""
CONFIG = """version: 1
project: tracker
build: {{ command: "true" }}
benchmarks:
  - {{ name: spy, command: ./spy }}
measure:
  {{ schedule: abba, pairs: {{ min: 2, max: 2 }}, warmup: 0, layouts: never,
     sampler: {{ enabled: false }} }}
perfdb: {{ url: "{url}" }}
report: {{ post: [ {{ github: commit-status }} ] }}
"""


def environment(**more):
    kept = {name: value for name, value in os.environ.items()
            if not re.match("(PERFDB|FASTGATE|GITHUB|GITLAB|CI)_|GH_TOKEN", name)}
    home = os.getcwd()
    return {**kept, "HOME": home, "PATH": f"{os.path.dirname(FASTGATE)}:{os.environ['PATH']}", **more}


def play_action(url):
    """Runs every step of action.yml with a script, as a runner starts it."""
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: about.get("default", "") for name, about in action["inputs"].items()}
    inputs |= {"fastgate": FASTGATE, "token": HOST, "perfdb-token": SERVER, "perfdb-url": url,
               "working-directory": "checkout"}
    temp = os.path.abspath("temp")
    os.mkdir(temp)
    files = {name: f"{temp}/{name}"
             for name in ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    job = environment(GITHUB_EVENT_NAME="push", GITHUB_ACTION_PATH=str(ROOT), GITHUB_API_URL=url,
                      GITHUB_REPOSITORY="acme/demo", GITHUB_SHA="a" * 40, GITHUB_ACTIONS="true",
                      RUNNER_TEMP=temp, **files)
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    said = ""
    for step in action["runs"]["steps"]:
        if "run" not in step:
            continue
        given = {name: re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: values.get(match[1], ""), value)
                 for name, value in step.get("env", {}).items()}
        for name in ("GITHUB_ENV", "GITHUB_PATH"):
            if step["name"] == "send" and os.path.exists(files[name]):
                check(not pathlib.Path(files[name]).read_text(encoding="utf-8"),
                      f"a benchmark chose the {name} of the step with secrets")
        done = call("sh", "-e", "-c", step["run"], cwd="checkout", env={**job, **given})
        check(done.returncode == 0, f"action, {step['name']}: {done.returncode} {done.stderr}")
        if step.get("id") == "get":
            output = pathlib.Path(files["GITHUB_OUTPUT"]).read_text(encoding="utf-8")
            values["steps.get.outputs.program"] = output.strip().partition("=")[2]
        said += done.stdout + done.stderr
    return said


def play_gitlab(url):
    """Runs both jobs of the recipe; the second gets the variables of the environment scope."""
    recipe = yaml.safe_load((ROOT / "examples/ci/gitlab.yml").read_text(encoding="utf-8"))
    said = ""
    secrets = {"PERFDB_URL": url, "PERFDB_TOKEN": SERVER, "GITLAB_TOKEN": HOST}
    for name, given in (("performance", {}), ("performance-send", secrets)):
        done = call("sh", "-e", "-c", "\n".join(recipe[name]["script"]),
                    cwd="checkout", env=environment(**given))
        check(done.returncode == 0, f"gitlab, {name}: {done.returncode} {done.stderr}")
        said += done.stdout + done.stderr
    check(recipe["performance-send"]["environment"]["name"] == "fastgate", "the secrets have no scope")
    return said


def recipes_show_no_secret_to_a_benchmark(url):
    for play in (play_action, play_gitlab):
        for name in ("found", "looked"):
            write(name, "")
        SEEN.clear()
        said = play(url)
        check(os.path.getsize("looked") > 0 and os.path.getsize("found") == 0,
              f"{play.__name__}: a benchmark found a secret, or did not look: {said}")
        check(any(f"Bearer {SERVER}" in request for request in SEEN),
              f"{play.__name__}: the server got no token: {SEEN} {said}")
        check(HOST not in said and SERVER not in said, f"{play.__name__}: a secret was printed")
        check("in its environment" not in said, f"{play.__name__}: a warning without a cause: {said}")


def reachable_secrets_are_reported():
    """`run` warns if the shell that starts it has a token, even under a name that fastgate.yml gives."""
    for name in ("GITHUB_TOKEN", "PERFDB_TOKEN", "FASTGATE_OWN"):
        done = call("sh", "-c", f"{FASTGATE} run --no-post --set perfdb.token_env=FASTGATE_OWN; true",
                    cwd="checkout", env=environment(**{name: HOST}))
        lines = [line for line in done.stderr.splitlines() if f"${name} in its environment" in line]
        check(len(lines) == 1 and HOST not in done.stderr, f"{name}: not one line warns: {done.stderr}")
    for name in ("found", "looked"):
        write(name, "")
    names = ("FASTGATE_OWN", "PERFDB_TOKEN", "GITHUB_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN")
    done = call(FASTGATE, "run", "--no-post", "--set", "perfdb.token_env=FASTGATE_OWN",
                cwd="checkout", env=environment(**dict.fromkeys(names, HOST)))
    check("in its environment" not in done.stderr,
          f"fastgate's own environment is cleared: {done.stderr}")
    check(os.path.getsize("looked") > 0 and os.path.getsize("found") == 0,
          f"a benchmark found a secret of fastgate's own, or did not look: {done.stderr}")


def pull_request_target_needs_permission():
    done = call(FASTGATE, "run", "--no-post",
                cwd="checkout", env=environment(GITHUB_EVENT_NAME="pull_request_target"))
    check(done.returncode == 2 and "pull_request_target" in done.stderr,
          f"pull_request_target: {done.returncode} {done.stderr}")
    done = call(FASTGATE, "run", "--no-post",
                cwd="checkout", env=environment(GITHUB_EVENT_NAME="pull_request_target",
                                                FASTGATE_PULL_REQUEST_TARGET="allow"))
    check(done.returncode == 0, f"pull_request_target, allowed: {done.returncode} {done.stderr}")


def attack():
    write("checkout/spy", SPY, 0o755)
    write("checkout/fastgate.yml", CONFIG.format(url=URL))
    for words in (("init", "-q", "."), ("add", "."), ("commit", "-q", "-m", "One")):
        git(*words, cwd="checkout")
    recipes_show_no_secret_to_a_benchmark(URL)
    reachable_secrets_are_reported()
    pull_request_target_needs_permission()


finish_in_scratch(attack)
