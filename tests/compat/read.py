#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""read.py FASTGATE PERFDB: this version reads what released versions wrote (tests/compat/README.md)."""
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request

from checks import call, check, failures, finish_in_scratch

FASTGATE, PERFDB = (os.path.abspath(path) for path in sys.argv[1:3])
HERE = os.path.dirname(os.path.abspath(__file__))


def said(*words):
    done = call(FASTGATE, *words)
    check(done.returncode == 0, f"{words}: {done.returncode}\n{done.stderr}")
    return done.stdout


def unpacked(packed, path):
    subprocess.run(["zstd", "-dqf", packed, "-o", path], check=True)
    return path


def missing(old, new, path=""):
    """Yields the members of the old report that the new report lacks or gives another type."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            yield from missing(value, new[name], f"{path}/{name}") if name in new else [f"{path}/{name}"]
    elif isinstance(old, list) and isinstance(new, list):
        for index, (one, other) in enumerate(zip(old, new)):
            yield from missing(one, other, f"{path}/{index}")
    elif (None not in (old, new) and isinstance(old, bool) != isinstance(new, bool)
          or type(old) is str != type(new) is str):
        yield f"{path}: {type(new).__name__}, was {type(old).__name__}"


def a_trace(folder):
    os.makedirs("trace")
    unpacked(f"{folder}/trace.fgtrace.zst", "trace/1.0.fgtrace")
    profile = json.loads(said("--quiet", "export", "-F", "json", "trace"))
    with open(f"{folder}/trace.samples", encoding="ascii") as file:
        check(len(profile["samples"]) == int(file.read()),
              f"{folder}: a trace with {len(profile['samples'])} samples")


def a_store_and_its_report(folder):
    store = unpacked(f"{folder}/store.db.zst", "store.db")
    check("fixture" in said("show", "latest", "--store", store), f"{folder}: the run of the store")
    said("report", "latest", "--store", store, "-o", "now.json")
    with open(f"{folder}/report.json", encoding="utf-8") as file:
        then = json.load(file)
    with open("now.json", encoding="utf-8") as file:
        now = json.load(file)
    lost = list(missing(then, now))
    check(not lost, f"{folder}: what readers of the report relied on: {lost}")
    ratios = [report["benchmarks"][0]["metrics"][0]["ratio"] for report in (then, now)]
    check(then["verdict"] == now["verdict"] and ratios[0] == ratios[1],
          f"{folder}: the same run is judged otherwise")


def a_configuration(folder):
    said("config", "--check", "--config", f"{folder}/fastgate.yml")
    check("spin" in said("config", "--benchmarks", "--config", f"{folder}/fastgate.yml"),
          f"{folder}: its benchmark")


def a_run_on_the_wire(folder):
    with open(f"{folder}/run.fgrun", "rb") as file:
        body = file.read()
    run = json.loads(body[24:24 + int.from_bytes(body[8:12], "little")])["id"]
    with subprocess.Popen([PERFDB, "serve", "--database", "perfdb.db", "--listen", "127.0.0.1:0"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            url = next(found[1] for found in (re.search(r" at (http://[^ /]*)", line)
                                              for line in server.stderr) if found)
            with open("perfdb.db.key", encoding="ascii") as file:
                key = file.read().strip()
            asked = urllib.request.Request(f"{url}/api/v1/runs", data=body, method="POST", headers={
                "Authorization": f"Bearer {key}", "Idempotency-Key": run,
                "Content-SHA256": hashlib.sha256(body).hexdigest(),
                "Content-Type": "application/vnd.fastgate.run"})
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked) as answer:
                check(answer.status == 201, f"{folder}: an upload is answered by {answer.status}")
        finally:
            server.terminate()
            server.stderr.read()
    check(run in said("runs", "--store", "perfdb.db", "--json"), f"{folder}: the uploaded run is stored")


def main():
    if not shutil.which("zstd"):
        print("skipped: zstd is not installed")
        sys.exit(77)
    folders = sorted(path for path in glob.glob(f"{HERE}/*") if os.path.isdir(path))
    check(folders != [], "there are no fixtures")
    for number, folder in enumerate(folders):
        os.makedirs(str(number))
        os.chdir(str(number))
        for part in (a_trace, a_store_and_its_report, a_configuration, a_run_on_the_wire):
            part(folder)
        os.chdir("..")
    if not failures:
        print("what released versions wrote is read")


finish_in_scratch(main)
