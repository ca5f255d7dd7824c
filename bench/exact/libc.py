#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Twenty loops that a change replaced by calls of the C library: is all work counted, and which
function is blamed?

usage: libc.py FASTGATE [CALL...]

The truth is callgrind's own total of both programs, less the dynamic linker. A case is right if it
is a tenth of the program or more, its change is within a thousandth of the truth, the verdict is
`regression`, and the function of the project that makes the calls is named. Then each change is
reversed, and the verdict must be `improvement`.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

fastgate = pathlib.Path(sys.argv[1]).resolve()

# name: before, after; `t` is a text of N characters, `d` an array of N doubles, `s` a sum that
# keeps the compiler from dropping the work; arguments of pure functions vary, because with constant
# arguments the compiler would call such a function only once
CASES = {
    "tolower": ("for (i = 0; i < N; i++) t[i] |= 0x20;",
                "for (i = 0; i < N; i++) t[i] = (char)tolower(t[i]);"),
    "isalpha": ("for (i = 0; i < N; i++) s += t[i] > 64;",
                "for (i = 0; i < N; i++) s += isalpha(t[i]) != 0;"),
    "memcpy": ("u[0] = t[0];", "for (i = 0; i < 4000; i++) memcpy(u, t, N);"),
    "memmove": ("u[0] = t[0];", "for (i = 0; i < 4000; i++) memmove(u + 1, u, N - 1);"),
    "memset": ("u[0] = 1;", "for (i = 0; i < 4000; i++) memset(u, (int)i, N);"),
    "memcmp": ("s += t[1];",
               "for (i = 0; i < 40000; i++) s += memcmp(t + i % 9, u + i % 9, N - 9) > 0;"),
    "strlen": ("s += N;", "for (i = 0; i < 4000; i++) s += strlen(t + i % 9);"),
    "strchr": ("s += t[2];", "for (i = 0; i < 4000; i++) s += strchr(t + i % 9, '~') != NULL;"),
    "strcmp": ("s += t[3];", "for (i = 0; i < 4000; i++) s += strcmp(t + i % 9, u + i % 9) > 0;"),
    "strtol": ("for (i = 0; i < N; i++) s += (unsigned)t[i] - '0';",
               "for (i = 0; i < N; i++) s += (unsigned)strtol(\"17\", NULL, 10);"),
    "strtod": ("for (i = 0; i < N; i++) s += 3;",
               "for (i = 0; i < N; i++) s += (unsigned)strtod(\"3.25\", NULL);"),
    "qsort": ("for (i = 0; i < N; i++) d[i] += 1;", "qsort(d, N, sizeof(d[0]), compare);"),
    "bsearch": ("s += 4;",
                "for (i = 0; i < N; i++) s += bsearch(&d[i], d, N, sizeof(d[0]), compare) != NULL;"),
    "malloc": ("s += 5;",
               "for (i = 0; i < N; i++) { char *p = malloc(i % 900); s += p != NULL; free(p); }"),
    "calloc": ("s += 6;",
               "for (i = 0; i < N; i++) { char *p = calloc(1, i % 900); s += p != NULL; free(p); }"),
    "snprintf": ("s += 7;", "for (i = 0; i < N; i++) s += (unsigned)snprintf(u, 64, \"%zu\", i);"),
    "sscanf": ("s += 8;",
               "for (i = 0; i < N / 4; i++) { int k; s += (unsigned)sscanf(\"12\", \"%d\", &k); }"),
    "exp": ("for (i = 0; i < N; i++) d[i] += 1;", "for (i = 0; i < N; i++) d[i] = exp(d[i] / N);"),
    "sin": ("for (i = 0; i < N; i++) d[i] += 1;", "for (i = 0; i < N; i++) d[i] = sin(d[i]);"),
    "strcoll": ("s += 9;",
                "for (i = 0; i < N; i++) s += strcoll(t + N - 1 - i % 40, u + N - 2 - i % 40) > 0;"),
}
if sys.argv[2:]:
    CASES = {name: CASES[name] for name in sys.argv[2:]}
SOURCE = pathlib.Path(__file__).resolve().with_name("libc.c").read_text()


