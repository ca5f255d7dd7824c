#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks links in Markdown: every relative link names an existing file and, after '#', one of its
headings. Checks that the example of a container installs every library that the build needs, and,
with a build's folder as second argument, that every test that a page names exists. A page has one
reader and one question, and therefore at most 200 lines; the map in README.md links to it.
"""

import pathlib
import re
import sys

LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
MAX_LINES = 200
LONG_PAGES = {"configuration.md"}  # a reference page
TEST = re.compile(r"`((?:unit|integration|e2e|security|fuzz|lint)\.\w+\*?)`")
TABLE_OF_TESTS = re.compile(r"^\|.*\| tests? \|\n\|[-:| ]+\n((?:\|.*\n)+)", re.M)
SKIPPED = {"build", "node_modules", ".git", ".fastgate"}


def anchors(text):
    found = set()
    for line in re.sub(r"```.*?```", "", text, flags=re.S).splitlines():
        match = re.match(r"#+\s+(.*)", line)
        if match:
            word = re.sub(r"[^\w\- ]", "", match[1].strip().lower()).replace(" ", "-")
            found.add(word)
    return found


def missing_in_container(root):
    """Libraries in scripts/packages.txt that examples/perfdb/Containerfile does not install."""
    listed = (root / "scripts" / "packages.txt").read_text()
    needed = re.findall(r"^build\s+(lib\S+-dev)\b", listed, re.M)
    container = (root / "examples" / "perfdb" / "Containerfile").read_text()
    return sorted(set(needed) - set(re.findall(r"lib\S+-dev", container)))


def known_tests(root, build):
    """
    Names of the tests in a build's folder, of the tests that CMake adds only on some machines, and
    of the cases in the collector's tests.
    """
    names = set()
    for path in (build / "tests").rglob("CTestTestfile.cmake"):
        names.update(re.findall(r"^add_test\((?:\[=\[)?([\w.]+)", path.read_text(), re.M))
    for path in (root / "tests").rglob("CMakeLists.txt"):
        names.update(f"{kind}.{name}"
                     for kind, name in re.findall(r"fg_script_test\((\w+) (\w+)", path.read_text()))
    for path in (root / "tests" / "integration" / "collector").glob("test_*.c"):
        names.update(re.findall(r"^FG_TEST(?:_IN)?\((\w+)", path.read_text(), re.M))
    return names


def unknown_tests(text, known):
    """
    Tests that a page names and that do not exist. In a table of tests, the last column also names
    cases of a test.
    """
    named = set(TEST.findall(text))
    for rows in TABLE_OF_TESTS.findall(text):
        for row in rows.splitlines():
            named.update(re.findall(r"`([a-z]\w*_\w*)`", row.rstrip("| ").rpartition("|")[2]))
    return sorted(name for name in named - known
                  if not (name[-1] == "*" and any(one.startswith(name[:-1]) for one in known)))


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    pages = (root / "README.md").read_text()
    known = known_tests(root, pathlib.Path(sys.argv[2])) if len(sys.argv) > 2 else None
    bad = 0
    for package in missing_in_container(root):
        print(f"examples/perfdb/Containerfile does not install {package}, "
              "which scripts/packages.txt lists for the build")
        bad = 1
    for path in sorted(root.rglob("*.md")):
        if SKIPPED & set(path.relative_to(root).parts):
            continue
        text = path.read_text()
        if path.parent.name == "docs" and path.name not in LONG_PAGES and text.count("\n") > MAX_LINES:
            print(f"{path.relative_to(root)}: {text.count(chr(10))} lines: "
                  f"a page has at most {MAX_LINES}; split it by question")
            bad = 1
        for name in unknown_tests(text, known) if known else []:
            print(f"{path.relative_to(root)}: test {name} does not exist")
            bad = 1
        if path.parent.name in ("docs", "formats") and f"({path.relative_to(root)})" not in pages:
            print(f"README.md: the map of the documentation does not lead to {path.relative_to(root)}")
            bad = 1
        plain = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)
        for match in LINK.finditer(plain):
            link = match[1] or match[2]
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists():
                print(f"{path.relative_to(root)}: link to {link}: the file does not exist")
                bad = 1
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                print(f"{path.relative_to(root)}: link to {link}: the page has no such heading")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
