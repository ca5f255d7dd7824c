#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
init.py FASTGATE: `fastgate init` in small projects: the benchmarks that it finds and measures, and the file that it
writes, which runs unchanged.
"""
import os
import shutil

from checks import call, check, finish, write
from init_project import MAIN, commit, entries, fastgate, in_folder, init, measures_nothing, runs


def an_empty_folder_gets_what_is_needed_listed():
    said, text = init()
    check("none was found" in said and "does work that matters" in said, f"empty: {said}")
    check(measures_nothing(text) and "name: example" not in text and "while" not in text, f"empty: {text}")
    check("\n# baseline:" in text, "empty: a baseline without a repository")
    done = call(fastgate, "run")
    check(done.returncode == 2 and "expected a list" in done.stderr, f"empty: {done}")


def existing_files_are_never_touched():
    write("fastgate.yml", "mine")
    done = call(fastgate, "init")
    check(done.returncode == 2 and "is left unchanged" in done.stderr, f"existing: {done}")
    with open("fastgate.yml", encoding="utf-8") as file:
        check(file.read() == "mine", "existing: it was overwritten")
    check("version: 1" in call(fastgate, "init", "--print").stdout, "existing: --print")


def a_make_project_is_built_once_and_tried():
    write("main.c", MAIN)
    write("Makefile", "all: bench_loop api_test function_source\nbench_loop api_test function_source: main.c\n\tcc -O1 -g -o $@ main.c\n")
    write(".gitignore", "bench_loop\n.fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("command: make -j2" in text and "\n  - name: bench_loop\n    command: ./bench_loop\n" in entries(text), f"make: {text}")
    check("\n  - name: api_test" not in text and "\n  - name: function_source" not in text, f"make, other programs than benchmarks: {text}")
    check("\n# baseline: { against: merge-base }" in text, f"make, one commit: {text}")
    check("Next: fastgate run --against HEAD" in said, f"make, one commit: {said}")
    check("is found within 30 s" in said or "too short to time well" in said, f"make, what was seen: {said}")
    check(not os.path.exists("bench_loop"), "make: the work tree was built in")
    os.remove("fastgate.yml")
    commit()
    said, text = init()
    check("\nbaseline: { against: merge-base }" in text and "Next: fastgate run  " in said, f"make: {text}{said}")
    check("building" not in said, f"make: what was built a moment ago is built again: {said}")
    runs("bench_loop")


def what_make_bench_would_run_is_measured():
    write("main.c", MAIN)
    write("Makefile", "all: tool\ntool speedy: main.c\n\tcc -O1 -o $@ main.c\n"
                      "bench: speedy\n\t@echo now\n\t./speedy 20 'a b'\n.PHONY: bench\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    _, text = init()
    check("command: make -j2 && make -j2 speedy\n  shell: true" in text, f"make bench: {text}")
    check("command: \"./speedy 20 'a b'\"" in text or "command: ./speedy 20 'a b'" in text, f"make bench: {text}")


def what_a_sub_make_would_run_is_measured_in_its_folder():
    write("main.c", MAIN)
    write("Makefile", "all:\n\t$(MAKE) -C test speedy\nbench: all\n\t$(MAKE) -C test bench\n.PHONY: all bench\n")
    write("test/Makefile", "speedy: ../main.c\n\tcc -O1 -o $@ ../main.c\nbench: speedy\n\t./speedy 20\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    _, text = init()
    check("command: ../test/speedy 20\n" in text and "working_directory: test\n" in text, f"sub-make: {text}")


def a_target_named_for_speed_is_built_though_nothing_asks_for_it():
    write("main.c", MAIN)
    write("libtool", "#!/bin/sh\nexec \"$@\"\n")
    os.chmod("libtool", 0o755)
    write("Makefile", "all: tool\n.PHONY: all\ntool speedtest1: main.c Makefile\n\t./libtool cc -O1 -o $@ main.c\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    _, text = init()
    check("make -j2 && make -j2 speedtest1\n" in text and "\n  - name: speedtest1\n" in text, f"named target: {text}")


def neither_a_tool_of_the_build_nor_a_server_is_measured():
    write("main.c", MAIN.replace("1000000", "200000000"))
    # The first execution may begin within the tick of the clock in which the program was linked.
    write("Makefile", "all: words.h echo_server worker\nabacus echo_server worker: main.c\n\tcc -O1 -o $@ main.c\n"
                      "words.h: abacus\n\t./abacus && ./abacus && touch $@\n")
    commit()
    said, _ = init()
    check("trying worker" in said and "trying echo_server" not in said, f"server: {said}")
    # Without access times on this file system, init cannot recognise a tool.
    if "noatime" not in call("findmnt", "-n", "-o", "OPTIONS", "-T", ".").stdout:
        check("trying abacus" not in said, f"tool: {said}")


def a_second_look_at_a_tree_takes_no_program_for_a_tool():
    write("main.c", MAIN)
    write("Makefile", "all: worker other\nworker other unit: main.c\n\tcc -O1 -o $@ main.c\ncheck: unit\n\t./unit\n.PHONY: all check\n")
    commit()
    said, _ = init()
    check("building the project's tests" in said and "the build ran this program" not in said, f"second look: {said}")


CASES = """#include <stdio.h>
#include <string.h>
/* Takes benchmark-samples, as the harness does. */
const char *const takes = "benchmark-samples";
int main(int argc, char **argv) { volatile unsigned i = 0;
if (argc > 1 && !strcmp(argv[1], "--list-tags")) { puts("   1  [!benchmark]"); return 0; }
while (i < 20000000) i = i + 1;
puts("<Catch2TestRun><TestCase name='sum'><BenchmarkResults name='sum'><mean value='1e6'/></BenchmarkResults></TestCase></Catch2TestRun>");
return argc > 1 && !strcmp(argv[1], "[!benchmark]") && takes ? 0 : 1; }
"""


def hidden_cases_of_catch2_are_listed():
    write("main.c", CASES)
    write("Makefile", "all: unit_tests\nunit_tests: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    _, text = init()
    check("./unit_tests \\\"[!benchmark]\\\" --reporter xml" in text or "./unit_tests \"[!benchmark]\" --reporter xml" in text, f"tags: {text}")


SOUND = r"""#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) { FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL; char header[44]; static char data[1 << 20];
unsigned sum = 0; unsigned size = 0;
if (!file || fread(header, 1, 44, file) != 44 || memcmp(header, "RIFF", 4) || memcmp(header + 8, "WAVEfmt ", 8) || memcmp(header + 36, "data", 4))
	return fputs("usage: encode FILE.wav\n", stderr), 1;
