#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A token for one project learns nothing of another's dictionaries, and cannot refer to them."""
import glob
import json
import os
import subprocess

from attack import MAKE_RUNS, Server, expect, parcel, parts, send, token
from checks import check, finish_in_scratch


def attack():
    owner, other, everything = (token("upload", "--project", "tracker"), token("upload", "--project", "other"), token("upload"))
    subprocess.run([MAKE_RUNS, "spool", "1", "2"], check=True)
    first, second = (parts(path) for path in sorted(glob.glob(os.path.join("spool", "*.fgrun"))))
    name = json.loads(first[0])["dictionary"]
    check(json.loads(second[0])["dictionary"] == name, "the runs have two dictionaries")
    foreign = second[0].replace(b'"project":"tracker"', b'"project":"other"  ')
    check(foreign != second[0], "the envelope names no project")
    with Server() as server:
        path = f"/api/v1/dictionaries/{name}"
        expect(server.ask("GET", path, token=owner), 404, "before it was sent")
        expect(send(server, parcel(*first), owner), 201, "the first run, with its dictionary")
        expect(server.ask("GET", path, token=owner), 200, "its own project asks")
        expect(server.ask("GET", path, token=everything), 200, "a token for all projects asks")
        expect(server.ask("GET", path, token=other), 404, "another project asks")
        answer = expect(send(server, parcel(foreign, b"", second[2]), other), 424, "another project refers to it")
        check(answer.code() == "dictionary_missing", answer.code())
        broken = bytes(len(first[1]))
        check(send(server, parcel(foreign, broken, second[2]), other).status == 400, "a made-up dictionary under its name")
        expect(send(server, parcel(second[0], b"", second[2]), owner), 201, "the second run, without its dictionary")
        check(len(server.runs(token=everything)) == 2, "a run of the other project was stored")


finish_in_scratch(attack)
