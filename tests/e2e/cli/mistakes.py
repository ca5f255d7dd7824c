#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
mistakes.py FASTGATE DOCUMENT: makes the likely mistakes of a new user; fastgate's answers are those that
the document shows. With FASTGATE_REGENERATE_GOLDEN=1 it writes the document instead (./dev golden).
"""
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap

from checks import git, target, write

fastgate, document = os.path.abspath(sys.argv[1]), sys.argv[2]
CONFIG = "version: 1\nproject: demo\nbenchmarks:\n  - name: parse\n    command: {command}\n{more}"


def config(command="./parse", more=""):
    write("fastgate.yml", CONFIG.format(command=command, more=more))


def program(text="exit 0\n", mode=0o755, more=""):
    """Writes a script as the program, and its fastgate.yml."""
    write("parse", "#!/bin/sh\n" + text, mode)
    config(more=more)


def repository(more=""):
    program(more=more)
    git("init", "-q", "-b", "main", ".")
    git("add", ".")
    git("commit", "-q", "-m", "x")


def nothing():
    pass


def wrong_file_name():
    write("fastgate.yaml", CONFIG.format(command="./parse", more=""))


def several_at_once():
    write("fastgate.yml",
          "version: 1\nbenchmark:\n  - name: parse\ngate:\n  alpha: often\n  functoins: gate\n")


def indented_by_a_tab():
    write("fastgate.yml", "version: 1\nbenchmarks:\n\t- name: parse\n")


def shallow_clone():
    """Clones only the newest commit of a topic branch."""
    repository()
    git("checkout", "-q", "-b", "topic")
    git("commit", "-q", "--allow-empty", "-m", "y")
    here = os.getcwd()
    git("clone", "-q", "--depth", "1", "-b", "topic", "file://" + here, "clone")
    os.chdir("clone")


def short_run():
    """Stores a run without samples, like that of a program that ends too early."""
    program()
    subprocess.run([fastgate, "run", "--quick", "--quiet", "--set", "measure.sampler.enabled=false"],
                   check=True, capture_output=True)


def hanging_program():
    """Builds a program that reads a pipe without a writer."""
    write("parse.c", target("hanging.c"))
    subprocess.run(["cc", "-g", "-O0", "-o", "parse", "parse.c"], check=True)
    config(more="    timeout: 1s\n")


def crashing_program():
    write("parse.c", target("crashing.c"))
    subprocess.run(["cc", "-g", "-O0", "-o", "parse", "parse.c"], check=True)
    config()


def broken_store():
    config()
    os.mkdir(".fastgate")
    write(".fastgate/store.db", "this is a text, and no database at all\n")


# Title, set-up, command, remedy; a line of text alone is a heading. The document is generated from
# this list.
MISTAKES = [
    "The command line and fastgate.yml",
    ("There is no fastgate.yml", nothing, "fastgate run",
     "`fastgate init` writes the file. fastgate looks for it here and in the folders above."),
    ("The file has another name", wrong_file_name, "fastgate run", "Rename it."),
    ("The command is misspelled", nothing, "fastgate rnu",
     "The message names the nearest command; `fastgate help` lists all commands."),
    ("An option is misspelled", nothing, "fastgate run --agianst main",
     "`fastgate run --help` lists the options."),
    ("A value has an unknown unit", config, "fastgate run --budget 5minutes",
     "Durations: `250ms`, `90s`, `5m`, `2h`."),
    ("Keys and values are wrong, several at once", several_at_once, "fastgate run",
     "Every error is reported, in the order of the file. `fastgate config --check` does so without "
     "running anything."),
    ("A line is indented by a tab", indented_by_a_tab, "fastgate config",
     "Indent each level by two spaces."),
    ("A command uses shell operators", lambda: config("make && ./parse"), "fastgate run",
     "Set `shell: true`, or move the first part into `setup`, `prepare` or `build.command`."),
    ("The file contains a secret",
     lambda: config(more='perfdb: { url: "https://perfdb.example.org", token: 1a2b3c }\n'),
     "fastgate run",
     "Put the secret into an environment variable, and its name into `token_env`. Then change the "
     "secret: it has leaked into a file."),
    ("The benchmark is misspelled", config, "fastgate run prase",
     "`fastgate config --benchmarks` lists the names."),
    "The program",
    ("The program does not exist", config, "fastgate run --quick",
     "Is it built? `build.command` says how; paths are relative to `working_directory`."),
    ("The program is not executable", lambda: program(mode=0o644), "fastgate run --quick",
     "`chmod +x parse`"),
    ("The program fails", lambda: program("echo 'cannot open input.dat' >&2\nexit 3\n"),
     "fastgate run --quick",
     "Its last lines of output are shown. If 3 is its normal exit code, set "
     "`expect: { exit_code: 3 }`."),
    ("The program crashes", crashing_program, "fastgate run --quick",
     "A crash is never a measurement, and never a pass. Run the program in a debugger to see where it "
     "happens."),
    ("The program hangs", hanging_program, "fastgate run --quick",
     "fastgate ends the program and everything that it started. `timeout` is ten minutes by default; "
     "`fastgate record --pid` of the running program shows where it hangs."),
    "Git and the baseline",
    ("There is no git repository", program, "fastgate run --against HEAD",
     "`--against` builds another commit, so it needs git. Without git, `fastgate run` measures and "
     "stores the run for later comparisons."),
    ("The commit does not exist", repository, "fastgate run --against mian",
     "In a CI job the clone may be shallow: fetch it first, `git fetch origin main`."),
    ("The clone is shallow", shallow_clone, "fastgate run --against main",
     "The message says how to fetch the other commits, also on GitHub and GitLab."),
    ("There is no baseline, and one is required",
     lambda: program(more="baseline: { required: true }\n"), "fastgate run --quick",
     "Measure both sides in one session, `fastgate run --against main`, or name a stored run: "
     "`--set baseline.run=latest`."),
    ("The build fails",
     lambda: repository("build:\n  command: sh -c 'echo no rule to make target >&2; exit 2'\n"),
     "fastgate run --against HEAD",
     "Try the command by hand in a fresh clone: it must build from nothing."),
    "Stored runs and the server",
    ("The stored run does not exist", repository, "fastgate show 1a2b3c",
     "`fastgate runs` lists the stored runs."),
    ("The run has no profile", short_run, "fastgate view",
     "The sampler was off (`measure.sampler.enabled`), or the program ended within a few milliseconds, "
     "before the first sample: let the benchmark repeat its work."),
    ("The report format is misspelled", short_run, "fastgate report --format juint",
     "`fastgate report --help` lists the formats."),
    ("The server cannot be reached",
     lambda: program(more='perfdb: { url: "http://127.0.0.1:9", upload: required }\n'),
     "fastgate run --quick",
     "The run waits in `.fastgate/spool/`. Unless `upload` is `required`, the exit code stays the "
     "same."),
    ("The file of the store is not a database", broken_store, "fastgate runs",
     "Move `.fastgate/store.db` away; the next run creates a new store."),
    ("The folder cannot be written", program,
     "fastgate run --quick --set store.path=/proc/fastgate/store.db",
     "Runs go to `.fastgate/` next to `fastgate.yml`; `store.path` names another file."),
    ("fastgate.yml exists already", config, "fastgate init",
     "`fastgate init` does not overwrite it."),
]

FENCE = "```\n"
HEAD = """<!-- Written by tests/e2e/cli/mistakes.py, which also checks it: ./dev golden. -->
# Likely mistakes, and what fastgate says

