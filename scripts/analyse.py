#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
analyse.py BUILD_FOLDER JOBS [--deep]: clang's warnings, clang-tidy and cppcheck over our sources;
any finding fails.

The build folder must be built, because its compile commands and dependency files are read; for
sources that only the sanitizers' build compiles, that build's files are read. A file is analysed
again only if the file, a header that it includes, its flags, a rule or a tool has changed since it
was found clean in any clone: results are kept in ~/.cache/fastgate-analysis
(FASTGATE_ANALYSIS_CACHE), like ccache's objects.

There are three levels; a file that is clean at a level is clean at the lower levels. "deep", with
--deep, runs all checks. "tidy" is for files changed since the main branch, and in CI for all files:
clang's analyzer follows paths through a function up to a low limit, and the spelling of names is
not checked. "plain" is for all other files, which were analysed when they changed: it omits the
analyzer, which costs as much as everything else.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

from suite import changed_files

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = (".clang-tidy", "tests/.clang-tidy", "scripts/analyse.py")
# Folders of code like users' programs: clang's warnings apply, but our own rules do not.
FOREIGN = ("tests/targets/", "examples/", "bench/")
# clang-tidy must not optimise: optimisation makes libc's headers replace functions with macros, which
# would be analysed instead of our code.
TIDY = ["clang-tidy-14", "--quiet", "--warnings-as-errors=*", "--extra-arg=-Wno-unknown-warning-option",
        "--extra-arg=-O0"]
# added to the warnings of cmake/FgWarnings.cmake
CLANG_WARNINGS = ["--extra-arg=-Wcomma", "--extra-arg=-Wassign-enum",
                  "--extra-arg=-Wmisleading-indentation"]
# The analyzer's default is 225,000 nodes per function. Twelve files of gate/ take 2.6 s with these
# flags, 6.6 s with 40,000 nodes and naming checks, and 23 s with --deep.
LEVELS = ("deep", "tidy", "plain")
QUICK = [*(f"--extra-arg={word}"
           for word in ("-Xclang", "-analyzer-config", "-Xclang", "max-nodes=10000")),
         "--checks=-readability-identifier-naming,-bugprone-reserved-identifier"]
PLAIN = ["--checks=-readability-identifier-naming,-bugprone-reserved-identifier,-clang-analyzer-*"]
FLAGS = {"deep": [], "tidy": QUICK, "plain": PLAIN}
# Switched off, with the reason:
#   readdirCalled                readdir() is safe on a stream that no other thread uses;
#                                readdir_r() is deprecated
#   preprocessorErrorDirective   cppcheck tries architectures that the collector does not know
#   internalAstError             compound literals are beyond cppcheck 2.10
#   constStatement               store/run_rows.c: cppcheck takes the commas of a long compound
#                                literal for operators
#   returnDanglingLifetime       store/db.c: only the length is passed by address; the text belongs
#                                to the row
CPPCHECK = ["cppcheck", "--enable=warning,performance,portability", "--inline-suppr", "--std=c11",
            "--library=posix,gnu", "--suppress=*:*/build/*", "--suppress=missingInclude",
            "--suppress=readdirCalled", "--suppress=preprocessorErrorDirective",
            "--suppress=internalAstError", "--suppress=returnDanglingLifetime:*store/db.c",
            "--suppress=constStatement:*store/run_rows.c", "--error-exitcode=2", "-q"]


CODE_ALONE = frozenset(("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"))
# clang-tidy spends a quarter of its time per file on starting up, so one process checks several
# files.
FILES_A_PROCESS = 6
KEPT_S = 30 * 24 * 3600  # time after which an unused stamp is removed


