#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""post.py FASTGATE ROOT: `fastgate run` in the environment of a pull request, with a stand-in of the API that keeps comments."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

fastgate, root = sys.argv[1], pathlib.Path(sys.argv[2])
CONFIG = """version: 1
benchmarks:
  - {{ name: nothing, command: /bin/true }}
measure: {{ sampler: {{ enabled: false }} }}
report:
  post: [ {{ github: pull-request-comment, required: {required} }} ]
"""


def fail(what, run):
    sys.exit(f"FAILED: {what}: exit code {run.returncode}\n{run.stdout}\n{run.stderr}")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    project = folder / "project"
    project.mkdir()
    environment = {
        "PATH": os.environ["PATH"], "HOME": name, "XDG_CACHE_HOME": str(folder / "cache"),
        "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/demo", "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_TOKEN": "not-so-secret", "GIT_CONFIG_NOSYSTEM": "1",
    }

    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments], cwd=project,
                       env=environment, check=True, stdout=subprocess.DEVNULL)

    def run(required, *arguments):
        (project / "fastgate.yml").write_text(CONFIG.format(required=required))
        done = subprocess.run([fastgate, "run", "--against", "HEAD", "--verbose", *arguments], cwd=project, env=environment,
                              capture_output=True, text=True, check=False, timeout=120)
        if "not-so-secret" in done.stdout + done.stderr:
            fail("the token was printed", done)
        return done

    def ours():
        thread = json.loads((folder / "comments.json").read_text())
        return [c["body"] for c in thread if c["body"].startswith("<!-- fastgate:")]

    with subprocess.Popen([sys.executable, root / "tests/support/api_stand_in.py", name], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as stand_in:
        stand_in.stdout.readline()
        environment["GITHUB_API_URL"] = (folder / "url").read_text()
        (project / "fastgate.yml").write_text(CONFIG.format(required="false"))
        git("init", "-q", ".")
        git("add", "fastgate.yml")
        git("commit", "-q", "-m", "One benchmark")

        done = run("false", "--no-post")
        if done.returncode != 0 or (folder / "comments.json").exists():
            fail("--no-post posted", done)
        done = run("false")
        if done.returncode != 0 or "wrote a comment" not in done.stderr or len(ours()) != 1:
            fail("the first run writes a comment behind 130 others", done)
        first = ours()[0]
        (folder / "mode").write_text("flaky")
        done = run("true")
        if done.returncode != 0 or "updated the comment" not in done.stderr or len(ours()) != 1 or ours()[0] == first:
            fail("the second run rewrites it, although the first request fails", done)
        (folder / "mode").write_text("403")
        done = run("false")
        if done.returncode != 0 or "warning: not posted to github" not in done.stderr or "forks" not in done.stderr:
            fail("a read-only token is a warning", done)
        done = run("true")
        if done.returncode != 5:
            fail("where the comment is required it is exit code 5", done)
        stand_in.stdin.close()
