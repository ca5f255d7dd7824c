#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Copies the parts of the manual that fastgate prints itself: tables, and the reference of fastgate.yml.

tables.py FASTGATE ROOT           writes the parts into docs/*.md, below each line
                                  <!-- fastgate help TOPIC [BEGINNING...] --> and below
                                  <!-- fastgate config --reference -->, to the end of the page
tables.py FASTGATE ROOT --check   fails if a part differs
"""
import pathlib
import re
import subprocess
import sys

MARK = re.compile(r"(<!-- fastgate help (\w+)((?: [\w.-]+)*) -->\n\|[^\n]*\n\|[^\n]*\n)(?:\|[^\n]*\n)*")

REFERENCE = re.compile(r"(<!-- fastgate config --reference -->\n).*", re.S)


def rows(fastgate, topic, beginnings):
    """
    Yields a row per entry of `fastgate help TOPIC`, or per entry whose name begins with one of the
    words.
    """
    said = subprocess.run([fastgate, "help", topic], capture_output=True, text=True, check=True).stdout
    for entry in re.findall(r"^  (?=\S).*\n(?:   +\S.*\n)*", said, re.M):
        name, what = entry.split(maxsplit=1)
        if not beginnings or name.startswith(tuple(beginnings)):
            yield f"| `{name}` | {' '.join(what.split())} |\n"


def main():
    fastgate, root = sys.argv[1], pathlib.Path(sys.argv[2])
    reference = subprocess.run([fastgate, "config", "--reference"],
                               capture_output=True, text=True, check=True).stdout
    wrong = []
    for page in sorted(root.glob("docs/*.md")):
        text = page.read_text(encoding="utf-8")
        new = MARK.sub(lambda match: match[1] + "".join(rows(fastgate, match[2], match[3].split())),
                       text)
        new = REFERENCE.sub(lambda match: match[1] + reference, new)
        if new != text:
            wrong.append(str(page))
            if "--check" not in sys.argv:
                page.write_text(new, encoding="utf-8")
    for page in wrong if "--check" in sys.argv else []:
        print(f"{page}: a part differs from what fastgate prints; update it with: ./dev docs")
    return 1 if wrong and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
