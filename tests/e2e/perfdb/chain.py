#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
chain.py PERFDB FASTGATE: the server adds up the steps between commits in commit order, whatever the
order of measurement.
"""
import json
import os
import sys
import urllib.request

sys.argv.append(os.devnull)  # no ready-made runs
from attack import DATABASE, FASTGATE, Server, token  # noqa: E402
from checks import call, check, finish_in_scratch, git, write  # noqa: E402

CONFIG = """version: 1
project: creeping
gate:
  creep: { tolerated: 2.5% }
  metrics:
    cost: { tolerance: 1% }
    cpu_time: { gated: false }
    wall_time: { gated: false }
    max_rss: { gated: false }
    binary_size: { gated: false }
benchmarks:
  - { name: parse, command: ./parse, metrics: [ { name: cost, regex: "cost: ([0-9.]+)", exact: true } ] }
measure: { pairs: { min: 2, max: 2 }, sampler: { enabled: false } }
"""
COSTS = [1000, 1006, 1012, 1018, 1024, 1030]


def commit(cost):
    write("parse", f'#!/bin/sh\necho "cost: {cost}"\n', 0o755)
    git("add", ".")
    git("commit", "-q", "-m", f"Cost {cost}")


def get(server, path, secret):
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}/api/v1/{path}",
                                     headers={"Authorization": f"Bearer {secret}"})
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def body():
    write("fastgate.yml", CONFIG)
    write(".gitignore", ".fastgate/\n*.db*\n*.log\n")
    git("init", "-q", "-b", "main", ".")
    commit(COSTS[0])
    for cost in COSTS[1:]:
        commit(cost)
    # The newest commit is measured first, so the dates of the runs say nothing about the order of
    # commits.
    for back in range(len(COSTS) - 1):
        done = call(FASTGATE, "run", "--candidate", f"HEAD~{back}", "--against", f"HEAD~{back + 1}",
                    "--set", f"store.path={DATABASE}")
        check(done.returncode == 0, f"run {back}: {done.stdout}{done.stderr}")
    secret = token("read")
    with Server() as server:
        answer = json.loads(get(server, "trend?project=creeping&benchmark=parse&metric=cost", secret))
        levels = [round(1000 * (1 + point["level"])) for point in answer["chain"]]
        check(levels == COSTS, f"the levels are {levels}")
        check(answer["creep"]["is_creep"] and "cost +3.0 %" in answer["creep"]["sentence"],
              f"the creep is {answer.get('creep')}")
        path = "trend?project=creeping&benchmark=parse&metric=cost&chain=0"
        without = json.loads(get(server, path, secret))
        check("chain" not in without, "the chain cannot be left out")


finish_in_scratch(body)
