#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perfdb_pages.py PERFDB: every command and option of perfdb is in its manual page and in the completions of three shells."""
import re
import shutil
import subprocess
import sys
import tempfile

from checks import call, check, finish

perfdb = sys.argv[1]


def output(*arguments):
    done = call(perfdb, *arguments)
    check(done.returncode == 0, f"perfdb {arguments}: {done.returncode} {done.stderr}")
    return done.stdout


def offered(script, *words):
    """What bash offers for the last of these words."""
    typed = " ".join(f"'{word}'" for word in words)
    with tempfile.NamedTemporaryFile("w", suffix=".bash") as file:
        file.write(script)
        file.flush()
        done = subprocess.run(["bash", "-c", f"source {file.name}; COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _perfdb; printf '%s\\n' \"${{COMPREPLY[@]}}\""],
                              capture_output=True, text=True, check=False)
    check(done.returncode == 0 and not done.stderr, f"bash: {done.stderr}")
    return done.stdout.split()


page = output("help", "--man").replace("\\-", "-")
completions = {shell: output("help", "--completion", shell) for shell in ("bash", "zsh", "fish")}
commands = re.findall(r"^  ([a-z]+) +\S", output("help"), re.M)
check(len(commands) == 8 and "serve" in commands, f"commands: {commands}")
for command in commands:
    section = page.split(f".SH COMMAND {command}\n", 1)[-1].split(".SH ", 1)[0]
    options = re.findall(r"^  (?:-\w, |    )--([\w-]+)", output(command, "--help"), re.M)
    check("help" in options, f"{command}: {options}")
    for option in options:
        check(f"\\fB--{option}\\fR" in section, f"perfdb(1): {command} has no --{option}")
        check(f"--{option}" in offered(completions["bash"], "perfdb", command, "--"), f"bash: {command} --{option}")
        check(re.search(rf"^complete -c perfdb -n '__fish_seen_subcommand_from {command}' -l {option}\b", completions["fish"], re.M),
              f"fish: {command} --{option}")
check(offered(completions["bash"], "perfdb", "se") == ["serve"], "bash: commands")
check(offered(completions["bash"], "perfdb", "token", "re") == ["revoke"], "bash: actions")
check("create" in page and "revoke \\fIWORD\\fR" in page, "perfdb(1): actions")
check(completions["zsh"].startswith("#compdef perfdb\n"), "zsh: no #compdef")
check(call(perfdb, "help", "--completion", "csh").returncode == 2, "an unknown shell")
for program, *arguments in (["groff", "-man", "-ww", "-Tutf8", "-z"], ["zsh", "-n", "/dev/stdin"], ["fish", "--no-execute", "/dev/stdin"]):
    if shutil.which(program):
        text = {"groff": output("help", "--man")}.get(program, completions.get(program))
        done = subprocess.run([program, *arguments], input=text, capture_output=True, text=True, check=False)
        check(done.returncode == 0 and not done.stderr, f"{program}: {done.stderr}")
finish()
