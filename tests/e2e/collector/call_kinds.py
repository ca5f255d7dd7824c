#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
call_kinds.py FASTGATE COLLECTOR COMPILER: counts of calls and arguments are exact for every kind of
function and program: static programs, exec, variants that libm chooses by the processor, overloads
of C++, Fortran, vector functions, -ffast-math, plugins.
"""
import json
import os
import shutil
import subprocess
import sys

from checks import call, check, finish_in_scratch, target, write
from folded import measured, total

FASTGATE, COLLECTOR = (os.path.abspath(path) for path in sys.argv[1:3])
COMPILER = sys.argv[3]
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR


def built(name, source, *options, compiler=COMPILER):
    """Builds a program, or a library, from a source in tests/targets/scripted."""
    write(source, target(source))
    subprocess.run([compiler, source, "-o", name, *options], check=True)
    return f"./{name}"


def recorded(*words, code=0, **more):
    shutil.rmtree("fastgate-record", ignore_errors=True)
    done = call(FASTGATE, "record", *words, **more)
    check(done.returncode == code,
          f"{words}: {done.returncode} where {code} was expected\n{done.stderr}")
    return done


def counted(function):
    return total(measured(FASTGATE, f"calls.{function}", check=False))


def domains():
    """The row of each argument."""
    view = call(FASTGATE, "view", "-V", "domains", "--json", "fastgate-record", check=True)
    return {row["name"]: row for row in json.loads(view.stdout)["rows"]}


def expect(found, name, **wanted):
    seen = {key: found.get(name, {}).get(key) for key in wanted}
    check(seen == wanted, f"{name}: {wanted} expected, found {seen} among {sorted(found)}")


def a_static_program_is_refused():
    program = built("fixed", "sums_and_exec.c", "-O1", "-static", "-lm")
    for option in ("--calls", "--domains"):
        done = recorded(option, "exp", "--", program, code=2)
        check("linked statically" in done.stderr and option in done.stderr, f"{option}: {done.stderr}")
        check(done.stdout == "" and not os.path.exists("fastgate-record"),
              f"{option}: the program ran: {done}")


def each_image_of_a_process_is_counted():
    program = built("sums", "sums_and_exec.c", "-O1", "-lm")
    recorded("--calls", "exp", "--", program, program, program)
    check(counted("exp") == 21, f"three images: {counted('exp')}")
    done = recorded("--calls", "exp", "--", program, "./fixed")
    check(counted("exp") == 7, f"the image that can be seen: {counted('exp')}")
    check("./fixed is linked statically" in done.stderr, f"the one that cannot: {done.stderr}")


def a_variant_for_the_processor_counts_once():
    program = built("three", "three_functions.c", "-O1", "-lm")
    for binding in ({}, {"LD_BIND_NOW": "1"},
                    {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable"}):
        recorded("--domains", "exp,sin,pow@libm", "--", program, env={**os.environ, **binding})
        found = domains()
        expect(found, "exp", calls=30, min=1, max=30)
        expect(found, "sin", calls=30, min=1, max=30)
        expect(found, "pow #2", calls=30, min=2.5, max=2.5)
    built("libchosen.so", "chosen_library.c", "-O1", "-shared", "-fPIC")
    program = built("chooses", "chosen_caller.c", "./libchosen.so")
    recorded("--domains", "chosen=double(double)@libchosen", "--", program)
    expect(domains(), "chosen", calls=9, min=0, max=8)


def an_overload_is_read_only_where_its_parameters_are_those_of_the_signature():
    write("overloads.h", target("overloads.h"))
    built("liboverloads.so", "overloads.cpp", "-O1", "-shared", "-fPIC")
    program = built("uses", "overloads_used.cpp", "-O1", "./liboverloads.so", "-lstdc++")
    done = recorded(
        "--domains",
        "text::fit=double(double),text::any=double(double),text::Model::weigh=double(double)",
        "--times", "--", program)
    check(done.stdout == call(program).stdout, f"what the program says: {done.stdout}")
    found = domains()
    expect(found, "text::fit", calls=5, min=0.5, max=2.5)
    check(counted("text::fit") == 25, f"all overloads are counted: {counted('text::fit')}")
    expect(found, "text::any", calls=5, min=8, max=8)
    expect(found, "text::Model::weigh", calls=5, min=-1.5, max=-1.5)
    check("'text::fit'" in done.stderr and "signature" in done.stderr,
          f"the other overloads: {done.stderr}")
    recorded("--domains", "text::fit=float(float),text::Model::weigh=double(double)", "--", program)
    expect(domains(), "text::fit", calls=5, min=1, max=5)
    expect(domains(), "text::Model::weigh", calls=10, min=-2.5, max=-1.5)
    recorded("--domains", "text::fit=double(double complex)", "--", program)
    expect(domains(), "text::fit #2", calls=5, min=44, max=44)


def what_fortran_calls_is_counted():
    program = built("waves", "waves.f90", "-O1", compiler="gfortran")
    done = recorded("--domains", "libm", "--", program)
    check(done.stdout == call(program).stdout, f"what the program says: {done.stdout}")
    found = domains()
    expect(found, "exp", calls=40, min=0.25, max=10)
    expect(found, "sin", calls=40, min=0.25, max=10)
    expect(found, "pow", calls=40, min=2.5, max=41.5)
    expect(found, "pow #2", calls=40, min=0.25, max=10)
    expect(found, "expf", calls=40, min=1, max=40, signature="float(float)")
    expect(found, "cexp #2", calls=40, min=-40, max=-1)


def each_lane_of_a_vector_function_is_an_argument():
    program = built("lanes", "lanes.c", "-O1", "-lmvec", "-lm")
    done = recorded("--domains", "libm", "--", program)
    check(done.stdout == call(program).stdout, f"what the program says: {done.stdout}")
    found = domains()
    expect(found, "_ZGVbN2v_exp", calls=20, min=-9, max=9)
    expect(found, "_ZGVbN2vv_pow", calls=20, min=1, max=20)
    expect(found, "_ZGVbN2vv_pow #2", calls=20, min=0.25, max=0.5)
    expect(found, "_ZGVbN4v_sinf", calls=40, min=-3, max=9)
    check(counted("_ZGVbN2v_exp") == 10, f"a call is one call: {counted('_ZGVbN2v_exp')}")


def fast_math_is_counted():
    """
    Current compilers call exp itself; programs built by older ones call the __*_finite functions,
    which libm still has.
    """
    program = built("fast", "three_functions.c", "-O2", "-ffast-math", "-lm")
    recorded("--domains", "libm", "--", program)
    expect(domains(), "exp", calls=30, min=1, max=30)
    program = built("finite", "finite_functions.c", "-O1", "-lm")
    recorded("--domains", "libm", "--", program)
    expect(domains(), "__exp_finite", calls=12, min=1, max=12)
    expect(domains(), "__pow_finite #2", calls=12, min=3, max=3)


def arguments_in_a_plugin_are_seen_each_time_it_is_loaded():
    built("plugin.so", "cube_roots.c", "-O1", "-shared", "-fPIC", "-lm")
    recorded("--domains", "libm", "--", built("host", "cube_roots_host.c"))
    expect(domains(), "cbrt", calls=12, min=1, max=12)


def inlined_calls_are_reported_by_function():
    program = built("copied", "inlined.cpp", "-O2", "-lstdc++", "-lm")
    said = recorded("--calls", "half,sqrt,fabs,exp", "--", program).stderr
    check("'half' is counted: no object exports or imports the function: it does not exist, "
          "or the compiler has inlined it" in said, f"a function: {said}")
    check("'sqrt': calls that the compiler replaced with instructions" in said
          and "-fno-builtin-fabs" in said, f"builtins: {said}")
    check("'exp'" not in said, f"the others: {said}")


def calls_from_alike_stacks_keep_their_paths():
    """
    Most stacks have frames of the same size at the same place, and differ only in the call sites.
    Both with and without frame pointers.
    """
    wanted = {"choose;one": 40, "choose;two": 20, "left;one": 40, "left;two": 40, "left;wide": 40,
              "right;one": 80, "right;two": 40, "down;one": 40, "main;down;two": 40}
    for option in ("-fomit-frame-pointer", "-fno-omit-frame-pointer"):
        recorded("--calls", "exp,log", "--", built("siblings", "siblings.c", "-O1", "-fno-builtin",
                                                   "-fno-optimize-sibling-calls", option, "-lm"))
        for function, times in (("exp", 1), ("log", 0.5)):
            paths = measured(FASTGATE, f"calls.{function}")
            for end, calls in wanted.items():
                found = sum(value for names, value in paths if ";".join(names).endswith(end))
                check(found == calls * times,
                      f"{option}: {function} of {end}: {calls * times} expected, found {found}\n{paths}")
            check(total(paths) == 460 * times, f"{option}: all calls of {function}: {total(paths)}")


def body():
    a_static_program_is_refused()
    each_image_of_a_process_is_counted()
    a_variant_for_the_processor_counts_once()
    an_overload_is_read_only_where_its_parameters_are_those_of_the_signature()
    what_fortran_calls_is_counted()
    each_lane_of_a_vector_function_is_an_argument()
    fast_math_is_counted()
    arguments_in_a_plugin_are_seen_each_time_it_is_loaded()
    inlined_calls_are_reported_by_function()
    calls_from_alike_stacks_keep_their_paths()


finish_in_scratch(body)
