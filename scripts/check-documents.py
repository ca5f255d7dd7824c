#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links in Markdown lead somewhere: every relative link names a file that exists and, behind '#', a heading of it."""

import pathlib
import re
import sys

LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
SKIPPED = {"build", "node_modules", ".git", ".fastgate"}


def anchors(text):
    found = set()
    for line in re.sub(r"```.*?```", "", text, flags=re.S).splitlines():
        match = re.match(r"#+\s+(.*)", line)
        if match:
            word = re.sub(r"[^\w\- ]", "", match[1].strip().lower()).replace(" ", "-")
            found.add(word)
    return found


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    bad = 0
    for path in sorted(root.rglob("*.md")):
        if SKIPPED & set(path.relative_to(root).parts):
            continue
        text = path.read_text()
        plain = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.S)
        for match in LINK.finditer(plain):
            link = match[1] or match[2]
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists():
                print(f"{path.relative_to(root)}: link to {link}: there is no such file")
                bad = 1
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                print(f"{path.relative_to(root)}: link to {link}: there is no such heading")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
