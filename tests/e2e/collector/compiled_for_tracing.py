#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
compiled_for_tracing.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: --entries counts functions with
NOPs left by the compiler (-fpatchable-function-entry, -mnop-mcount) at those NOPs, even if the rest of
their code has no room for a jump. Functions that call __fentry__ (-pg -mfentry) are counted at that
call, and gprof's data stay the same.
"""
import os
import re
import shutil
import subprocess
import sys

from checks import call, check, finish_in_scratch, target, write
from folded import by_leaf, measured

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR
GCC, CLANG = shutil.which("gcc"), shutil.which("clang") or shutil.which("clang-14")
COUNTS = {"reads": 351, "tiny": 50, "text::Parser::parse": 50, "descend": 40, "thrower": 10,
          "leap": 12, "mix": 8}
NAMES = ",".join(COUNTS)


def compiled(name, compiler, *options):
    write(f"{name}.cpp", target("traced_entries.cpp"))
    subprocess.run([compiler, "-x", "c++", "-g", "-O2", f"{name}.cpp", "-o", name, "-pthread",
                    "-lstdc++", *options], check=True)
    return f"./{name}"


def recorded(program, *words, patterns=NAMES, kind="--calls", more=()):
    done = call(FASTGATE, "record", kind, patterns, *words, "--", program, *more)
    plain = call(program, *more)
    check(done.returncode == 0 and done.stdout == plain.stdout,
          f"{program} {words}: {done} where {plain.stdout!r} was expected")
    return done


def by_caller(function):
    return by_leaf(measured(FASTGATE, f"calls.{function}", check=False))


def expect_all(what, done, way):
    for function, count in COUNTS.items():
        found = by_caller(function)
        check(sum(found.values()) == count,
              f"{what}: {count} calls of {function} expected, found {found}\n{done.stderr}")
        check(f"  {function}  ({way})" in done.stderr,
              f"{what}: {function} is counted by {way}: {done.stderr}")
    callers = {name.split("(")[0]: count for name, count in by_caller("reads").items()}
    check(callers == {"main": 51, "work": 300}, f"{what}: the callers of reads: {callers}")
    callers = {name.split("(")[0]: count for name, count in by_caller("descend").items()}
    check(callers == {"main": 20, "descend": 20}, f"{what}: the callers of descend: {callers}")


def functions_with_nops_are_counted(what, compiler, *options):
    program = compiled("nops", compiler, *options)
    done = recorded(program, "--entries")
    expect_all(what, done, "a jump at its entry")
    check("7 functions are counted at their entries" in done.stderr, f"{what}: {done.stderr}")
    check("not counted at" not in done.stderr, f"{what}: {done.stderr}")
    view = call(FASTGATE, "view", "--measure", "calls.reads", "fastgate-record")
    check("counted at their entries" in view.stdout + view.stderr, f"the view says it, too: {view}")
    done = recorded(program)
    check("at their entries" not in done.stderr and "--entries" in done.stderr,
          f"{what}: only on request: {done.stderr}")


def refused_for_memory(done):
    """
    The functions whose first instructions may depend on their address, because they use memory
    through a pointer.
    """
    lines = [line for line in done.stderr.splitlines() if "may not work at another address (" in line]
    return lines[0].rsplit("(", 1)[1].rstrip(")").split(", ") if lines else []


def functions_with_too_few_nops_are_refused(compiler):
    for option in ("-fpatchable-function-entry=0", "-fpatchable-function-entry=1"):
        done = recorded(compiled("few", compiler, option), "--entries")
        check("descend" in refused_for_memory(done) and not by_caller("descend"),
              f"{compiler} {option}: {done.stderr}")


def programs_that_look_up_their_nops_keep_them():
    """
    A program that looks up its NOPs may jump to them or overwrite them, so --entries leaves them
    alone.
    """
    program = compiled("asks", GCC, "-fpatchable-function-entry=5", "-fcf-protection=full",
                       "-DLOOKS_UP_NOPS")
    done = recorded(program, "--entries")
    refusal = next((line for line in done.stderr.splitlines() if "modifies its own code" in line), "")
    check("text::Parser::parse" in refusal and "a jump at its entry" not in done.stderr, done.stderr)


def each_call_of_fentry_counts(what, compiler, *options):
    program = compiled("hooked", compiler, "-pg", "-mfentry", *options)
    expect_all(what, recorded(program), "-mfentry")
    done = recorded(program, "--entries")
    expect_all(f"{what}, --entries", done, "-mfentry")
    check("not counted at" not in done.stderr, f"the call is not worth a line: {done.stderr}")


def arguments_are_seen(compiler, *options):
    recorded(compiled("hooked", compiler, *options), "--entries",
             patterns="mix=double(double,long,double)", kind="--domains")
    shown = call(FASTGATE, "view", "--csv", "-V", "domains", "fastgate-record").stdout
    rows = [line.split(",") for line in shown.splitlines() if "mix" in line]
    check(len(rows) == 2 and "3.5" in rows[0] and "1" in rows[1],
          f"{options}: x up to 3.5, y 1: {shown}")


def arguments_of_a_clone_are_not(compiler, *options):
    """
    The compiler has folded 3 and 1 into the clone, so its parameters differ from the declared ones.
    """
    program = compiled("clones", compiler, *options, "-DFACTORS=3,1")
    with open(program, "rb") as file:
        if b"mixdld.constprop" not in file.read():
            return
    done = recorded(program, "--entries", patterns="mix=double(double,long,double)", kind="--domains")
    check(sum(by_caller("mix").values()) == 8, f"{options}: its calls count: {done.stderr}")
    shown = call(FASTGATE, "view", "--csv", "-V", "domains", "fastgate-record").stdout
    check("mix" not in shown, f"{options}: {shown}")


def without_an_end_there_is_no_duration():
    done = recorded(compiled("hooked", GCC, "-pg", "-mfentry"), "--times")
    check("  reads  (-mfentry)" in done.stderr and "durations of the calls" not in done.stderr,
          done.stderr)
    check("not all calls of 'reads' are timed" in done.stderr, done.stderr)


def arcs(program):
    """
    The calls of each function according to gprof, by caller and by callee. gprof's order and its numbers
    in brackets depend on sampled time.
    """
    shown = call("gprof", "-b", "-q", program, "gmon.out", check=True).stdout
    os.remove("gmon.out")
    found = []
    for block in shown.split("index % time")[1].split("\n\f")[0].split("\n-----"):
        lines = [re.sub(r"\[\d+\]$|\b\d+\.\d+\b", "", line).split()
                 for line in block.splitlines() if line.endswith("]")]
        found.append(sorted((words[0][0] == "[", [word for word in words if word[0] != "["])
                            for words in lines))
    return sorted(found)


def gprof_data_stay_the_same():
    if not shutil.which("gprof"):
        return
    program = compiled("profiled", GCC, "-pg", "-mfentry", "-no-pie", "-fno-pie")
    call(program, "alone", check=True)
    told = arcs(program)
    for count, name in (("50/50", "main"), ("300/", "work(void*)")):
        known = [line for block in told for line in block
                 if line[1][0].startswith(count) and line[1][1:] == [name]]
        check(known, f"gprof is told something, calls by {name}: {told}")
    for patterns in (NAMES, "puts"):
        call(FASTGATE, "record", "--calls", patterns, "--", program, "alone", check=True)
        again = arcs(program)
        check(again == told, f"--calls {patterns}: {told}\nbecame\n{again}")
    call(FASTGATE, "record", "--measure", "heap", "--", program, "alone", check=True)
    check(arcs(program) == told, "--measure heap")


def registers_are_left_alone():
    names = ["rax", "rcx", "rdx", "rbx", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
             "r13", "r14", "r15"]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        is_wide = " avx " in file.read()
    move, size, kind = ("vmovups", 32, "ymm") if is_wide else ("movups", 16, "xmm")
    fill = [f"	movabs $0x{17 * (i + 1):02x}abcdef{i:02x}, %{name}" for i, name in enumerate(names)]
    load = [f"	{move} pattern+{i}(%rip), %{kind}{i}" for i in range(16)]
    store = [f"	movq %{name}, after+{8 * i}(%rip)" for i, name in enumerate(names)]
    store += [f"	{move} %{kind}{i}, after+{128 + 32 * i}(%rip)" for i in range(16)]
    keep = [line.replace("after", "before") for line in store]
    saved = ["rbx", "rbp", "r12", "r13", "r14", "r15"]
    code = ["	.text", "	.globl run", "	.type run, @function", "run:", "	.cfi_startproc"]
    code += [f"	push %{name}" for name in saved] + ["	sub $8, %rsp"] + load + fill + keep
    code += ["	call probe", "	add $8, %rsp"] + [f"	pop %{name}" for name in reversed(saved)]
    code += ["	ret", "	.cfi_endproc", "	.size run, . - run"]
    code += ["	.type probe, @function", "probe:", "	.cfi_startproc", "	call __fentry__@PLT"]
    code += store
    code += ["	ret", "	.cfi_endproc", "	.size probe, . - probe"]
    code.append('	.section .note.GNU-stack, "", @progbits')
    write("run.s", "\n".join(code) + "\n")
    write("registers.c", target("kept_registers.c"))
    subprocess.run([GCC, "-g", "-O1", f"-DWIDTH={size}", "-no-pie", "-fno-pie", "-Wl,-z,now",
                    "registers.c", "run.s", "-o", "registers"], check=True)
    # The C library's __fentry__ keeps only the argument registers, so the program's own check needs
    # an empty __fentry__. The collector's __fentry__ keeps all registers.
    write("nothing.c", "void __fentry__(void);\nvoid __fentry__(void) {}\n")
    subprocess.run([GCC, "-O1", "-shared", "-fPIC", "nothing.c", "-o", "nothing.so"], check=True)
    environment = {**os.environ, "LD_PRELOAD": os.path.abspath("nothing.so")}
    check(call("./registers", env=environment).returncode == 0, "the test itself")
    for patterns in ("probe", "puts"):
        done = call(FASTGATE, "record", "--calls", patterns, "--", "./registers", env=environment)
        check(done.returncode == 0,
              f"--calls {patterns}: register {done.returncode - 1} is another\n{done.stderr}")
        check(patterns == "puts" or "100  probe  (-mfentry)" in done.stderr,
              f"it was counted: {done.stderr}")


def body():
    if GCC:
        functions_with_nops_are_counted("gcc", GCC, "-fpatchable-function-entry=5")
        functions_with_nops_are_counted("gcc, endbr64", GCC, "-fpatchable-function-entry=16",
                                        "-fcf-protection=full")
        functions_with_nops_are_counted("gcc, NOPs in front", GCC, "-fpatchable-function-entry=7,2")
        functions_with_nops_are_counted("gcc, -mnop-mcount", GCC, "-pg", "-mfentry", "-mnop-mcount",
                        "-fno-pie", "-no-pie")
        functions_with_too_few_nops_are_refused(GCC)
        programs_that_look_up_their_nops_keep_them()
        each_call_of_fentry_counts("gcc", GCC)
        each_call_of_fentry_counts("gcc, fixed address", GCC, "-no-pie", "-fno-pie")
        each_call_of_fentry_counts("gcc, endbr64", GCC, "-no-pie", "-fno-pie",
                                   "-fcf-protection=full", "-Wl,-z,lazy")
        arguments_are_seen(GCC, "-pg", "-mfentry")
        arguments_are_seen(GCC, "-fpatchable-function-entry=5")
        arguments_of_a_clone_are_not(GCC, "-pg", "-mfentry")
        arguments_of_a_clone_are_not(GCC, "-fpatchable-function-entry=5")
        without_an_end_there_is_no_duration()
        gprof_data_stay_the_same()
        registers_are_left_alone()
    if CLANG:
        functions_with_nops_are_counted("clang", CLANG, "-fpatchable-function-entry=5")
        functions_with_nops_are_counted("clang, endbr64", CLANG, "-fpatchable-function-entry=16",
                                        "-fcf-protection=full")
        functions_with_nops_are_counted("clang, NOPs in front", CLANG, "-fpatchable-function-entry=7,2")
        each_call_of_fentry_counts("clang", CLANG)
        each_call_of_fentry_counts("clang, endbr64", CLANG, "-fcf-protection=full")


finish_in_scratch(body)
