# SPDX-License-Identifier: Apache-2.0
"""A minimal system in its own root, made by debootstrap from the archive that apt uses here."""
import os
import shutil
import subprocess

CLEAN = ["/usr/bin/env", "-i", "HOME=/root", "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
         "DEBIAN_FRONTEND=noninteractive"]
RELEASES = {"debian:12": "bookworm", "ubuntu:24.04": "noble"}


class Skipped(Exception):
    """Raised if a clean root cannot be made on this machine."""


def release_of(image):
    name = image.removesuffix("-slim")
    return RELEASES.get(name, name.split(":")[-1])


def archive_of(release):
    if os.geteuid() != 0:
        raise Skipped("only root can make a root")
    if not shutil.which("debootstrap"):
        raise Skipped("debootstrap is not installed")
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)",
                             "Identifier: Packages"],
                            capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        words = line.split()
        if len(words) == 2 and words[1] == release:
            return words[0]
    raise Skipped(f"apt has no archive of {release}")


def make_root(folder, image):
    release = release_of(image)
    done = subprocess.run(["debootstrap", "--variant=minbase", release, str(folder),
                           archive_of(release)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"debootstrap could not make a root: {done.stdout[-300:]}")
