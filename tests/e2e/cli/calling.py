#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
calling.py FASTGATE: behaviour that all commands share: global options, exit codes, colours, pagers, and
outputs that fail.
"""
import os
import pty
import subprocess
import sys
import tempfile

from checks import call, check, finish

fastgate = sys.argv[1]


def run(*arguments, env=None, stdout=subprocess.PIPE, cwd=None, **more):
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    clean.update(env or {})
    return call(fastgate, *arguments, stdout=stdout, env=clean, cwd=cwd, **more)


def on_terminal(*arguments, env=None, rows=24, columns=80, cwd=None):
    """Runs fastgate with a terminal as standard output and error; returns what it showed."""
    import fcntl
    import struct
    import termios
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    clean = {"PATH": os.environ["PATH"], "TERM": "xterm"}
    clean.update(env or {})
    child = subprocess.Popen([fastgate, *arguments], stdin=slave, stdout=slave, stderr=slave, env=clean,
                             cwd=cwd)
    os.close(slave)
    shown = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:
            break
        if not block:
            break
        shown += block
    code = child.wait()
    os.close(master)
    return code, shown.decode()


def progress_is_one_line_that_fits_and_goes_away():
    """
    Progress is a single line, redrawn during a run, never wider than the terminal, and removed before
    the report.
    """
    drawn_over = "\r\033[K"
    with tempfile.TemporaryDirectory() as home:
        with open(f"{home}/fastgate.yml", "w", encoding="utf-8") as file:
            file.write("version: 1\nproject: line\nbenchmarks:\n"
                       "  - { name: größer-und-größer, command: sh -c true }\n"
                       "  - { name: second, command: sh -c true }\n"
                       "measure: { schedule: abba, pairs: { min: 2, max: 2 }, "
                       "sampler: { enabled: false } }\n")
        for columns in (80, 20, 11, 10, 9, 2):
            narrow = {"HOME": home, "COLUMNS": str(columns)}
            code, shown = on_terminal("run", env=narrow, cwd=home)
            check(code == 0 and "\ufffd" not in shown,
                  f"a run on a terminal of {columns} columns: {code} {shown!r}")
            parts = [line.split(drawn_over)[1:] for line in shown.replace("\r\n", "\n").split("\n")]
            lines = [text for part in parts for text in part[:-1]]
            whole = "[1/2] größer-und-größer  set-up".encode()[:columns - 1].decode(errors="ignore")
            check(lines and lines[0] == whole, f"progress on {columns} columns: {lines}")
            check(all(len(text.encode()) < columns for text in lines),
                  f"progress is wider than {columns} columns: {lines}")
            left = [part[-1] for part in parts if part]
            check(not any(text.startswith("[") for text in left),
                  f"progress is left over on {columns} columns: {left}")
            check(drawn_over not in on_terminal("--quiet", "run", env=narrow, cwd=home)[1],
                  "progress in spite of --quiet")
        check(drawn_over not in run("run", env={"HOME": home}, cwd=home).stderr,
              "progress is drawn into a pipe")


with tempfile.TemporaryDirectory() as empty:
    # An invalid call exits with 2, and its message says how to correct it.
    for arguments, part in (
            ([], "no command was given"),
            (["hlep"], "did you mean 'help'?"),
            (["--colour"], "did you mean '--color'?"),
            (["help", "nonsense"], "unknown command 'nonsense'"),
            (["help", "a", "b"], "unexpected argument 'b'"),
            (["config", "--check", "--reference"], "cannot be combined"),
            (["config", "gate.alpha"], "fastgate config --explain gate.alpha"),
            (["config", "--color"], "option --color needs a value"),
            (["config", "--explain", "alpha"], "did you mean 'gate.alpha'?"),
            (["config"], "there is no fastgate.yml in this folder or above it")):
        done = run(*arguments, cwd=empty)
        check(done.returncode == 2 and part in done.stderr and done.stdout == "",
              f"{arguments}: {done.returncode}, {done.stderr}")

    # Global options may stand before or after the command.
    for arguments in (["--quiet", "help"], ["help", "--quiet"], ["-qv", "help"]):
        check(run(*arguments).returncode == 0, f"{arguments} is refused")
    check(run("--version").stdout.startswith("fastgate "), "--version")

    # A command fails if its output cannot be written, and prints one clear line, or none if the
    # reader has closed the pipe.
    with open("/dev/full", "w", encoding="ascii") as full:
        done = run("help", stdout=full)
        check(done.returncode == 6 and "No space left on device" in done.stderr, f"full disk: {done}")
    reader, writer = os.pipe()
    os.close(reader)
    done = run("help", stdout=writer)
    os.close(writer)
    check(done.returncode == 6 and done.stderr == "", f"a reader that left, as head does: {done}")
    done = run("help", stdout=None, preexec_fn=lambda: os.close(1))
    check(done.returncode == 6 and "standard output" in done.stderr, f"closed stdout: {done}")
    # If writing the output fails after another error, the exit code is that of the earlier error.
    with open("/dev/full", "w", encoding="ascii") as full:
        check(run("hlep", stdout=full).returncode == 2, "a usage error stays one")

    # A terminal gets colours and a pipe gets none. CLICOLOR_FORCE forces colours, NO_COLOR overrides it,
    # and --color=always overrides both.
    red = "\033["
    check(red not in run("hlep").stderr, "colours in a pipe")
    check(red in run("hlep", env={"CLICOLOR_FORCE": "1"}).stderr, "CLICOLOR_FORCE")
    check(red not in run("hlep", env={"CLICOLOR_FORCE": "0"}).stderr, "CLICOLOR_FORCE=0")
    check(red not in run("hlep", env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).stderr,
          "NO_COLOR is stronger")
    check(red in run("--color=always", "hlep", env={"NO_COLOR": "1"}).stderr,
          "--color=always is the strongest")
    check(red in on_terminal("hlep")[1], "colours on a terminal")
    check(red not in on_terminal("hlep", env={"NO_COLOR": "1"})[1], "NO_COLOR on a terminal")
    check(red not in on_terminal("hlep", env={"TERM": "dumb"})[1], "a dumb terminal")
    check(red not in on_terminal("--color", "never", "hlep")[1], "--color never")

    # Long text goes through a pager, but only on a terminal.
    pager = os.path.join(empty, "pager")
    with open(pager, "w", encoding="ascii") as script:
        script.write("#!/bin/sh\necho PAGED $1\nexec cat\n")
    os.chmod(pager, 0o755)
    code, shown = on_terminal("help", env={"PAGER": f"{pager} once"}, rows=10)
    check(code == 0 and shown.startswith("PAGED once") and "Setting up" in shown, f"pager: {shown[:80]}")
    check("PAGED" not in on_terminal("help", env={"PAGER": pager}, rows=200)[1],
          "a page that fits needs none")
    check("PAGED" not in on_terminal("help", env={"PAGER": pager, "FASTGATE_PAGER": "cat"}, rows=10)[1],
          "FASTGATE_PAGER")
    check("PAGED" not in run("help", env={"PAGER": pager}).stdout, "a pager in a pipe")
    code, shown = on_terminal("help", env={"PAGER": "/nowhere/pager"}, rows=10)
    check(code == 0 and "Setting up" in shown, "a pager that is not there")
    code, shown = on_terminal("help", env={"PAGER": "true"}, rows=10)
    check(code == 0, "a reader who quits early is not an error")

    # Quoted text in a message does not control the terminal.
    shown = run("no\x1b[2Jsuch\x07\x7fcommand").stderr
    check("no\\x1b[2Jsuch\\x07\\x7fcommand" in shown and "\x1b" not in shown,
          f"a message with control characters: {shown!r}")
    shown = run("show", "--store", "no\n::error::such ##[error]file\u009b", cwd=empty).stderr
    check(len(shown.splitlines()) == 1 and "no\\n::error::such # #[error]file\\xc2\\x9b" in shown,
          f"a message with a line break: {shown!r}")

    # Help keeps to the width in COLUMNS.
    check(max(map(len, run("config", "--help", env={"COLUMNS": "60"}).stdout.splitlines())) <= 66,
          "COLUMNS=60")

    # An unknown domain is reported, and the command continues.
    done = run("help", env={"FASTGATE_DEBUG": "confgi"})
    check(done.returncode == 0 and "unknown domain 'confgi'" in done.stderr, "FASTGATE_DEBUG")

progress_is_one_line_that_fits_and_goes_away()
finish()
