#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
as_written.py PERFDB FASTGATE MAKE_RUNS ROOT: the commands on the pages about perfdb work as
written, on a server with runs.
"""
import os
import pathlib
import re
import sys

from attack import DATABASE, MAKE_RUNS, PERFDB, Server, token
from checks import call, check, finish_in_scratch

FASTGATE, ROOT = sys.argv[2], pathlib.Path(sys.argv[4])
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.M | re.S)
INLINE = re.compile(r"`(perfdb (?:token|role|limit|backup|gc|check|migrate|audit)\b[^`]*)`", re.S)
# Replacements for each placeholder: the path of a copy, a database, a run.
STANDS_FOR = {"FILE": "copy.db", "--database A --to B": f"--database {DATABASE} --to other.db",
              "a=v1.4": "a=latest~1"}
NOT_HERE = re.compile(
    r"perfdb serve|postgresql://|fastgate web|hooks\.example\.org|^fastgate push|^export ")


def commands(page):
    """
    The lines of shell blocks, joined inside quotes, and perfdb's commands in the text, adapted to
    this test.
    """
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for block in BLOCK.findall(text):
        command = ""
        for line in block.splitlines():
            command += re.sub(r"\s+# .*", "", line)
            if command.count("'") % 2 == 0:
                yield command
                command = ""
            else:
                command += "\n"
    for command in INLINE.findall(BLOCK.sub("", text)):
        if " " in command[len("perfdb "):]:
            yield " ".join(command.split())


def body():
    token("read")  # number 1, which the page revokes
    admin = token("admin")
    os.environ["PATH"] = f"{os.path.dirname(os.path.abspath(PERFDB))}:{os.environ['PATH']}"
    call(MAKE_RUNS, "spool", check=True)
    count = 0
    with Server() as server:
        url = f"http://127.0.0.1:{server.port}"
        sent = call(FASTGATE, "push", "--spool", "spool", "--url", url,
                    env={**os.environ, "PERFDB_TOKEN": admin})
        check(sent.returncode == 0, f"push: {sent.stderr}")
        setting = (f'URL={url} PERFDB_TOKEN={admin}\n'
                   'api() { curl -fsS -H "Authorization: Bearer $PERFDB_TOKEN" "$@"; }\n')
        for page in ("perfdb.md", "perfdb-access.md", "perfdb-operating.md", "perfdb-api.md"):
            for command in commands(page):
                for written, here in STANDS_FOR.items():
                    command = command.replace(written, here)
                if NOT_HERE.search(command) or command.startswith("api()"):
                    continue
                if command.startswith("perfdb") and "--database" not in command:
                    command += f" --database {DATABASE}"
                done = call("sh", "-c", setting + command)
                count += 1
                check(done.returncode == 0,
                      f"{page}: {command}: {done.returncode}\n{done.stdout}{done.stderr}")
    check(count >= 15, f"only {count} commands were run")


finish_in_scratch(body)
