#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Programs linked with musl are measured like programs linked with glibc, by the same library: samples
with whole stacks, counts by caller, undisturbed waits, marks, arguments of libm's functions and a
gate that names the function. This also holds in process trees that mix both.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

from checks import (SURE_SAMPLES, blamed, call, check, failures, finish_in_scratch, first_benchmark,
                    git, target, write)
from folded import by_leaf, measured, stacks
from recording import FASTGATE, compiled, record, recorded, weight_ns

GATE = """version: 1
project: app
build: { command: 'musl-gcc -g -O1 -Wl,--eh-frame-hdr app.c -o app' }
benchmarks: [ { name: app, command: ./app } ]
gate: { alpha: 0.05 }
measure: { schedule: abba, pairs: { min: 12, max: 12 }, layouts: never, sampler: { rate: 1000 } }
report: { json: report.json }
"""


def musl(name, source, *flags):
    """Builds a program, or a library, from a source in tests/targets/scripted."""
    # The wrapper's linker options omit the index of the unwind tables; compilers built for musl do not.
    made = subprocess.run(["musl-gcc", "-g", "-Wl,--eh-frame-hdr", *flags, "-x", "c", "-", "-o", name],
                          input=target(source), capture_output=True, text=True, check=False)
    check(made.returncode == 0, made.stderr)


def share(found, *names):
    """The share of time in which all of these functions are on the stack."""
    whole = sum(value for _, value in found)
    return sum(value for stack, value in found if set(names) <= set(stack)) / whole


def stacks_are_whole(flags):
    musl("truth", "known_shares.c", *flags)
    document = recorded("--", "./truth", code=3)
    found = stacks(FASTGATE)
    if len(document["samples"]) < SURE_SAMPLES:
        print(f"left out, {len(document['samples'])} samples are too few for shares")
        return
    one, three = (weight_ns(document, name) for name in ("one", "three"))
    check(1.5 < three / one < 9,
          f"{flags}: three takes three times as long as one: {three / 1e6} and {one / 1e6} ms")
    for name in ("main", "thread"):
        check(share(found, name, "rounds") > 0.3,
              f"{flags}: half of the time is below {name}: {share(found, name, 'rounds')}")
    check(share(found, "rounds") > 0.95,
          f"{flags}: stacks reach the function that runs it all: {share(found, 'rounds')}")
    check(share(found, "copying") > 0.01,
          f"{flags}: musl's memcpy() has its caller: {share(found, 'copying')}")
    order = share(found, "order")
    within = share(found, "order", "rounds" if "-O2" in flags else "sorting")
    check(within > 0.9 * order > 0,
          f"{flags}: a function that musl calls has who called musl: {within} of {order}")
    check(document["measures"][0]["truncated"] < 0.1 * document["cpu_ns"],
          f"{flags}: stacks end early: {document['measures'][0]['truncated']}")


def events_are_counted_where_they_were_made():
    musl("counted", "counted_events.c", "-O1")
    done = call(FASTGATE, "record", "--measure", "heap,fd,io", "--", "./counted")
    check(done.returncode == 0, f"counting: {done.returncode}\n{done.stderr}")
    for measure, wanted in (("heap.allocations", {"plain": 100, "cleared": 30, "aligned": 20}),
                            ("heap.bytes", {"plain": 100000, "cleared": 3000}),
                            ("heap.leaked", {"plain": 100000}), ("fd.opened", {"writing": 1}),
                            ("io.bytes_written", {"writing": 30})):
        found = by_leaf(measured(FASTGATE, measure))
        check({name: found.get(name) for name in wanted} == wanted,
              f"{measure}: {wanted} expected, found {found}")
    done = call(FASTGATE, "record", "--calls", "malloc,calloc", "--", "./counted")
    for name, wanted in (("malloc", {"plain": 100}), ("calloc", {"cleared": 30})):
        found = by_leaf(measured(FASTGATE, f"calls.{name}"))
        check(found == wanted, f"calls of {name}: {wanted} expected, found {found}\n{done.stderr}")


def waits_are_not_cut_short():
    musl("waiting", "sampled_waits.c", "-O1")
    done = record("--clock", "wall", "--rate", "1000", "--", "./waiting")
    check(done.returncode == 0, f"waits that a sample ended: {done.returncode}\n{done.stderr}")