A test makes each of these mistakes; the answers are the program's own ([exit codes](exit-codes.md)).
"""


def normal(text, folder):
    text = text.replace(os.path.realpath(folder), "/home/me/demo").replace(folder, "/home/me/demo")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
                  "0199f3a2-5c1e-7b40-8d21-6a5b4c3d2e1f", text)
    text = re.sub(r"builds/[0-9a-f]{16}/", "builds/0f1e2d3c4b5a6978/", text)
    text = re.sub(r"after \d+ ms: ", "after 0 ms: ", text)
    text = re.sub(r"(process|thread) \d+", r"\1 4711", text)
    text = re.sub(r"pipe:\[\d+\]", "pipe:[81234]", text)
    text = re.sub(r"(?m)^  \|     (?!.*  parse\.c:).*\n", "", text)
    return re.sub(r"ended after [0-9.]+ m?s", "ended after 1.0 s", text)


def tried(prepare, line):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        prepare()
        done = subprocess.run(line.replace("fastgate", shlex.quote(fastgate), 1), shell=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=300, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": folder,
                                   "GIT_CONFIG_NOSYSTEM": "1"})
        os.chdir("/")
        return normal(done.stdout, folder), done.returncode


def main():
    failures = []
    parts = [HEAD]
    for row in MISTAKES:
        if isinstance(row, str):
            parts.append(f"\n## {row}\n\n```\n" if len(parts) == 1 else f"```\n\n## {row}\n\n```\n")
            continue
        title, prepare, line, advice = row
        said, code = tried(prepare, line)
        if code == 0 or not said.strip():
            failures.append(f"{title}: exit code {code}, said '{said}'")
        note = textwrap.fill(f"{title}. {advice}", 118, initial_indent="# ", subsequent_indent="# ")
        parts.append(f"{'' if parts[-1].endswith(FENCE) else chr(10)}{note}\n"
                     f"$ {line}   # exit code {code}\n{said.rstrip()}\n")
    parts.append(FENCE)
    text = "".join(parts)
    if os.environ.get("FASTGATE_REGENERATE_GOLDEN"):
        write(document, text)
    with open(document, encoding="utf-8") as file:
        kept = file.read()
    if kept != text:
        failures.append("".join(difflib.unified_diff(kept.splitlines(True), text.splitlines(True),
                                                     document, "what is said now")))
        failures.append("if that is meant: FASTGATE_REGENERATE_GOLDEN=1 ctest --preset dev -R "
                        "cli_mistakes, or ./dev golden")
    print("\n".join(failures))
    return 1 if failures else 0


sys.exit(main())
