# SPDX-License-Identifier: Apache-2.0
"""
Shared by the tests of `fastgate init`: small projects in separate folders, and the file that `init`
wrote.
"""
import json
import os
import re
import sys
import tempfile

from checks import call, check, git, target, write

fastgate = sys.argv[1]
MAIN = target("init/loop.c")


def must(*arguments):
    done = call(*arguments)
    if done.returncode != 0:
        print(done.stdout, done.stderr)
        sys.exit(f"{arguments}: {done.returncode}")
    return done


def commit():
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "--allow-empty", "-m", "x")


def measures_nothing(text):
    return "\nbenchmarks:\n" in text and "\n  - " not in text


def indent(line):
    return len(line) - len(line.lstrip(" "))


def end_of_example(lines, begin):
    def depth(at):
        return indent(lines[at].replace("# ", "", 1))

    end = begin + 1
    while end < len(lines) and lines[end].lstrip().startswith("# ") and depth(end) > depth(begin):
        end += 1
    return end


def with_examples(text):
    """
    Yields the file with one example uncommented at a time. If the file has no benchmark, its first
    example benchmark is uncommented each time.
    """
    lines = text.splitlines()

    def uncommented(begin):
        end = end_of_example(lines, begin)
        return lines[:begin] + [line.replace("# ", "", 1) for line in lines[begin:end]] + lines[end:]

    if measures_nothing(text):
        lines = uncommented(next(i for i, line in enumerate(lines) if line.startswith("  # - name: ")))
        yield "\n".join(lines) + "\n"
    at = 0
    while at < len(lines):
        is_example = re.match(r" *# +(- )?[a-z_]+:( |$)", lines[at])
        if is_example:
            yield "\n".join(uncommented(at)) + "\n"
        at = end_of_example(lines, at) if is_example else at + 1


def every_example_can_be_uncommented(text):
    for number, example in enumerate(with_examples(text)):
        write("example.yml", example)
        done = call(fastgate, "config", "--check", "--config", "example.yml")
        check(done.returncode == 0, f"example {number}: {done.stderr}{example}")
        os.remove("example.yml")
    check(number > 4, f"few examples: {text}")


def init(*options):
    done = call(fastgate, "init", *options)
    check(done.returncode == 0, f"init: {done.returncode} {done.stderr}")
    checked = call(fastgate, "config", "--check")
    with open("fastgate.yml", encoding="utf-8") as file:
        text = file.read()
    if measures_nothing(text):
        check("benchmarks: found nothing, expected a list" in checked.stderr,
              f"nothing to measure is fine: {checked}")
    else:
        check(checked.returncode == 0, f"the file is not right: {checked.stderr}")
    every_example_can_be_uncommented(text)
    return done.stderr, text


def runs(*names, only=None):
    """Checks that the file runs as init wrote it: it builds, and every benchmark in it is measured."""
    done = call(fastgate, "run", *([only] if only else []), "--pairs", "2:2",
                "--set", "measure.warmup=0", "--set", "measure.schedule=abba",
                "--set", "report.json=result.json")
    check(done.returncode == 0,
          f"what init wrote does not run: {done.returncode} {done.stdout}{done.stderr}")
    if done.returncode == 0:
        with open("result.json", encoding="utf-8") as file:
            found = [benchmark["name"] for benchmark in json.load(file)["benchmarks"]]
        check(found == list(names), f"measured were {found}, expected {names}")


def entries(text):
    """The text without the lines that depend on the speed of this machine."""
    return re.sub(r"    # This program is too short .*\n", "", text)


def in_folder(test):
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            test()
        finally:
            os.chdir(before)
