#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines and branches that the tests executed, by folder: coverage.py BUILD_FOLDER (made with the preset `coverage`)."""

import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOMS = ["base", "model", "stats", "collector", "profile", "config", "runner", "gate", "store", "reporters", "perfdb", "cli"]


def reports(build):
    """gcov's own JSON, one report an object file."""
    for notes in sorted(pathlib.Path(build).rglob("*.gcda")):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", str(notes.resolve())], cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            for report in pathlib.Path(folder).glob("*.gcov.json.gz"):
                with gzip.open(report) as stream:
                    yield json.load(stream)


def main():
    build = sys.argv[1]
    root = pathlib.Path(__file__).resolve().parent.parent
    lines = collections.defaultdict(dict)  # file: {line: (count, [branch counts])}
    for report in reports(build):
        for file in report["files"]:
            path = pathlib.Path(file["file"])
            path = path if path.is_absolute() else pathlib.Path(report["current_working_directory"]) / path
            try:
                name = str(path.resolve().relative_to(root))
            except ValueError:
                continue
            if name.split("/")[0] not in ROOMS or name.startswith("build/"):
                continue
            for line in file["lines"]:
                count, branches = lines[name].get(line["line_number"], (0, []))
                fresh = [branch["count"] for branch in line["branches"]]
                if len(fresh) == len(branches):
                    fresh = [a + b for a, b in zip(fresh, branches)]
                lines[name][line["line_number"]] = (count + line["count"], fresh or branches)
    if not lines:
        print(f"no coverage data below {build}")
        return 1
    table = collections.defaultdict(lambda: [0, 0, 0, 0])
    uncovered = []
    for name, found in lines.items():
        row = table[name.split("/")[0]]
        hit = sum(1 for count, _ in found.values() if count)
        row[0] += hit
        row[1] += len(found)
        row[2] += sum(1 for _, branches in found.values() for b in branches if b)
        row[3] += sum(len(branches) for _, branches in found.values())
        uncovered.append((len(found) - hit, name, len(found)))
    print(f"{'folder':<12} {'lines':>7} {'covered':>8} {'branches':>9} {'covered':>8}")
    total = [0, 0, 0, 0]
    for room in ROOMS:
        if room in table:
            row = table[room]
            total = [a + b for a, b in zip(total, row)]
            print(f"{room:<12} {row[1]:>7} {100 * row[0] / row[1]:>7.1f}% {row[3]:>9} {100 * row[2] / max(row[3], 1):>7.1f}%")
    print(f"{'all':<12} {total[1]:>7} {100 * total[0] / total[1]:>7.1f}% {total[3]:>9} {100 * total[2] / max(total[3], 1):>7.1f}%")
    print("\nmost uncovered lines:")
    for missing, name, count in sorted(uncovered, reverse=True)[:20]:
        print(f"  {missing:>5} of {count:>5}  {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
