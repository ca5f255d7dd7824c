# SPDX-License-Identifier: Apache-2.0
"""
check_schema.py SCHEMA FOLDER: checks every golden report.json and explain document against
its published JSON Schema.
"""

import copy
import json
import pathlib
import sys

from json_schema import Schema

judge = Schema(pathlib.Path(sys.argv[1]))
schema = judge.root
files = [file for file in sorted(pathlib.Path(sys.argv[2]).glob("*.json"))
         if ".explain." not in file.name]
assert len(files) >= 8, files
failures = 0
for file in files:
    report = json.loads(file.read_text(encoding="utf-8"))
    for error in judge.errors(report):
        failures += 1
        print(f"{file.name}: {error}")

# The schema must reject wrong documents, or the checks above prove nothing.
good = json.loads((pathlib.Path(sys.argv[2]) / "regression.json").read_text(encoding="utf-8"))
for path, value in [(["verdict"], "slower"), (["exit_code"], 9), (["benchmarks", 0, "pairs"], -1),
                    (["benchmarks", 0, "metrics", 0, "interval"], [1]),
                    (["run", "started_at"], "yesterday")]:
    wrong = copy.deepcopy(good)
    place = wrong
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    if not judge.errors(wrong):
        failures += 1
        print(f"the schema takes {value!r} for {path}")


def every_member_is_described(value, rule, where):
    """A member that the schema does not describe is missing documentation."""
    global failures
    if "$ref" in rule:
        rule = schema["$defs"][rule["$ref"].rsplit("/", 1)[1]]
    if isinstance(value, list) and "items" in rule:
        for item in value:
            every_member_is_described(item, rule["items"], where)
    if isinstance(value, dict) and "properties" in rule:
        for name, member in value.items():
            if name not in rule["properties"]:
                failures += 1
                print(f"the schema does not describe {where}.{name}")
            else:
                every_member_is_described(member, rule["properties"][name], f"{where}.{name}")


every_member_is_described(good, schema, "report")

judge = Schema(pathlib.Path(sys.argv[1]).with_name("explain.schema.json"))
schema = judge.root
explained = json.loads(
    (pathlib.Path(sys.argv[2]) / "regression.explain.json").read_text(encoding="utf-8"))
for error in judge.errors(explained):
    failures += 1
    print(f"regression.explain.json: {error}")
every_member_is_described(explained, schema, "explain")
sys.exit(1 if failures else 0)
