#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
projects.py BUILD_FOLDER COUNT SEED
projects.py BUILD_FOLDER NAME...

Gates source packages, drawn at random or named, as a new user would: after `init`, `run --against`
must pass a patch that does not change the behaviour, and must fail for a patch that slows the
program down by 5 % in a hot function, and name that function. The file that `init` wrote is not
edited. The profile of the first run shows which functions are hot. The slowdown is a loop at the
start of the function, long enough to take 5 % of the program's time. Prints a table.
"""
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import packages

WANTED = 0.05
LIMIT_S = 600
EXECUTIONS = 7
TRIES = 6
HOT = 0.02


def call(*words, **more):
    return subprocess.run([str(word) for word in words],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          text=True, errors="replace", timeout=LIMIT_S, check=False, **more)


def git(folder, *words):
    done = call("git", "-c", "user.name=soak", "-c", "user.email=soak@example.org", *words, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"git {words}: {done.stdout}")
    return done.stdout.strip()


def builds_with_debian(tree):
    """Do the project's makefiles, as patched by the packager, use files from debian/?"""
    return any(re.search(r"\bdebian/", path.read_text(errors="replace"))
               for path in tree.glob("*akefile*") if path.is_file())


def fetch(archive, package, folder):
    """(tree, None), or (None, reason why the package is skipped)."""
    tree = archive.fetch(package, folder)
    if not tree:
        return None, "its source could not be fetched"
    why = archive.why_not(package, tree)
    if why:
        return None, why
    for name in (".pc", "debian", ".git"):
        if name != "debian" or not builds_with_debian(tree):
            shutil.rmtree(tree / name, ignore_errors=True)
    git(tree, "init", "-q")
    git(tree, "add", "-A", "-f")
    git(tree, "commit", "-q", "-m", "as released")
    git(tree, "commit", "-q", "--allow-empty", "-m", "its next commit")
    return tree, None


def benchmarks(tree):
    with open(tree / "out.json", encoding="utf-8") as file:
        return json.load(file)["benchmarks"]


def run(fastgate, tree, name, *options):
    """
    (exit code, benchmark of the report); raises an error with the whole output if there is no report.
    """
    report = tree / "out.json"
    report.unlink(missing_ok=True)
    done = call(fastgate, "run", name, "--against", "HEAD", "--budget", "2m",
                "--set", "report.json=out.json", "--no-post", *options, cwd=tree)
    if not report.exists():
        raise RuntimeError(f"no report: {done.stdout[-400:]}")
    return done.returncode, benchmarks(tree)[0]


# A definition begins in the first column and has a body, as is usual in C and C++.
FUNCTION = r"^[A-Za-z_][^;{}#=]*?\b%s\s*\([^;{}]*\)[^;{}()]*\{"


def definitions(tree, name):
    """
    (file, offset after the opening brace) of each function of this name; methods are defined as
    CLASS::NAME, or in their class.
    """
    parts = name.split("(")[0].split("<")[0].split("::")
    plain = re.escape("::".join(parts[-2:]))
    found = []
    for path in sorted(tree.rglob("*")):
        if (path.suffix in (".c", ".cc", ".cpp", ".cxx", ".h", ".hpp")
                and ".fastgate" not in path.parts and path.is_file()):
            text = path.read_text(encoding="latin-1")
            found += [(path, match.end()) for match in re.finditer(FUNCTION % plain, text, re.M)]
    return found


def insert(place, code):
    path, offset = place
    text = path.read_text(encoding="latin-1")
    path.write_text(text[:offset] + code + text[offset:], encoding="latin-1")


# The loop uses one register and a multiple of 64 bytes, which keeps the alignment of the code after
# it: a volatile variable and a few bytes alone made one program 30 % slower.
LOOP = {
    "x86_64": ('unsigned long fg_i; __asm__ __volatile__('
               '"770: mov $%u, %%0\\n771: dec %%0\\n\\tjnz 771b\\n\\t.skip -(. - 770b) & 63, 0x90"'
               ' : "=r"(fg_i) : : "cc");'),
}
ANY_LOOP = "volatile unsigned fg_i; for (fg_i = 0; fg_i < %uu; fg_i = fg_i + 1) {}"