def source(new):
    functions = "".join(f"__attribute__((noinline)) static unsigned use_{name}(unsigned s)\n{{\n"
                        f"\tsize_t i = 0;\n\t{case[new]}\n\treturn s + (unsigned)i;\n}}\n"
                        for name, case in CASES.items())
    calls = "".join(f'\tif (strcmp(argv[1], "{name}") == 0) s += use_{name}(s);\n' for name in CASES)
    return SOURCE.replace("FUNCTIONS;\n", functions).replace("\tCALLS;\n", calls)


def shell(*words, code=(0,), **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=3600, **more)
    if done.returncode not in code:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def cost_of_linker(path):
    """Instructions of the dynamic linker in a file of callgrind."""
    names, cost, current, skip = {}, 0, "", False
    for line in path.read_text().splitlines():
        if line.startswith(("ob=", "cob=")):
            number, _, name = line.partition("=")[2].partition(" ")
            name = names.setdefault(number, name)
            current = name if line.startswith("ob=") else current
        elif line.startswith("calls="):
            skip = True
        elif line[:1] in "+-*0123456789" and line:
            cost += 0 if skip or "/ld-linux" not in current else int(line.split()[1])
            skip = False
    return cost


def truth(folder, new):
    (folder / "truth.c").write_text(source(new))
    shell("cc", "-O1", "-g", "-fno-builtin", "-o", "truth", "truth.c", "-lm", cwd=folder)
    counts = {}
    for name in CASES:
        done = shell("valgrind", "--tool=callgrind", "--callgrind-out-file=counts", "./truth",
                     name, cwd=folder)
        whole = int(re.search(r"Collected : (\d+)", done.stderr)[1])
        counts[name] = whole - cost_of_linker(folder / "counts")
    return counts


def judge(project, env, base, now, wanted):
    """Commit `base`, write `now`, and count."""
    (project / "p.c").write_text(source(base))
    shell("git", "add", ".", env=env, cwd=project)
    shell("git", "commit", "-qm", "x", "--allow-empty", env=env, cwd=project)
    (project / "p.c").write_text(source(now))
    done = shell(fastgate, "run", "--against", "HEAD", "--exact", "--json", "--no-store",
                 env=env, cwd=project, code=(0, 1))
    return json.loads(done.stdout)["benchmarks"], wanted


def main(folder):
    env = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": f"{folder}/cache",
           "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "b",
           "GIT_AUTHOR_EMAIL": "b@example.org", "GIT_COMMITTER_NAME": "b",
           "GIT_COMMITTER_EMAIL": "b@example.org"}
    project = folder / "project"
    project.mkdir()
    benchmarks = "".join(f"  - {{ name: {name}, command: ./p {name} }}\n" for name in CASES)
    (project / "fastgate.yml").write_text(
        'version: 1\nbuild: { command: "cc -O1 -g -fno-builtin -o p p.c -lm" }\n'
        f"benchmarks:\n{benchmarks}")
    (project / ".gitignore").write_text("p\n.fastgate\n")
    shell("git", "init", "-q", ".", env=env, cwd=project)
    totals = [truth(folder, new) for new in (0, 1)]
    print(f"{'call':10} {'truth':>9} {'counted':>9}  {'verdict':12} blamed", flush=True)
    right = 0
    for base, now, wanted in ((0, 1, "regression"), (1, 0, "improvement")):
        found, _ = judge(project, env, base, now, wanted)
        for benchmark in found:
            name = benchmark["name"]
            change = totals[now][name] / totals[base][name] - 1
            counted = benchmark["metrics"][0]["ratio"] - 1
            work = benchmark.get("work") or {}
            is_right = (abs(change) >= 0.09 and abs(counted - change) <= 0.001 * abs(change)
                        and benchmark["verdict"] == wanted and work.get("function") == f"use_{name}")
            right += is_right
            print(f"{name:10} {change:+9.2%} {counted:+9.2%}  {benchmark['verdict']:12} "
                  f"{work.get('function')} → {work.get('leaf')}{'' if is_right else '   WRONG'}",
                  flush=True)
    print(f"right: {right} of {2 * len(CASES)}")


with tempfile.TemporaryDirectory() as made:
    main(pathlib.Path(made))
