#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""migrate.py FASTGATE: what `fastgate init --from FILE` takes over from other tools' scripts, workflows and results, and what it says that it cannot."""
import json
import os
import sys

from checks import call, check, finish_in_scratch, write

fastgate = sys.argv[1]


def benchmarks_of(path):
    """(the list below `benchmarks:` as text, what was said), of a file that is right."""
    if os.path.exists("fastgate.yml"):
        os.remove("fastgate.yml")
    done = call(fastgate, "init", "--from", path)
    check(done.returncode == 0, f"{path}: {done}")
    if done.returncode != 0:
        return "", done.stderr
    checked = call(fastgate, "config", "--check")
    check(checked.returncode == 0, f"{path}: what was written is not right: {checked.stderr}")
    with open("fastgate.yml", encoding="utf-8") as file:
        text = file.read()
    return text[text.index("\nbenchmarks:\n"):text.index("    # environment:")], done.stderr


def refused(path, code, *words):
    done = call(fastgate, "init", "--from", path)
    check(done.returncode == code and not os.path.exists("fastgate.yml"), f"{path}: {done}")
    for word in words:
        check(word in done.stderr, f"{path}: '{word}' is not said: {done.stderr}")
    check(len(done.stderr.splitlines()) == 1, f"{path}: more than one line: {done.stderr}")


def scripts_of_hyperfine():
    write("bench.sh", r"""#!/bin/sh
# hyperfine 'no command'
BIN=./build
export WHERE="data dir"
echo "hyperfine 'nor this'"
cat <<END
hyperfine 'nor that'
END
hyperfine --warmup 3 -r10 --export-json=out.json -N --input null \
    --prepare 'sync; rm -f x' -n small "$BIN/parse '$WHERE/a.txt'" \
    -n star "${BIN}/parse *"
hyperfine "./build/find '*.c' | sort"
hyperfine -P size 1 3 -D 2 -L mode a,b './run {size} {mode} > /dev/null'
for i in 1 2; do hyperfine "./run $i"; done
(cd sub && hyperfine --setup 'make one' ./inner)
hyperfine ./inner && echo done
""")
    text, said = benchmarks_of("bench.sh")
    check("  - name: small\n    command: ./build/parse 'data dir/a.txt'\n    prepare: \"sh -c 'sync; rm -f x'\"\n" in text, f"hyperfine: {text}")
    check("  - name: star\n    command: \"./build/parse '*'\"\n    prepare:" in text, f"hyperfine, without a shell: {text}")
    check("  - name: find\n    command: \"./build/find '*.c' | sort\"\n    shell: true\n" in text, f"hyperfine, with a shell: {text}")
    for size in (1, 3):
        for mode in "ab":
            check(f"  - name: run mode={mode} size={size}\n    command: \"./run {size} {mode} > /dev/null\"\n    shell: true\n" in text, f"parameters: {text}")
    check("  - name: inner\n    command: ./inner\n    setup: make one\n    working_directory: sub\n  - name: inner 2\n    command: ./inner\n" in text, f"folders: {text}")
    check(text.count("- name:") == 9, f"hyperfine: {text}")
    check("bench.sh:14: hyperfine: './run $i' holds $i" in said, f"a loop's variable: {said}")


def scripts_of_perf_stat():
    write("perf.sh", "perf stat -e cycles,instructions -r 5 -- ./sort 'a b' < input.txt > /dev/null 2>&1\n"
                     "perf stat -a sleep 5\nOMP_NUM_THREADS=1 perf stat -x, -o out ./one\nperf record ./two\n")
    text, said = benchmarks_of("perf.sh")
    check("  - name: sort\n    command: ./sort 'a b'\n    stdin: input.txt\n" in text, f"perf stat: {text}")
    check("  - name: one\n    command: ./one\n" in text and text.count("- name:") == 2, f"perf stat: {text}")
    check("perf.sh:2: perf stat measures the machine" in said and "perf.sh:3: 'OMP_NUM_THREADS=1' before" in said, f"perf stat: {said}")


