#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
init.py FASTGATE: `fastgate init` in small projects: the benchmarks that it finds and measures, and the
file that it writes, which runs unchanged.
"""
import os
import shutil

from checks import call, check, finish, target, write
from init_project import MAIN, commit, fastgate, in_folder, init, measures_nothing, runs


def an_empty_folder_gets_what_is_needed_listed():
    said, text = init()
    check("none was found" in said and "does typical work" in said, f"empty: {said}")
    check(measures_nothing(text) and "name: example" not in text and "while" not in text,
          f"empty: {text}")
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


def hidden_cases_of_catch2_are_listed():
    write("main.c", target("init/catch2.c"))
    write("Makefile", "all: unit_tests\nunit_tests: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    _, text = init()
    check("./unit_tests \\\"[!benchmark]\\\" --reporter xml" in text or
          "./unit_tests \"[!benchmark]\" --reporter xml" in text,
          f"tags: {text}")


def an_input_of_a_simple_format_is_made():
    write("main.c", target("init/encode.c"))
    write("Makefile", "encode: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    said, text = init()
    check("command: ./encode fastgate-input.wav\n" in text and "\n    setup: " in text,
          f"made: {said}{text}")
    check("the input is a file made by fastgate" in said, f"said to be made: {said}")
    check(not call("git", "ls-files", "-o", "--exclude-standard", "--exclude", "fastgate.yml").stdout,
          "an input was left behind")


def a_fast_program_is_given_a_large_file_many_times():
    write("main.c", target("init/count.c"))
    write("count.txt", "a line of the file\n" * 300000)
    write("Makefile", "count: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    said, text = init()
    check("command: ./count\n" in text and "\n    stdin: fastgate-input.txt\n" in text,
          f"large file: {said}{text}")


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


def a_stripped_program_is_reported():
    write("main.c", MAIN)
    write("Makefile", "bench: main.c\n\tcc -O1 $(FLAGS) -o $@ main.c\n")
    write("fastgate.yml",
          "version: 1\nbuild: { command: make FLAGS=-s }\nbenchmarks:\n"
          "  - { name: bench, command: ./bench }\n")
    few = ("--pairs", "2:2", "--set", "measure.warmup=0", "--set", "measure.schedule=abba")
    said = call(fastgate, "run", *few).stderr
    check(said.count("bench has no symbols") == 1 and "link the program without -s" in said,
          f"stripped: {said}")
    os.remove("bench")
    said = call(fastgate, "run", *few, "--set", "build.command=make").stderr
    check("no symbols" not in said, f"not stripped: {said}")


def crunch(source, more=""):
    """Makes a project with one program, which has the name of its folder."""
    os.mkdir("crunch-1.2")
    os.chdir("crunch-1.2")
    write("main.c", source)
    write("Makefile", "all: crunch\ncrunch: main.c\n\tcc -O1 -o $@ main.c\n" + more)
    write(".gitignore", "fastgate.yml\n")


def a_filter_is_given_files_of_the_project():
    crunch(target("init/filter.c", ROUNDS=20) + "/* " + "x" * 50000 + " */\n", "# and more\n" * 5000)
    commit()
    write("data/small.txt", "x" * 1500)
    write("data/picture.raw", "\0x" * 30000)
    commit()
    said, text = init()
    check("A guess" in text and "a guess" in said, f"filter: {text}{said}")
    # `init` repeats the text file, although the source, the Makefile and the picture are larger: a
    # patch to the source or the Makefile would change the work, and a filter hardly reads pictures.
    check("stdin: fastgate-input.txt" in text and "yes data/small.txt | head -n" in text,
          f"filter: {text}")
    runs("crunch")


def a_libtool_wrapper_is_looked_through():
    write("main.c", "int work(void);\nint main(void) { return work(); }\n")
    write("Makefile",
          "all:\n\tmkdir -p .libs\n"
          "\tcc -O1 -shared -fPIC -Wl,-soname,libwork.so.1 -o .libs/libwork.so.1 lib.c\n"
          "\tcc -O1 -o .libs/bench main.c .libs/libwork.so.1\n\tcp wrapper bench\n")
    write("lib.c", MAIN.replace("main", "work"))
    write("wrapper",
          "#! /bin/sh\n# bench - temporary wrapper script for .libs/bench\nexec .libs/bench\n", 0o755)
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("command: ./.libs/bench" in text and "LD_LIBRARY_PATH: .libs" in text, f"wrapper: {text}")
    check("wrapper script" in said and "--disable-shared" in said, f"wrapper: {said}")


def a_program_with_a_library_of_its_own_finds_that_one():
    write("lib.c", MAIN.replace("main", "work"))
    write("main.c", "int work(void);\nint main(void) { return work(); }\n")
    write("Makefile",
          "bench_lib: main.c lib.c\n\tmkdir -p out\n"
          "\tcc -O1 -shared -fPIC -Wl,-soname,libwork.so.1 -o out/libwork.so.1 lib.c\n"
          "\tcc -O1 -g -o $@ main.c out/libwork.so.1\n")
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("environment: { LD_LIBRARY_PATH: out }" in text and "own libraries" in said,
          f"library: {text}{said}")
    check("takes" in said, f"library: it did not run: {said}")
    write("lib.c", MAIN.replace("main", "work").replace("= 0", "= 1"))
    with open("Makefile", "a", encoding="utf-8") as file:
        file.write("# another build\n")
    few = ("--pairs", "2:2", "--set", "measure.warmup=0", "--set", "measure.schedule=abba")
    said = call(fastgate, "run", "--against", "HEAD", *few).stdout
    check("same binaries" not in said and "2 pairs" in said,
          f"a library that changed is taken for the same: {said}")


def a_build_without_a_program_is_reported():
    write("lib.c", MAIN.replace("main", "work"))
    write("Makefile", "all: lib.c\n\tcc -shared -fPIC -o libwork.so lib.c\n")
    commit()
    said, _ = init()
    check("the build makes no program" in said, f"only a library: {said}")
    os.remove("fastgate.yml")
    check("the build makes no program" not in init("--no-build")[0], "nothing was built")


def a_program_that_was_long_once_is_given_an_input():
    crunch(target("init/long_once.c"))
    write("data/small.txt", "x" * 1500)
    commit()
    said, text = init()
    check("stdin: fastgate-input.txt" in text and "yes data/small.txt | head -n" in text,
          f"long once: {text}{said}")


def the_same_project_gets_the_same_file():
    write("main.c", target("init/filter.c", ROUNDS=20))
    write("Makefile", "all: one two\none two: main.c\n\tcc -O1 -o $@ main.c\n")
    # Reading 1,000 copies of a file of 6,000 bytes takes about 0.3 s.
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


def a_reader_is_given_what_it_reads_and_not_the_largest_text():
    crunch(target("init/reader.c"))
    write("NEWS", "nothing to read\n" * 1000)
    write("examples/tags.yaml", "key: value\n" * 30)
    commit()
    said, text = init()
    check("stdin: fastgate-input.yaml" in text and "yes examples/tags.yaml | head -n" in text,
          f"reader: {text}{said}")


def programs_too_short_or_failing_are_reported():
    write("short.c", "int main(void) { return 0; }\n")
    write("bad.c", target("init/failing.c"))
    write("Makefile",
          "all: bench_short bench_bad bench_worse\nbench_short: short.c\n\tcc -o $@ short.c\n"
          "bench_bad: bad.c\n\tcc -DTO=stderr -o $@ bad.c\nbench_worse: bad.c\n"
          "\tcc -DTO=stdout -o $@ bad.c\n")
    commit()
    said, text = init()
    check("too short to time well" in text and "too short to time well" in said, f"short: {said}{text}")
    for name in ("bench_bad", "bench_worse"):
        refusal = "# This program exited with code 3: usage: bad FILE."
        check(f"\n  # - name: {name}\n  #   {refusal}\n" in text, f"failing: {text}")


def a_program_that_no_file_keeps_busy_is_reported():
    write("main.c", "int main(void) { return 0; }\n")
    write("Makefile", "idle: main.c\n\tcc -o $@ main.c\n")
    commit()
    said, text = init()
    check("idle: one execution takes" in said, f"idle: {said}")
    check("ms, and no input that was tried keeps the program busy" in said, f"idle: {said}")
    check("idle: no input that was tried keeps the program busy; give it" in text, f"idle: {text}")


for test in (an_empty_folder_gets_what_is_needed_listed, existing_files_are_never_touched,
             hidden_cases_of_catch2_are_listed, an_input_of_a_simple_format_is_made,
             a_fast_program_is_given_a_large_file_many_times, a_harness_must_print_what_can_be_read,
             a_stripped_program_is_reported, a_filter_is_given_files_of_the_project,
             a_libtool_wrapper_is_looked_through, a_program_with_a_library_of_its_own_finds_that_one,
             a_build_without_a_program_is_reported, a_program_that_was_long_once_is_given_an_input,
             the_same_project_gets_the_same_file,
             a_reader_is_given_what_it_reads_and_not_the_largest_text,
             programs_too_short_or_failing_are_reported, a_program_that_no_file_keeps_busy_is_reported):
    in_folder(test)
finish()