def open_cache(build):
    """
    Returns a folder shared by all clones, or a folder inside this build if the home is not
    writable.
    """
    given = os.environ.get("FASTGATE_ANALYSIS_CACHE")
    try:
        caches = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        folder = pathlib.Path(given) if given else caches / "fastgate-analysis"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):
        pass
    folder = build / "analysis"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def all_headers():
    return subprocess.run(["git", "ls-files", "*.h"],
                          capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()


class Stamps:
    """Clean results: one stamp per source, tool, and digest of everything the object depends on."""

    def __init__(self, build):
        self.folder = open_cache(build)
        tools = [subprocess.run([tool, "--version"], capture_output=True, check=True).stdout
                 for tool in (TIDY[0], CPPCHECK[0])]
        self.rules = b"".join([*((ROOT / name).read_bytes() for name in RULES), *tools])
        self.dependencies = self.read_dependencies(build)
        self.headers = [str(ROOT / name) for name in all_headers()]
        self.contents = {}
        self.forget_old()

    def forget_old(self):
        for path in self.folder.iterdir():
            try:
                if path.stat().st_mtime < time.time() - KEPT_S:
                    path.unlink()
            except FileNotFoundError:
                pass  # a concurrent analysis was faster

    @staticmethod
    def read_dependencies(build):
        """{object: all files it depends on, including the system's}, from the last build."""
        found = {}
        for folder in (build.parent / "asan", build):
            if not (folder / "build.ninja").exists():
                continue
            text = subprocess.run(["ninja", "-C", str(folder), "-t", "deps"],
                                  capture_output=True, text=True, check=True).stdout
            for block in text.split("\n\n"):
                head, _, names = block.partition("\n")
                found[head.partition(": #deps")[0]] = [str(folder / name.strip())
                                                       for name in names.splitlines()]
        return found

    def files_of(self, entry):
        """
        The files that an object depends on. For sources that no build has compiled, such as
        benchmarks, these include all our headers.
        """
        return self.dependencies.get(entry["output"]) or [entry["file"], *self.headers]

    def content(self, path):
        if path not in self.contents:
            found = pathlib.Path(path)
            self.contents[path] = hashlib.sha256(found.read_bytes() if found.exists() else b"").digest()
        return self.contents[path]

    def path(self, tool, entry):
        digest = hashlib.sha256(self.rules + entry["command"].replace(str(ROOT), "").encode())
        for content in sorted(self.content(name) for name in self.files_of(entry)):
            digest.update(content)  # in the order of the digests, which is the same in every clone
        return self.folder / f"{entry['name'].replace('/', '_')}.{tool}.{digest.hexdigest()[:32]}"

    def is_made_of(self, entry, names):
        """Does the source depend on any of these files?"""
        return any(path.removeprefix(f"{ROOT}/") in names for path in self.files_of(entry))

    def is_clean(self, tool, entry):
        path = self.path(tool, entry)
        if not path.exists():
            return False
        path.touch()  # marks the stamp as used
        return True

    def keep(self, tool, entry):
        self.path(tool, entry).touch()


def read_entries(build):
    """One compile command per source of ours, without sources that the build generates."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        name = str(path.relative_to(ROOT))
        if not path.is_relative_to(build) and not name.startswith("build/"):
            made = re.search(r" -o (\S+)", entry["command"])
            found.setdefault(name, {**entry, "name": name, "output": made[1]})
    return sorted(found.values(), key=lambda entry: entry["name"])


def write_commands(build):
    """
    Writes the compile commands for clang-tidy, which analyses a file once with each of its commands:
    one per width and set of definitions. Benchmarks and fuzzers compile sources again with other
    optimisation, which makes no difference. Returns the folder.
    """
    different = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        meant = frozenset(word for word in words if word.startswith(("-D", "-U", "-m"))
                          and not word.endswith("_EXPORTS")) - CODE_ALONE
        different.setdefault((entry["file"], meant), entry)
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    (folder / "compile_commands.json").write_text(json.dumps(list(different.values())), encoding="utf-8")
    return folder


def level_of(stamps, entry, deep, changed):
    if deep:
        return "deep"
    return "tidy" if os.environ.get("CI") or stamps.is_made_of(entry, changed) else "plain"


def tidy_words(build, entry, level):
    """clang-tidy and its options for this file."""
    words = [*TIDY, "-p", str(build)]
    if entry["name"].startswith(FOREIGN):
        # if no check is enabled, clang-tidy does nothing
        words.append("--checks=-*,clang-diagnostic-*,misc-static-assert")
    else:
        words += CLANG_WARNINGS + FLAGS[level]
    return words


def tidy(words, files):
    """The findings of clang-tidy, or ""."""
    done = subprocess.run([*words, *files], capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode == 0:
        return ""
    return done.stdout + re.sub(r"^\d+ warnings? .*\n", "", done.stderr, flags=re.M)


def batches(build, entries, levels):
    """[(options, entries)]: files with the same options, several per process."""
    same = {}
    for entry in entries:
        same.setdefault(tuple(tidy_words(build, entry, levels[entry["name"]])), []).append(entry)
    return [(words, group[at:at + FILES_A_PROCESS]) for words, group in same.items()
            for at in range(0, len(group), FILES_A_PROCESS)]


def tidy_batch(words, group):
    """The findings per file; files are analysed separately only if the group has findings."""
    if not tidy(words, [entry["file"] for entry in group]):
        return [""] * len(group)
    return [tidy(words, [entry["file"]]) for entry in group]


def run_tidy(stamps, build, entries, jobs, deep):
    """Prints findings as they are found; returns the number of files with findings."""
    changed = set(changed_files())
    levels = {entry["name"]: level_of(stamps, entry, deep, changed) for entry in entries}

    def is_clean(entry):
        enough = LEVELS[:LEVELS.index(levels[entry["name"]]) + 1]
        return any(stamps.is_clean(level, entry) for level in enough)

    wanted = [entry for entry in entries if not is_clean(entry)]
    print(f"clang-tidy: {len(wanted)} of {len(entries)} files to check", flush=True)
    bad = 0
    work = batches(build, wanted, levels)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for (_, group), said in zip(work, pool.map(lambda one: tidy_batch(*one), work)):
            for entry, words in zip(group, said):
                if words:
                    bad += 1
                    print(words, flush=True)
                else:
                    stamps.keep(levels[entry["name"]], entry)
    return bad


def run_cppcheck(stamps, entries, jobs):
    """Analyses the product only; returns 1 if there are findings, else 0."""
    product = [entry for entry in entries
               if not entry["name"].startswith((*FOREIGN, "tests/")) and entry["name"].endswith(".c")]
    wanted = [entry for entry in product if not stamps.is_clean("cppcheck", entry)]
    print(f"cppcheck: {len(wanted)} of {len(product)} files to check", flush=True)
    if not wanted:
        return 0
    with tempfile.NamedTemporaryFile("w", suffix=".json") as project:
        json.dump([{key: entry[key] for key in ("directory", "command", "file")} for entry in wanted],
                  project)
        project.flush()
        if subprocess.run([*CPPCHECK, f"--project={project.name}", "-j", str(jobs)],
                          cwd=ROOT, check=False).returncode != 0:
            return 1
    for entry in wanted:
        stamps.keep("cppcheck", entry)
    return 0


def main():
    words = [word for word in sys.argv[1:] if word != "--deep"]
    if len(words) != 2 or not words[1].isdigit():
        print(f"usage: {shlex.quote(sys.argv[0])} BUILD_FOLDER JOBS [--deep]", file=sys.stderr)
        return 2
    build = (pathlib.Path.cwd() / words[0]).resolve()
    stamps = Stamps(build)
    entries = read_entries(build)
    bad = run_tidy(stamps, write_commands(build), entries, int(words[1]), "--deep" in sys.argv)
    bad += run_cppcheck(stamps, entries, int(words[1]))
    print(f"{bad} with findings (above)" if bad else f"{len(entries)} files clean")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
