#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""init.py FASTGATE: what `fastgate init` makes of small projects of each kind; the file that it writes is right."""
import json
import os
import shutil
import sys
import tempfile

from checks import call, check, finish, git, write

fastgate = sys.argv[1]
MAIN = "int main(void)\n{\n\tvolatile unsigned i = 0;\n\twhile (i < 3000000)\n\t\ti = i + 1;\n\treturn 0;\n}\n"


def must(*arguments):
    done = call(*arguments)
    if done.returncode != 0:
        print(done.stdout, done.stderr)
        sys.exit(f"{arguments}: {done.returncode}")
    return done


def commit():
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "--allow-empty", "-m", "x")


def init():
    done = call(fastgate, "init")
    check(done.returncode == 0, f"init: {done.returncode} {done.stderr}")
    checked = call(fastgate, "config", "--check")
    check(checked.returncode == 0, f"the file is not right: {checked.stderr}")
    with open("fastgate.yml", encoding="utf-8") as file:
        return done.stderr, file.read()


def runs(*names):
    """The file that was written, as it stands: it builds, and every benchmark in it is measured."""
    done = call(fastgate, "run", "--pairs", "2:2", "--set", "report.json=result.json")
    check(done.returncode == 0, f"what init wrote does not run: {done.returncode} {done.stdout}{done.stderr}")
    if done.returncode == 0:
        with open("result.json", encoding="utf-8") as file:
            found = [benchmark["name"] for benchmark in json.load(file)["benchmarks"]]
        check(found == list(names), f"measured were {found}, expected {names}")


def in_folder(test):
    with tempfile.TemporaryDirectory() as folder:
        before = os.getcwd()
        os.chdir(folder)
        try:
            test()
        finally:
            os.chdir(before)


def an_empty_folder_gets_an_example_that_runs():
    said, text = init()
    check("no program was found" in said and "name: example" in text, f"empty: {said}{text}")
    runs("example")
    check("\n# baseline:" in text, "empty: a baseline without a repository")


def what_is_there_is_never_touched():
    write("fastgate.yml", "mine")
    done = call(fastgate, "init")
    check(done.returncode == 2 and "stays as it is" in done.stderr, f"existing: {done}")
    with open("fastgate.yml", encoding="utf-8") as file:
        check(file.read() == "mine", "existing: it was overwritten")
    check("version: 1" in call(fastgate, "init", "--print").stdout, "existing: --print")


def a_make_project_is_built_and_measured():
    write("main.c", MAIN)
    write("Makefile", "bench_loop: main.c\n\tcc -O1 -g -o $@ main.c\n")
    write(".gitignore", "bench_loop\n.fastgate/\nfastgate.yml\n")
    commit()
    must("make")
    said, text = init()
    check("command: make -j2" in text and "command: ./bench_loop" in text, f"make: {text}")
    check("\n# baseline: { against: merge-base }" in text, f"make, one commit: {text}")
    check("Next: fastgate run --against HEAD" in said, f"make, one commit: {said}")
    os.remove("fastgate.yml")
    commit()
    said, text = init()
    check("\nbaseline: { against: merge-base }" in text, f"make: {text}")
    check("Next: fastgate run  " in said, f"make: {said}")
    must("make", "-B")
    runs("bench_loop")


def a_cmake_project_that_is_not_built_yet():
    write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_subdirectory(perf)\nadd_executable(tool main.c)\n")
    write("perf/CMakeLists.txt", "add_executable(parse_bench\n  ../main.c)\n")
    write("main.c", MAIN)
    _, text = init()
    check("command: cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo && cmake --build build -j2" in text, f"cmake: {text}")
    check("shell: true" in text and "command: ./build/perf/parse_bench" in text, f"cmake: {text}")
    check("#  - name: tool" in text, f"cmake: {text}")


def what_init_writes_for_cmake_runs():
    if not shutil.which("cmake"):
        print("no CMake here: its run was left out")
        return
    a_cmake_project_that_is_not_built_yet()
    runs("parse_bench")


def a_debug_build_is_left_alone():
    a_cmake_project_that_is_not_built_yet()
    os.remove("fastgate.yml")
    write("build/CMakeCache.txt", "x\nCMAKE_BUILD_TYPE:STRING=Debug\n")
    _, text = init()
    check("cmake -B build-fastgate" in text and "'build' is built without optimisation" in text, f"debug: {text}")
    check("./build-fastgate/perf/parse_bench" in text, f"debug: {text}")


def an_optimised_build_is_used():
    a_cmake_project_that_is_not_built_yet()
    os.remove("fastgate.yml")
    write("out/CMakeCache.txt", "x\nCMAKE_BUILD_TYPE:STRING=Release\n")
    must("cc", "-o", "out/odd name's bench", "main.c")
    must("cc", "-shared", "-o", "out/libbench.so.1", "main.c")
    shutil.copy("/bin/sh", "out/notes.txt")
    os.chmod("out/notes.txt", 0o644)
    _, text = init()
    check("cmake -B out -DCMAKE_BUILD_TYPE=Release" in text, f"release: {text}")
    check("name: odd name's bench" in text or 'name: "odd name\'s bench"' in text, f"release: {text}")
    check("libbench" not in text and "notes.txt" not in text, f"release: no programs: {text}")
    listed = call(fastgate, "config", "--benchmarks").stdout
    check(listed == "odd name's bench\n", f"release: {listed}")
    shown = call(fastgate, "config", "--check", "--verbose").stderr
    check("odd name" in shown, f"release: {shown}")


def a_meson_project():
    write("meson.build", "project('p', 'c')\nexecutable('speed_perf', 'main.c')\n")
    write("main.c", MAIN)
    _, text = init()
    check("meson setup build --buildtype=debugoptimized && ninja -C build" in text, f"meson: {text}")
    check("command: ./build/speed_perf" in text, f"meson: {text}")
    if shutil.which("meson") and shutil.which("ninja"):
        runs("speed_perf")
    else:
        print("no Meson here: its run was left out")


def a_google_benchmark_program_is_known():
    write("main.cpp", "#include <benchmark/benchmark.h>\nstatic void f(benchmark::State &s)\n{\n\tfor (auto _ : s) {\n\t}\n}\n"
                      "BENCHMARK(f);\nBENCHMARK_MAIN();\n")
    if not shutil.which("c++") or call("c++", "main.cpp", "-o", "speed", "-lbenchmark", "-lpthread").returncode != 0:
        print("no Google Benchmark here: its case was left out")
        return
    said, text = init()
    check("harness: google-benchmark" in text and "./speed --benchmark_format=json" in text, f"google: {text}")
    check("google-benchmark" in said, f"google: {said}")
    runs("speed/f")


def a_folder_that_cannot_be_written():
    os.chmod(".", 0o555)
    done = call("setpriv", "--reuid=65534", "--clear-groups", fastgate, "init") if os.getuid() == 0 else call(fastgate, "init")
    os.chmod(".", 0o755)
    check(done.returncode == 6 and "Permission denied" in done.stderr, f"read-only: {done}")
    check(not os.path.exists("fastgate.yml"), "read-only: something was left behind")


for test in (an_empty_folder_gets_an_example_that_runs, what_is_there_is_never_touched, a_make_project_is_built_and_measured,
             a_cmake_project_that_is_not_built_yet, what_init_writes_for_cmake_runs, a_debug_build_is_left_alone, an_optimised_build_is_used, a_meson_project,
             a_google_benchmark_program_is_known, a_folder_that_cannot_be_written):
    in_folder(test)
finish()
