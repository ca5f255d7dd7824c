#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
action.py FASTGATE ROOT: runs action.yml as GitHub does. It reads the steps from the file, fills in the
expressions, executes the shell steps with the environment of a job, and replaces the two actions (cache,
artifact) by copying. A stand-in on loopback serves the API. The jobs are a pull request, a fork's pull
request with a read-only token, pushes to main, and a shallow clone.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from checks import HUNG_S, target

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)

fastgate, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
action = yaml.safe_load((root / "action.yml").read_text())
TOKEN = "not-so-secret"
CONFIG = """version: 1
project: demo
build: { command: make -s }
benchmarks:
  - { name: loop, command: ./loop }
gate: { alpha: 0.05 }
measure: { schedule: abba, pairs: { min: 12, max: 12 }, layouts: never, sampler: { rate: 1000 } }
report:
  post: [ { github: pull-request-comment }, { github: commit-status } ]
"""


def fail(what, *more):
    sys.exit("\n".join([f"FAILED: {what}", *map(str, more)]))


class Job:
    """One job of a workflow: a checkout, an event, and the action as its step."""

    def __init__(self, home, checkout, name, event, **variables):
        self.temp, self.checkout = home / "temp", checkout
        shutil.rmtree(self.temp, ignore_errors=True)
        self.temp.mkdir()
        self.cached, self.status, self.said = (checkout, home), 0, ""
        self.files = {kind: self.temp / kind
                      for kind in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")}
        (self.temp / "event.json").write_text(json.dumps(event))
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": str(root), "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(self.temp / "event.json"), "GITHUB_REPOSITORY": "acme/demo",
            "GITHUB_RUN_ID": "77",
            "GITHUB_SERVER_URL": "https://github.example", "GITHUB_WORKSPACE": str(checkout),
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_API_URL": (home / "url").read_text(),
            **{kind: str(path) for kind, path in self.files.items()}, **variables,
        }
        self.values = {"github.token": TOKEN, "runner.temp": str(self.temp), "github.run_id": "77",
                       "github.ref_name": name, "github.event.repository.default_branch": "main",
                       "github.server_url": f"file://{home}",
                       "github.action_repository": "acme/fastgate", "github.action_ref": ""}

    def fill(self, text):
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", lambda match: self.values[match[1]], str(text))

    def is_wanted(self, condition, failed):
        """Evaluates a condition, in the three forms that occur in action.yml."""
        wanted = not failed
        for part in (condition or "").split(" && "):
            equal = re.fullmatch(r"([\w.-]+) (==|!=) ''", part)
            if part == "always()":
                wanted = True
            elif equal:
                wanted = wanted and (self.values.get(equal[1], "") == "") == (equal[2] == "==")
            elif part:
                fail(f"action.yml has a condition that this test does not know: {part}")
        return wanted

    def play(self, step, saved, uploads):
        with_ = {name: self.fill(value) for name, value in step.get("with", {}).items()}
        if "run" in step:
            environment = self.environment | {name: self.fill(value)
                                              for name, value in step.get("env", {}).items()}
            folder = self.checkout / self.fill(step.get("working-directory", "."))
            return subprocess.run(["sh", "-e", "-c", self.fill(step["run"])], cwd=folder,
                                  env=environment, text=True, capture_output=True, check=False,
                                  timeout=HUNG_S)
        if step["uses"].startswith("actions/cache@"):
            self.cached = (self.checkout / with_["path"], saved)
            if saved.exists():
                self.cached[0].parent.mkdir(exist_ok=True)
                shutil.copy(saved, self.cached[0])
        elif step["uses"].startswith("actions/upload-artifact@"):
            shutil.copytree(with_["path"], uploads, dirs_exist_ok=True)
        else:
            fail(f"action.yml uses {step['uses']}, which this test cannot play")
        return None

    def outputs_of(self, step):
        file = self.files["GITHUB_OUTPUT"]
        lines = file.read_text().splitlines() if "id" in step and file.exists() else []
        file.write_text("")
        return {f"steps.{step['id']}.outputs.{name}": value
                for name, _, value in (line.partition("=") for line in lines)}

    def run(self, saved, uploads, **inputs):
        given = {"fastgate": str(fastgate)} | inputs
        for name, about in action["inputs"].items():
            self.values[f"inputs.{name}"] = given.pop(name, self.fill(about.get("default", "")))
        if given:
            fail(f"action.yml has no input {given}")
        shutil.rmtree(uploads, ignore_errors=True)
        failed = False
        for step in action["runs"]["steps"]:
            done = self.play(step, saved, uploads) if self.is_wanted(step.get("if"), failed) else None
            if done:
                self.said += done.stdout + done.stderr
                self.status = self.status or done.returncode
                failed = failed or done.returncode != 0
                self.values.update(self.outputs_of(step))
        if self.cached[0].is_file():
            shutil.copy(self.cached[0], saved)
        if TOKEN in self.said or any(TOKEN in path.read_text()
                                     for path in self.files.values() if path.exists()):
            fail("the token was printed", self.said)
        return {name: self.fill(about["value"]) for name, about in action["outputs"].items()}


