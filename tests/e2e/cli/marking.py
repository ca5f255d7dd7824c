#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
marking.py FASTGATE COLLECTOR ROOT: the guide that marks a program works as written. Its excerpts
are in examples/marking, its commands run there in their order, and the views have the regions,
units and dumps that the programs mark.
"""
import json
import os
import pathlib
import re
import shutil
import sys

from checks import call, check, finish_in_scratch

fastgate, collector, root = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
os.environ["FASTGATE_COLLECTOR"] = collector
os.environ["PATH"] = f"{fastgate.parent}:{os.environ['PATH']}"
os.environ["CPATH"] = str(root / "include")
EXAMPLES = root / "examples" / "marking"
SECTION = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", re.M | re.S)
NEEDS = {"Fortran": "gfortran", "C++": "c++"}


def rows(view):
    """All names in a view's JSON."""
    def names(value):
        if isinstance(value, dict):
            found = {value["name"]} if isinstance(value.get("name"), str) else set()
            return found.union(*(names(item) for item in value.values()))
        return set().union(*(names(item) for item in value)) if isinstance(value, list) else set()

    done = call(fastgate, "view", "-V", view, "--json")
    check(done.returncode == 0, f"view -V {view}: {done.stderr}")
    return names(json.loads(done.stdout or "[]"))


def expect(heading):
    wanted = {"C": {"tracking", "tracking/fit"}, "C++": {"fit"}, "Fortran": {"relax"},
              "Python": {"load", "fit"}}.get(heading)
    if wanted:
        found = rows("regions")
        # On a busy machine, it depends on chance which regions are sampled.
        check(wanted & found, f"{heading}: none of {wanted} is in {found}")
        units = rows("units")
        check(any(re.match(r"(event|step|epoch) \d+$", name) for name in units),
              f"{heading}: no units in {units}")
    if heading == "C":
        with open("reco.json", encoding="utf-8") as file:
            drawn = {event["name"] for event in json.load(file)["traceEvents"]}
        check({"event 17", "tracking"} <= drawn, f"the exported timeline has {sorted(drawn)[:20]}")
    if heading == "Dumps of memory":
        said = call(fastgate, "view", "-V", "growth", "--dumps", "1:2").stdout
        check("90" in said and "main" in said, f"90 blocks grew between the dumps: {said}")


def the_guide_works_as_written():
    for path in EXAMPLES.iterdir():
        shutil.copy(path, path.name)
    sources = "".join(path.read_text(encoding="utf-8") for path in EXAMPLES.iterdir())
    count = 0
    for heading, text in SECTION.findall((root / "docs" / "marking.md").read_text(encoding="utf-8")):
        for excerpt in re.findall(r"^```(?:c|cpp|fortran|python)\n(.*?)^```", text, re.M | re.S):
            for part in excerpt.split("\n\n"):
                check(part.strip("\n") in sources, f"{heading}: not in examples/marking:\n{part}")
        if heading in NEEDS and not shutil.which(NEEDS[heading]):
            print(f"left out: {heading}, for there is no {NEEDS[heading]}")
            continue
        for line in "".join(re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)).splitlines():
            count += 1
            done = call("sh", "-c", line)
            check(done.returncode == 0 and "warning" not in done.stderr,
                  f"{heading}: {line}: {done.returncode}\n{done.stdout}{done.stderr}")
        expect(heading)
    check(count >= 10, f"only {count} commands were run")


finish_in_scratch(the_guide_works_as_written)
