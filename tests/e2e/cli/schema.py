#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
schema.py FASTGATE: the JSON Schema accepts a configuration with keys of every section,
and rejects configurations with mistakes.
"""
import json
import subprocess
import sys

from json_schema import Schema

schema = Schema(text=subprocess.run([sys.argv[1], "config", "--json-schema"], capture_output=True,
                                    check=True, text=True).stdout)

GOOD = {
    "version": 1, "project": "tracker",
    "build": {"command": ["cmake", "--build", "build"],
              "record": {"geometry": "v12", "boost": {"command": "x"}}},
    "benchmarks": [{
        "name": "a", "command": "./a", "environment": {"N": "1", "M": 2}, "timeout": "60s",
        "expect": {"exit_code": 0}, "labels": ["nightly"],
        "metrics": [{"name": "rate", "regex": "(x)", "better": "higher", "unit": "1/s"}],
        "harness": "google-benchmark", "gate": {"metrics": {"cpu_time": {"margin": "1%"}}},
        "measure": {"pairs": {"max": 9}}}],
    "measure": {"schedule": "auto", "budget": 300,
                "sampler": {"rate": 1000, "clock": "cpu", "unsampled_share": 0.1}},
    "gate": {"alpha": 0.01, "functions": "explain", "function_floor": "0.25%", "inconclusive": "fail",
             "accept": [{"benchmark": "a", "up_to": "10%", "until": "2027-03-01", "reason": "r"}]},
    "baseline": {"against": "merge-base"},
    "report": {"junit": "x.xml", "post": [{"github": "pull-request-comment"}]},
    "perfdb": {"url": "https://perfdb.example.org", "token_env": "PERFDB_T", "upload": "required"},
}
BAD = [
    ("an unknown key", lambda c: c.update(benchmark=[])),
    ("an unknown key inside", lambda c: c["gate"].update(alhpa=1)),
    ("an unknown key below a benchmark", lambda c: c["benchmarks"][0]["gate"].update(alhpa=1)),
    ("a wrong word", lambda c: c["measure"].update(schedule="deut")),
    ("out of range", lambda c: c["gate"].update(alpha=2)),
    ("a missing name", lambda c: c["benchmarks"][0].pop("name")),
    ("a missing version", lambda c: c.pop("version")),
    ("no duration", lambda c: c["measure"].update(budget="soon")),
    ("an empty command", lambda c: c["benchmarks"][0].update(command=[])),
    ("a secret instead of a name", lambda c: c["perfdb"].update(token_env="ghp_abc")),
]

problems = schema.errors(GOOD)
for what, spoil in BAD:
    config = json.loads(json.dumps(GOOD))
    spoil(config)
    if not schema.errors(config):
        problems.append(f"{what} is not seen")
print("\n".join(problems))
sys.exit(1 if problems else 0)