def expect(job, outputs, verdict, status, *said):
    if outputs["verdict"] != verdict or outputs["exit-code"] != str(status) or job.status != status:
        fail(f"expected {verdict}, {status}; found {outputs}, {job.status}", job.said)
    for words in said:
        if words not in job.said:
            fail(f"'{words}' was not said", job.said)
    if "fastgate" not in job.files["GITHUB_STEP_SUMMARY"].read_text():
        fail("the step summary is empty", job.said)


with tempfile.TemporaryDirectory() as name:
    home = pathlib.Path(name)
    origin, checkout = home / "origin", home / "checkout"
    cache, artifact = home / "cached.db", home / "artifact"
    git_environment = {"PATH": os.environ["PATH"], "HOME": name, "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        git_environment[f"GIT_{who}_NAME"], git_environment[f"GIT_{who}_EMAIL"] = "t", "t@example.org"

    def git(folder, *arguments):
        return subprocess.run(["git", *arguments], cwd=folder, env=git_environment, check=True,
                              text=True, capture_output=True).stdout.strip()

    def commit(branch, message, **files):
        for file, text in files.items():
            (origin / file.replace("_", ".")).write_text(text)
        git(origin, "add", ".")
        git(origin, "commit", "-q", "-m", message)
        return git(origin, "rev-parse", branch)

    def clone(branch, *arguments):
        shutil.rmtree(checkout, ignore_errors=True)
        git(home, "clone", "-q", "--branch", branch, *arguments, f"file://{origin}", str(checkout))
        git(checkout, "checkout", "-q", "--detach")

    def comments():
        thread = home / "comments.json"
        found = json.loads(thread.read_text()) if thread.exists() else []
        return [comment["body"]
                for comment in found if comment["body"].startswith("<!-- fastgate:demo -->")]

    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    (origin / ".gitignore").write_text("loop\n.fastgate/\n")
    first = commit("main", "A loop", loop_c=target("loop.c", ROUNDS=3000000), fastgate_yml=CONFIG,
                   Makefile="loop: loop.c\n\t$(CC) -g -O1 -ffile-prefix-map=$(CURDIR)=. -o $@ $<\n")
    git(origin, "checkout", "-q", "-b", "topic")
    topic = commit("topic", "Do it more often", loop_c=target("loop.c", ROUNDS=30000000))
    git(origin, "checkout", "-q", "main")

    with subprocess.Popen([sys.executable, root / "tests/support/api_stand_in.py", name],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stand_in:
        stand_in.stdout.readline()

        # A push to main is recorded for the trend, in a store that the cache carries from job to
        # job.
        for number in (1, 2):
            clone("main")
            job = Job(home, checkout, "push", {}, GITHUB_REF="refs/heads/main", GITHUB_SHA=first)
            expect(job, job.run(cache, artifact), "new", 0)
            trend = subprocess.run([fastgate, "history", "loop", "--json"], cwd=checkout,
                                   env=job.environment, text=True, capture_output=True,
                                   check=True).stdout
            if trend.count('"run":') != number:
                fail(f"after push {number} the trend has other runs", trend)
        if comments():
            fail("a push was commented", comments())

        # A slower pull request fails, and gets the comment, the status, the annotation and the reports.
        event = {"pull_request": {"number": 7, "head": {"sha": topic}}}
        pull = {"GITHUB_REF": "refs/pull/7/merge", "GITHUB_SHA": "f" * 40, "GITHUB_BASE_REF": "main",
                "GITHUB_HEAD_REF": "topic"}
        clone("topic", "--depth=1")
        job = Job(home, checkout, "pull_request", event, **pull)
        expect(job, job.run(cache, artifact), "regression", 1, "fetching the rest of the shallow clone",
               "::error file=loop.c,line=")
        if len(comments()) != 1 or "regression" not in comments()[0]:
            fail("the pull request has not the one comment", comments())
        statuses = json.loads((home / "statuses.json").read_text())
        if statuses[topic]["state"] != "failure" or statuses[topic]["context"] != "fastgate/demo":
            fail("the commit has no status", statuses)
        for report in ("fastgate.json", "fastgate.xml", "fastgate.html", "fastgate.md"):
            if not (artifact / report).stat().st_size:
                fail(f"the artifact has no {report}")

        # A fork's token is read-only: nothing is posted, and the gate's exit code stays the same.
        (home / "mode").write_text("403")
        before = comments()
        git(origin, "checkout", "-q", "-b", "harmless")
        harmless = commit("harmless", "Say more", README="A loop.\n")
        clone("harmless")
        job = Job(home, checkout, "pull_request",
                  {"pull_request": {"number": 7, "head": {"sha": harmless}}}, **pull)
        expect(job, job.run(cache, artifact, against="origin/main", benchmarks="loop"), "pass", 0,
               "not posted to github", "forks")
        if comments() != before:
            fail("something was posted with a token that may only read")

        (home / "mode").write_text("")

        # A prebuilt archive is used instead of building, and only with the hash that was given.
        version = re.search(r"project\(fastgate VERSION ([0-9.]+)",
                            (root / "CMakeLists.txt").read_text())[1]
        package = home / "package" / "fastgate" / "bin"
        package.mkdir(parents=True)
        (package / "fastgate").write_text('#!/bin/sh\necho "from the archive" >&2\n'
                                          f'exec {fastgate} "$@"\n')
        (package / "fastgate").chmod(0o755)
        release = home / "acme/fastgate/releases/download" / f"v{version}"
        release.mkdir(parents=True)
        archive = release / f"fastgate-{version}-linux-{os.uname().machine}.tar.zst"
        subprocess.run(["tar", "--zstd", "-cf", archive, "-C", home / "package", "fastgate"], check=True)
        digest = hashlib.sha256(archive.read_bytes()).hexdigest()
        clone("main")
        job = Job(home, checkout, "push", {}, GITHUB_REF="refs/heads/main", GITHUB_SHA=first)
        outputs = job.run(cache, artifact, fastgate="", archive=str(archive),
                          **{"archive-sha256": digest})
        if job.status != 0 or "from the archive" not in job.said:
            fail("the archive", outputs, job.said)
        for wrong in ("0" * 64, ""):
            job = Job(home, checkout, "push", {}, GITHUB_REF="refs/heads/main", GITHUB_SHA=first)
            for name in action["outputs"]:
                job.values[f"steps.gate.outputs.{name}"] = ""
            job.run(cache, artifact, fastgate="", archive=str(archive), artifact="",
                    **{"archive-sha256": wrong})
            if job.status != 2 or "from the archive" in job.said:
                fail("an archive of another hash was run", job.said)

        # By default, the action uses the archive of its release, or builds its sources if the release
        # has no archive.
        copied = home / "action"
        copied.mkdir()
        for name in ("CMakeLists.txt", "install.sh", "scripts"):
            (copied / name).symlink_to(root / name)
        (copied / "dev").write_text(f"#!/bin/sh\ncd {copied} && mkdir -p build/product/cli && ln -sf "
                                    f"{fastgate} build/product/cli/fastgate\n")
        (copied / "dev").chmod(0o755)
        for ref, name, wanted in (("v1", archive.name, True), ("main", archive.name, False),
                                  ("v1", archive.name.replace(os.uname().machine, "pdp11"), False)):
            (release / "SHA256SUMS").write_text(f"{digest}  {name}\n")
            job = Job(home, checkout, "push", {}, GITHUB_REF="refs/heads/main", GITHUB_SHA=first,
                      GITHUB_ACTION_PATH=str(copied))
            job.values["github.action_ref"] = ref
            job.run(cache, artifact, fastgate="")
            archived, built = "from the archive" in job.said, "takes minutes" in job.said
            if job.status != 0 or archived != wanted or built == wanted:
                fail(f"an action of {ref} with {name}", job.said)

        # A failed measurement still has outputs.
        job = Job(home, checkout, "pull_request", event, **pull)
        outputs = job.run(cache, artifact, against="no-such-ref", artifact="")
        if job.status != 2 or outputs["verdict"] != "error" or artifact.exists():
            fail("a ref that is not there", outputs, job.said)
        stand_in.stdin.close()
