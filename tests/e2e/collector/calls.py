#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
calls.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record --calls PATTERNS` counts the
calls of named functions at their callers, in every thread, process and library, reports why a
function was not reached, and does not change the program's behaviour.
"""
import os
import sys

from checks import call, check, finish_in_scratch, target, write
from folded import by_leaf, measured
from recording import FASTGATE, TARGETS, compiled



def recorded(patterns, *command, code=0):
    done = call(FASTGATE, "record", "--calls", patterns, "--", *command)
    check(done.returncode == code,
          f"{command}: {done.returncode} where {code} was expected\n{done.stderr}")
    return done


def by_caller(function, within=None):
    """Calls of this function by caller; only on stacks that have `within`."""
    return by_leaf(measured(FASTGATE, f"calls.{function}"), within)


def expect(function, wanted, within=None):
    found = by_caller(function, within)
    check(found == wanted, f"calls.{function}: {wanted} expected, found {found}")


def lazy(name, source, *options):
    """
    Compiles with lazy binding, so that slots are unresolved when the collector starts. The library's
    calls of its own exported functions also use slots.
    """
    return compiled(name, target(source), "-O1", "-fno-builtin", "-fsemantic-interposition",
                    "-Wl,-z,lazy", *options)


def each_call_is_counted_where_it_was_made(program):
    done = recorded("exp,pow,cos@libm,snprintf,_setjmp,longjmp*,abort", program)
    expect("exp", {"use_exp": 4007})
    expect("exp", {"use_exp": 3000}, within="work")
    expect("pow", {"use_pow": 500})
    expect("cos", {"use_pointer": 300})
    expect("snprintf", {"use_printf": 20})
    expect("_setjmp", {"use_longjmp": 10})
    expect("longjmp", {"use_longjmp": 10})
    check("4007  exp" in done.stderr and "0  abort" in done.stderr,
          f"a summary with the functions: {done.stderr}")
    check("abort" in call(FASTGATE, "view", "fastgate-record", "--measure", "calls.abort").stdout,
          "0 calls are an answer")
    view = call(FASTGATE, "view", "fastgate-record", "--measure", "calls.exp").stdout
    check("4007 calls.exp" in view and "use_exp" in view, view)


def both_sides_of_a_fork_are_counted(program):
    recorded("pow,exp", program, "fork")
    expect("pow", {"use_pow": 750})
    expect("exp", {"use_exp": 4007})


def calls_from_a_signal_handler_are_counted(program):
    recorded("exp", program, "signal")
    expect("exp", {"use_exp": 4107})


def libraries_that_come_and_go_are_counted():
    """Constructors are also covered; only the plugins are linked with libm."""
    for name, count in (("one", 10), ("two", 20)):
        lazy(f"{name}.so", "twice_library.c", "-shared", "-fPIC", f"-DCOUNT={count}", "-lm")
    program = lazy("loader", "late_loader.c")
    done = recorded("exp,spare@one,spare@two,nothing_of_this_name", program)
    check(done.stdout == "120\n", done.stdout)
    expect("exp", {"spare": 60, "begin": 20})
    expect("spare", {"twice": 60})


def functions_of_cxx_are_named_without_parameters():
    write("parser.h", target("parser.h"))
    compiled("libparser.so", target("parser.cpp"), "-shared", "-fPIC", language="c++")
    recorded("text::Parser::*",
             compiled("uses", target("parser_used.cpp"), "./libparser.so", language="c++"))
    expect("text::Parser::parse", {"main": 4})
    expect("text::Parser::take", {"main": 1})
    expect("text::Parser::Parser", {"main": 1})


def unreached_functions_have_a_reason(program):
    said = recorded("use_exp,exp@libc,nothing_of_this_name,exp,fmin", program).stderr
    check("'use_exp' is counted: calls calls the function directly" in said, said)
    check("'exp@libc' is counted: no object exports" in said, said)
    check("'nothing_of_this_name' is counted: no object exports" in said, said)
    check("'fmin' is counted: no object imports the function from libm" in said, said)
    check("'exp'" not in said, f"exp was reached: {said}")
    notes = call(FASTGATE, "view", "fastgate-record")
    check("'fmin' is counted" in notes.stdout + notes.stderr, f"the profile says it, too: {notes}")


def program_notices_nothing():
    """Counts every function of every library, in programs that load libraries, fail, or run children."""
    for command in (["sh", "-c", "echo said | cat; exit 7"], ["env", "--version"], ["git", "--version"],
                    [sys.executable, "-IS",
                     "-c", "import ctypes, math; print([math.exp(1), math.pow(2, 3)])"]):
        plain = call(*command)
        done = recorded("*", *command, code=plain.returncode)
        check(done.stdout == plain.stdout, f"{command}: {done.stdout!r} instead of {plain.stdout!r}")


def nothing_is_counted_unless_requested(program):
    call(FASTGATE, "record", "--", program, check=True)
    done = call(FASTGATE, "view", "fastgate-record", "--measure", "calls.exp")
    check(done.returncode == 2 and "calls.exp" in done.stderr, f"a profile of time alone: {done}")
    for words in (["--clock", "wall"], ["--rate", "100"], ["--delay", "1s"], ["--measure", "heap"]):
        done = call(FASTGATE, "record", "--calls", "exp", *words, "--", program)
        check(done.returncode == 2 and "--calls" in done.stderr, f"{words} with --calls: {done}")


def narrow_programs_run_as_they_are(program):
    if not os.path.exists(program):
        return
    recorded("exp", program)
    notes = call(FASTGATE, "view", "--facts", "fastgate-record")
    check("only in x86-64 programs" in notes.stdout + notes.stderr, f"no note: {notes}")


def body():
    program = f"{TARGETS}/calls"
    each_call_is_counted_where_it_was_made(program)
    both_sides_of_a_fork_are_counted(program)
    calls_from_a_signal_handler_are_counted(program)
    libraries_that_come_and_go_are_counted()
    functions_of_cxx_are_named_without_parameters()
    unreached_functions_have_a_reason(program)
    program_notices_nothing()
    nothing_is_counted_unless_requested(program)
    if os.path.exists(f"{program}_i386"):
        narrow_programs_run_as_they_are(f"{program}_i386")


finish_in_scratch(body)
