#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
surroundings.py FASTGATE: the environment of both sides of a run. The benchmark logs its folder and
its whole environment, so nothing here depends on how fast anything runs.
"""
import os
import pathlib
import subprocess
import sys

from checks import HUNG_S, check, finish_in_scratch

fastgate = os.path.abspath(sys.argv[1])
CONFIG = """version: 1
project: places
build: {{ command: sh build.sh{build} }}
benchmarks: [ {{ name: show, command: {command} }} ]
measure: {{ schedule: abba, warmup: 0, pairs: {{ min: 2, max: 2 }}, sampler: {{ enabled: false }} }}
"""
# Each execution leaves one file: its folder, a marker of its build, its arguments, and its environment
# as passed to it (a shell corrects PWD for its children).
SHOW = """#!/bin/sh
n=$(ls "$SEEN" | wc -l)
{ pwd; cat marker.c.built untracked.c 2>/dev/null | tr '\\n' ' '; [ -e ignored ] && printf ignored; echo
tr '\\0' ' ' </proc/$$/cmdline; echo; tr '\\0' '\\n' </proc/$$/environ; } >"$SEEN/$(printf %04d "$n")"
"""
# Compiles only changed files, as make does, and logs each compiled file.
BUILD = """tr '\\0' '\\n' </proc/$$/environ | grep '^PWD=' >>"$SEEN.built"
for name in marker.c kept; do
	[ -e $name.built ] && [ ! $name -nt $name.built ] && continue
	echo $name >>"$SEEN.compiled"
	cp $name $name.built
