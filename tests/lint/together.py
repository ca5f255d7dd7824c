#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
together.py ROOT: sources are compiled together unless they use one name for different things.
"""
import os
import sys

import checks

sys.path.insert(0, os.path.join(sys.argv[1], "scripts"))
import together

FUNCTION = "static int add(int a)\n{\n\treturn a;\n}\n"
PAIRS = (  # (case, one source, another source, compiled together?)
    ("nothing in common", FUNCTION, "static int sum(int a)\n{\n\treturn a;\n}\n", True),
    ("two functions", FUNCTION, "static void add(void)\n{\n}\n", False),
    ("a function that returns a pointer", FUNCTION, "static const struct x *add(void)\n{\n}\n", False),
    ("a function with an attribute",
     FUNCTION, "static __attribute__((noinline)) void add(void)\n{\n}\n", False),
    ("a function and a variable", FUNCTION, "static const int add[] = {1, 2};\n", False),
    ("a function and a pointer to one", FUNCTION, "static int (*add)(int);\n", False),
    ("two sort orders",
     "FG_ORDER_BY(by_id, struct x, FG_UP(id))\n", "FG_ORDER_BY(by_id, struct y, FG_DOWN(id))\n", False),
    ("a local variable", FUNCTION, "int sum(int b)\n{\n\tstatic int add;\n\treturn add + b;\n}\n", True),
    ("a word in a comment or a text",
     FUNCTION, "/*\nstatic int add(void) */\nconst char *sum = \"static int add(\";\n", True),
    ("two types", "struct row {\n\tint a;\n};\n", "struct row {\n\tint b;\n};\n", False),
    ("a type and its use", "struct row {\n\tint a;\n};\n", "int sum(struct row *row);\n", True),
    ("two constants", "enum { FEW = 3, MANY };\n", "enum size {\n\tSOME,\n\tMANY = 9,\n};\n", False),
    ("two macros", "#define FEW 3\n", "#define FEW 4\n", False),
    ("a macro and a name that it would replace",
     "#define few 3\n", "int sum(int few)\n{\n\treturn few;\n}\n", False),
)


def groups(most, *texts):
    paths = [f"{number}.c" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        checks.write(path, text)
    return [[int(path[:-2]) for path in group] for group in together.groups_of(paths, most)]


def body():
    for what, one, other, wanted in PAIRS:
        for texts in ((one, other), (other, one)):
            found = groups(8, *texts)
            checks.check(found == ([[0, 1]] if wanted else [[0], [1]]), f"{what}: {found}")
    found = groups(2, FUNCTION, FUNCTION, "int a;\n", "int b;\n", "int c;\n")
    checks.check(found == [[0, 2], [1, 3], [4]],
                 f"each goes to the first group with room for it: {found}")


if __name__ == "__main__":
    checks.finish_in_scratch(body)
