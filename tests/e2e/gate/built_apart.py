#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
built_apart.py FASTGATE: reports distinguish a difference in how the sides were built from a
difference in code. A small program with its own library is built in various ways; the assertions are
about reports, not about speed.
"""
import os
import pathlib
import sys

from checks import call, check, finish_in_scratch, git, write

fastgate = os.path.abspath(sys.argv[1])
CONFIG = """version: 1
project: built
build: { command: sh build.sh }
benchmarks: [ { name: sum, command: ./sum, expect: { exit_code: 0 } } ]
measure: { schedule: abba, warmup: 0, pairs: { min: 2, max: 2 }, sampler: { enabled: false } }
"""
SAMPLED = (CONFIG.replace("./sum", "sh run.sh").replace("warmup: 0", "warmup: 1")
           .replace("sampler: { enabled: false }", "sampler: { rate: 1000 }"))
LONG_PART = ("int part(int n) { volatile int s = 0; "
             "for (int k = 0; k < 2000; k++) for (int i = 0; i < n; i++) s += i; return s; }\n")
PART = "int part(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }\n"
SUM = "int part(int n); int main(void) { return part(100000) == 1; }\n"
SHARED = ("cc -g -O2 -shared -fPIC -o libpart.so part.c && cc -g -O2 -o sum sum.c -L. "
          "-lpart -Wl,-rpath,'$ORIGIN'\n")
PLAIN = "cc -g {} -o sum sum.c part.c\n"
REPORTS = {"r.md": "markdown", "r.xml": "junit", "made/for/it/r.html": "html"}


class Project:
    """A repository whose one commit is built by `baseline`."""

    def __init__(self, name, baseline):
        self.folder = pathlib.Path(name).absolute()
        for file, text in {"fastgate.yml": CONFIG, "part.c": PART, "sum.c": SUM,
                           ".gitignore": "sum\n*.so\n.fastgate\nr.*\n"}.items():
            write(self.folder / file, text)
        self.build(baseline)
        git("init", "-q", ".", cwd=self.folder)
        git("add", ".", cwd=self.folder)
        git("commit", "-q", "-m", "The baseline", cwd=self.folder)

    def build(self, command):
        write(self.folder / "build.sh", command)

    def run(self, *arguments, **more):
        done = call(fastgate, "run", "--against", "HEAD", *arguments, cwd=self.folder, **more)
        return done.returncode, done.stdout


def difference_is_reported(project, *words):
    """Checks that the candidate is judged, and that the output reports the difference in these words."""
    code, text = project.run()
    check(code in (0, 1, 3), f"{words}: exit code {code}: {text}")
    for word in ("built differently", *words):
        check(word in " ".join(text.split()), f"'{word}' is not in: {text}")


def other_ways_of_building_are_reported():
    project = Project("flags", PLAIN.format("-O2 -fno-inline"))
    project.build(PLAIN.format("-O0"))
    difference_is_reported(project, "optimisation -O2 in the baseline, -O0 in the candidate",
                           "-fno-inline only in the baseline")
    project.build(PLAIN.format("-O2 -fno-inline -static"))
    difference_is_reported(project, "linking dynamic in the baseline, static in the candidate")
    project.build(SHARED)
    difference_is_reported(project, "libraries: libpart.so only in the candidate")
    project.build("# other words, the same flags\n" + PLAIN.format("-O2 -fno-inline"))
    code, text = project.run()
    check(code in (0, 1, 3) and "built differently" not in text, f"built alike: {code} {text}")


def a_sanitized_side_is_not_comparable():
    project = Project("sanitized", PLAIN.format("-O2"))
    project.build(PLAIN.format("-O2 -fsanitize=address"))
    code, text = project.run()
    check(code == 4, f"a sanitized side: exit code {code}: {text}")
    check("different kinds" in text and "with AddressSanitizer" in " ".join(text.split()),
          f"a sanitized side: {text}")


def a_library_from_elsewhere_is_reported():
    project = Project("origin", SHARED)
    elsewhere = pathlib.Path("elsewhere").absolute()
    elsewhere.mkdir()
    call("cc", "-g", "-O2", "-shared", "-fPIC", "-o", str(elsewhere / "libpart.so"),
         str(project.folder / "part.c"), check=True)
    project.build(f"cc -g -O2 -o sum sum.c -L{elsewhere} -lpart -Wl,-rpath,{elsewhere}\n")
    difference_is_reported(project,
                           "libpart.so is the project's own in the baseline and comes from elsewhere in "
                           "the candidate")


def a_library_of_the_work_tree_is_reported():
    project = Project("shared", SHARED)
    call("sh", "build.sh", cwd=project.folder, check=True)
    code, text = project.run()
    check(code in (0, 1, 3) and "same files from the work tree" not in text,
          f"each side has its own: {code} {text}")
    code, text = project.run(env={**os.environ, "LD_LIBRARY_PATH": str(project.folder)})
    check("same files from the work tree" in text and "shared/libpart.so" in "".join(text.split()),
          f"a library of the work tree: {text}")


def every_report_says_it():
    project = Project("reports", PLAIN.format("-O2"))
    project.build(PLAIN.format("-O0"))
    config = CONFIG + "report: { markdown: r.md, junit: r.xml, html: made/for/it/r.html }\n"
    write(project.folder / "fastgate.yml", config)
    _, text = project.run("--json")
    check("optimisation -O2 in the baseline, -O0 in the candidate" in text, f"json: {text}")
    for file, name in REPORTS.items():
        text = " ".join((project.folder / file).read_text().split())
        check("optimisation -O2 in the baseline, -O0 in the candidate" in text, f"{name}: {text[:2000]}")


def leftovers_in_a_work_tree_prevent_a_comparison():
    project = Project("leftovers", "[ -e sum ] || " + PLAIN.format("-O2"))
    call("cc", "-g", "-O0", "-o", "sum", "sum.c", "part.c", cwd=project.folder, check=True)
    code, text = project.run("--in-place")
    check(code == 4, f"leftovers: exit code {code}: {text}")
    check("optimisation -O2 in the baseline, -O0 in the candidate" in " ".join(text.split()),
          f"leftovers: {text}")
    code, text = project.run()
    check(code == 0 and "built differently" not in text, f"a snapshot has no leftovers: {code} {text}")


def what_the_sampler_sees_of_one_side_only_is_measured_without_it():
    project = Project("escaped", PLAIN.format("-O2"))
    write(project.folder / "part.c", LONG_PART)
    write(project.folder / "run.sh", "./sum\n")
    write(project.folder / "fastgate.yml", SAMPLED)
    git("add", ".", cwd=project.folder)
    git("commit", "-q", "-m", "A script and its helper", cwd=project.folder)
    write(project.folder / "notes.txt", "not read\n")
    code, text = project.run()
    check(code in (0, 1, 3) and "without the sampler" not in text,
          f"the sampler sees both: {code} {text}")
    project.build(PLAIN.format("-O2 -static"))
    code, text = project.run("--json")
    check("measured without the sampler, so no function is blamed: the sampler saw" in text,
          f"a static helper: {code} {text}")
    check('"samples"' not in text or '"functions": []' in text, f"no function is blamed: {text}")


def main():
    other_ways_of_building_are_reported()
    a_sanitized_side_is_not_comparable()
    a_library_from_elsewhere_is_reported()
    a_library_of_the_work_tree_is_reported()
    every_report_says_it()
    leftovers_in_a_work_tree_prevent_a_comparison()
    what_the_sampler_sees_of_one_side_only_is_measured_without_it()


finish_in_scratch(main)
