#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
init_builds.py FASTGATE: `fastgate init` recognises a build: CMake, Meson, flags and build types, and
jobs of CI systems.
"""
import os
import shutil

from checks import call, check, finish, target, write
from init_project import MAIN, commit, entries, fastgate, in_folder, init, must, runs

CMAKE = "cmake_minimum_required(VERSION 3.13)\nproject(p C)\n"


def a_cmake_project_is_read_before_it_is_built():
    write("CMakeLists.txt", CMAKE + "add_subdirectory(perf)\nadd_executable(tool main.c)\n")
    write("perf/CMakeLists.txt", "add_executable(parse_bench\n  ../main.c)\n")
    write("main.c", MAIN)
    _, text = init("--no-build")
    check("command: cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build -j2" in text,
          f"cmake: {text}")
    check("with debug information they also name source lines" not in text, f"cmake: {text}")
    check("shell: true" in text and "command: ./build/perf/parse_bench" in text, f"cmake: {text}")
    check("# - name: tool" in text, f"cmake: {text}")


def labelled_tests_of_ctest_are_benchmarks():
    if not shutil.which("ctest"):
        print("no CMake here: its tests were left out")
        return
    write("CMakeLists.txt",
          CMAKE + "enable_testing()\n# option(NO_BENCH \"not\" OFF)\n"
          "option(P_BENCHMARKS \"build what is ON here\" OFF)\noption(P_TESTS \"\" OFF)\n"
          "if(P_BENCHMARKS)\nadd_executable(runner main.c)\n"
          "add_test(NAME wide COMMAND runner --size 9)\n"
          "set_tests_properties(wide PROPERTIES LABELS performance)\n"
          "add_test(NAME other COMMAND runner)\nendif()\n")
    write("main.c", MAIN)
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    commit()
    _, text = init()
    check("\n  - name: wide\n    command: ../build/runner --size 9\n    working_directory: build\n"
          in entries(text), f"ctest: {text}")
    check("name: other" not in text, f"ctest: {text}")
    check("-DCMAKE_BUILD_TYPE=RelWithDebInfo -DP_BENCHMARKS=ON && cmake --build" in text,
          f"a switch that leaves benchmarks out: {text}")


def a_debug_build_is_left_alone():
    a_cmake_project_is_read_before_it_is_built()
    os.remove("fastgate.yml")
    write("build/CMakeCache.txt", "x\nCMAKE_BUILD_TYPE:STRING=Debug\n")
    _, text = init("--no-build")
    check("cmake -B build-fastgate" in text and "it is built without optimisation" in text,
          f"debug: {text}")
    check("./build-fastgate/perf/parse_bench" in text, f"debug: {text}")


def an_optimised_build_is_used():
    a_cmake_project_is_read_before_it_is_built()
    os.remove("fastgate.yml")
    write("out/CMakeCache.txt", "x\nCMAKE_BUILD_TYPE:STRING=RelWithDebInfo\n")
    must("cc", "-o", "out/odd name's bench", "main.c")
    must("cc", "-shared", "-o", "out/libbench.so.1", "main.c")
    shutil.copy("/bin/sh", "out/notes.txt")
    os.chmod("out/notes.txt", 0o644)
    _, text = init("--no-build")
    check("cmake -B out -DCMAKE_BUILD_TYPE=RelWithDebInfo" in text, f"release: {text}")
    check("name: odd name's bench" in text or 'name: "odd name\'s bench"' in text, f"release: {text}")
    check("libbench" not in text and "notes.txt" not in text, f"release: no programs: {text}")
    listed = call(fastgate, "config", "--benchmarks").stdout
    check(listed == "odd name's bench\n", f"release: {listed}")
    shown = call(fastgate, "config", "--check", "--verbose").stderr
    check("odd name" in shown, f"release: {shown}")


def cmake_configured(folder, *options):
    must("cmake", "-B", folder, *options)
    return init("--no-build")[1]


def flags_that_the_project_sets_itself_are_read():
    if not shutil.which("cmake"):
        print("no CMake here: its builds were left out")
        return
    own = "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE RelWithDebInfo)\nendif()\n"
    write("CMakeLists.txt", CMAKE + own + "add_executable(parse_bench main.c)\n")
    write("main.c", MAIN)
    write(".gitignore", ".fastgate/\nfastgate.yml\nbuild/\n")
    commit()
    for generator in ("Unix Makefiles", "Ninja") if shutil.which("ninja") else ("Unix Makefiles",):
        text = cmake_configured("build", "-G", generator)
        check("command: cmake -B build && cmake --build build -j2\n" in text, f"{generator}: {text}")
        check("was not chosen" not in text and "with debug information they" not in text,
              f"{generator}: {text}")
        os.remove("fastgate.yml")
        shutil.rmtree("build")
    text = init()[1]
    check("command: cmake -B build && cmake --build build -j2\n" in text, f"not built yet: {text}")
    runs("parse_bench")
    os.remove("fastgate.yml")
    text = cmake_configured("build", "-DCMAKE_BUILD_TYPE=Debug")
    check("command: cmake -B build-fastgate && cmake" in text and "was not chosen" in text,
          f"debug: {text}")
    os.remove("fastgate.yml")
    text = cmake_configured("build", "-DCMAKE_BUILD_TYPE=Release")
    check("command: cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake" in text and
          "with debug information they" in text,
          f"release: {text}")
    os.remove("fastgate.yml")
    text = cmake_configured("build", "-DCMAKE_C_FLAGS=-g3")
    check("-DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-g -DCMAKE_CXX_FLAGS=-g &&" in text,
          f"release with -g: {text}")


def a_type_of_its_own_that_is_slow_is_replaced():
    if not shutil.which("cmake"):
        return
    write("CMakeLists.txt",
          CMAKE + "set(kind Debug)\n"
          "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE ${kind})\nendif()\n"
          "add_executable(parse_bench main.c)\n")
    write("main.c", MAIN)
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    text = init()[1]
    check("command: cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake" in text,
          f"its own type is slow: {text}")


def producers_say_how_a_makefile_compiles():
    write("main.c", MAIN)
    write("Makefile", "bench_loop: main.c\n\tcc $(CFLAGS) -o $@ main.c\n")
    write(".gitignore", ".fastgate/\nfastgate.yml\n")
    commit()
    check("with debug information they" in init()[1], "no debug information, and no hint")
    os.remove("fastgate.yml")
    write("Makefile", "bench_loop: main.c\n\tcc -O2 -g -o $@ main.c\n")
    commit()
    check("with debug information they" not in init()[1], "a hint for debug information that is there")


def a_meson_project_is_built_and_its_benchmarks_measured():
    write("meson.build", "project('p', 'c')\nexecutable('speed_perf', 'main.c')\n"
                         "benchmark('wide', executable('crunch', 'main.c'), args: ['9'])\n")
    write("main.c", MAIN)
    _, text = init("--no-build")
    check("meson setup build --buildtype=release -Ddebug=true && ninja -C build" in text,
          f"meson: {text}")
    check("command: ./build/speed_perf" in text, f"meson: {text}")
    if not shutil.which("meson") or not shutil.which("ninja"):
        print("no Meson here: its build was left out")
        return
    os.remove("fastgate.yml")
    commit()
    _, text = init()
    check("\n  - name: wide\n    command: ./build/crunch 9\n" in entries(text) and
          "./build/speed_perf" in text,
          f"meson: {text}")


def a_google_benchmark_program_is_known():
    write("main.cpp", target("init/google_benchmark.cpp"))
    compile_it = ("c++", "main.cpp", "-o", "speed", "-lbenchmark", "-lpthread")
    if not shutil.which("c++") or call(*compile_it).returncode != 0:
        print("no Google Benchmark here: its case was left out")
        return
    os.environ["BENCHMARK_MIN_TIME"] = "0.01"
    said, text = init()
    check("harness: google-benchmark" in text and "./speed --benchmark_format=json" in text,
          f"google: {text}")
    check("google-benchmark" in said, f"google: {said}")
    runs("speed/f", "speed/g")
    runs("speed/g", only="speed/g")
    done = call(fastgate, "run", "speed/none")
    check(done.returncode == 4, f"google, a case that is not there: {done}")


def the_job_of_a_ci_system_is_written_once():
    write("fastgate.yml", "version: 1\nbenchmarks:\n  - { name: a, command: /bin/true }\n")
    for system, path in (("github", ".github/workflows/performance.yml"),
                         ("gitlab", "performance.gitlab-ci.yml"),
                         ("jenkins", "Jenkinsfile.performance")):
        done = call(fastgate, "init", "--ci", system)
        check(done.returncode == 0 and path in done.stderr and os.path.getsize(path) > 500,
              f"{system}: {done}")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        check("fastgate" in text and "merge-base" in text or "merge base" in text, f"{system}: {text}")
        check(call(fastgate, "init", "--ci", system, "--print").stdout == text,
              f"{system}: --print shows something else")
        check(call(fastgate, "init", "--ci", system).returncode == 2, f"{system}: it was written again")
    with open(".github/workflows/performance.yml", encoding="utf-8") as file:
        workflow = file.read()
    check("permissions:\n  contents: read\n" in workflow, "github: permissions")
    done = call(fastgate, "init", "--ci", "travis")
    check(done.returncode == 2 and "github, gitlab, jenkins" in done.stderr, f"unknown system: {done}")
    try:
        import yaml
    except ImportError:
        print("no YAML here: the jobs were not parsed")
        return
    job = yaml.safe_load(open("performance.gitlab-ci.yml", encoding="utf-8"))["performance"]
    check(job["cache"]["paths"] == [".fastgate/store.db"] and len(job["script"]) == 2, f"gitlab: {job}")
    steps = yaml.safe_load(workflow)["jobs"]["performance"]["steps"]
    check(steps[0]["with"]["fetch-depth"] == 0 and len(steps) == 2, f"github: {steps}")


def a_folder_that_cannot_be_written_is_reported():
    os.chmod(".", 0o555)
    done = (call("setpriv", "--reuid=65534", "--clear-groups", fastgate, "init") if os.getuid() == 0
            else call(fastgate, "init"))
    os.chmod(".", 0o755)
    check(done.returncode == 6 and "Permission denied" in done.stderr, f"read-only: {done}")
    check(not os.path.exists("fastgate.yml"), "read-only: something was left behind")


for test in (a_cmake_project_is_read_before_it_is_built, labelled_tests_of_ctest_are_benchmarks,
             a_debug_build_is_left_alone, an_optimised_build_is_used,
             flags_that_the_project_sets_itself_are_read, a_type_of_its_own_that_is_slow_is_replaced,
             producers_say_how_a_makefile_compiles, a_meson_project_is_built_and_its_benchmarks_measured,
             a_google_benchmark_program_is_known, the_job_of_a_ci_system_is_written_once,
             a_folder_that_cannot_be_written_is_reported):
    in_folder(test)
finish()
