#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
planted.py FASTGATE MAKE_STORE: fastgate follows no link of another user in a folder like /tmp, and only
the owner may write its files. Only root can create another user's links; for other users the test is
skipped.
"""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

from checks import call, check, finish

FASTGATE, MAKE_STORE = (os.path.abspath(path) for path in sys.argv[1:3])
ANOTHER = 65534
CONFIG = ("version: 1\nproject: tracker\nbenchmarks:\n  - { name: quick, command: 'true' }\n"
          "measure: { pairs: { min: 2, max: 2 }, sampler: { enabled: false } }\n")


def run(*words):
    done = call(FASTGATE, *words)
    return done.returncode, done.stderr


def plant(shared, name, target):
    path = os.path.join(shared, name)
    os.symlink(target, path)
    os.lchown(path, ANOTHER, ANOTHER)
    return path


def refuses(what, victim, before, *words):
    code, err = run(*words)
    # If the kernel guards shared folders (fs.protected_symlinks), the error comes from the kernel.
    check(code == 6 and ("link" in err or "Permission denied" in err), f"{what}: {code} {err!r}")
    after = open(victim, encoding="ascii").read() if os.path.exists(victim) else None
    check(after == before, f"{what}: the victim was changed to {after!r}")


def planted_links_are_refused(shared, mine):
    kept = os.path.join(mine, "kept")
    with open(kept, "w", encoding="ascii") as file:
        file.write("mine\n")
    absent = os.path.join(mine, "absent")
    for victim, before in ((kept, "mine\n"), (absent, None)):
        for number, words in enumerate((("report", "-o"), ("export", "--bench", "sort", "-o"))):
            link = plant(shared, f"{os.path.basename(victim)}{number}", victim)
            refuses(f"{words[0]} to a planted link", victim, before, *words, link)
    refuses("a store behind a planted link", absent, None, "run",
            "--set", f"store.path={plant(shared, 'store.db', absent)}")
    folder = os.path.join(mine, "folder")
    os.mkdir(folder)
    trace = os.path.join(folder, "1.0.fgtrace")
    with open(trace, "w", encoding="ascii") as file:
        file.write("mine\n")
    refuses("a recording into a planted folder", trace, "mine\n", "record", "-o",
            plant(shared, "folder", folder), "--", "true")


def links_of_the_user_are_followed(shared, mine):
    """A user's own link is followed."""
    target = os.path.join(mine, "target.html")
    with open(target, "w", encoding="ascii") as file:
        file.write("old\n")
    link = os.path.join(shared, "own.html")
    os.symlink(target, link)
    code, err = run("report", "-o", link)
    check(code == 0 and os.path.islink(link), f"report to one's own link: {code} {err!r}")


def only_the_owner_may_write(mine):
    """Only the owner may write fastgate's files; private ones are readable only by the owner."""
    os.umask(0)
    code, err = run("record", "-o", os.path.join(mine, "recorded"), "--", "true")
    check(code == 0, f"record: {code} {err!r}")
    code, err = run("run", "--set", "perfdb.url=http://127.0.0.1:1")
    check(code == 0, f"run: {code} {err!r}")
    private = 0
    for folder, folders, files in os.walk(mine):
        for name in folders + files:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode) or name in ("kept", "folder", "1.0.fgtrace"):
                continue
            check(not mode & 0o022, f"{path} may be written by others: {stat.filemode(mode)}")
            if name.endswith((".fgtrace", ".fgrun")) or name == "spool":
                private += 1
                check(not mode & 0o077, f"{path} may be read by others: {stat.filemode(mode)}")
    check(private >= 3, f"only {private} private files were found")


def main():
    if os.geteuid() != 0:
        print("links of another user can be made only by root")
        return 77
    shared = tempfile.mkdtemp(prefix="fastgate-shared-")
    mine = tempfile.mkdtemp(prefix="fastgate-mine-")
    try:
        os.chmod(shared, 0o1777)
        os.chdir(mine)
        os.environ.update(HOME=mine, XDG_CACHE_HOME=os.path.join(mine, "cache"))
        os.mkdir(".fastgate", 0o755)
        with open("fastgate.yml", "w", encoding="ascii") as file:
            file.write(CONFIG)
        subprocess.run([MAKE_STORE, ".fastgate/store.db"], check=True)
        planted_links_are_refused(shared, mine)
        links_of_the_user_are_followed(shared, mine)
        only_the_owner_may_write(mine)
    finally:
        os.chdir("/")
        shutil.rmtree(shared)
        shutil.rmtree(mine)
    finish()


main()