def trees_have_both():
    musl("work-musl", "brief_work.c", "-O1")
    compiled("work-glibc", target("brief_work.c"), "-O1", "-g")
    musl("starts-musl", "starts_children.c")
    compiled("starts-glibc", target("starts_children.c"))
    for words in (("sh", "-c", "./work-musl; env ./work-musl"), ("./starts-glibc", "./work-musl"),
                  ("./starts-musl", "./work-glibc"), ("./starts-musl", "./work-musl"),
                  ("sh", "-c", "./starts-musl ./work-glibc; ./starts-glibc ./work-musl")):
        alone = call(*words)
        done = record("--quiet", "--", *words)
        check((done.returncode, done.stdout, done.stderr)
              == (alone.returncode, alone.stdout, alone.stderr),
              f"{words}: {done.returncode} {done.stderr!r}, alone {alone.returncode} {alone.stderr!r}")
        working = {sample["thread"] for sample in recorded("--", *words, code=7)["samples"]}
        images = 4 if words[0] == "sh" and "starts" in words[2] else 2
        check(len(working) >= images, f"{words}: {len(working)} processes of {images} were sampled")


def libraries_loaded_later_are_on_the_stack():
    for number in range(8):
        musl(f"libchain{number}.so", "framed_library.c", f"-DFRAME={32 + 48 * number}", "-O1",
             "-shared", "-fPIC")
    musl("loading", "framed_host.c", "-O1", "-rdynamic")
    recorded("--", "./loading")
    found = stacks(FASTGATE)
    innermost = share(found, "innermost")
    check(innermost > 0.5 and share(found, "main", "chain", "innermost") == innermost,
          f"{innermost} and {share(found, 'main', 'chain', 'innermost')}")


def marks_are_kept():
    include = pathlib.Path(__file__).resolve().parents[3] / "include"
    musl("marked", "marked_events.c", "-O1", f"-I{include}")
    recorded("--", "./marked")
    for view, wanted in (("regions", {"outer": 20, "outer/inner": 20}), ("units", None)):
        shown = call(FASTGATE, "view", "-V", view, "--json", "fastgate-record", check=True).stdout
        if wanted:
            found = {row["name"]: row["entered"]
                     for row in json.loads(shown)["rows"] if row.get("entered")}
            check(found == wanted, f"regions: {wanted} expected, found {found}")
        else:
            check('"event ' in shown, f"units: {shown}")


def arguments_of_libm_are_recorded():
    """In musl, the functions of libm are part of libc."""
    musl("powers", "powers.c", "-O1")
    done = call(FASTGATE, "record", "--domains", "libm", "--", "./powers")
    check(done.returncode == 0, f"{done.returncode}: {done.stderr}")
    rows = json.loads(call(FASTGATE, "view", "-V", "domains", "--json", "fastgate-record",
                           check=True).stdout)["rows"]
    found = {row["name"]: (row["calls"], row["min"], row["max"]) for row in rows}
    wanted = {"exp": (30, 1, 30), "pow": (30, 2, 60), "pow #2": (30, 2, 2)}
    check({name: found.get(name) for name in wanted} == wanted,
          f"domains: {wanted} expected, found {found}")


def a_gate_names_the_function():
    os.makedirs("gated")
    os.chdir("gated")
    write("fastgate.yml", GATE)
    write(".gitignore", "app\n.fastgate/\nreport.json\n")
    source = target("refined.c")
    write("app.c", source.replace("ROUNDS", "400000"))
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    write("app.c", source.replace("ROUNDS", "1200000"))
    done = call(FASTGATE, "run", "--against", "HEAD")
    benchmark = first_benchmark()
    check(done.returncode == 1 and benchmark["verdict"] == "regression",
          f"{done.returncode}: {done.stdout}{done.stderr}")
    check(blamed(benchmark, done.stdout)[:1] == ["refine"],
          f"{blamed(benchmark, done.stdout)}: {done.stdout}")
    os.chdir("..")


def main():
    if not shutil.which("musl-gcc") or os.uname().machine != "x86_64":
        print("skipped: musl-gcc is not installed")
        sys.exit(77)
    for flags in (("-O0",), ("-O2",), ("-O1", "-fno-plt", "-fno-omit-frame-pointer")):
        stacks_are_whole(flags)
    events_are_counted_where_they_were_made()
    waits_are_not_cut_short()
    libraries_loaded_later_are_on_the_stack()
    marks_are_kept()
    arguments_of_libm_are_recorded()
    a_gate_names_the_function()
    trees_have_both()
    if not failures:
        print("programs linked with musl are recorded as those of glibc are")


finish_in_scratch(main)
