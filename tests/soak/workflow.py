#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
workflow.py [JOB...]: runs .github/workflows/ci.yml as after a push to main, without a forge. Each job,
in each column of its matrix, gets a minimal system made by debootstrap and a clone of the last
commit; its shell steps run there one after the other. A job for one of the forge's machines gets
this machine's distribution. Needs root. Skips and names a distribution that apt does not know. It
does not run the forge's actions: a checkout is a clone, nothing is cached, and artifacts must only
exist.
"""
import itertools
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/support"))
from clean_root import CLEAN, Skipped, make_root  # noqa: E402

LOGS = ROOT / "build" / "soak"
WORKSPACE = "/project"
OWN_IMAGE = "debian:12"
PUSH = {"github.event_name == 'pull_request' && 'merge-base' || 'HEAD~1'": "HEAD~1",
        "github.sha": "HEAD"}
# Mounts the file systems of a root; they disappear with the process that created the namespace.
ENTER = """mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" &&
mount -t sysfs sysfs "$0/sys" && mount -t tmpfs tmpfs "$0/tmp" &&
exec chroot "$0" "$@"
"""


class Failed(Exception):
    pass


def columns(job):
    """The values of `matrix` in each column."""
    matrix = job.get("strategy", {}).get("matrix", {})
    return [dict(zip(matrix, values)) for values in itertools.product(*matrix.values())]


class Job:
    def __init__(self, name, job, column, template, folder):
        self.job, self.column = job, column
        self.name = " ".join([name, *column.values()])
        self.in_container = "container" in job
        self.image = self.fill(job["container"]["image"]) if self.in_container else OWN_IMAGE
        self.template, self.root = template, folder / re.sub(r"\W+", "-", self.name)
        self.log = LOGS / f"workflow-{self.root.name}.log"

    def fill(self, text):
        def value(match):
            words = match[1].strip()
            if words.startswith("matrix."):
                return self.column[words.removeprefix("matrix.")]
            if words not in PUSH:
                raise Failed(f"{self.name}: an expression that is not known here: {words}")
            return PUSH[words]
        return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))

    def shell(self, script, log):
        """
        Runs a step as the forge does: with bash on its machines, with sh in a container; both stop
        at the first command that fails.
        """
        words = CLEAN + ["CI=true", "GITHUB_ACTIONS=true", f"GITHUB_WORKSPACE={WORKSPACE}"]
        kind = "sh -e" if self.in_container else "bash -eo pipefail"
        inside = f"cd {WORKSPACE} && exec {kind} -c {shlex.quote(script)}"
        process = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh",
                                    "-c", ENTER, str(self.root), *words, "sh", "-c", inside],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            return process.wait(timeout=60 * self.job.get("timeout-minutes", 360))
        except subprocess.TimeoutExpired:
            raise Failed(
                f"{self.name}: not done within its {self.job['timeout-minutes']} minutes") from None
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def step(self, step, log):
        if "run" in step:
            script = self.fill(step["run"])
            log.write(f"== {script}\n".encode())
            log.flush()
            if self.shell(script, log):
                raise Failed(f"{self.name}: failed: {script}; see {self.log.relative_to(ROOT)}")
        elif step["uses"].startswith("actions/checkout@"):
            shutil.rmtree(self.root / WORKSPACE.lstrip("/"), ignore_errors=True)
            subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT),
                            str(self.root / WORKSPACE.lstrip("/"))], check=True)
        elif step["uses"].startswith("actions/upload-artifact@"):
            for path in str(step["with"]["path"]).split():
                made = self.root / WORKSPACE.lstrip("/") / path
                if step.get("if") == "always()" and not made.exists():
                    raise Failed(f"{self.name}: there is no {path} to keep")
        elif not step["uses"].startswith("actions/cache@"):
            raise Failed(f"{self.name}: uses {step['uses']}, which cannot be played")

    def play(self):
        subprocess.run(["cp", "-a", str(self.template.of(self.image)), str(self.root)], check=True)
        (self.root / WORKSPACE.lstrip("/")).mkdir()
        if not self.in_container:  # the forge's machines have git
            for file in (pathlib.Path.home() / ".npmrc", pathlib.Path("/etc/npmrc")):
                if file.exists():
                    shutil.copy(file, self.root / str(file).lstrip("/"))
        with open(self.log, "wb") as log:
            if not self.in_container:
                self.shell("apt-get update -q && apt-get install -y -q --no-install-recommends "
                           "ca-certificates git", log)
            for step in self.job["steps"]:
                if step.get("if") != "failure()":
                    self.step(step, log)


class Templates:
    """One root per image, copied for each job."""

    def __init__(self, folder):
        self.folder, self.made = folder, {}

    def of(self, image):
        if image not in self.made:
            path = self.folder / ("of-" + re.sub(r"\W+", "-", image))
            make_root(path, image)
            self.made[image] = path
        return self.made[image]


def main():
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    wanted = sys.argv[1:] or list(workflow["jobs"])
    unknown = [name for name in wanted if name not in workflow["jobs"]]
    if unknown:
        sys.exit(f"ci.yml has no job '{unknown[0]}'; it has {', '.join(workflow['jobs'])}")
    LOGS.mkdir(parents=True, exist_ok=True)
    played = skipped = failed = 0
    with tempfile.TemporaryDirectory(prefix="fastgate-workflow-") as name:
        templates = Templates(pathlib.Path(name))
        for job_name in wanted:
            job = workflow["jobs"][job_name]
            for column in columns(job):
                one = Job(job_name, job, column, templates, pathlib.Path(name))
                started = time.monotonic()
                try:
                    one.play()
                    played += 1
                    said = "passed"
                except Skipped as reason:
                    skipped += 1
                    said = f"skipped: {reason}"
                except Failed as reason:
                    failed += 1
                    said = str(reason)
                print(f"{one.name}, in {one.image}: {said} ({time.monotonic() - started:.0f} s)",
                      flush=True)
                shutil.rmtree(one.root, ignore_errors=True)
    print(f"jobs of ci.yml: {played} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 77 if not played else 0


if __name__ == "__main__":
    # exit normally on SIGTERM, so that the clean-up ends every child process
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    os.environ["LC_ALL"] = "C"
    sys.exit(main())
