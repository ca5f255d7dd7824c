# SPDX-License-Identifier: Apache-2.0
"""Tests of recordings that are made once, in an empty home."""
import os
import tempfile
import unittest
from pathlib import Path

from checks import call


class InOneHome(unittest.TestCase):
    fastgate = None  # the program

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = Path(folder.name)
        cls.environment = dict(os.environ, HOME=folder.name, NO_COLOR="1")
        for name in ("COLUMNS", "XDG_CACHE_HOME"):
            cls.environment.pop(name, None)

    @classmethod
    def run_here(cls, *words, env=None):
        return call(cls.fastgate, *map(str, words), cwd=cls.home, errors="surrogateescape",
                    env={**cls.environment, **(env or {})})