memcpy(&size, header + 40, 4);
if (fread(data, 1, sizeof(data), file) != size || fgetc(file) != EOF) return 2;
for (int i = 0; i < 60 << 20; i++) sum = sum * 31 + (unsigned char)data[i % size];
return printf("%u\n", sum) < 0; }
"""


def an_input_of_a_simple_format_is_made():
    write("main.c", SOUND)
    write("Makefile", "encode: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    said, text = init()
    check("command: ./encode fastgate-input.wav\n" in text and "\n    setup: " in text, f"made: {said}{text}")
    check("the input is a file made by fastgate" in said, f"said to be made: {said}")
    check(not call("git", "ls-files", "-o", "--exclude-standard", "--exclude", "fastgate.yml").stdout, "an input was left behind")


COUNTING = r"""#include <stdio.h>
#include <string.h>
int main(void) { static char data[1 << 16]; size_t all = 0, size = 0;
while ((size = fread(data, 1, sizeof(data), stdin)) > 0) for (size_t i = 0; i < size; i++) all += data[i] == '\n';
return printf("%zu\n", all) < 0; }
"""


def a_fast_program_is_given_a_large_file_many_times():
    write("main.c", COUNTING)
    write("count.txt", "a line of the file\n" * 300000)
    write("Makefile", "count: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    said, text = init()
    check("command: ./count\n" in text and "\n    stdin: fastgate-input.txt\n" in text, f"large file: {said}{text}")


# Names and text that each harness leaves in a program.
NANOBENCH = MAIN + 'const char *const symbol = "_ZN6ankerl9nanobench5BenchC1Ev";\n'
DOCTEST = MAIN + 'const char *const option = "dt-list-test-cases";\n'


def a_harness_must_print_what_can_be_read():
    write("nano.c", NANOBENCH)
    write("unit.c", DOCTEST)
    write("Makefile", "all: nano unit\n%: %.c\n\tcc -O1 -o $@ $<\n")
    commit()
    said, text = init()
    check("templates::json()" in said and measures_nothing(text), f"nanobench: {said}{text}")
    check("trying unit:" not in said and "harness: doctest" not in text, f"a suite of tests: {said}")


def a_build_system_that_fails_makes_way_for_the_next():
    write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(bench gone.c)\n")
    write("main.c", MAIN)
    write("Makefile", "bench: main.c\n\tcc -O1 -o $@ main.c\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    said, text = init()
    check("CMake does not build the project; trying Make" in said and "  command: make -j2\n" in text, f"next way: {said}{text}")


def one_that_builds_no_program_makes_way_for_one_that_does():
    if not shutil.which("cmake"):
        print("no CMake here: its case was left out")
        return
    write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_library(work main.c)\n")
    write("main.c", MAIN)
    write("Makefile", "all:\n\tfalse\n")
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("CMake builds no program; trying Make" in said and "cmake --build build -j2\n" in text, f"no other builds: {said}{text}")
    check(said.count("building the work tree") == 3, f"the first is built twice: {said}")
    os.remove("fastgate.yml")
    write("Makefile", "bench: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    said, text = init()
    check("  command: make -j2\n" in text and "command: ./bench\n" in text, f"another builds a program: {said}{text}")


def the_build_system_that_names_a_benchmark_comes_first():
    if not shutil.which("meson"):
        print("no Meson here: its case was left out")
        return
    write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\nproject(p C)\n")
    write("meson.build", "project('p', 'c')\nbenchmark('parse', executable('parse', 'main.c'))\n")
    write("main.c", MAIN)
    commit()
    _, text = init("--no-build")
    check("meson setup build" in text, f"two build systems: {text}")


def build_files_may_lie_deeper_or_have_other_names():
    write("main.c", MAIN)
    write("doc/Makefile", "all:\n\tfalse\n")
    write("lib/src/Makefile", "bench: main.c\n\tcc -O1 -o $@ main.c\n")
    write("lib/src/main.c", MAIN)
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    _, text = init()
    check("command: cd lib/src && make -j2\n  shell: true\n" in text and "command: ./lib/src/bench\n" in text, f"two levels down: {text}")
    os.remove("fastgate.yml")
    write("Makefile.win32", "all:\n\tfalse\n")
    write("Makefile.unix", "bench: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    _, text = init("--no-build")
    check("command: make -f Makefile.unix -j2\n" in text, f"another name: {text}")


def a_command_of_the_users_own_is_what_builds():
    write("main.c", MAIN)
    write("Makefile", "all:\n\tfalse\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    said, text = init("--build", "mkdir -p out && cc -O1 -o out/bench main.c")
    check("(as given)" in said and "command: mkdir -p out && cc -O1 -o out/bench main.c\n  shell: true\n" in text, f"given: {said}{text}")
    check("command: ./out/bench\n" in text, f"given: {text}")


def a_stripped_program_is_reported():
    write("main.c", MAIN)
    write("Makefile", "bench: main.c\n\tcc -O1 $(FLAGS) -o $@ main.c\n")
    write("fastgate.yml", "version: 1\nbuild: { command: make FLAGS=-s }\nbenchmarks:\n  - { name: bench, command: ./bench }\n")
    few = ("--pairs", "2:2", "--set", "measure.warmup=0", "--set", "measure.schedule=abba")
    said = call(fastgate, "run", *few).stderr
    check(said.count("bench has no symbols") == 1 and "link the program without -s" in said, f"stripped: {said}")
    os.remove("bench")
    said = call(fastgate, "run", *few, "--set", "build.command=make").stderr
    check("no symbols" not in said, f"not stripped: {said}")


FILTER = """#include <stdio.h>
int main(void) { volatile unsigned sum = 0; int c, n = 0;
while ((c = getchar()) != EOF) for (int i = 0; i < 2; i++, n++) sum = sum * 31 + (unsigned)c;
return n ? 0 : 1; }
"""


def crunch(source, more=""):
    """A project with one program, which has the name of its folder."""
    os.mkdir("crunch-1.2")
    os.chdir("crunch-1.2")
    write("main.c", source)
    write("Makefile", "all: crunch\ncrunch: main.c\n\tcc -O1 -o $@ main.c\n" + more)
    write(".gitignore", "fastgate.yml\n")


def a_filter_is_given_files_of_the_project():
    crunch(FILTER + "/* " + "x" * 50000 + " */\n", "# and more\n" * 5000)
    commit()
    write("data/small.txt", "x" * 1500)
    write("data/picture.raw", "\0x" * 30000)
    commit()
    said, text = init()
    check("A guess" in text and "a guess" in said, f"filter: {text}{said}")
    # The source and the Makefile are larger, but a patch to them would change the work; and a filter hardly reads
    # pictures.
    check("stdin: fastgate-input.txt" in text and "yes data/small.txt | head -n" in text, f"filter: {text}")
    runs("crunch")


def a_libtool_wrapper_is_looked_through():
    write("main.c", "int work(void);\nint main(void) { return work(); }\n")
    write("Makefile", "all:\n\tmkdir -p .libs\n\tcc -O1 -shared -fPIC -Wl,-soname,libwork.so.1 -o .libs/libwork.so.1 lib.c\n"
                      "\tcc -O1 -o .libs/bench main.c .libs/libwork.so.1\n\tcp wrapper bench\n")
    write("lib.c", MAIN.replace("main", "work"))
    write("wrapper", "#! /bin/sh\n# bench - temporary wrapper script for .libs/bench\nexec .libs/bench\n", 0o755)
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("command: ./.libs/bench" in text and "LD_LIBRARY_PATH: .libs" in text, f"wrapper: {text}")
    check("wrapper script" in said and "--disable-shared" in said, f"wrapper: {said}")


def a_program_with_a_library_of_its_own_finds_that_one():
    write("lib.c", MAIN.replace("main", "work"))
    write("main.c", "int work(void);\nint main(void) { return work(); }\n")
    write("Makefile", "bench_lib: main.c lib.c\n\tmkdir -p out\n\tcc -O1 -shared -fPIC -Wl,-soname,libwork.so.1 -o out/libwork.so.1 lib.c\n"
                      "\tcc -O1 -g -o $@ main.c out/libwork.so.1\n")
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("environment: { LD_LIBRARY_PATH: out }" in text and "own libraries" in said, f"library: {text}{said}")
    check("takes" in said, f"library: it did not run: {said}")
    write("lib.c", MAIN.replace("main", "work").replace("= 0", "= 1"))
    with open("Makefile", "a", encoding="utf-8") as file:
        file.write("# another build\n")
    few = ("--pairs", "2:2", "--set", "measure.warmup=0", "--set", "measure.schedule=abba")
    said = call(fastgate, "run", "--against", "HEAD", *few).stdout
    check("same binaries" not in said and "2 pairs" in said, f"a library that changed is taken for the same: {said}")


# A program that is slow without an input, but only in its first execution.
LONG_ONCE = """#include <stdio.h>
#include <time.h>
int main(void) { volatile unsigned sum = 0; int c; FILE *file = fopen("once", "r");
if (!file && (file = fopen("once", "wx"))) while (clock() < CLOCKS_PER_SEC / 5) {}
while ((c = getchar()) != EOF) for (int i = 0; i < 2; i++) sum = sum * 31 + (unsigned)c;
return 0; }
"""


def a_program_that_was_long_once_is_given_an_input():
    crunch(LONG_ONCE)
    write("data/small.txt", "x" * 1500)
    commit()
    said, text = init()
    check("stdin: fastgate-input.txt" in text and "yes data/small.txt | head -n" in text, f"long once: {text}{said}")


def the_same_project_gets_the_same_file():
    write("main.c", FILTER)
    write("Makefile", "all: one two\none two: main.c\n\tcc -O1 -o $@ main.c\n")
    # Reading 10,000 copies of a file of 6,000 bytes takes about 0.3 s.
    write("data/small.txt", "x" * 6000)
    write("data/other.csv", "y" * 6000)
    commit()
    _, first = init()
    check("command: ./one\n" in first and "yes data/" in first, f"first: {first}")
    for what, kept in (("the tree of the last build", True), ("a fresh clone", False)):
        os.remove("fastgate.yml")
        if not kept:
            shutil.rmtree(".fastgate")
        _, text = init()
        check(text == first, f"{what} gets another file: {text}")


# The program ends at once, with success, if its input does not begin with 'k'.
READER = """#include <stdio.h>
int main(void) { volatile unsigned sum = 0; int c = getchar(); if (c != 'k') return 0;
while ((c = getchar()) != EOF) for (int i = 0; i < 20; i++) sum = sum * 31 + (unsigned)c;
return 0; }
"""


def a_reader_is_given_what_it_reads_and_not_the_largest_text():
    crunch(READER)
    write("NEWS", "nothing to read\n" * 1000)
    write("examples/tags.yaml", "key: value\n" * 30)
    commit()
    said, text = init()
    check("stdin: fastgate-input.yaml" in text and "yes examples/tags.yaml | head -n" in text, f"reader: {text}{said}")


def programs_too_short_or_failing_are_reported():
    write("short.c", "int main(void) { return 0; }\n")
    write("bad.c", "#include <stdio.h>\nint main(void) { fputs(\"\\nusage: bad FILE\\nmore\", TO); return 3; }\n")
    write("Makefile", "all: bench_short bench_bad bench_worse\nbench_short: short.c\n\tcc -o $@ short.c\n"
                      "bench_bad: bad.c\n\tcc -DTO=stderr -o $@ bad.c\nbench_worse: bad.c\n\tcc -DTO=stdout -o $@ bad.c\n")
    commit()
    said, text = init()
    check("too short to time well" in text and "too short to time well" in said, f"short: {said}{text}")
    for name in ("bench_bad", "bench_worse"):
        check(f"\n  # - name: {name}\n  #   # It exited with code 3: usage: bad FILE.\n" in text, f"failing: {text}")


def a_program_that_no_file_keeps_busy_is_reported():
    write("main.c", "int main(void) { return 0; }\n")
    write("Makefile", "idle: main.c\n\tcc -o $@ main.c\n")
    commit()
    said, text = init()
    check("idle: one execution takes" in said and "ms, and no input that was tried keeps the program busy" in said, f"idle: {said}")
    check("idle: no input that was tried keeps the program busy; give it" in text, f"idle: {text}")


def a_failed_build_is_reported_and_the_file_is_written():
    write("Makefile", "all:\n\t@echo no such luck; false\n")
    commit()
    said, text = init()
    check("does not build" in said and "Error 1" in said, f"failing build: {said}")
    check(measures_nothing(text), f"failing build: {text}")


def after_a_failed_build_another_command_is_tried():
    write("main.c", MAIN)
    write("Makefile", "all:\n\t@false\nspeed:\n\tcc -O1 -g -o bench_loop main.c\n")
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("Next: fastgate init --build 'COMMAND'" in said and measures_nothing(text), f"failed: {said}{text}")
    said, text = init("--build", "make speed")
    check("command: ./bench_loop" in text and "command: make speed" in text, f"again: {said}{text}")
    done = call(fastgate, "init", "--build", "make speed")
    check(done.returncode == 2 and "remove it to write a new one" in done.stderr, f"it measures something now: {done}")


def a_makefile_for_one_job_is_built_with_one():
    write("short.c", "int main(void) { return 0; }\n")
    write("Makefile", "all:\n\t@case ' $(MAKEFLAGS)' in *j*) exit 1;; esac\n\tcc -o bench_short short.c\n")
    commit()
    said, text = init()
    check("the build fails with two jobs" in said and "command: make\n" in text and "./bench_short" in text, f"one job: {said}{text}")


def a_bsd_makefile_is_built_by_bmake():
    inside, first = "all: one\n.if defined(SHARED)\nall: two\n.endif\none two:\n\ttouch $@\n", ".include <prog.mk>\n"
    for makefile, file, command in ((inside, "", "bmake -j2"), (first, "", "bmake -j2"), (inside, "configure", "./configure && bmake -j2"),
                                    (inside, "GNUmakefile", "make -j2")):
        write("Makefile", makefile)
        if file:
            write(file, "")
        commit()
        text = init("--no-build")[1]
        check(f"command: {command}\n" in text, f"{file}: {text}")
        for name in filter(None, (file, "fastgate.yml")):
            os.remove(name)


def ways_to_configure_are_distinguished():
    kinds = {
        "configure": ("./configure && make -j2", "#!/bin/sh\n"),
        "configure.sh": ("sh ./configure.sh && make -j2", ""),
        "autogen.sh": ("NOCONFIGURE=1 sh ./autogen.sh && ./configure && make -j2", ""),
        "bootstrap": ("sh ./bootstrap && ./configure && make -j2", ""),
        "configure.ac": ("autoreconf -fi && ./configure --disable-shared && make -j2", "AC_INIT\nLT_INIT\n"),
        "WORKSPACE": ("bazel build -c opt --copt=-g //...", ""),
        "build.ninja": ("ninja", ""),
    }
    for file, (command, text) in kinds.items():
        write("fastgate.yml", "")
        os.remove("fastgate.yml")
        write(file, text)
        check(f'command: {command}\n' in init("--no-build")[1] or f'command: "{command}"\n' in open("fastgate.yml", encoding="utf-8").read(), f"{file}: {open('fastgate.yml', encoding='utf-8').read()}")
        os.remove(file)
    os.remove("fastgate.yml")
    write("configure.ac", "")
    commit()
    write("configure", "")
    check("autoreconf -fi" in init("--no-build")[1], "a configure that git does not track is not part of the project")


for test in (an_empty_folder_gets_what_is_needed_listed, existing_files_are_never_touched,
             a_make_project_is_built_once_and_tried, what_make_bench_would_run_is_measured,
             what_a_sub_make_would_run_is_measured_in_its_folder,
             a_target_named_for_speed_is_built_though_nothing_asks_for_it,
             neither_a_tool_of_the_build_nor_a_server_is_measured, a_second_look_at_a_tree_takes_no_program_for_a_tool,
             hidden_cases_of_catch2_are_listed,
             an_input_of_a_simple_format_is_made, a_fast_program_is_given_a_large_file_many_times,
             a_harness_must_print_what_can_be_read,
             a_build_system_that_fails_makes_way_for_the_next,
             one_that_builds_no_program_makes_way_for_one_that_does, the_build_system_that_names_a_benchmark_comes_first,
             build_files_may_lie_deeper_or_have_other_names, a_command_of_the_users_own_is_what_builds,
             a_stripped_program_is_reported, a_filter_is_given_files_of_the_project,
             a_program_that_was_long_once_is_given_an_input, a_reader_is_given_what_it_reads_and_not_the_largest_text,
             the_same_project_gets_the_same_file,
             a_libtool_wrapper_is_looked_through, a_program_with_a_library_of_its_own_finds_that_one,
             programs_too_short_or_failing_are_reported, a_program_that_no_file_keeps_busy_is_reported,
             a_failed_build_is_reported_and_the_file_is_written,
             after_a_failed_build_another_command_is_tried, a_makefile_for_one_job_is_built_with_one,
             a_bsd_makefile_is_built_by_bmake, ways_to_configure_are_distinguished):
    in_folder(test)
finish()