def loop_of(turns):
    """
    Code that loops this many times in each call of the function; for fewer than 4 turns, 16 turns
    in some of the calls.
    """
    every, count = (1, round(turns)) if turns >= 4 else (max(1, round(16 / turns)), 16)
    loop = LOOP.get(os.uname().machine, ANY_LOOP) % count
    return (f" {{ {loop} }} " if every == 1
            else f" {{ static unsigned fg_calls; if (++fg_calls % {every}u == 0) {{ {loop} }} }} ")


def neutral(tree):
    """
    Changes the program but not its behaviour, because an identical program is not measured. Returns
    a changed file.
    """
    places = definitions(tree, "main")
    for path in {path for path, _ in places}:
        insert([place for place in definitions(tree, "main") if place[0] == path][0],
               " { static volatile unsigned fg_once; if (!fg_once) fg_once = 1; } ")
    if places:
        return places[0][0]
    # Without a main(), as in a test harness's program, change every source file.
    sources = [path for path in sorted(tree.rglob("*"))
               if path.suffix in packages.SOURCES and ".fastgate" not in path.parts and path.is_file()]
    for path in sources:
        with open(path, "a", encoding="latin-1") as file:
            file.write("\n__attribute__((used)) static unsigned fg_once = 1;\n")
    return sources[0]


def change_of(benchmark):
    for metric in benchmark["metrics"]:
        if metric["name"] == "cpu_time" and metric["baseline"]:
            return metric["candidate"] / metric["baseline"] - 1
    raise RuntimeError("nothing was compared: " + str(benchmark.get("error")))


def hot_places(fastgate, tree, name):
    """
    (name, place) of each function that is hot by its own time and defined only once in the sources,
    hottest first.
    """
    done = call(fastgate, "view", "--json", "--bench", name, cwd=tree)
    rows = json.loads(done.stdout[done.stdout.index("{"):])["rows"]
    found = [(row["name"], definitions(tree, row["name"])) for row in rows
             if row["self_share"] >= HOT and not row["name"].startswith("[")]
    once = [(name, places[0]) for name, places in found if len(places) == 1]
    if not once:
        raise RuntimeError("no hot function to slow down: " + ", ".join(row["name"] for row in rows[:3]))
    return once


class Plan:
    """The build command and the first benchmark, as init wrote them."""

    def __init__(self, tree):
        text = (tree / "fastgate.yml").read_text(encoding="utf-8")
        self.build = self.value(text, "command")
        text = text.split("\n  - name:")[1]
        self.command, self.stdin = self.value(text, "command"), self.value(text, "stdin")
        self.folder = self.value(text, "working_directory") or "."
        path = re.search(r"LD_LIBRARY_PATH: ([^ ]*) }", text)
        self.environment = {**os.environ, "LD_LIBRARY_PATH": path[1]} if path else None

    @staticmethod
    def value(text, key):
        found = re.search(rf"^ +{key}: (.*)$", text, re.M)
        return found[1].strip('"') if found else None

    def execute(self, tree):
        """Executes the benchmark once in this tree.  Returns its standard error."""
        with open(tree / self.stdin if self.stdin else os.devnull, "rb") as stdin:
            return subprocess.run(shlex.split(self.command), cwd=tree / self.folder,
                                  env=self.environment, stdin=stdin, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, timeout=LIMIT_S, check=False).stderr

    def seconds(self, tree):
        return cpu_seconds(None, tree, self.execute)


def cpu_seconds(words, folder, execute=None):
    """CPU time of one execution."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if execute:
        execute(folder)
    else:
        call(*words, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def built_trees(tree, patched):
    """The trees of fastgate's two builds: (as released, with the neutral patch)."""
    trees = [path for path in sorted((tree / ".fastgate/builds").glob("*/tree"))
             if (path / patched.relative_to(tree)).exists()]
    changed = [path for path in trees
               if "fg_once" in (path / patched.relative_to(tree)).read_text(encoding="latin-1")]
    return [path for path in trees if path not in changed][-1], changed[-1]


