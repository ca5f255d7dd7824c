#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
outside_writes.py FASTGATE: files that a checkout names are written below it and outside of .git,
and fastgate follows none of its links.
"""
import os
import shutil
import sys

from checks import call, check, finish_in_scratch, git, write

FASTGATE = os.path.abspath(sys.argv[1])
CONFIG = """version: 1
project: tracker
benchmarks:
  - { name: quick, command: "true" }
measure:
  { schedule: abba, pairs: { min: 2, max: 2 }, warmup: 0, layouts: never, sampler: { enabled: false } }
"""


def fresh(more="", **links):
    """
    Makes a checkout with this configuration and these links, in a home that must stay unchanged.
    """
    os.chdir(SCRATCH)
    shutil.rmtree("home", ignore_errors=True)
    write("home/.bashrc", "mine\n")
    write("home/elsewhere/kept", "mine\n")
    os.mkdir("home/checkout")
    os.chdir("home/checkout")
    git("init", "-q")
    write("fastgate.yml", CONFIG + more)
    for name, target in links.items():
        os.symlink(target, name.replace("_", "."))
    return state()


def state():
    """Every file outside of the work tree, with its content."""
    found = {}
    for top in (f"{SCRATCH}/home", f"{SCRATCH}/home/checkout/.git"):
        for folder, folders, files in os.walk(top):
            if top.endswith("home") and "checkout" in folders:
                folders.remove("checkout")
            for name in files:
                path = os.path.join(folder, name)
                with open(path, encoding="latin-1") as file:
                    found[path] = file.read()
    return found


def commands():
    """Commands that write the reports of fastgate.yml; the shard was measured without reports."""
    return (("run",), ("gate", "--merge", PART), ("gate", "latest"))


def reports_stay_in_the_checkout():
    for path in (f"{SCRATCH}/home/.bashrc", "../elsewhere/kept", "../new", "a/../../new",
                 ".git/hooks/post-checkout", "a/.GIT/config", ".git", "link/kept", "file"):
        before = fresh(f"report: {{ html: '{path}' }}\n", link="../elsewhere", file="../elsewhere/kept")
        call(FASTGATE, "run", "--set", "report.html=fine.html", check=True)
        check(os.path.getsize("fine.html") > 0, "the command line's report is not there")
        for words in commands():
            done = call(FASTGATE, *words)
            check(done.returncode == 2 and "report.html of fastgate.yml" in done.stderr,
                  f"{words[0]}, {path}: {done.returncode} {done.stderr}")
            check(state() == before, f"{words[0]}: '{path}' was written")
            check(os.path.islink("link") and os.path.islink("file"),
                  f"{words[0]}: '{path}' replaced a link")
    fresh("report: { html: './a//b/page.html', json: '-' }\n")
    for words in commands():
        shutil.rmtree("a", ignore_errors=True)
        if words == ("gate", "latest"):
            call(FASTGATE, "run", "--set", "report.html=fine.html", check=True)
        done = call(FASTGATE, *words)
        check(done.returncode == 0 and os.path.getsize("a/b/page.html") > 0,
              f"{words[0]}: a report below the checkout: {done.stderr}")
    for words in commands():
        done = call(FASTGATE, *words, "--set", f"report.html={SCRATCH}/home/elsewhere/page.html")
        check(done.returncode == 0 and os.path.getsize(f"{SCRATCH}/home/elsewhere/page.html") > 0,
              f"{words[0]}: --set may go anywhere: {done.stderr}")
    done = call(FASTGATE, "report", "-o", f"{SCRATCH}/home/elsewhere/second.html")
    check(done.returncode == 0 and os.path.getsize(f"{SCRATCH}/home/elsewhere/second.html") > 0,
          f"report -o may go anywhere: {done.stderr}")


def state_stays_in_the_checkout():
    """Tests a link in place of .fastgate, and a link inside it."""
    write(f"{SCRATCH}/folded", "main;work 10\n")
    every = (*commands(), ("import", f"{SCRATCH}/folded"), ("report",), ("runs",), ("push",), ("gc",))
    for link in ("store.db", "spool", "traces", None):
        before = fresh()
        if link:
            os.mkdir(".fastgate")
        os.symlink(f"{SCRATCH}/home/elsewhere", f".fastgate/{link}" if link else ".fastgate")
        for words in every:
            done = call(FASTGATE, *words)
            check(done.returncode == 2 and "is a link" in done.stderr,
                  f"{words[0]}, a link for {link or '.fastgate'}: {done.returncode} {done.stderr}")
            check(state() == before, f"{words[0]}: a link for {link or '.fastgate'} was followed")
    for path in ("../new.db", f"{SCRATCH}/home/new.db", ".git/new.db", "link/new.db"):
        before = fresh(f"store: {{ path: '{path}' }}\n", link="../elsewhere")
        for words in (("run",), ("gate", "--merge", PART)):
            done = call(FASTGATE, *words)
            check(done.returncode == 2 and "store.path" in done.stderr and state() == before,
                  f"{words[0]}, a store at '{path}': {done.returncode} {done.stderr}")
        done = call(FASTGATE, "run", "--set", f"store.path={SCRATCH}/home/elsewhere/new.db")
        check(done.returncode == 0 and os.path.exists(f"{SCRATCH}/home/elsewhere/new.db"),
              f"--set store.path may go anywhere: {done.stderr}")


def attack():
    fresh()
    call(FASTGATE, "run", "--shard", "1/1", "--export", PART, check=True)
    reports_stay_in_the_checkout()
    state_stays_in_the_checkout()
    os.chdir(SCRATCH)


SCRATCH = PART = None


def attack_here():
    global SCRATCH, PART
    SCRATCH, PART = os.getcwd(), os.path.abspath("part.fgrun")
    attack()


finish_in_scratch(attack_here)
