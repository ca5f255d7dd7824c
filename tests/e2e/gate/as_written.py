#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
as_written.py FASTGATE COLLECTOR ROOT: commands of README.md and of the pages about gating run as they
are written, in a small repository, without a usage error. tests/e2e/cli/as_written.py does the same for
the pages about profiles.
"""
import os
import pathlib
import re
import shutil
import sys

from checks import call, check, finish_in_scratch, git, target, write

fastgate, collector, root = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
PAGES = ["README.md", *(f"docs/{name}.md" for name in (
    "before-commit", "ci", "ci-comments", "faq", "finding-a-commit", "getting-started", "measuring",
    "migrating", "noise", "profiles", "reading-a-verdict", "security", "statistics", "thresholds",
    "earlier-tools", "formats/report", "formats/tables"))]

# The cost is counted, so a few pairs decide.
CONFIG = """version: 1
build: { command: cc -O2 -g -o prog prog.c }
benchmarks:
  - { name: parse, command: ./prog, metrics: [ { name: cost, regex: "cost: ([0-9]+)", exact: true } ] }
measure: { schedule: abba, pairs: { min: 2, max: 2 }, warmup: 0, layouts: never }
gate:
  metrics:
    cost: { tolerance: 1% }
    cpu_time: { gated: false }
    wall_time: { gated: false }
    max_rss: { gated: false }
"""
COMMAND = re.compile(r"fastgate (bisect|compare|config|doctor|duel|explain|export|gate|history|hook|"
                     r"report|run|runs|show)\b")
# Placeholders that the reader replaces: a key, a run, another benchmark, two programs.
STANDS_FOR = {"explain KEY": "explain gate.metrics", "[RUN]": "latest", " RUN ": " latest ",
              " BENCH ": " parse ", "A B": "latest~1 latest",
              "./old-build/prog input' './new-build/prog input": "./prog' './prog",
              "'./old input' './new input'": "./prog ./prog", "'./old' './new'": "./prog ./prog"}
# Parts of commands, and commands that need a server, an interrupted run, a recorded profile or another
# program.
NOT_HERE = re.compile(r"--post-from|--resume|…|-F (?!tables)|micro/|B --measure NAME|"
                      r"^fastgate (run|explain|report|export|history|hook)$|"
                      r"^fastgate (report --format|bisect --json)$")


def commands(text):
    """The commands in shell blocks and in backticks, each once, without comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    backticks = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    lines = [line for block in blocks for line in block.splitlines()]
    lines += [" ".join(words.split()) for words in backticks]
    for line in dict.fromkeys(re.sub(r"\s+#.*", "", line).strip() for line in lines):
        if COMMAND.match(line) and not NOT_HERE.search(line):
            yield line


def commit(message, rounds):
    write("prog.c", target("fitting.c", ROUNDS=rounds))
    git("add", ".")
    git("commit", "-q", "-m", message)


def make_repository():
    """Makes a tag, a main branch, and a topic whose second commit is slower."""
    git("init", "-q", "-b", "main", ".")
    write("fastgate.yml", CONFIG)
    write(".gitignore", ".fastgate/\nprog\nfastgate-record\n*.html\n*.json\n*.svg\ntables\nsummary\n")
    commit("The first", 1000001)
    git("tag", "v1.4")
    commit("Nothing much", 1000002)
    git("checkout", "-q", "-b", "topic")
    commit("Harmless", 1000003)
    commit("Fit better", 4000000)
    git("update-ref", "refs/remotes/origin/main", "main")
    call("cc", "-O2", "-g", "-o", "prog", "prog.c", check=True)


def run_here(command, page):
    for written, ours in STANDS_FOR.items():
        command = command.replace(written, ours)
    done = call("sh", "-c", command, env=os.environ | {"GITHUB_STEP_SUMMARY": "summary"})
    return done, f"{page}: {command}"


def commands_run_as_written():
    os.environ |= {"FASTGATE_COLLECTOR": collector, "PATH": f"{fastgate.parent}:{os.environ['PATH']}",
                   "HOME": os.getcwd(), "XDG_CACHE_HOME": os.path.abspath("cache"),
                   "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    os.mkdir("project")
    os.chdir("project")
    make_repository()
    for against in ("v1.4", "main"):  # two runs to look at
        done = call("fastgate", "run", "--against", against)
        check(done.returncode == 1, f"the slowdown against {against}: {done}")
    call("fastgate", "record", "--", "./prog", check=True)
    missing = [tool for tool in ("valgrind", "jq") if not shutil.which(tool)]
    ran = 0
    for page in PAGES:
        for command in commands((root / page).read_text(encoding="utf-8")):
            if "--exact" in command and "valgrind" in missing or "jq" in command and "jq" in missing:
                continue
            ran += 1
            done, what = run_here(command, page)
            check(done.returncode in (0, 1),
                  f"{what}: exit code {done.returncode}\n{done.stdout[-500:]}\n{done.stderr}")
            check("Traceback" not in done.stderr and "usage:" not in done.stderr,
                  f"{what}: {done.stderr}")
    check(ran >= 50, f"only {ran} commands were run")


finish_in_scratch(commands_run_as_written)
