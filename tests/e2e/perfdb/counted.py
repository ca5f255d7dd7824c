#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
counted.py PERFDB FASTGATE MAKE_RUNS: the server reports runs with counts only in the same words as
the terminal.
"""
import json
import os
import pathlib

from attack import FASTGATE, Server, token
from checks import call, check, finish_in_scratch, git, target
CONFIG = ('version: 1\nproject: demo\nbuild: { command: "cc -O1 -g -o p p.c" }\n'
          'benchmarks:\n  - { name: p, command: ./p }\n')


def shown(text):
    benchmark = json.loads(text)["benchmarks"][0]
    metric = next(m for m in benchmark["metrics"] if m["name"] == "instructions")
    values = (metric[name] for name in ("verdict", "baseline", "candidate", "interval"))
    return (benchmark["verdict"], benchmark["error"], *values)


def count(calls, env):
    pathlib.Path("p.c").write_text(target("fit_calls.c").replace("CALLS", str(calls)))
    done = call(FASTGATE, "run", "--against", "HEAD", "--exact", "--json", env=env)
    check(done.returncode == 1, f"{calls} calls: {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)["run"]["id"], shown(done.stdout)


def body():
    home = os.getcwd()
    env = {**os.environ, "HOME": home, "XDG_CACHE_HOME": home + "/cache", "GIT_CONFIG_NOSYSTEM": "1",
           "GIT_CONFIG_GLOBAL": "/dev/null",
           **{f"GIT_{who}_{what}": "t@example.org"
              for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}}
    admin = token("admin")
    with Server() as server:
        url = f"http://127.0.0.1:{server.port}"
        os.mkdir("project")
        os.chdir("project")
        pathlib.Path("fastgate.yml").write_text(CONFIG)
        pathlib.Path(".gitignore").write_text("p\n.fastgate\n")
        pathlib.Path("p.c").write_text(target("fit_calls.c").replace("CALLS", "1000"))
        git("init", "-q", ".", env=env)
        git("add", ".", env=env)
        git("commit", "-qm", "base", env=env)
        runs = [count(calls, env) for calls in (1100, 1300)]
        for name in ("latest~1", "latest"):
            sent = call(FASTGATE, "push", name, "--url", url, env={**env, "PERFDB_TOKEN": admin})
            check(sent.returncode == 0, f"push: {sent.stderr}")
        compared = call(FASTGATE, "compare", "latest~1", "latest", "--json", env=env).stdout
        (first, of_first), (second, of_second) = runs
        for a, b, local in ((first, first, of_first), (second, second, of_second),
                            (first, second, shown(compared))):
            answer = server.ask("GET", f"/api/v1/verdict?a={a}&b={b}", token=admin)
            check(local[0] == "regression" and local[1] is None, f"{a} {b}: {local}")
            check(answer.status == 200 and shown(answer.body) == local,
                  f"{a} {b}: {answer.body[:2000]}, not {local}")
        os.chdir("..")


finish_in_scratch(body)
