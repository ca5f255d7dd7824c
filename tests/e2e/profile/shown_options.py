#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
shown_options.py FASTGATE: options of view, graph and export that leave functions out, rename them
or change how they are drawn, on a fully known profile.
"""
import json
import os
import re
import sys

from checks import call, check, finish_in_scratch, write

FASTGATE = os.path.abspath(sys.argv[1])
COUNTED = "# callgrind format\nevents: Ir\nfn=main\n1 10\nfn=_Z3fitR5Track'main\n1 30\n"
STACKS = "main;fit<int>;log 30\nmain;fit<int> 10\nmain;visit;log 20\nmain;visit 5\nmain;tiny 1\n"
MS = 1e6


def run(*words, code=0, **more):
    done = call(FASTGATE, *words, **more)
    check(done.returncode == code, f"{words}: {done.returncode} {done.stderr}")
    return done.stdout


def times(*words):
    """Self and inclusive milliseconds of each function."""
    rows = json.loads(run("view", "--json", *words))["rows"]
    return {row["name"]: (row["self_ns"] / MS, row["inclusive_ns"] / MS) for row in rows}


def expect_times(expected, *words):
    got = times(*words)
    check(got == expected, f"view {words}: {got}")


def boxes(dot):
    """Letter size and colour of each function, and the calls between them."""
    found = {name: (float(size), colour) for size, colour, name in
             re.findall(r'POINT-SIZE="([\d.]+)">.*fillcolor="(#\w+)".*tooltip="([^"]*)"\];', dot)}
    names = dict(re.findall(r'^\t(n\d+) \[.*tooltip="([^"]*)"\];', dot, re.M))
    calls = {(names[a], names[b]) for a, b in re.findall(r"^\t(n\d+) -> (n\d+) ", dot, re.M)}
    return found, calls


def graph(*words):
    return boxes(run("graph", *words, "stacks.folded"))


def view_names_and_counts_otherwise():
    whole = {"log": (50, 50), "fit<int>": (10, 40), "visit": (5, 25), "tiny": (1, 1), "main": (0, 66)}
    expect_times(whole, "stacks.folded")
    expect_times({"fit<int>": (40, 40), "visit": (25, 25), "tiny": (1, 1), "main": (0, 66)},
                 "--hide", "^log", "stacks.folded")
    expect_times({"fit<int>": (40, 40), "visit": (25, 25), "main": (1, 66)}, "--hide", "^log",
                 "--hide", "^tiny", "stacks.folded")
    expect_times({**{name: whole[name] for name in whole if name != "log"},
                  "log  (from fit<int>)": (30, 30), "log": (20, 20)},
                 "--ancestor", "^fit", "stacks.folded")
    expect_times({name.replace("<int>", "<...>"): value for name, value in whole.items()},
                 "--collapse-templates", "stacks.folded")
    expect_times({"log": (50, 50), "fit<int>": (10, 40)}, "--floor", "10%", "stacks.folded")
    lines = run("export", "--hide", "^log", "--collapse-templates", "stacks.folded").splitlines()
    check(sorted(line.rsplit(" ", 1)[0] for line in lines)
          == ["main;fit<...>", "main;tiny", "main;visit"], f"{lines}")
    lines = run("export", "--ancestor", "^fit", "stacks.folded")
    check("main;fit<int>;log  (from fit<int>) " in lines and "main;visit;log " in lines, lines)


def samples_are_counted():
    """A sample is worth 2 ms here."""
    words = ("export", "--period", "2ms", "stacks.folded")
    check(sorted(run(*words, "--samples").splitlines()) == sorted(STACKS.splitlines()),
          "--samples: not as they came")
    check("main;tiny 2000000" in run(*words).splitlines(), "without --samples they are nanoseconds")


def graph_leaves_out():
    names = {"main", "log", "fit<int>", "visit", "tiny"}
    found, calls = graph()
    check(set(found) == names and len(calls) == 5, f"{found} {calls}")
    check(set(graph("--nodes", "2")[0]) == {"main", "log"}, "--nodes 2")
    check(set(graph("--floor", "10%")[0]) == names - {"tiny"}, "--floor 10%")
    found, calls = graph("--floor", "0", "--edge-floor", "35%")
    check(set(found) == names
          and calls == {("main", "fit<int>"), ("main", "visit"), ("fit<int>", "log")},
          f"--edge-floor: {calls}")
    check(set(graph("--function", "^fit", "--depth", "1")[0]) == {"main", "log", "fit<int>"},
          "--depth 1 around a function")
    check(set(graph("--depth", "2")[0]) == names - {"log"}, "--depth 2 from the start, which calls main")


def graph_options_change_the_drawing():
    found, _ = graph()
    check(found["log"][0] > found["main"][0], f"letters do not grow with the self time: {found}")
    turned, _ = graph("--color-by-self")
    check(turned["log"][0] < turned["main"][0] and turned["main"][1] != found["main"][1],
          f"letters do not grow with the inclusive time: {turned}")
    check("rankdir=TB" in run("graph", "stacks.folded")
          and "rankdir=LR" in run("graph", "--left-to-right", "stacks.folded"), "--left-to-right")


def graph_does_not_wait_for_ever():
    """If Graphviz hangs, the text is kept."""
    write("bin/dot", "#!/bin/sh\nexec sleep 1000\n", 0o755)
    done = call(FASTGATE, "graph", "--timeout", "100ms", "-o", "calls.svg", "stacks.folded",
                env={**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"})
    check(done.returncode not in (0, 2) and not os.path.exists("calls.svg"),
          f"{done.returncode} {done.stderr}")
    check("did not finish in time" in done.stderr and os.path.exists("calls.svg.dot"), f"{done.stderr}")


def names_are_shown_as_the_linker_has_them():
    write("counted", COUNTED)
    names = [row["name"] for row in json.loads(run("view", "--json", "--mangled", "counted"))["rows"]]
    check("_Z3fitR5Track" in names and "fit(Track&)" not in names, f"--mangled: {names}")
    check(";_Z3fitR5Track " in run("export", "--mangled", "counted"), "export --mangled")
    check(";fit(Track&) " in run("export", "counted"), "export without --mangled")


def body():
    os.environ.update(HOME=os.getcwd(), XDG_CACHE_HOME=os.path.join(os.getcwd(), "cache"))
    write("stacks.folded", STACKS)
    view_names_and_counts_otherwise()
    samples_are_counted()
    graph_leaves_out()
    graph_options_change_the_drawing()
    graph_does_not_wait_for_ever()
    names_are_shown_as_the_linker_has_them()


finish_in_scratch(body)
