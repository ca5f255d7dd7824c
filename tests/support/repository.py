# SPDX-License-Identifier: Apache-2.0
"""A git repository isolated from the user's and the machine's git configuration."""
import os
import pathlib
import subprocess

from checks import HUNG_S, check


class Repository:
    def __init__(self, name):
        self.folder = pathlib.Path(name).absolute()
        self.folder.mkdir(parents=True)
        home = str(self.folder.parent)
        self.environment = {**os.environ, "HOME": home, "XDG_CACHE_HOME": f"{home}/cache",
                            "GIT_CEILING_DIRECTORIES": home, "GIT_CONFIG_NOSYSTEM": "1",
                            "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_COUNT": "1",
                            "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always"}
        for who in ("AUTHOR", "COMMITTER"):
            self.environment |= {f"GIT_{who}_NAME": "Ann Example", f"GIT_{who}_EMAIL": "a@localhost"}
        self.hashes = []

    def call(self, *words, must=False):
        return subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True,
                              text=True, timeout=HUNG_S, check=must)

    def git(self, *words):
        return self.call("git", *words, must=True).stdout.strip()

    def commit(self, subject, *files):
        self.git("add", *(files or ["."]))
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        self.hashes.append(self.git("rev-parse", "HEAD"))

    def run(self, code, *words):
        """Runs a program that must exit with this code."""
        done = self.call(*words)
        check(done.returncode == code,
              f"{self.folder.name}: {' '.join(words[1:])}: {done.returncode}, not {code}: "
              f"{done.stdout}{done.stderr}")
        return done
