#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
post.py FASTGATE ROOT: `fastgate run` in the environment of a pull request, with a stand-in for the
API that keeps comments.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import checks
from receiver import Receiver

fastgate, root = sys.argv[1], pathlib.Path(sys.argv[2])
# Only posting is tested here: the program takes less than a millisecond, and alpha is so small that
# chance never yields a regression.
CONFIG = """version: 1
benchmarks:
  - {{ name: nothing, command: /bin/true }}
measure: {{ pairs: {{ min: 6, max: 6 }}, sampler: {{ enabled: false }} }}
gate: {{ alpha: 1e-9 }}
report:
  post: [ {{ github: pull-request-comment, required: {required} }} ]
"""


def fail(what, run):
    sys.exit(f"FAILED: {what}: exit code {run.returncode}\n{run.stdout}\n{run.stderr}")


FORMATS = {
    "junit": ("application/xml", "<testsuites"),
    "markdown": ("text/markdown; charset=utf-8", "nothing"),
    "csv-raw": ("text/csv; charset=utf-8", "benchmark,"),
    "json": ("application/json", '"fastgate-report/1"'),
}


def webhooks(receiver):
    posts = "".join(f'    - {{ webhook: "{receiver.url("/" + form)}", format: {form} }}\n'
                    for form in FORMATS)
    return CONFIG.split("report:", maxsplit=1)[0].format() + f"report:\n  post:\n{posts}"


def expect_formats(receiver, forms, done):
    """Checks that each webhook got the report that its target names."""
    if receiver.count != len(forms):
        fail(f"{receiver.count} deliveries for {forms}", done)
    for path, headers, body in [receiver.take() for _ in forms]:
        media_type, words = FORMATS[path.strip("/")]
        if headers["Content-Type"] != media_type or words not in body.decode():
            fail(f"{path}: {headers} {body}", done)


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
        checks.git(*arguments, cwd=project, env=environment)

    def run(required, *arguments):
        (project / "fastgate.yml").write_text(CONFIG.format(required=required))
        done = checks.call(fastgate, "run", "--against", "HEAD", "--verbose", *arguments, cwd=project,
                           env=environment)
        if "not-so-secret" in done.stdout + done.stderr:
            fail("the token was printed", done)
        return done

    def ours():
        thread = json.loads((folder / "comments.json").read_text())
        return [c["body"] for c in thread if c["body"].startswith("<!-- fastgate:")]

    with subprocess.Popen([sys.executable, root / "tests/support/api_stand_in.py", name],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as stand_in:
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
        if done.returncode != 0 or "wrote a pull-request-comment" not in done.stderr or len(ours()) != 1:
            fail("the first run writes a comment behind 130 others", done)
        first = ours()[0]
        (folder / "mode").write_text("flaky")
        done = run("true")
        updated = done.returncode == 0 and "updated the pull-request-comment" in done.stderr
        if not updated or len(ours()) != 1 or ours()[0] == first:
            fail("the second run rewrites it, although the first request fails", done)
        (folder / "mode").write_text("403")
        done = run("false")
        warned = "warning: the report was not posted to github" in done.stderr and "forks" in done.stderr
        if done.returncode != 0 or not warned:
            fail("a read-only token is a warning", done)
        done = run("true")
        if done.returncode != 5:
            fail("where the comment is required it is exit code 5", done)

        # The follow-up workflow for a fork's pull request is a separate job,
        # whose event names the run that it follows.
        done = run("false", "--no-post", "--set", f"report.json={folder / 'fastgate.json'}")
        (folder / "mode").write_text("")
        followed = {"event": "pull_request", "head_sha": "a" * 40, "head_branch": "topic",
                    "pull_requests": [], "head_repository": {"owner": {"login": "guest"}}}
        (folder / "event.json").write_text(json.dumps({"workflow_run": followed}))
        environment["GITHUB_EVENT_PATH"] = str(folder / "event.json")
        environment["GITHUB_REF"] = "refs/heads/main"

        def follow(*arguments, report="fastgate.json"):
            done = subprocess.run([fastgate, "report", "--post-from", folder / report, "--verbose",
                                   *arguments],
                                  cwd=project, env=environment, capture_output=True, text=True,
                                  check=False, timeout=checks.HUNG_S)
            if "not-so-secret" in done.stdout + done.stderr:
                fail("the token was printed", done)
            return done

        second = ours()
        done = follow()
        updated = done.returncode == 0 and "updated the pull-request-comment" in done.stderr
        if not updated or ours() == second:
            fail("the follow-up rewrites the comment", done)
        # Data from a fork is shown but not trusted: this repository decides who owns the comment.
        forged = json.loads((folder / "fastgate.json").read_text())
        forged["run"]["project"] = "other"
        (folder / "forged.json").write_text(json.dumps(forged))
        done = follow(report="forged.json")
        mark = "<!-- fastgate:project -->"
        if done.returncode != 0 or len(ours()) != 1 or not ours()[0].startswith(mark):
            fail("a forged project is overruled", done)
        forged["run"]["candidate"]["commit"] = "</code> @everyone"
        (folder / "forged.json").write_text(json.dumps(forged))
        done = follow(report="forged.json")
        if done.returncode != 2 or "is not a commit id" not in done.stderr:
            fail("a forged commit is refused", done)
        done = follow("--format", "json")
        if done.returncode != 2:
            fail("a format together with --post-from is refused", done)
        followed["head_sha"] = "b" * 40
        (folder / "event.json").write_text(json.dumps({"workflow_run": followed}))
        done = follow()
        if done.returncode != 0 or "nothing was posted" not in done.stderr:
            fail("a pull request that moved on gets no comment", done)
        stand_in.stdin.close()

    receiver = Receiver()
    (project / "fastgate.yml").write_text(webhooks(receiver))
    done = checks.call(fastgate, "run", "--against", "HEAD", cwd=project, env=environment)
    if done.returncode != 0:
        fail("a run with four webhooks", done)
    expect_formats(receiver, list(FORMATS), done)
    # A report.json lacks the values of single repetitions, which csv-raw needs.
    receiver = Receiver()
    (project / "fastgate.yml").write_text(webhooks(receiver))
    done = follow()
    if done.returncode != 0 or "report.json does not have" not in done.stderr:
        fail("csv-raw of a report.json is refused", done)
    expect_formats(receiver, [form for form in FORMATS if form != "csv-raw"], done)
