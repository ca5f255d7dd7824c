#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
schema.py FASTGATE: the JSON Schema takes a configuration that uses every key, and sees what is wrong with others.
The few words of draft 7 that the schema uses are judged here, so that no package is needed.
"""
import json
import re
import subprocess
import sys

schema = json.loads(subprocess.run([sys.argv[1], "config", "--json-schema"], capture_output=True, check=True).stdout)
USED = {"$schema", "title", "description", "type", "additionalProperties", "required", "properties", "enum", "anyOf", "allOf",
        "$ref", "default", "minimum", "maximum", "pattern", "items", "minItems", "minLength"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}


def has_type(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def errors(value, rule, path):
    unknown = set(rule) - USED
    if unknown:
        return [f"the schema uses {unknown}, that this test does not know"]
    found = []
    if "$ref" in rule:
        target = schema
        for part in rule["$ref"][2:].split("/"):
            target = target[part]
        return errors(value, target, path)
    for part in rule.get("allOf", []):
        found += errors(value, part, path)
    if "anyOf" in rule and all(errors(value, part, path) for part in rule["anyOf"]):
        found.append(f"{path}: fits none of anyOf")
    types = rule.get("type")
    if types and not any(has_type(value, name) for name in ([types] if isinstance(types, str) else types)):
        return found + [f"{path}: is no {types}"]
    if "enum" in rule and value not in rule["enum"]:
        found.append(f"{path}: {value} is not in {rule['enum']}")
    if "pattern" in rule and isinstance(value, str) and not re.search(rule["pattern"], value):
        found.append(f"{path}: '{value}' does not match {rule['pattern']}")
    if isinstance(value, (int, float)) and not rule.get("minimum", value) <= value <= rule.get("maximum", value):
        found.append(f"{path}: {value} is out of range")
    if isinstance(value, list):
        if len(value) < rule.get("minItems", 0):
            found.append(f"{path}: too short")
        for number, item in enumerate(value):
            found += errors(item, rule.get("items", {}), f"{path}[{number}]")
    if isinstance(value, dict):
        found += [f"{path}.{name}: missing" for name in rule.get("required", []) if name not in value]
        for name, item in value.items():
            if name in rule.get("properties", {}):
                found += errors(item, rule["properties"][name], f"{path}.{name}")
            elif rule.get("additionalProperties") is False:
                found.append(f"{path}.{name}: unknown")
            elif isinstance(rule.get("additionalProperties"), dict):
                found += errors(item, rule["additionalProperties"], f"{path}.{name}")
    return found


GOOD = {
    "version": 1, "project": "tracker",
    "build": {"command": ["cmake", "--build", "build"], "record": {"geometry": "v12", "boost": {"command": "x"}}},
    "benchmarks": [{
        "name": "a", "command": "./a", "environment": {"N": "1", "M": 2}, "timeout": "60s", "expect": {"exit_code": 0},
        "metrics": [{"name": "rate", "regex": "(x)", "better": "higher", "unit": "1/s"}], "labels": ["nightly"],
        "harness": "google-benchmark", "gate": {"metrics": {"cpu_time": {"margin": "1%"}}}, "measure": {"pairs": {"max": 9}}}],
    "measure": {"schedule": "auto", "budget": 300, "sampler": {"rate": 1000, "clock": "cpu", "unsampled_share": 0.1}},
    "gate": {"alpha": 0.01, "functions": "explain", "function_floor": "0.25%", "inconclusive": "fail",
             "accept": [{"benchmark": "a", "up_to": "10%", "until": "2027-03-01", "reason": "r"}]},
    "baseline": {"against": "merge-base"},
    "report": {"junit": "x.xml", "post": [{"github": "pull-request-comment"}]},
    "perfdb": {"url": "https://perfdb.example.org", "token_env": "T", "upload": "required"},
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

problems = errors(GOOD, schema, "")
for what, spoil in BAD:
    config = json.loads(json.dumps(GOOD))
    spoil(config)
    if not errors(config, schema, ""):
        problems.append(f"{what} is not seen")
print("\n".join(problems))
sys.exit(1 if problems else 0)
