# SPDX-License-Identifier: Apache-2.0
"""The Python interpreters on this machine that fastgate can read frames of."""
import os
import shutil

from checks import call

KNOWN = ("11", "12", "13")


def is_known(program):
    """The path and version ("3.11") of this interpreter; None: fastgate cannot read its frames."""
    told = call(program, "-c", "import ctypes, sys\n"
                "print(sys.executable, sys.implementation.name, *sys.version_info[:2])").stdout.split()
    if len(told) == 4 and told[1:3] == ["cpython", "3"] and told[3] in KNOWN:
        return os.path.realpath(told[0]), f"3.{told[3]}"
    return None


def interpreters():
    """
    {path: version} of the system's interpreters, those on the path, and those of
    FASTGATE_TEST_PYTHONS (paths between colons).
    """
    names = ["/usr/bin/python3", "python3", "python3.11", "python3.12", "python3.13",
             *os.environ.get("FASTGATE_TEST_PYTHONS", "").split(":")]
    return dict(filter(None, (is_known(name) for name in filter(shutil.which, filter(None, names)))))
