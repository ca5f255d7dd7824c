#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
tables_agree.py FASTGATE: --help, the manual and the three completions contain
every command and every option.
"""
import re
import shutil
import subprocess
import sys

from checks import call

fastgate = sys.argv[1]
problems = []


def run(*arguments, stdin=""):
    return call(fastgate, *arguments, input=stdin)


def output(*arguments):
    done = run(*arguments)
    if done.returncode != 0:
        problems.append(f"fastgate {' '.join(arguments)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def plain(page):
    return page.replace("\\-", "-")


def options_of(text):
    """(letter or None, name) of each row of the option tables."""
    return re.findall(r"^  (?:-(\w), |    )--([\w-]+)", text, re.M)


overview = output("help")
commands = re.findall(r"^  ([a-z]+)  +\S", overview.split("Options of every command")[0], re.M)
if len(commands) < 2:
    problems.append(f"'fastgate help' lists {len(commands)} commands")
if overview != output("--help"):
    problems.append("'fastgate help' and 'fastgate --help' differ")
pages = {"": plain(output("help", "--man"))}
completions = {shell: output("help", "--completion", shell) for shell in ("bash", "zsh", "fish")}

for command in commands:
    text = output(command, "--help")
    if text != output("help", command):
        problems.append(f"'fastgate help {command}' and 'fastgate {command} --help' differ")
    if output(command, "--version") != output("--version"):
        problems.append(f"'fastgate {command} --version' differs")
    page = pages[command] = plain(output("help", "--man", command))
    if f"fastgate-{command} (1)" not in pages[""]:
        problems.append(f"fastgate(1) does not name {command}")
    for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
        if f".SH {part}\n" not in page:
            problems.append(f"fastgate-{command}(1) has no {part}")
    if "Examples:" not in text:
        problems.append(f"fastgate {command} --help has no example")
    options = options_of(text)
    for wanted in ("help", "version", "color", "quiet", "verbose"):
        if wanted not in [name for _, name in options]:
            problems.append(f"{command} does not take --{wanted}")
    seen = set()
    bash_arm = completions["bash"].split(f"\t{command})\n", 1)[-1].split(";;", 1)[0].split()
    zsh_arm = completions["zsh"].split(f"\t\t{command})\n", 1)[-1].split(";;", 1)[0]
    for letter, name in options:
        for spelling in ([f"-{letter}"] if letter else []) + [f"--{name}"]:
            if spelling in seen:
                problems.append(f"{command}: {spelling} is there twice")
            seen.add(spelling)
            if not re.search(rf"\\fB{re.escape(spelling)}\\fR", page):
                problems.append(f"fastgate-{command}(1) does not tell {spelling}")
            if spelling not in [word.strip("'") for word in bash_arm]:
                problems.append(f"bash does not complete {command} {spelling}")
            if not re.search(rf"'\*?{re.escape(spelling)}[=+]?\[", zsh_arm):
                problems.append(f"zsh does not complete {command} {spelling}")
        of_command = f"(?: -n '__fish_seen_subcommand_from {command}')?"
        fish_line = rf"^complete -c fastgate{of_command} -l {re.escape(name)}\b"
        if not re.search(fish_line, completions["fish"], re.M):
            problems.append(f"fish does not complete {command} --{name}")
    # A misspelled option is reported with the nearest one.
    name = max((name for _, name in options), key=len)
    done = run(command, f"--{name}x")
    if done.returncode != 2 or f"did you mean '--{name}'?" not in done.stderr:
        problems.append(f"fastgate {command} --{name}x: {done.returncode} {done.stderr}")

for name, page in pages.items():
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z"], input=page, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0 or done.stderr:
            problems.append(f"groff on the page of '{name}': {done.stderr}")

print(f"{len(commands)} commands compared")
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