def scripts_of_bencher_and_suites():
    write("Cargo.toml", "[dev-dependencies]\ncriterion = \"0.5\"\n[[bench]]\nname = \"parse\"\nharness = false\n[[bench]]\nname = 'sort'\n[lib]\nname = \"no\"\n")
    write("suites.sh", "bencher run --project p --token \"$T\" --adapter cpp_google --err \"./micro --benchmark_format=json\"\n"
                       "bencher run --adapter rust_criterion cargo bench\nbencher run --adapter python_asv --file res.json ./asv\n"
                       "cargo criterion --bench parse\ncargo build\ngo test ./...\ngo test -bench . ./...\npython3 -m pytest --benchmark-json out.json t\n")
    text, said = benchmarks_of("suites.sh")
    for wanted in ("command: ./micro --benchmark_format=json\n    harness: google-benchmark", "command: cargo bench -- --output-format bencher\n    harness: cargo-bench",
                   "command: \"./asv >&2 && cat res.json\"\n    shell: true\n", "command: cargo criterion --bench parse --message-format=json\n    harness: criterion",
                   "command: go test -bench . ./...\n    harness: go", "command: python3 -m pytest t --benchmark-only --benchmark-json=/dev/stdout\n    harness: pytest-benchmark"):
        check(wanted in text, f"suites: no '{wanted}' in {text}")
    check(text.count("- name:") == 6 and "no harness for the adapter 'python_asv'" in said, f"suites: {text}{said}")
    text, _ = benchmarks_of("Cargo.toml")
    check("  - name: parse\n    command: cargo bench --bench parse -- --output-format bencher\n" in text and "- name: sort\n" in text and "- name: no" not in text, f"Cargo.toml: {text}")
    os.remove("Cargo.toml")


def workflows():
    write(".github/workflows/bench.yml", """
on: push
env: { OUT: build }
jobs:
  google:
    steps:
      - uses: actions/checkout@v4
      - run: cmake -B $OUT && cmake --build $OUT
      - name: run
        working-directory: sub
        run: ./$OUT/bench --benchmark_out=res.json --benchmark_out_format=json
      - uses: benchmark-action/github-action-benchmark@v1
        with: { tool: googlecpp, output-file-path: res.json, fail-on-alert: true }
  lines:
    steps:
      - run: |
          make
          ./lines --all | tee out.json
      - uses: benchmark-action/github-action-benchmark@v1
        with: { tool: customBiggerIsBetter, output-file-path: out.json }
  speed:
    steps:
      - uses: CodSpeedHQ/action@v3
        with: { run: "pytest tests/ --codspeed" }
      - run: |
          echo first
          hyperfine "prog ${{ matrix.size }}"
""")
    text, said = benchmarks_of(".github/workflows/bench.yml")
    for wanted in ("command: \"./build/bench --benchmark_out=res.json --benchmark_out_format=json >&2 && cat res.json\"\n    shell: true\n    working_directory: sub\n    harness: google-benchmark",
                   "command: ./lines --all\n    harness: bigger-is-better", "command: pytest tests/ --benchmark-only --benchmark-json=/dev/stdout\n    harness: pytest-benchmark"):
        check(wanted in text, f"workflow: no '{wanted}' in {text}")
    check(text.count("- name:") == 3, f"workflow: {text}")
    check("bench.yml:27: hyperfine: 'prog ${{ matrix.size }}' holds ${{ matrix.size }}" in said, f"workflow: {said}")


def results_of_hyperfine_run_as_they_are():
    write("out.json", json.dumps({"results": [{"command": "/bin/true x", "mean": 1}, {"command": "/bin/true 'y z' > /dev/null", "mean": 1}]}))
    text, _ = benchmarks_of("out.json")
    check("  - name: true\n    command: /bin/true x\n  - name: true 2\n" in text and text.count("shell: true") == 1, f"results: {text}")
    done = call(fastgate, "run", "--set", "measure.pairs.min=2", "--set", "measure.pairs.max=2", "--set", "measure.sampler.enabled=false")
    check(done.returncode == 0 and "true 2" in done.stdout, f"what was taken over does not run: {done}")


def what_cannot_be_read_is_told_in_one_line():
    if os.path.exists("fastgate.yml"):
        os.remove("fastgate.yml")
    refused("gone.sh", 2, "gone.sh")
    write("none.sh", "make\n./run\n")
    refused("none.sh", 2, "nothing in 'none.sh', read as a script, could be taken over", "hyperfine")
    write("cut.json", "{\"results\": [")
    refused("cut.json", 2, "cut.json")
    write("other.yml", "a: 1\n")
    refused("other.yml", 2, "other.yml", "no 'jobs'")
    write("broken.yml", "jobs: [\n")
    refused("broken.yml", 2, "broken.yml")
    write("odd.sh", "hyperfine 'never closed\n\"$(also `not\n<<\n|&;(")
    call(fastgate, "init", "--print", "--from", "odd.sh")
    with open("bytes", "wb") as file:
        file.write(b"\x7fELF\0\0")
    refused("bytes", 2, "bytes", "not a text")


def body():
    scripts_of_hyperfine()
    scripts_of_perf_stat()
    scripts_of_bencher_and_suites()
    workflows()
    results_of_hyperfine_run_as_they_are()
    what_cannot_be_read_is_told_in_one_line()


finish_in_scratch(body)
