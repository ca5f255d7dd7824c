#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
receipt.py FASTGATE ROOT: attempts on a branch are counted, a receipt says what they proved, and
an edited receipt is refused. The benchmark is a script that prints its cost, so nothing here
depends on how fast anything runs.
"""
import hashlib
import json
import os
import pathlib
import re
import sys

from checks import call, check, finish_in_scratch, git, write
from json_schema import Schema

FASTGATE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
CONFIG = """version: 1
project: costs
benchmarks:
  - { name: bench, command: ./bench, metrics: [ { name: cost, regex: "cost: (\\\\S+)", unit: "1" } ] }
measure:
  schedule: abba
  warmup: 0
  pairs: { min: 12, max: 40 }
  layouts: never
  sampler: { enabled: false }
gate:
  metrics:
    cpu_time: { gated: false }
    wall_time: { gated: false }
    max_rss: { gated: false }
    binary_size: { gated: false }
"""
SCHEMA = Schema(ROOT / "docs/formats/receipt.schema.json")


def commit(cost, message):
    write("bench", f"#!/bin/sh\necho cost: {cost}\n", 0o755)
    git("add", ".")
    git("commit", "-q", "-m", message)


def expect(what, done, code, *words):
    said = done.stdout + done.stderr
    check(done.returncode == code and all(word in said for word in words),
          f"{what}: exit code {done.returncode}, not {code}: {said}")


def run(path, *more):
    return call(FASTGATE, "run", "--against", "merge-base", "--receipt", path, *more)


def verify(path, *more):
    return call(FASTGATE, "verify", path, *more)


def read(path):
    with open(path, encoding="utf-8") as file:
        receipt = json.load(file)
    for error in SCHEMA.errors(receipt):
        check(False, f"{path}: {error}")
    return receipt


def edit(path, old, new, to):
    text = pathlib.Path(path).read_text(encoding="utf-8")
    check(old in text, f"{path} has no {old}")
    pathlib.Path(to).write_text(text.replace(old, new, 1), encoding="utf-8")


def reseed(path, seed, to):
    """Writes the receipt with a different seed and the digest that its schema describes."""
    text = pathlib.Path(path).read_text(encoding="utf-8").rstrip("\n")
    text = re.sub(r'"seed":\d+', f'"seed":{seed}', text)
    old = re.search(r'"digest":"sha256:\w+",?', text)[0]
    digest = hashlib.sha256(text.replace(old, "", 1).encode()).hexdigest()
    pathlib.Path(to).write_text(re.sub(r'"sha256:\w+"', f'"sha256:{digest}"', text) + "\n",
                                encoding="utf-8")


def sign():
    call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "key", check=True)
    call("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "other", check=True)
    for name in ("key", "other"):
        write(f"{name}.allowed", f"{name}@example.org {pathlib.Path(name + '.pub').read_text()}")
    expect("an unsigned receipt", verify("first.json", "--allowed-signers", "key.allowed"), 2,
           "first.json is not signed")
    call("ssh-keygen", "-q", "-Y", "sign", "-n", "fastgate", "-f", "key", "first.json", check=True)
    expect("a signed receipt", verify("first.json", "--allowed-signers", "key.allowed"), 0,
           "signed by key@example.org")
    expect("signed by another", verify("first.json", "--allowed-signers", "other.allowed"), 2,
           "not signed by anyone listed in other.allowed")
    edit("first.json", "\n", " \n", "copy.json")
    os.rename("first.json.sig", "copy.json.sig")
    expect("a signature of another file", verify("copy.json", "--allowed-signers", "key.allowed"), 2,
           "not signed by anyone listed")


def job_requires_a_receipt():
    """A receipt travels as a note of its commit, and the job on another machine checks it."""
    git("init", "-q", "--bare", "origin.git")
    git("remote", "add", "origin", os.getcwd() + "/origin.git")
    git("checkout", "-q", "-f", "-b", "change", "main")
    commit(300, "Slow")
    commit(200, "Faster than slow")
    faster = call(FASTGATE, "run", "--against", "HEAD~1", "--receipt", "own.json")
    expect("faster than its parent", faster, 0, "bench: faster: proven")
    expect("not a comparison with main", verify("own.json", "--against", "merge-base"), 2,
           "the receipt compares with commit", "not with")
    commit(70, "Fast")
    expect("by other settings", run("loose.json", "--set", "gate.alpha=0.2"), 0, "bench: faster")
    expect("is refused", verify("loose.json", "--against", "merge-base"), 2,
           "the receipt judges 'bench' by settings other than `gate`")
    expect("against main", run("good.json"), 0, "bench: faster: proven")
    git("notes", "--ref", "performance", "add", "-F", "good.json", "HEAD")
    git("push", "-q", "origin", "main", "change", "refs/notes/performance")

    call("git", "clone", "-q", "-b", "change", "origin.git", "job", check=True)
    os.chdir("job")
    git("fetch", "-q", "origin", "refs/notes/performance:refs/notes/performance")
    write("../note.json", git("notes", "--ref", "performance", "show", "HEAD").stdout)
    job = ("../note.json", "--commit", "HEAD", "--against", "merge-base")
    expect("the job", verify(*job), 0, "bench: improvement", "faster: proven")
    write("fastgate.yml", CONFIG.replace("measure:", "  - { name: second, command: ./bench }\nmeasure:"))
    expect("another benchmark", verify(*job), 2, "the receipt lacks benchmark 'second' of fastgate.yml")
    os.chdir("..")


def measured_again():
    """The benchmark's cost comes from outside the commit, so that a new measurement differs."""
    git("checkout", "-q", "-f", "-b", "outside", "main")
    write("bench", f"#!/bin/sh\nread a b < {os.getcwd()}/outside.cost\n"
          f"echo cost: $a\necho $b $a > {os.getcwd()}/outside.cost\n", 0o755)
    git("add", ".")
    git("commit", "-q", "-m", "Costs from outside")
    for costs, code, answer in (("80 80", 0, "agrees"),
                                ("130 130", 1, "DISAGREES"),
                                ("100 100", 1, "DISAGREES"),
                                ("60 60 150 150 150 150 60 60", 3, "cannot tell")):
        write("outside.cost", costs + "\n")
        if answer == "agrees":
            expect("the first measurement", run("outside.json"), 0, "bench: faster: proven")
        expect(f"again with costs {costs}", verify("outside.json", "--again"), code,
               "measured again: bench:", answer)


