# SPDX-License-Identifier: Apache-2.0
"""
Shared by the tests of `fastgate record`: the programs named on the command line, and a recording
read as a profile.

usage of each test: TEST.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER
"""
import json
import os
import shutil
import subprocess
import sys

from checks import call, check, target, write

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
COMPILER = sys.argv[4]
ANOTHER = 65534
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR


def built_target(name):
    return f"{TARGETS}/{name}"


# Options that set the rate, or that make one unnecessary.
ABOUT_RATES = {"--rate", "--budget", "--clock"}
A_RATE = ("--rate", "1000")


def record(*words, **more):
    """
    Records at a fixed rate, unless the options concern rates: by default the rate adapts to the
    cost of samples.
    """
    own = words[:words.index("--")] if "--" in words else words
    return call(FASTGATE, "record", *(() if ABOUT_RATES & set(own) else A_RATE), *words, **more)


def profile(folder="fastgate-record"):
    return json.loads(subprocess.run([FASTGATE, "--quiet", "export", "-F", "json", folder],
                                     stdout=subprocess.PIPE, check=True).stdout)


def recorded(*words, code=0, **more):
    """Records, and returns the profile."""
    done = record(*words, **more)
    check(done.returncode == code,
          f"{words}: {done.returncode} where {code} was expected\n{done.stderr}")
    return profile()


def weight_ns(document, name):
    """Time of the samples that have this function on their stack."""
    stacks, frames, functions = document["stacks"], document["frames"], document["functions"]

    def names(stack):
        while stack:
            yield functions[frames[stacks["frame"][stack]]["function"]]["name"]
            stack = stacks["parent"][stack]

    return sum(sample["value"] for sample in document["samples"] if name in names(sample["stack"]))


def compiled(name, source, *options, language="c"):
    """Compiles this text; returns the words that run the program."""
    subprocess.run([COMPILER, "-x", language, "-", "-x", "none", "-o", name, *options],
                   input=source, text=True, check=True)
    return f"./{name}"


def drop_rights():
    os.setgroups([])
    os.setgid(ANOTHER)
    os.setuid(ANOTHER)


def another_user_can_work():
    os.chmod(".", 0o777)
    try:
        tried = subprocess.run([FASTGATE, "--version"],
                               preexec_fn=drop_rights, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("left out, another user cannot reach the programs here")
        return False
    if tried.stderr:
        print("left out, this build complains that another user cannot write its counts")
    return not tried.stderr


def compile_program(name, *flags, compiler=COMPILER):
    if not shutil.which(compiler):
        return False
    write("touch.c", target("touching.c"))
    return subprocess.run([compiler, *flags, "touch.c", "-o", name],
                          capture_output=True, check=False).returncode == 0