# Prints the number of calls from time to time, to within 3 %, because a function cannot know which
# call is its last.
COUNTER = (' { extern int fg_say(int, const char *, ...) __asm__("dprintf"); static unsigned long fg_n; '
           'int fg_s; fg_n++; fg_s = 63 - __builtin_clzl(fg_n); fg_s = fg_s > 5 ? fg_s - 5 : 0;'
           ' if ((fg_n & ((1ul << fg_s) - 1)) == 0) fg_say(2, "\\nfg_calls %lu\\n", fg_n); } ')
TURNS = 50_000_000


def build_trial(tree, trial, place, code, command):
    for folder in (tree, trial):
        git(folder, "checkout", "-q", "--", ".")
    insert(place, code)
    shutil.copy(place[0], trial / place[0].relative_to(tree))
    done = call("sh", "-c", command, cwd=trial)
    if done.returncode != 0:
        raise RuntimeError(f"it does not build with a change in {place[0].name}: {done.stdout[-500:]}")


def plant(tree, place, patched):
    """
    Slows the function down by about 5 % of the program's time. Computes the turns of the loop from
    the number of calls, the time of one turn and the time of the whole program. Both times are
    measured alternately, so a busy machine slows both.
    """
    plan = Plan(tree)
    released, trial = built_trees(tree, patched)
    build_trial(tree, trial, place, COUNTER, plan.build)
    said = [int(count) for count in re.findall(rb"\nfg_calls (\d+)\n", plan.execute(trial))]
    # Each process of a loop counts from 1.
    calls = sum(count for count, following in zip(said, said[1:] + [0]) if following <= count)
    if not calls:
        raise RuntimeError("the hot function is never called")
    (tree / ".fastgate/turns.c").write_text("int main(void) {" + loop_of(TURNS) + "return 0; }\n",
                                            encoding="utf-8")
    call("cc", "-O2", "-o", ".fastgate/turns", ".fastgate/turns.c", cwd=tree)
    pairs = [(plan.seconds(released), cpu_seconds(["./.fastgate/turns"], tree))
             for _ in range(EXECUTIONS)]
    whole, loop = min(one for one, _ in pairs), min(other for _, other in pairs)
    per_change = whole / (loop / TURNS) / calls
    turns = WANTED * per_change
    # A function that gains a loop may be laid out differently, which alone can change its speed.
    for _ in range(TRIES):
        build_trial(tree, trial, place, loop_of(turns), plan.build)
        pairs = [(plan.seconds(released), plan.seconds(trial))
                 for _ in range(EXECUTIONS if whole > 0.5 else 3 * EXECUTIONS)]
        change = min(slow for _, slow in pairs) / min(fast for fast, _ in pairs) - 1
        if WANTED / 2 < change < 1.5 * WANTED:
            return
        turns = max(turns / 4, turns + (WANTED - change) * per_change)
    raise RuntimeError(f"no loop makes it 5 % slower: the last one made it {100 * change:+.1f} %")


def plant_in_one(tree, row, names, patched):
    """Plants the slowdown in the hottest function in which that works."""
    why = ""
    for name in names:
        row.function = name
        git(tree, "checkout", "-q", "--", ".")
        try:
            plant(tree, definitions(tree, name)[0], patched)
            return
        except RuntimeError as error:
            why = f"{name}: {error}"
    raise RuntimeError(why)


class Row:
    def __init__(self, package):
        self.package, self.kind, self.benchmark = package, "", ""
        self.neutral, self.planted, self.function, self.named = "", "", "", ""
        self.minutes, self.first, self.outcome, self.why, self.passed_over = 0.0, 0.0, "NO", "", None


def judge_nothing(row, said):
    """
    Judges an `init` that found no benchmark. It may ask the user for one, if it built the project
    and says what each program lacks.
    """
    missing = re.search(r"(\S+): (?:command )?not found", said)
    asked = re.search(r"^  benchmark: none was found.*", said, re.M | re.S)
    if missing:
        row.passed_over = f"it needs {missing[1]}, which is not installed"
    elif asked and "\nNext: add a benchmark" in said:
        row.outcome, row.why = "asks", asked[0].replace("\n", " ")[130:500]
    else:
        raise RuntimeError(f"init found nothing to measure: {said[-500:]}")


