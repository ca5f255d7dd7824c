# SPDX-License-Identifier: Apache-2.0
"""Lists the files of a checkout for text checks, and prints the checks' findings."""

import pathlib
import subprocess


def files_of(root):
    """The names of tracked and new files below `root`; None outside a git checkout."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"],
                            capture_output=True, check=False)
    if listed.returncode != 0:
        return None
    return [name for name in listed.stdout.decode().split("\0")
            if name and (pathlib.Path(root) / name).is_file()]


def check(root, wanted, problems):
    """
    Prints each (line, reason) that problems(name, text) yields for the wanted files; returns the
    exit code.
    """
    names = files_of(root)
    if names is None:
        print("not a git checkout: skipped")
        return 77
    bad = 0
    for name in filter(wanted, names):
        for number, why in problems(name, (pathlib.Path(root) / name).read_text(errors="replace")):
            print(f"{name}:{number}: {why}")
            bad = 1
    return bad