def body():
    os.environ.update({"HOME": os.getcwd(), "XDG_CACHE_HOME": os.getcwd() + "/cache",
                       "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"})
    write("fastgate.yml", CONFIG)
    write(".gitignore", "*\n!bench\n!fastgate.yml\n!.gitignore\n")
    git("init", "-q", "-b", "main", ".")
    commit(100, "The baseline")
    git("checkout", "-q", "-b", "work")

    commit(80, "Faster")
    expect("the first attempt", run("first.json"), 0, "bench: faster: proven (attempt 1, claim 1",
           "branch work: 1 attempt, 2 claims, 2 proven")
    first = read("first.json")
    os.rename(".fastgate/ledger", "ledger.away")
    expect("without a ledger", verify("first.json"), 0, "receipt of run")
    write(".fastgate/ledger",
          pathlib.Path("ledger.away").read_text(encoding="utf-8").split("\n")[0] + "\n")
    expect("in another checkout", verify("first.json"), 0,
           "does not match: the receipt is from another checkout")
    os.rename("ledger.away", ".fastgate/ledger")
    check([claim["proven"] for claim in first["benchmarks"][0]["claims"]] == [True, True],
          f"both claims: {first['benchmarks']}")
    expect("its receipt", verify("first.json", "--commit", "HEAD"), 0, "bench: improvement",
           "faster: proven (attempt 1)",
           "the receipt is line 2 of 2 in the ledger, which has 1 attempt on branch work")
    expect("for another commit", verify("first.json", "--commit", "main"), 2,
           "the receipt is for commit")
    lines = pathlib.Path(".fastgate/ledger").read_text(encoding="utf-8")
    expect("measured again", verify("first.json", "--again"), 0, "measured again: bench: improvement",
           "agrees")
    check(pathlib.Path(".fastgate/ledger").read_text(encoding="utf-8") == lines,
          "measuring again counts as an attempt")
    expect("against the merge base", verify("first.json", "--against", "merge-base"), 0,
           "bench: improvement")
    edit("first.json", '"attempts":1', '"attempts":0', "edited.json")
    expect("an edited receipt", verify("edited.json"), 2, "edited.json was changed")
    reseed("first.json", 5 * 10**15, "reseeded.json")
    expect("a long seed", verify("reseeded.json"), 0, "bench: improvement")
    expect("no receipt", verify("fastgate.yml"), 2, "fastgate.yml is not a fastgate receipt")
    expect("no file", verify("none.json"), 2, "none.json")

    commit(100, "As before")
    expect("the second attempt", run("second.json"), 0, "bench: faster: not proven (attempt 2, claim 3",
           "branch work: 2 attempts, 4 claims, 3 proven")
    commit(130, "Slower")
    expect("the third attempt", run("third.json"), 1, "branch work: 3 attempts, 6 claims, 3 proven")
    expect("a receipt of a regression", verify("third.json"), 1, "bench: regression",
           "not slower: not proven")
    before = read("third.json")["ledger"]["line"]
    call(FASTGATE, "run", "--against", "merge-base")
    expect("the first receipt again", verify("first.json"), 0,
           "the receipt is line 2 of 8 in the ledger, which has 3 attempts on branch work")
    expect("counted without a receipt", run("fourth.json"), 1, "branch work: 3 attempts")
    check(read("fourth.json")["ledger"]["line"] == before + 4,
          "a run without a receipt is in the ledger")

    git("checkout", "-q", "-b", "another")
    expect("a new name does not start again", run("fifth.json"), 1,
           "branch another: 3 attempts, 6 claims")
    write("bench", "#!/bin/sh\necho cost: 70\n", 0o755)
    expect("uncommitted changes", run("dirty.json"), 0, "branch another: 4 attempts")
    expect("are not a commit", verify("dirty.json", "--commit", "HEAD"), 2, "for uncommitted changes")
    expect("and cannot be built again", verify("dirty.json", "--again"), 2, "cannot be built again")
    sign()
    job_requires_a_receipt()
    measured_again()

    git("checkout", "-q", "-f", "work")
    write("staged", "")
    git("add", "-f", "staged")
    expect("a name with quotes", call(FASTGATE, "accept", 'a"b', "cost", "larger cache"), 2,
           "without double quotes")
    expect("an accepted cost", call(FASTGATE, "accept", "bench", "cost", "larger cache"), 0,
           "committed: a worse cost of bench is accepted")
    check(git("diff", "--cached", "--name-only").stdout == "staged\n", "what is staged stays staged")
    expect("does not fail", call(FASTGATE, "run", "--against", "merge-base"), 0, "larger cache")

    expect("without the store", run("x.json", "--no-store"), 2, "--receipt needs the store")
    expect("without --against", call(FASTGATE, "run", "--receipt", "base.json"), 0, "attempts")
    expect("is with the merge base", verify("base.json", "--against", "merge-base"), 0)
    edit(".fastgate/ledger", '"said":true', '"said":false', ".fastgate/ledger")
    expect("an edited ledger", run("x.json"), 2, "the ledger was changed")
    check(not os.path.exists("x.json"), "no receipt is written")
    expect("a receipt with an edited ledger", verify("first.json"), 2, "the ledger was changed")


finish_in_scratch(body)
