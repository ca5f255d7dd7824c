#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
metrics.py PERFDB DASHBOARD: Prometheus' own checker accepts /metrics, which has everything that the
Grafana dashboard queries.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request

from checks import check, failures, finish_in_scratch

PERFDB, DASHBOARD = (os.path.abspath(path) for path in sys.argv[1:3])
PARTS = ("_bucket", "_sum", "_count")  # suffixes of a histogram or a summary


def served():
    with subprocess.Popen([PERFDB, "serve", "--database", "perfdb.db", "--listen", "127.0.0.1:0"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            url = next(found[1] for found in (re.search(r" at (http://[^ /]*)", line)
                                              for line in server.stderr) if found)
            ask = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with ask.open(f"{url}/healthz"), ask.open(f"{url}/metrics") as answer:
                return answer.read().decode()
        finally:
            server.terminate()
            server.stderr.read()


def main():
    text = served()
    exported = set(re.findall(r"^(perfdb_\w+)[ {]", text, re.M))
    check("perfdb_answers_total" in exported, f"exported: {sorted(exported)}")
    with open(DASHBOARD, encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    asked = {name for panel in panels for target in panel["targets"]
             for name in re.findall(r"perfdb_\w+", target["expr"])}
    check(len(asked) > 5 and asked <= exported,
          f"the dashboard asks for what is not exported: {sorted(asked - exported)}")
    typed = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
    for name in exported:
        whole = next((name.removesuffix(part) for part in PARTS if name.endswith(part)
                      and name.removesuffix(part) in typed), name)
        check(whole in typed and f"# HELP {whole} " in text, f"{name} has a type and a help line")
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"],
                              input=text, capture_output=True, text=True, check=False)
        check(done.returncode == 0 and not done.stderr,
              f"promtool: {done.returncode}\n{done.stdout}{done.stderr}")
    else:
        print("left out, promtool is not installed")
    if not failures:
        print("Prometheus takes the metrics, and the dashboard finds its own")


finish_in_scratch(main)
