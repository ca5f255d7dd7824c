#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
init_make.py FASTGATE: `fastgate init` builds projects with Make, prefers one of several build systems,
and reports a build that fails.
"""
import os
import shutil

from checks import call, check, finish, write
from init_project import MAIN, commit, entries, fastgate, in_folder, init, measures_nothing, runs


def a_make_project_is_built_once_and_tried():
    write("main.c", MAIN)
    write("Makefile",
          "all: bench_loop api_test function_source\nbench_loop api_test function_source: main.c\n"
          "\tcc -O1 -g -o $@ main.c\n")
    write(".gitignore", "bench_loop\n.fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("command: make -j2" in text and
          "\n  - name: bench_loop\n    command: ./bench_loop\n" in entries(text),
          f"make: {text}")
    check("\n  - name: api_test" not in text and "\n  - name: function_source" not in text,
          f"make, other programs than benchmarks: {text}")
    check("\n# baseline: { against: merge-base }" in text, f"make, one commit: {text}")
    check("Next: fastgate run --against HEAD" in said, f"make, one commit: {said}")
    check("is found within 30 s" in said or "too short to time well" in said,
          f"make, what was seen: {said}")
    check(not os.path.exists("bench_loop"), "make: the work tree was built in")
    os.remove("fastgate.yml")
    commit()
    said, text = init()
    check("\nbaseline: { against: merge-base }" in text and "Next: fastgate run  " in said,
          f"make: {text}{said}")
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
    check("command: \"./speedy 20 'a b'\"" in text or "command: ./speedy 20 'a b'" in text,
          f"make bench: {text}")


def programs_are_built_without_a_manual_that_fails():
    write("main.c", MAIN.replace("10000", "500000000"))
    write("Makefile",
          "all: tool manual\ntool: main.c\n\tcc -O1 -o $@ main.c\nmanual:\n\tno-such-tool\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    said, text = init()
    check("only its programs: tool" in said and "command: make -j2 tool\n" in text,
          f"manual: {said}{text}")
    check("command: ./tool\n" in text, f"manual: {text}")


def what_a_sub_make_would_run_is_measured_in_its_folder():
    write("main.c", MAIN)
    write("Makefile",
          "all:\n\t$(MAKE) -C test speedy\nbench: all\n\t$(MAKE) -C test bench\n.PHONY: all bench\n")
    write("test/Makefile", "speedy: ../main.c\n\tcc -O1 -o $@ ../main.c\nbench: speedy\n\t./speedy 20\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    _, text = init()
    check("command: ../test/speedy 20\n" in text and "working_directory: test\n" in text,
          f"sub-make: {text}")


def a_target_named_for_speed_is_built_though_nothing_asks_for_it():
    write("main.c", MAIN)
    write("libtool", "#!/bin/sh\nexec \"$@\"\n")
    os.chmod("libtool", 0o755)
    write("Makefile",
          "all: tool\n.PHONY: all\ntool speedtest1: main.c Makefile\n\t./libtool cc -O1 -o $@ main.c\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    _, text = init()
    check("make -j2 && make -j2 speedtest1\n" in text and "\n  - name: speedtest1\n" in text,
          f"named target: {text}")


def neither_a_tool_of_the_build_nor_a_server_is_measured():
    write("main.c", MAIN.replace("10000", "500000000"))
    # The build runs its tool twice, because the first execution may begin within the clock tick in which
    # the tool was linked.
    write("Makefile",
          "all: words.h echo_server worker\nabacus echo_server worker: main.c\n\tcc -O1 -o $@ main.c\n"
          "words.h: abacus\n\t./abacus && ./abacus && touch $@\n")
    commit()
    said, _ = init()
    check("trying worker" in said and "trying echo_server" not in said, f"server: {said}")
    # Without access times on this file system, init cannot recognise a tool.
    if "noatime" not in call("findmnt", "-n", "-o", "OPTIONS", "-T", ".").stdout:
        check("trying worker: the only program" in said, f"tool: {said}")


def a_second_look_at_a_tree_takes_no_program_for_a_tool():
    write("main.c", MAIN)
    write("Makefile",
          "all: worker other\nworker other unit: main.c\n\tcc -O1 -o $@ main.c\ncheck: unit\n\t./unit\n"
          ".PHONY: all check\n")
    commit()
    said, _ = init()
    check("building the project's tests" in said and "the build ran this program" not in said,
          f"second look: {said}")


def a_build_system_that_fails_makes_way_for_the_next():
    write("CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(bench gone.c)\n")
    write("main.c", MAIN)
    write("Makefile", "bench: main.c\n\tcc -O1 -o $@ main.c\n")
    write(".gitignore", ".fastgate/\n")
    commit()
    said, text = init()
    check("CMake does not build the project; trying Make" in said and "  command: make -j2\n" in text,
          f"next way: {said}{text}")


def one_that_is_not_installed_is_not_chosen():
    if shutil.which("bazel"):
        print("Bazel is installed: its case was left out")
        return
    write("CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(bench gone.c)\n")
    write("MODULE.bazel", "")
    commit()
    said, text = init()
    check("cmake" in text and "bazel" not in text, f"a missing build system: {said}{text}")
    check("warning: cannot run" not in said, f"the last error is not that of the first: {said}")


def one_that_builds_no_program_makes_way_for_one_that_does():
    if not shutil.which("cmake"):
        print("no CMake here: its case was left out")
        return
    write("CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_library(work main.c)\n")
    write("main.c", MAIN)
    write("Makefile", "all:\n\tfalse\n")
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    said, text = init()
    check("CMake builds no program; trying Make" in said and "cmake --build build -j2\n" in text,
          f"no other builds: {said}{text}")
    check(said.count("building the work tree") == 3, f"the first is built twice: {said}")
    os.remove("fastgate.yml")
    write("Makefile", "bench: main.c\n\tcc -O1 -o $@ main.c\n")
    commit()
    said, text = init()
    check("  command: make -j2\n" in text and "command: ./bench\n" in text,
          f"another builds a program: {said}{text}")


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
    check("command: cd lib/src && make -j2\n  shell: true\n" in text and
          "command: ./lib/src/bench\n" in text,
          f"two levels down: {text}")
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
    check("(as given)" in said and
          "command: mkdir -p out && cc -O1 -o out/bench main.c\n  shell: true\n" in text,
          f"given: {said}{text}")
    check("command: ./out/bench\n" in text, f"given: {text}")


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
    check("Next: fastgate init --build 'COMMAND'" in said and measures_nothing(text),
          f"failed: {said}{text}")
    said, text = init("--build", "make speed")
    check("command: ./bench_loop" in text and "command: make speed" in text, f"again: {said}{text}")
    done = call(fastgate, "init", "--build", "make speed")
    check(done.returncode == 2 and "remove it to write a new one" in done.stderr,
          f"it measures something now: {done}")


def a_makefile_for_one_job_is_built_with_one():
    write("short.c", "int main(void) { return 0; }\n")
    write("Makefile",
          "all:\n\t@case ' $(MAKEFLAGS)' in *j*) exit 1;; esac\n\tcc -o bench_short short.c\n")
    commit()
    said, text = init()
    check("the build fails with two jobs" in said and "command: make\n" in text and
          "./bench_short" in text,
          f"one job: {said}{text}")


def a_bsd_makefile_is_built_by_bmake():
    inside, first = ("all: one\n.if defined(SHARED)\nall: two\n.endif\none two:\n\ttouch $@\n",
                     ".include <prog.mk>\n")
    for makefile, file, command in ((inside, "", "bmake -j2"), (first, "", "bmake -j2"),
                                    (inside, "configure", "./configure && bmake -j2"),
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
        "configure.ac": ("autoreconf -fi && ./configure --disable-shared && make -j2",
                         "AC_INIT\nLT_INIT\n"),
        "WORKSPACE": ("bazel build -c opt --copt=-g //...", ""),
        "build.ninja": ("ninja", ""),
    }
    for file, (command, text) in kinds.items():
        write("fastgate.yml", "")
        os.remove("fastgate.yml")
        write(file, text)
        check(f'command: {command}\n' in init("--no-build")[1] or
              f'command: "{command}"\n' in open("fastgate.yml", encoding="utf-8").read(),
              f"{file}: {open('fastgate.yml', encoding='utf-8').read()}")
        os.remove(file)
    os.remove("fastgate.yml")
    write("configure.ac", "")
    commit()
    write("configure", "")
    check("autoreconf -fi" in init("--no-build")[1],
          "a configure that git does not track is not part of the project")


for test in (a_make_project_is_built_once_and_tried, what_make_bench_would_run_is_measured,
             programs_are_built_without_a_manual_that_fails,
             what_a_sub_make_would_run_is_measured_in_its_folder,
             a_target_named_for_speed_is_built_though_nothing_asks_for_it,
             neither_a_tool_of_the_build_nor_a_server_is_measured,
             a_second_look_at_a_tree_takes_no_program_for_a_tool,
             a_build_system_that_fails_makes_way_for_the_next, one_that_is_not_installed_is_not_chosen,
             one_that_builds_no_program_makes_way_for_one_that_does,
             the_build_system_that_names_a_benchmark_comes_first,
             build_files_may_lie_deeper_or_have_other_names, a_command_of_the_users_own_is_what_builds,
             a_failed_build_is_reported_and_the_file_is_written,
             after_a_failed_build_another_command_is_tried, a_makefile_for_one_job_is_built_with_one,
             a_bsd_makefile_is_built_by_bmake, ways_to_configure_are_distinguished):
    in_folder(test)
finish()
