#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
recipes.py FASTGATE ROOT: the recipes for other CI services in examples/ci/, as far as they can run
without these services: the GitLab job is YAML, lists the files that it writes, and its script runs with
the variables of a job; the shell recipe runs in a shallow clone; the nightly steps search the range,
find its commit and post it; every file that the container file copies exists.
"""
import os
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree

from checks import call

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is not installed")
    sys.exit(77)

fastgate, root = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
recipes = root / "examples/ci"
CONFIG = """version: 1
build: { command: cp /bin/true nothing }
benchmarks:
  - name: nothing
    command: ./nothing
measure: { schedule: abba, pairs: { min: 2, max: 2 }, warmup: 0, sampler: { enabled: false } }
gate: { inconclusive: fail }
"""

NIGHT = """version: 1
build: { command: cp program nothing }
benchmarks:
  - name: nothing
    command: ./nothing
    metrics: [ { name: cost, regex: "cost: ([0-9]+)", exact: true } ]
measure: { schedule: abba, pairs: { min: 2, max: 2 }, warmup: 0, sampler: { enabled: false } }
gate:
  metrics:
    cost: { tolerance: 1% }
    cpu_time: { gated: false }
    wall_time: { gated: false }
    max_rss: { gated: false }
"""

with tempfile.TemporaryDirectory() as name:
    home = pathlib.Path(name)
    environment = {"PATH": f"{fastgate.parent}:{os.environ['PATH']}", "HOME": name,
                   "XDG_CACHE_HOME": f"{name}/cache", "GIT_CONFIG_NOSYSTEM": "1"}
    for who in ("AUTHOR", "COMMITTER"):
        environment[f"GIT_{who}_NAME"], environment[f"GIT_{who}_EMAIL"] = "t", "t@example.org"

    def run(words, folder, wanted, what, **more):
        done = call(*words, cwd=folder, env=environment | more)
        if done.returncode != wanted:
            sys.exit(f"FAILED: {what}: exit code {done.returncode}, expected {wanted}\n{done.stdout}\n"
                     f"{done.stderr}")

    origin, clone = home / "origin", home / "clone"
    origin.mkdir()
    (origin / "fastgate.yml").write_text(CONFIG)
    (origin / ".gitignore").write_text(".fastgate/\nnothing\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "One"],
                  ["checkout", "-q", "-b", "topic"], ["commit", "-q", "--allow-empty", "-m", "Two"]):
        run(["git", *words], origin, 0, "the repository")

    # GitLab: a merge request, then the default branch.
    job = yaml.safe_load((recipes / "gitlab.yml").read_text())["performance"]
    script = "\n".join(job["script"])
    written = [path for path in job["artifacts"]["paths"] if path != ".fastgate/spool"]
    for report in (*written, *job["artifacts"]["reports"].values()):
        if not re.search(f"[= ]{re.escape(report)}(\\s|$)", script):
            sys.exit(f"FAILED: no part of the GitLab job writes {report}")
    against = {key: value for rule in job["rules"] for key, value in rule.get("variables", {}).items()}
    run(["git", "clone", "-q", "--branch", "topic", f"file://{origin}", str(clone)], home, 0, "cloning")
    # The same program on both sides passes; two pairs of a second program are inconclusive, so the
    # job may end with that exit code.
    run(["sh", "-e", "-c", script], clone, 0, "the GitLab script",
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main", **against)
    if xml.etree.ElementTree.parse(clone / "fastgate.xml").getroot().tag != "testsuites":
        sys.exit("FAILED: the GitLab job's JUnit report is not one")
    for report in written:
        if not (clone / report).stat().st_size:
            sys.exit(f"FAILED: the GitLab job did not write {report}")
    run(["sh", "-e", "-c", script], clone, 0, "the GitLab script on the default branch")
    config = CONFIG.replace("./nothing", "./nothing\n    baseline_command: /bin/echo")
    (clone / "fastgate.yml").write_text(config)
    run(["sh", "-e", "-c", script], clone, 3, "the GitLab script, inconclusive", **against)
    if job["allow_failure"]["exit_codes"] != [3]:
        sys.exit("FAILED: the GitLab job does not allow the exit code of an open question")

    # The shell recipe deepens a shallow clone by itself.
    shallow = home / "shallow"
    run(["git", "clone", "-q", "--depth", "1", "--branch", "topic", f"file://{origin}", str(shallow)],
        home, 0, "cloning")
    run([recipes / "gate.sh"], shallow, 0, "the shell recipe", REPORTS=f"{name}/reports")
    if sorted(path.name for path in (home / "reports").iterdir()) != [
        f"fastgate.{ending}" for ending in ("html", "json", "md", "xml")]:
        sys.exit("FAILED: the shell recipe did not write its reports")
    run([recipes / "gate.sh", "no-such-ref"], shallow, 2,
        "the shell recipe with a ref that is not there")

    # The nightly range is searched in one step, without a token, and the result is posted in the next.
    night = home / "night"
    run(["git", "clone", "-q", f"file://{origin}", str(night)], home, 0, "cloning")
    (night / "fastgate.yml").write_text(NIGHT)
    for i in range(6):
        (night / "program").write_text(f"#!/bin/sh\necho cost: {1000 if i < 4 else 1300}\n# {i}\n")
        (night / "program").chmod(0o755)
        run(["git", "add", "."], night, 0, "adding")
        run(["git", "commit", "-q", "-m", f"Night {i}"], night, 0, "committing",
            **({"GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z"} if i < 2 else {}))
    page = (root / "docs/finding-a-commit.md").read_text()
    search, post = ([step
                     for step in yaml.safe_load(re.search(r"```yaml\n(.*?)```", page, re.S).group(1))
                     if "run" in step])
    tools = home / "tools"
    tools.mkdir()
    (tools / "gh").write_text('#!/bin/sh\necho "$*" >>"$HOME/posted"\n')
    (tools / "gh").chmod(0o755)
    if "env" in search or "token" in search["run"]:
        sys.exit("FAILED: the step that measures has a token")
    run(["sh", "-e", "-c", search["run"]], night, 0, "searching the range of the night")
    if "Night 4" not in (night / "bisect.md").read_text():
        sys.exit(f"FAILED: the wrong commit of the night: {(night / 'bisect.md').read_text()}")
    run(["sh", "-e", "-c", post["run"]], night, 0, "posting it", PATH=f"{tools}:{environment['PATH']}",
        GITHUB_REPOSITORY="me/it", GITHUB_SHA="abc")
    if (home / "posted").read_text() != "api repos/me/it/commits/abc/comments -F body=@bisect.md\n":
        sys.exit(f"FAILED: posted as {(home / 'posted').read_text()}")

# The container file cannot be built here, but the files that it copies exist.
text = (recipes / "Containerfile").read_text()
for source in re.findall(r"^COPY (?!--from)(\S+)", text, re.M):
    if not (root / source).exists():
        sys.exit(f"FAILED: the container file copies {source}, which is not there")
# The hook for the pre-commit framework runs the command of docs/before-commit.md.
[hook] = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
if f"{hook['entry']} || exit 1" not in (root / "docs/before-commit.md").read_text():
    sys.exit(f"FAILED: docs/before-commit.md does not have the hook's {hook['entry']}")
