#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
dumps.py FASTGATE COLLECTOR TARGETS_FOLDER: the resources held at a moment chosen by the program, a
file or a signal, and the growth between two such moments.
"""
import json
import os
import signal
import subprocess
import sys

from checks import call, check, finish_in_scratch
from folded import by_leaf, measured
from control_page import await_page, read_page

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR


def ask_by_file(record, _pid):
    _, before = read_page(record)
    with open("control", "a", encoding="ascii") as file:
        file.write("dump\n")
    await_page(record, dumps=before + 1)


def ask_by_signal(_record, pid):
    os.kill(pid, signal.SIGUSR2)


def record(program, commands, *options, ask=None):
    """Records the program, and sends it the commands; at "ask", calls ask() to request a dump."""
    words = [FASTGATE, "record", *options, "--", program]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, bufsize=1) as child:
        pid = int(child.stdout.readline())
        for command in commands:
            if command == "ask":
                ask(child.pid, pid)
                continue
            child.stdin.write(command + "\n")
            answer = child.stdout.readline()
            check(answer == "done\n", f"{options}: {command} answered {answer!r}")
        child.stdin.close()
        said = child.stderr.read()
    check(child.returncode == 0, f"{options}: exit code {child.returncode}: {said}")


def view(*words):
    return call(FASTGATE, "view", *words, "fastgate-record")


def grown(*words):
    """Growth by allocating function: bytes, blocks, before, after."""
    done = view("--json", "-V", "growth", *words)
    check(done.returncode == 0, f"growth {words}: {done.stderr}")
    rows = json.loads(done.stdout)["rows"] if done.returncode == 0 else []
    return {row["path"].split(" ← ")[0]: (row["grown"], row["blocks"], row["before"], row["after"])
            for row in rows}


def expect(wanted, *words):
    found = grown(*words)
    ours = {name: found[name] for name in ("cache", "hold") if name in found}
    check(ours == wanted, f"growth {words}: {wanted} expected, found {found}")


def held(measure):
    return by_leaf(measured(FASTGATE, measure, check=False))


MARKS = ("cache", "ask", "cache", "hold", "ask", "cache", "let-go")


def growth_is_that_between_two_marks():
    expect({"cache": (1000, 1, 1000, 2000), "hold": (50000, 1, 0, 50000)})
    expect({"cache": (1000, 1, 1000, 2000), "hold": (50000, 1, 0, 50000)}, "--dumps", "1:2")
    expect({"cache": (2000, 2, 1000, 3000)}, "--dumps", "1:end")
    expect({"cache": (1000, 1, 2000, 3000)}, "--dumps", "2:end")
    check(held("heap.live.2").get("hold") == 50000 and "hold" not in held("heap.live"),
          "what is let go is in the dump, not at the end")
    shown = view("-V", "growth").stdout
    check("hold ← " in shown and " at dump 1, " in shown and " at dump 2\n" in shown, shown)
    refused = view("-V", "growth", "--dumps", "1:3")
    check(refused.returncode == 2 and "no dump 3; the profile has 2" in refused.stderr, f"{refused}")


def each_dump_of_a_loop_holds_the_block_of_its_turn(program):
    """
    The program allocates, dumps and frees three times: each dump has one block, the whole recording
    has three, and no block is held at the end.
    """
    record(program, ("hold", "dump", "let-go") * 3, "--measure", "heap")
    check([held(f"heap.live.{i}").get("hold") for i in (1, 2, 3)] == [50000] * 3, "one block a dump")
    check(held("heap.bytes").get("hold") == 150000 and held("heap.allocations").get("hold") == 3,
          "three blocks in all")
    check(held("heap.own_peak").get("hold") == 50000 and held("heap.largest").get("hold") == 50000,
          "never more than one at a time")
    check("hold" not in held("heap.live"), "nothing is left")


def graph_shows_the_peak(program):
    record(program, [("dump" if command == "ask" else command) for command in MARKS],
           "--measure", "heap")
    graph = call(FASTGATE, "graph", "--measure", "heap.peak", "fastgate-record", check=True).stdout
    check("hold" in graph, f"the function that held the most at the peak: {graph}")


def program_asks(program):
    record(program, [("dump" if command == "ask" else command) for command in MARKS],
           "--measure", "heap,fd")
    growth_is_that_between_two_marks()
    check(sum(held("fd.live.1").values()) == 0, "no descriptor is open")


def file_asks(program):
    """The control file is left over from an earlier recording, so its commands have been executed."""
    with open("control", "w", encoding="ascii") as file:
        file.write("1\ndump\n")
    record(program, MARKS, "--measure", "heap", "--control", "control", ask=ask_by_file)
    growth_is_that_between_two_marks()


def file_switches_counting_off(program):
    with open("control", "w", encoding="ascii") as file:
        file.write("0")
    record(program, ("cache", "hold"), "--measure", "heap", "--control", "control")
    check(not held("heap.allocations").get("cache"),
          "the control file said 0, and allocations were counted")


def signal_asks(program):
    record(program, MARKS, "--measure", "heap", "--dump-signal", "usr2", ask=ask_by_signal)
    growth_is_that_between_two_marks()


def last_dump_needs_no_event_after_it(program):
    record(program, ("cache", "ask"), "--measure", "heap", "--control", "control", ask=ask_by_file)
    expect({}, "--dumps", "1:end")
    check(held("heap.live.1").get("cache") == 1000, "a dump asked for before the end")


def child_continues_to_count(program):
    """A child of fork holds what it allocated itself; its dumps follow those of its parent."""
    record(program, ("cache", "dump", "fork"), "--measure", "heap")
    check(held("heap.live.1").get("cache") == 1000 and held("heap.live.2").get("cache") == 1000,
          f"{held('heap.live.2')}")


def without_dumps_there_is_no_growth(program):
    record(program, ("cache", "dump"))
    check(view("-V", "growth").returncode == 2, "growth of a profile of time")
    record(program, ("cache", "hold"), "--measure", "heap")
    done = view("-V", "growth")
    check(done.returncode == 2 and "no dumps were taken: call fg_dump()" in done.stderr, f"{done}")
    for words, reason in (
            (("record", "--dump-signal", "usr1", "--", "true"), "--dump-signal needs"),
            (("view", "-V", "growth", "--dumps", "0:1"), "--dumps: expected FROM:TO"),
            (("view", "-V", "growth", "--dumps", "1:"), "--dumps: expected FROM:TO")):
        done = call(FASTGATE, *words)
        check(done.returncode == 2 and reason in done.stderr, f"{words}: {done}")


def body():
    for suffix in ("", "_i386"):
        program = f"{TARGETS}/dumps{suffix}"
        if not os.path.exists(program):
            continue
        file_asks(program)
    program = f"{TARGETS}/dumps"
    program_asks(program)
    each_dump_of_a_loop_holds_the_block_of_its_turn(program)
    graph_shows_the_peak(program)
    signal_asks(program)
    file_switches_counting_off(program)
    os.unlink("control")
    last_dump_needs_no_event_after_it(program)
    child_continues_to_count(program)
    without_dumps_there_is_no_growth(program)


finish_in_scratch(body)
