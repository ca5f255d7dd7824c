# SPDX-License-Identifier: Apache-2.0
"""
What the scripted tests share: claims that are gathered, so that one run shows every one that does not hold, and an empty folder
to work in.
"""
import os
import shutil
import sys
import tempfile

failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def finish():
    """End the test: what did not hold is printed, and makes the exit code 1."""
    print("\n".join(failures))
    sys.exit(1 if failures else 0)


def finish_in_scratch(body):
    """Call body() in an empty folder that is gone afterwards, and end the test."""
    work = tempfile.mkdtemp(prefix="fastgate-test-")
    try:
        os.chdir(work)
        body()
    finally:
        os.chdir("/")
        for folder, _, _ in os.walk(work):
            os.chmod(folder, 0o700)
        shutil.rmtree(work)
    finish()
