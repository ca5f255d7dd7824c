#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
init_inputs.py FASTGATE: `fastgate init` finds out how to call a program, skips services, and
handles tests and long builds.
"""
import os
import re

from checks import call, check, finish, target, write
from init_project import MAIN, commit, fastgate, in_folder, init, measures_nothing, runs

def a_program_is_called_as_its_tests_call_it():
    write("main.c", target("init/picky.c"))
    write("Makefile", "picky: main.c\n\tcc -O1 -o $@ main.c\n")
    write("tests/run.sh",
          "#!/bin/sh\nPICKY=${PICKY:-../picky}\n"
          "$PICKY --parse \"$srcdir/data/page.xml\" >out.txt || exit 1\n")
    write("tests/data/page.xml", "<" + "x" * 4000)
    write("tests/data/other.xml", "y" * 9000)
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("./picky --parse fastgate-input.xml" in text and "yes tests/data/page.xml" in text,
          f"as tests call it: {said}{text}")
    runs("picky")


def a_file_that_cannot_be_copied_in_a_row_is_named_many_times():
    write("main.c", target("init/names.c"))
    write("Makefile", "names: main.c\n\tcc -O1 -o $@ main.c\n")
    write("data/one.pic", "K" + "x" * 300)
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("exec ./names $(yes data/one.pic | head -n " in text and "setup:" not in text,
          f"named many times: {said}{text}")
    runs("names")


def a_converter_is_given_a_name_for_its_result():
    write("main.c", target("init/converter.c"))
    write("Makefile", "turn: main.c\n\tcc -O1 -o $@ main.c\n")
    write("data/small.txt", "x" * 1500)
    commit()
    said, text = init()
    check("./turn fastgate-input" in text and " fastgate-input-result" in text,
          f"converter: {said}{text}")
    check(not call("git", "ls-files", "-o", "--exclude-standard", "--exclude", "fastgate.yml").stdout,
          "a result was left behind")


def the_result_of_one_call_is_not_the_input_of_the_next():
    write("main.c", target("init/in_place.c"))
    write("Makefile", "all: one two\none two: main.c\n\tcc -O1 -o $@ main.c\n")
    write("data/small.txt", "x" * 1500)
    commit()
    said, text = init()
    check("./two fastgate-input-result" not in text, f"in place: {said}{text}")


def a_file_that_tests_decode_first_is_not_an_input():
    write("main.c", target("init/filter.c", ROUNDS=20))
    write("Makefile", "cat: main.c\n\tcc -O1 -o $@ main.c\n")
    write("test/archive.uu", "begin 644 archive\n" + "M" * 60 + "\n" * 900 + "end\n")
    write("test/small.txt", "x" * 1500)
    commit()
    said, text = init()
    check("yes test/small.txt" in text and ".uu" not in text, f"encoded: {said}{text}")


def a_service_is_never_run():
    mark = os.path.abspath("was-run")
    write("main.c", target("init/service.c", MARK=f'"{mark}"'))
    write("Makefile",
          "all: fanctl raidctl\nfanctl raidctl: main.c\n\tcc -o $@ main.c\ninstall:\n"
          "\tinstall raidctl $(DESTDIR)/usr/sbin\n")
    write("etc/fan.service", "[Service]\nExecStart=/usr/bin/fanctl -f\n")
    commit()
    said, text = init()
    check(not os.path.exists(mark), f"a service was run: {said}")
    check("fanctl: is not run: etc/fan.service starts it as a service" in said, f"service: {said}")
    check("raidctl: is not run: Makefile installs it for the administrator" in said and
          measures_nothing(text),
          f"sbin: {said}{text}")


def nothing_with_a_manual_for_administrators_is_run():
    mark = os.path.abspath("was-run")
    write("main.c", target("init/service.c", MARK=f'"{mark}"'))
    write("Makefile", "all: diskctl eatdisk\ndiskctl eatdisk: main.c\n\tcc -o $@ main.c\n")
    write("man/diskctl.8", ".TH DISKCTL 8\n")
    commit()
    said, text = init()
    check(not os.path.exists(mark), f"section 8: it was run: {said}")
    check("eatdisk: is not run: section 8 of the manual is for administrators" in said and
          measures_nothing(text),
          f"section 8: {said}{text}")


def the_longest_test_of_a_library_is_the_last_resort():
    write("lib.c", "int work(void) { return 1; }\n")
    write("tests/long.c", MAIN.replace("10000", "500000000"))
    write("tests/short.c", MAIN.replace("10000", "10"))
    write("tests/bad.c", "int main(void) { return 1; }\n")
    write("Makefile",
          "libwork.a: lib.c\n\tcc -c lib.c\n\tar rc $@ lib.o\ntests/%: tests/%.c\n\tcc -O1 -o $@ $<\n"
          "check: tests/bad tests/long tests/short\n"
          "\tfor test in bad long short; do ./tests/$$test; done\n")
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("command: ./tests/long\n" in text and "\n  - name: short" not in text and
          "Is this what matters?" in text,
          f"tests: {said}{text}")
    check("make -j2 && make -j2 tests/bad tests/long tests/short\n" in text, f"tests are built: {text}")
    runs("long")


def a_test_is_called_as_the_build_system_lists_it():
    write("lib.c", "int work(void) { return 1; }\n")
    write("tests/unit_test.c", target("init/listed.c"))
    write("tests/data/cases.txt", "one\n")
    write("CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.13)\nproject(work C)\nenable_testing()\n"
          "add_library(work lib.c)\nadd_executable(unit_test tests/unit_test.c)\n"
          "add_test(NAME every COMMAND unit_test \"all cases\" WORKING_DIRECTORY "
          "${CMAKE_SOURCE_DIR}/tests/data)\n")
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("\n  - name: every\n" in text and "unit_test 'all cases'" in text and
          "working_directory: tests/data\n" in text,
          f"listed test: {said}{text}")
    runs("every")


def a_benchmark_that_ends_after_a_fixed_time_is_not_chosen():
    write("main.c", target("init/timed.c"))
    write("Makefile", "bench_rate: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    said, text = init()
    check("bench_rate: ends after a fixed time" in said and measures_nothing(text),
          f"fixed time: {said}{text}")


def a_short_execution_is_repeated_if_nothing_else_makes_it_longer():
    write("main.c", target("init/one_file.c"))
    write("Makefile", "one: main.c\n\tcc -O1 -o $@ main.c\n")
    write("data/one.pic", "K" + "x" * 300)
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check(re.search(r'command: "sh -c .for i in \$\(seq 10\); do ./one data/one.pic \|\| exit; done.',
                    text),
          f"repeated: {said}{text}")
    check("executions in a row, because a single execution is too short to time well" in said,
          f"repeated: {said}")
    check("run in a row" in text, f"repeated: {text}")
    runs("one")


def a_build_ends_at_the_time_limit():
    write("Makefile", "all:\n\tmkfifo pipe\n\tcat pipe\n")
    commit()
    said, text = init("--budget", "2s")
    check(re.search(r"'make -j2' was stopped at the time limit, after \d+ s; "
                    "its output is in '.*build.log'",
                    said),
          f"limit: {said}")
    check("Next: fastgate init --budget 30m" in said and measures_nothing(text), f"limit: {said}{text}")
    done = call(fastgate, "init", "--budget", "soon")
    check(done.returncode == 2, f"no time: {done}")


for test in (a_program_is_called_as_its_tests_call_it,
             a_file_that_cannot_be_copied_in_a_row_is_named_many_times,
             a_converter_is_given_a_name_for_its_result,
             the_result_of_one_call_is_not_the_input_of_the_next,
             a_file_that_tests_decode_first_is_not_an_input, a_service_is_never_run,
             nothing_with_a_manual_for_administrators_is_run,
             the_longest_test_of_a_library_is_the_last_resort,
             a_test_is_called_as_the_build_system_lists_it,
             a_benchmark_that_ends_after_a_fixed_time_is_not_chosen,
             a_short_execution_is_repeated_if_nothing_else_makes_it_longer,
             a_build_ends_at_the_time_limit):
    in_folder(test)
finish()
