#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Lines and branches that the tests executed, by folder: coverage.py BUILD_FOLDER (a build with the
preset `coverage`).
"""

import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOMS = ["base", "model", "trace", "collector", "binary", "profile", "config", "runner", "gate", "store",
         "reporters", "perfdb", "cli"]


def reports(build):
    """gcov's JSON, one report per object file."""
    for notes in sorted(pathlib.Path(build).rglob("*.gcda")):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", str(notes.resolve())],
                           cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            for report in pathlib.Path(folder).glob("*.gcov.json.gz"):
                with gzip.open(report) as stream:
                    yield json.load(stream)


def covered_lines(build, root):
    """{file: {line: (count, [branch counts])}} of our own sources."""
    lines = collections.defaultdict(dict)
    for report in reports(build):
        for file in report["files"]:
            path = pathlib.Path(file["file"])
            path = (path if path.is_absolute()
                    else pathlib.Path(report["current_working_directory"]) / path)
            try:
                name = str(path.resolve().relative_to(root))
            except ValueError:
                continue
            if name.split("/")[0] not in ROOMS or not path.exists():
                continue
            for line in file["lines"]:
                count, branches = lines[name].get(line["line_number"], (0, []))
                fresh = [branch["count"] for branch in line["branches"]]
                if len(fresh) == len(branches):
                    fresh = [a + b for a, b in zip(fresh, branches)]
                lines[name][line["line_number"]] = (count + line["count"], fresh or branches)
    return lines


# A statement that creates or passes on an error, or returns because of one.
ERROR_PATH = re.compile(r"fg_error_|fg_cli_(fail|usage|warn)\(|goto \w+;|return (rc|status|err"
                        r"|result|-1|false|NULL|FG_E\w+)\b.*;|\bfail(ed)?\(|_Exit|abort\(")


def error_lines(path):
    """The line numbers of the statements that match ERROR_PATH, up to their semicolons."""
    found = set()
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        inside = inside or bool(ERROR_PATH.search(line))
        if inside:
            found.add(number)
        inside = inside and ";" not in line
    return found


def ranges(numbers):
    """[1, 2, 3, 7] as "1-3, 7"."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def share(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def main():
    build = sys.argv[1]
    root = pathlib.Path(__file__).resolve().parent.parent
    lines = covered_lines(build, root)
    if not lines:
        print(f"no coverage data below {build}")
        return 1
    table = collections.defaultdict(collections.Counter)
    missing = collections.defaultdict(list)
    for name, found in sorted(lines.items()):
        room = name.split("/")[0]
        errors = error_lines(root / name)
        gaps = [number for number, (count, _) in sorted(found.items()) if not count]
        plain = [number for number in found if number not in errors]
        for key in (room, "all"):
            table[key].update(lines=len(found), hit=len(found) - len(gaps), plain=len(plain),
                              plain_hit=sum(1 for number in plain if found[number][0]),
                              branches=sum(len(branches) for _, branches in found.values()),
                              taken=sum(count > 0 for _, branches in found.values()
                                        for count in branches))
        if gaps:
            missing[room].append((len(gaps), len(found), name, gaps))
    print(f"{'folder':<12}{'lines':>7}{'covered':>9}{'outside errors':>16}{'branches':>10}{'taken':>8}")
    for room in (*ROOMS, "all"):
        row = table[room]
        if row:
            print(f"{room:<12}{row['lines']:>7}{share(row['hit'], row['lines']):>9}"
                  f"{share(row['plain_hit'], row['plain']):>16}"
                  f"{row['branches']:>10}{share(row['taken'], row['branches']):>8}")
    with open(pathlib.Path(build) / "uncovered.txt", "w", encoding="utf-8") as file:
        for room in ROOMS:
            file.write(f"{room}\n")
            for _, _, name, gaps in sorted(missing[room], reverse=True):
                file.write(f"  {name}: {ranges(gaps)}\n")
    print("\nmost uncovered by folder (every line: " + str(pathlib.Path(build) / "uncovered.txt") + ")")
    for room in ROOMS:
        worst = ", ".join(f"{name.partition('/')[2]} {gaps} of {count}"
                          for gaps, count, name, _ in sorted(missing[room], reverse=True)[:4])
        print(f"  {room:<12}{worst or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
