# SPDX-License-Identifier: Apache-2.0
"""The interpreters on this machine whose frames are read."""
import os
import shutil

from checks import call

KNOWN = ("11", "12", "13")


def is_known(program):
    """The path of this interpreter's file and its version, "3.11"; None: its frames are not read."""
    told = call(program, "-c", "import ctypes, sys; print(sys.executable, sys.implementation.name, *sys.version_info[:2])").stdout.split()
    if len(told) == 4 and told[1:3] == ["cpython", "3"] and told[3] in KNOWN:
        return os.path.realpath(told[0]), f"3.{told[3]}"
    return None


def interpreters():
    """{path: version}, one a version and a place: the system's, those on the path, and those of FASTGATE_TEST_PYTHONS (paths between colons)."""
    names = ["/usr/bin/python3", "python3", "python3.11", "python3.12", "python3.13"] + os.environ.get("FASTGATE_TEST_PYTHONS", "").split(":")
    return dict(filter(None, (is_known(name) for name in filter(shutil.which, filter(None, names)))))
