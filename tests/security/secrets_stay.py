#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No program under test gets a secret."""
import os
import subprocess

from attack import FASTGATE, Server, token
from checks import check, finish_in_scratch

# A hostile benchmark logs its environment and that of its ancestors.
SPY = """#!/bin/sh
exec >>spied
env
process=$$
for level in 1 2 3 4 5 6; do
	process=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$process/status)
	[ "$(basename "$(readlink /proc/$process/exe)")" = fastgate ] || continue
	tr '\\0' '\\n' </proc/$process/environ
	echo "SEEN=fastgate"
done
"""
CONFIG = """version: 1
project: tracker
benchmarks:
  - { name: spy, command: ./spy }
measure: { pairs: { min: 3, max: 3 } }
"""


def write_config(perfdb):
    with open("fastgate.yml", "w", encoding="utf-8") as file:
        file.write(CONFIG + f"perfdb: {perfdb}\n")


def programs_under_test_see_no_secret(url, secret):
    with open("spy", "w", encoding="utf-8") as file:
        file.write(SPY)
    os.chmod("spy", 0o755)
    write_config(f'{{ url: "{url}", token_env: PERFDB_OWN, upload: required }}')
    secrets = {"PERFDB_OWN": secret, "PERFDB_TOKEN": "secret-1", "GITHUB_TOKEN": "secret-2",
               "GITLAB_TOKEN": "secret-3", "CI_JOB_TOKEN": "secret-4"}
    done = subprocess.run([FASTGATE, "run"],
                          env={**os.environ, **secrets, "INNOCENT": "kept", "PERFDB_URL": url},
                          capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"the run, with its upload: {done.returncode} {done.stderr}")
    with open("spied", encoding="utf-8") as file:
        spied = file.read()
    check("INNOCENT=kept" in spied and "SEEN=fastgate" in spied, "the benchmark did not spy")
    for name, value in secrets.items():
        check(value not in spied, f"${name} reached the benchmark")


def attack():
    secret = token("upload")
    with Server() as server:
        programs_under_test_see_no_secret(f"http://127.0.0.1:{server.port}", secret)


finish_in_scratch(attack)