done
"""


class Project:
    def __init__(self, name):
        self.folder = pathlib.Path(name).absolute()
        self.seen = pathlib.Path(name + ".seen").absolute()
        self.folder.mkdir(parents=True)
        self.seen.mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder.parent),
                            "PWD": "/wrong", "OLDPWD": "/before", "_": "/usr/bin/env",
                            "SEEN": str(self.seen), "GIT_CONFIG_NOSYSTEM": "1",
                            "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@localhost",
                            "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@localhost"}
        self.git("init", "-q", "-b", "main", ".")
        self.write(".gitignore", "ignored\n*.built\n")
        self.write("show.sh", SHOW)
        self.write("build.sh", BUILD)
        self.write("marker.c", "committed\n")
        self.write("kept", "same\n")
        self.configure()
        self.git("add", ".")
        self.git("commit", "-q", "-m", "The baseline")

    def configure(self, command="sh show.sh", build=""):
        self.write("fastgate.yml", CONFIG.format(command=command, build=build))

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "protocol.file.allow=always", *arguments], cwd=self.folder,
                       env=self.environment, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def run(self, *arguments):
        for path in self.seen.iterdir():
            path.unlink()
        return subprocess.run([fastgate, "run", "--against", "HEAD", *arguments], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, check=False,
                              timeout=HUNG_S)

    def executions(self):
        texts = [path.read_text().splitlines() for path in sorted(self.seen.iterdir())]
        return [(lines[0], lines[1], lines[2:]) for lines in texts]

    def compiled(self):
        path = pathlib.Path(str(self.seen) + ".compiled")
        words = path.read_text().split() if path.exists() else []
        path.unlink(missing_ok=True)
        return words


def both_sides_see_the_same():
    project = Project("a")
    project.write("marker.c", "changed\n")
    project.write("untracked.c", "new\n")
    project.write("ignored", "not of the project\n")
    result = project.run()
    check(result.returncode in (0, 1), f"a run in a snapshot: {result.returncode} {result.stderr}")
    executions = project.executions()
    check(len(executions) == 8, f"{len(executions)} executions")
    folders = {where for where, _, _ in executions}
    check(len(folders) == 2 and len({len(where) for where in folders}) == 1,
          f"paths of both sides: {folders}")
    check(len({len(pathlib.Path(where).parts) for where in folders}) == 1, f"shape of paths: {folders}")
    check({said.strip() for _, said, _ in executions} == {"committed", "changed new"},
          f"what each side is made of: { {said for _, said, _ in executions} }")
    for first, second in zip(executions[::2], executions[1::2]):
        check(first[0] != second[0], "each pair has both sides")
        sides = [sorted(line.replace(where, "PLACE") for line in environment)
                 for where, _, environment in (first, second)]
        check(sides[0] == sides[1], f"environments of one pair: {set(sides[0]) ^ set(sides[1])}")
        check("PWD=PLACE" in sides[0] and "OLDPWD=/before" in sides[0] and "_=/usr/bin/env" in sides[0],
              f"PWD is where it runs, and the rest is as fastgate found it: {sides[0]}")
        check("sh show.sh " in sides[0], f"the arguments are those of the command: {sides[0]}")
    built = pathlib.Path(str(project.seen) + ".built").read_text().split()
    check(sorted(built) == sorted("PWD=" + where for where in folders),
          f"PWD is where each side is built: {built}")
    check(len({len(environment) for _, _, environment in executions}) > 1 or
          len({sum(map(len, environment)) for _, _, environment in executions}) > 1,
          "the environment varies from pair to pair")
    check(project.git_status() == [" M marker.c", "?? untracked.c"],
          f"the work tree is as it was: {project.git_status()}")


def git_status(self):
    return subprocess.run(["git", "status", "--porcelain"], cwd=self.folder, env=self.environment,
                          capture_output=True, text=True, check=True).stdout.splitlines()


Project.git_status = git_status


def the_baseline_gets_files_of_the_candidate():
    project = Project("old")
    project.git("rm", "-q", "show.sh")
    project.write("build.sh", BUILD + "cat bench/show.sh >/dev/null\n")
    project.git("commit", "-q", "-a", "-m", "A commit without the benchmark")
    project.write("bench/show.sh", SHOW)
    project.configure("sh bench/show.sh")
    result = project.run()
    check(result.returncode == 4 and "build.from_candidate" in result.stderr,
          f"a baseline without the benchmark: {result.stderr}")
    project.write("marker.c", "changed\n")
    project.configure("sh bench/show.sh", ", from_candidate: [ bench/ ]")
    for words in ((), ("--in-place",)):
        result = project.run(*words)
        check(result.returncode in (0, 1),
              f"a baseline that got the benchmark {words}: {result.stdout} {result.stderr}")
        said = {text.strip() for _, text, _ in project.executions()}
        check(said == {"committed", "changed"}, f"the rest is as it was committed {words}: {said}")
    project.configure("sh bench/show.sh", ", from_candidate: [ bnech/ ]")
    result = project.run()
    check(result.returncode == 2 and
          "build.from_candidate: the candidate has no 'bnech/'" in result.stderr,
          f"a path that does not exist: {result.returncode} {result.stderr}")
    project.write(".gitignore", "ignored\n*.built\nlocal.h\n")
    project.write("local.h", "\n")
    project.configure("sh bench/show.sh", ", from_candidate: [ local.h ]")
    result = project.run()
    check(result.returncode == 2 and
          "the candidate has no 'local.h', which git ignores" in result.stderr,
          f"a path that git ignores: {result.returncode} {result.stderr}")


def large_output_goes_to_a_file_on_both_sides():
    project = Project("p")
    project.write("show.sh",
                  SHOW + 'kind=$(stat -L -c %F /proc/$$/fd/1)\n'
                  'echo "$kind" >>"$SEEN/$(printf %04d "$n")"\n'
                  'head -c 600000 /dev/zero\n')
    project.git("commit", "-q", "-a", "-m", "It prints much")
    result = project.run()
    check(result.returncode in (0, 1), f"a run of what prints much: {result.returncode} {result.stderr}")
    outputs = [lines[-1] for _, _, lines in project.executions()]
    check(outputs == ["fifo"] * 4 + ["regular empty file"] * 4,
          f"standard output of the two blocks: {outputs}")


def a_second_run_builds_what_changed():
    project = Project("b")
    project.write("marker.c", "first\n")
    project.run()
    check(sorted(project.compiled()) == ["kept", "kept", "marker.c", "marker.c"],
          "both sides are built from nothing at first")
    project.run()
    check(project.compiled() == [], "nothing changed, and something was built")
    project.write("marker.c", "second\n")
    project.run()
    check(project.compiled() == ["marker.c"], "one file changed: only that is built again")
    check("second" in {said.strip() for _, said, _ in project.executions()},
          "the second snapshot is what was measured")


def a_candidate_that_was_committed_is_not_built_again():
    project = Project("r")
    for text, count in (("first", 4), ("second", 2), ("third", 1)):
        project.write("marker.c", text + "\n")
        project.run()
        compiled = project.compiled()
        check(len(compiled) == count, f"the {text} run built {compiled}")
        check({said.strip() for _, said, _ in project.executions()} >= {text},
              f"the {text} snapshot is what was measured")
        project.git("commit", "-q", "-a", "-m", text)


def a_change_of_the_build_begins_afresh():
    project = Project("g")
    project.run()
    project.compiled()
    for name in ("build.sh", "Makefile", "part/rules.cmake"):
        project.write(name, BUILD + f"# {name}\n")
        project.run()
        check(project.compiled() == ["marker.c", "kept"],
              f"a change of {name}: everything is built again")
    project.write("notes.txt", "not of the build\n")
    project.run()
    check(project.compiled() == [], "another file changes nothing")


def in_place_is_measured_there_and_says_so():
    for arguments, extra in ((["--in-place"], ""), ([], ", in_place: true")):
        project = Project("c" + str(len(arguments)))
        project.configure(build=extra)
        project.write("ignored", "here only\n")
        project.write("marker.c", "changed\n")
        result = project.run(*arguments)
        where = {said.strip(): folder for folder, said, _ in project.executions()}
        check(where.get("changed ignored") == str(project.folder), f"in place: {where}")
        check("in place" in result.stdout and "not ruled out" in result.stdout,
              f"in place, in the report: {result.stdout}")
    project = Project("d")
    result = project.run()
    check("in place" not in result.stdout, "a snapshot is not in place")


def sides_of_different_kinds_are_not_compared():
    project = Project("e")
    project.configure(command="./program")
    project.write("build.sh", "cp /bin/true program\n")
    project.git("commit", "-q", "-a", "-m", "An ELF program")
    project.write("build.sh", "printf '#!/bin/sh\\nexit 0\\n' >program; chmod +x program\n")
    result = project.run()
    check(result.returncode == 4, f"script against ELF: exit code {result.returncode}")
    check("different kinds" in result.stdout and "script for /bin/sh" in result.stdout,
          f"script against ELF: {result.stdout}")
    project.git("commit", "-q", "-a", "-m", "A script")
    project.write("build.sh", "printf '#!/usr/bin/env sh\\nexit 0\\n' >program; chmod +x program\n")
    check(project.run().returncode == 4, "another interpreter")
    project.write("build.sh", "printf '#!/bin/sh\\n\\nexit 0\\n' >program; chmod +x program\n")
    check(project.run().returncode in (0, 1), "the same interpreter on both sides is a comparison")


def submodules_are_those_that_the_build_needs():
    for name in ("needed", "spare"):
        part = Project("parts/" + name)
        part.write("part.txt", name + "\n")
        part.git("add", ".")
        part.git("commit", "-q", "-m", name)
    project = Project("f")
    for name in ("needed", "spare"):
        project.git("submodule", "add", str(part.folder.parent / name), name)
    project.git("commit", "-q", "-m", "Two parts")
    project.git("submodule", "deinit", "-f", "spare")
    (part.folder.parent / "spare").rename(part.folder.parent / "gone")
    project.write("build.sh", "cat needed/part.txt && ! cat spare/part.txt\n")
    project.git("commit", "-q", "-a", "-m", "It builds without the second")
    project.write("marker.c", "changed\n")
    result = project.run()
    check(result.returncode in (0, 1),
          f"a submodule that nobody needs: {result.returncode} {result.stderr}")
    check("submodule 'spare' is left out" in result.stderr, f"what was left out: {result.stderr}")
    project.write("needed/part.txt", "changed inside\n")
    result = project.run()
    check(result.returncode == 4 or result.returncode == 2,
          f"changes inside a submodule: {result.returncode}")
    check("submodule 'needed' has changes" in result.stderr,
          f"changes inside a submodule: {result.stderr}")
    check(project.run("--in-place").returncode in (0, 1), "changes inside a submodule, in place")


def main():
    both_sides_see_the_same()
    the_baseline_gets_files_of_the_candidate()
    large_output_goes_to_a_file_on_both_sides()
    a_second_run_builds_what_changed()
    a_candidate_that_was_committed_is_not_built_again()
    a_change_of_the_build_begins_afresh()
    in_place_is_measured_there_and_says_so()
    sides_of_different_kinds_are_not_compared()
    submodules_are_those_that_the_build_needs()


finish_in_scratch(main)