def try_package(fastgate, archive, row, folder):
    tree, row.passed_over = fetch(archive, row.package, folder)
    if not tree:
        return
    started = time.monotonic()
    said = call(fastgate, "init", cwd=tree).stdout
    kind = re.search(r"^  build: .*\((.*)\)$", said, re.M)
    row.kind = kind.group(1) if kind else "?"
    named = call(fastgate, "config", "--benchmarks", cwd=tree)
    if named.returncode != 0:
        judge_nothing(row, said)
        return
    row.benchmark = named.stdout.split("\n")[0]
    (tree / ".git/info/exclude").write_text(".fastgate/\nfastgate.yml\nout.json\n", encoding="utf-8")
    patched = neutral(tree)
    code, found = run(fastgate, tree, row.benchmark)
    row.first = (time.monotonic() - started) / 60
    row.neutral = f"{found['verdict']} {100 * change_of(found):+.1f} %"
    hot = hot_places(fastgate, tree, found["name"])
    git(tree, "checkout", "-q", "--", ".")
    plant_in_one(tree, row, [name for name, _ in hot], patched)
    code_slow, slow = run(fastgate, tree, row.benchmark)
    row.planted = f"{slow['verdict']} {100 * change_of(slow):+.1f} %"
    guilty = [function["name"] for function in slow["functions"] if function["verdict"] == "regression"]
    # With too few samples, the report names the only hot function that changed.
    changed = re.search(r"^(.*) is the only hot function whose machine code changed$",
                        "\n".join(slow["notes"]), re.M)
    if not guilty and changed:
        guilty = [changed.group(1)]
    row.named = guilty[0] if guilty else "-"
    if code == 0 and code_slow == 1 and row.function in guilty:
        row.outcome = "yes"
    elif code == 0 and code_slow == 0 and slow["verdict"] == "inconclusive":
        row.outcome, row.why = "inconclusive", slow["answer"]["sentence"]


def try_all(fastgate, archive, names, wanted):
    """Rows of the table, for this many packages written in C or C++."""
    rows = []
    for package in names:
        if len(rows) == wanted:
            break
        row = Row(package)
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="fastgate-projects-") as folder:
            try:
                try_package(fastgate, archive, row, pathlib.Path(folder))
            except (RuntimeError, ValueError, OSError, subprocess.TimeoutExpired) as error:
                row.why = str(error).replace("\n", " ")[:600]
        if row.passed_over:
            print(f"passed over: {package}: {row.passed_over}", flush=True)
            continue
        row.minutes = (time.monotonic() - started) / 60
        rows.append(row)
        print(f"| {row.package} | {row.kind} | {row.benchmark} | {row.neutral} | {row.first:.1f} | "
              f"{row.planted} | {row.function} |"
              f" {row.named} | {row.minutes:.1f} | {row.outcome} {row.why} |", flush=True)
    return rows


def main():
    fastgate = pathlib.Path(sys.argv[1]).resolve() / "cli" / "fastgate"
    with tempfile.TemporaryDirectory(prefix="fastgate-archive-") as folder:
        archive = packages.Archive(folder)
        names, wanted = sys.argv[2:], len(sys.argv) - 2
        if names[0].isdigit():
            wanted, seed = int(names[0]), int(names[1])
            names = archive.draw(10 * wanted, seed)
            print(f"seed {seed}: " + ", ".join(names[:3]) + ", ...")
        rows = try_all(fastgate, archive, names, wanted)
    good, asks = (sum(row.outcome == outcome for row in rows) for outcome in ("yes", "asks"))
    print("(package, build, benchmark, neutral patch, minutes from init to that verdict, planted 5 %, "
          "in, named, minutes in all, as wanted)")
    print(f"projects: {good} of {len(rows)} as wanted; {asks} where init says what only a person knows")
    sys.exit(0 if rows and good * 10 >= 8 * len(rows) else 1)


if __name__ == "__main__":
    main()
