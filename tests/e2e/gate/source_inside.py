#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
source_inside.py FASTGATE COMPILER: reports show only source of the project. Two programs take far
longer than their baseline; one program's debug information names a file of its project; the other
program's names a file outside, by an absolute path and through a link. Files have the same names as
in the repository, wherever they were compiled.
"""
import json
import os
import pathlib
import sys

from checks import call, check, finish_in_scratch, git, target
from repository import Repository

fastgate, compiler = os.path.abspath(sys.argv[1]), sys.argv[2]
CODE = target("spinning.c")
CONFIG = """version: 1
project: inside
build: {{ command: "{compiler} -g -O1 {flags} -o prog main.c", shell: true }}
benchmarks: [ {{ name: spin, command: ./prog }} ]
gate: {{ alpha: 0.05 }}
measure: {{ schedule: abba, pairs: {{ min: 12, max: 12 }}, layouts: never, sampler: {{ rate: 1000 }} }}
report: {{ json: r.json }}
"""
LINE = next(line.strip() for line in CODE.splitlines() if "ROUNDS" in line)


def source_shown(name, text, flags=""):
    """The report's entry for spin(), after its loop was made ten times as long."""
    project = Repository(name)
    folder = project.folder
    (folder / "fastgate.yml").write_text(CONFIG.format(compiler=compiler, flags=flags))
    (folder / ".gitignore").write_text("prog\nr.json\n")
    (folder / "rounds.h").write_text("#define ROUNDS 3000000ul\n")
    text(folder)
    project.git("init", "-q", "-b", "main", ".")
    project.commit("The baseline")
    (folder / "rounds.h").write_text("#define ROUNDS 30000000ul\n")
    result = project.run(1, fastgate, "run", "--against", "HEAD")
    functions = json.loads((folder / "r.json").read_text())["benchmarks"][0]["functions"]
    guilty = [f for f in functions if f["name"] == "spin" and f["standing"] == "guilty"]
    check(len(guilty) == 1, f"{name}: spin is to blame: {functions}")
    check(LINE in result.stdout if "source" in guilty[0] else LINE not in result.stdout,
          f"{name}: the terminal agrees: {result.stdout}")
    return guilty[0].get("source"), guilty[0].get("assembly")


def place_shown(name, *words):
    """
    The file of spin() in the report and in GitHub's annotations. The compiler was given an absolute
    path, and the project is a subfolder.
    """
    top = pathlib.Path(name).absolute()
    folder = top / "sub"
    folder.mkdir(parents=True)
    environment = {key: value for key, value in os.environ.items() if key != "GITHUB_WORKSPACE"}
    environment.update(HOME=str(top.parent), GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL="/dev/null")
    config = CONFIG.format(compiler=compiler, flags="").replace("main.c", "$PWD/main.c")
    (folder / "fastgate.yml").write_text(config)
    (top / ".gitignore").write_text("prog\nr.json\n.fastgate\n")
    (folder / "main.c").write_text("#define ROUNDS 3000000ul\n" + CODE)
    git("init", "-q", "-b", "main", ".", cwd=top, env=environment)
    git("add", ".", cwd=top, env=environment)
    git("commit", "-q", "-m", "The baseline", cwd=top, env=environment)
    (folder / "main.c").write_text("#define ROUNDS 30000000ul\n" + CODE)
    result = call(fastgate, "run", "--against", "HEAD", *words, cwd=folder, env=environment)
    check(result.returncode == 1, f"{name}: {result.returncode} {result.stdout} {result.stderr}")
    functions = json.loads((folder / "r.json").read_text())["benchmarks"][0]["functions"]
    lines = call(fastgate, "report", "latest", "--format", "github", cwd=folder, env=environment,
                 check=True).stdout
    check("::error file=sub/main.c,line=" in lines, f"{name}: {lines}")
    return [f["file"] for f in functions if f["name"] == "spin"]


def main():
    outside = pathlib.Path("outside.c").absolute()
    outside.write_text(CODE)

    def own(folder):
        (folder / "main.c").write_text('#include "rounds.h"\n' + CODE)

    def marked(folder):
        (folder / "main.c").write_text(f'#include "rounds.h"\n#line 1 "{outside}"\n' + CODE)

    def linked(folder):
        (folder / "link.c").symlink_to(outside)
        (folder / "main.c").write_text('#include "rounds.h"\n#line 1 "link.c"\n' + CODE)

    source, assembly = source_shown("own", own)
    check(source is not None, "source of the project is shown")
    check(source["file"] == "main.c" and source["known"] == [True, True], f"its file: {source}")
    hottest = source["rows"][source["hottest"]]
    check(hottest["text"].strip() == LINE and hottest["lines"] == [10, 10],
          f"its hottest line: {hottest}")
    check(hottest["cost_ms"][1] > 2 * hottest["cost_ms"][0] > 0, f"its cost: {hottest}")
    check(assembly and assembly["file"] == "prog" and assembly["known"] == [True, True],
          f"its instructions: {assembly}")
    rows = assembly["rows"]
    changed = [row["text"] for row in rows if None in row["lines"]]
    check(len(changed) == 2 and changed[0] != changed[1] and "0x" in changed[0],
          f"the number of rounds changed, and nothing else: {rows}")
    jumps = [row["text"].split()[-1] for row in rows if row["text"].split()[0].startswith("j")]
    check(jumps and all(any(row["text"].startswith(f"{label}: ") for row in rows) for label in jumps),
          f"jumps lead to labels: {rows}")
    hottest = rows[assembly["hottest"]]
    check(hottest["cost_ms"][1] > 0 and
          hottest["cost_ms"][1] == max(row["cost_ms"][1] or 0 for row in rows),
          f"its hottest instruction: {hottest}")
    check(source_shown("marked", marked)[0] is None, "a file outside the project is not shown")
    check(source_shown("linked", linked)[0] is None, "nor is it through a link")
    check(place_shown("subfolder") == ["sub/main.c"], "the file has its name in the repository")
    check(place_shown("in-place", "--in-place") == ["sub/main.c"], "built in place, too")


finish_in_scratch(main)
