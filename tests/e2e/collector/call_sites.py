#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
call_sites.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: a call from a known place is counted quickly
but still on its own path, however the stack is rearranged, even if a signal handler makes calls between
any two instructions. No register changes.
"""
import os
import statistics
import struct

from checks import call, check, finish_in_scratch, target, write
from folded import measured
from recording import FASTGATE, TARGETS, compiled

PROGRAM = f"{TARGETS}/call_sites"


def recorded(option, functions, *command):
    """Records the calls; options in `command` go to `record`, before the program."""
    own = [word for word in command if word.startswith("--")]
    command = [word for word in command if not word.startswith("--")]
    done = call(FASTGATE, "record", option, functions, *own, "--", *command)
    check(done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}")
    return done


def counted(function, root=""):
    """Calls by path, which begins at `root` if `root` is part of it."""
    sums = {}
    for names, value in measured(FASTGATE, f"calls.{function}"):
        path = ";".join(names[names.index(root):] if root in names else names)
        sums[path] = sums.get(path, 0) + value
    return sums


def known(said):
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in said.splitlines()}


def compare(wanted, found, what):
    wrong = {path: (wanted.get(path, 0), found.get(path, 0))
             for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path)}
    check(wanted and not wrong,
          f"{what}: {len(wrong)} of {len(wanted)} paths: {dict(list(wrong.items())[:5])}")


def every_path_of_a_disorderly_program_is_its_own():
    """
    The stacks have similar frames, two call sites in one function, frames of varying size,
    recursion, longjmp, and consecutive threads at the same addresses.
    """
    for option, seed in (("--calls", "1"), ("--domains", "77")):
        done = recorded(option, "exp", PROGRAM, "walk", seed)
        compare(known(done.stdout), counted("exp", "walk"), f"{option} walk {seed}")


def a_thread_may_have_less_stack_where_another_had_more():
    compare(known(recorded("--calls", "exp", PROGRAM, "stacks").stdout),
            counted("exp", "call_at"), "stacks")


def return_addresses_that_are_left_over_deceive_nobody():
    compare(known(recorded("--calls", "exp", PROGRAM, "stale").stdout), counted("exp", "stale"), "stale")


def coroutines_that_share_a_stack_are_distinguished():
    wanted = known(recorded("--calls", "exp", PROGRAM, "coroutines").stdout)
    found = {}
    for path, calls in counted("exp").items():
        end = ";".join(path.split(";")[-2:])
        found[end] = found.get(end, 0) + calls
    compare(wanted, found, "coroutines")


def a_known_place_takes_few_instructions():
    """
    A counted call takes a fraction of the instructions of a timed call, which saves the whole
    state. Medians are compared, because whenever the number of calls has doubled, one call also
    writes the argument statistics.
    """
    bare = [int(steps) for steps in call(PROGRAM, "steps", check=True).stdout.split()]

    def added(*words):
        steps = [int(steps) for steps in recorded(*words, PROGRAM, "steps").stdout.split()]
        check(sum(counted("exp").values()) == len(steps), f"{words}: {counted('exp')}")
        return statistics.median(several - few for several, few in zip(steps[2:], bare[2:]))

    for option, part in (("--calls", 4), ("--domains", 3)):
        quick, timed = added(option, "exp"), added(option, "exp", "--times")
        check(0 < quick * part < timed,
              f"{option}: {quick} instructions per call, {timed} where it is timed")


def a_handler_may_call_behind_every_instruction():
    for option in ("--calls", "--domains"):
        steps = [int(steps)
                 for steps in recorded(option, "exp", PROGRAM, "steps", "calls").stdout.split()]
        paths = counted("exp", "count_steps")
        found = sum(paths.values())
        check(found == sum(steps) + len(steps),
              f"{option}: {sum(steps)} calls in the handler, {len(steps)} outside: {found} counted")
        # The instructions that set and clear the trap flag hide the stack; the first instruction of a
        # stub may also hide it.
        lost = {path: calls for path, calls in paths.items()
                if not path.startswith(("count_steps", "[no stack]"))}
        check(sum(lost.values()) <= 3 * len(steps), f"{option}: on the way through the stub: {lost}")


def a_process_may_end_while_its_threads_call():
    """Every call that had ended is counted, and no call twice."""
    for _ in range(3):
        recorded("--calls", "exp", PROGRAM, "leave", "counts")
        with open("counts", "rb") as file:
            before, *others = struct.unpack("9q", file.read(72))
        begun = sum(others[0::2])
        found = sum(counted("exp").values())
        check(before <= found <= begun, f"{before} to {begun} calls: {found} counted")
        os.remove("counts")


def libraries_at_the_same_address_are_distinguished():
    for name in ("left", "right"):
        compiled(f"{name}.so", target("plugin_library.c", NAME=f"{name}_one"), "-O1", "-fno-builtin",
                 "-shared", "-fPIC", "-lm")
    host = compiled("host", target("plugin_host.c"), "-O1", "-fno-builtin", "-lm")
    done = recorded("--calls", "exp", host)
    ends = {}
    for path, calls in counted("exp").items():
        end = path.rsplit(";", 1)[-1]
        ends[end] = ends.get(end, 0) + calls
    check(ends == {"left_one": 100, "right_one": 100}, f"at {sorted(set(done.stdout.split()))}: {ends}")


# ---- registers ----

GENERAL = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8", "r9", "r10", "r12",
           "r13", "r14", "r15")
VECTORS = 8  # vector registers that carry arguments
ROOM = 256   # bytes in front of the vector registers, for the general ones
# The caller enables floating-point traps: an operation that sets a flag would end the program.
CALLER = """
    .text
    .globl call_with_registers
call_with_registers:
    push %rbx
    push %rbp
    push %r12
    push %r13
    push %r14
    push %r15
    sub $24, %rsp
    stmxcsr 0(%rsp)
    movl $0x6040, 4(%rsp)
    ldmxcsr 4(%rsp)
    LOADS
    call take_registers@PLT
    ldmxcsr 0(%rsp)
    add $24, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbp
    pop %rbx
    LEAVE
    ret
    .section .note.GNU-stack, "", @progbits
"""
TAKER = """
    .text
    .globl take_registers, taken
    .type take_registers, @function
    .type taken, @function
take_registers:
    STORES
    stmxcsr room+112(%rip)
    ASKS
    ret
taken:
    lea room(%rip), %rax
    ret
    .local room
    .comm room, 768, 64
    .section .note.GNU-stack, "", @progbits
"""


def registers_of(width, asks):
    """
    Builds a program that fills all registers that a call may need, and a library that reads them.
    """
    prefix, move = {16: ("x", "movups"), 32: ("y", "vmovups"), 64: ("z", "vmovups")}[width]
    loads = [f"{move} {64 * i}(%rdi), %{prefix}mm{i}" for i in range(VECTORS)]
    loads += [f"movabs ${0x1122334455667788 ^ i << 32}, %{name}" for i, name in enumerate(GENERAL)]
    stores = [f"mov %{name}, room+{8 * i}(%rip)" for i, name in enumerate(GENERAL)]
    stores += [f"{move} %{prefix}mm{i}, room+{ROOM + 64 * i}(%rip)" for i in range(VECTORS)]
    ask = ["mov $1, %ecx", "xgetbv", "and $0xe4, %eax", "mov %eax, room+120(%rip)"] if asks else []
    compiled("libtaker.so", TAKER.replace("STORES", "\n".join(stores)).replace("ASKS", "\n".join(ask)),
             "-shared", language="assembler")
    write("caller.s",
          CALLER.replace("LOADS", "\n".join(loads)).replace("LEAVE", "vzeroupper" if width > 16 else ""))
    return compiled("registers", target("called_sites.c"), "-O1", "caller.s", "./libtaker.so",
                    "-Wl,-z,now")


def registers_are_as_the_caller_left_them():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    for width, needs in ((16, "sse2"), (32, "avx"), (64, "avx512f")):
        if needs not in flags:
            continue
        program = registers_of(width, "xgetbv1" in flags)
        plain = call(program, check=True).stdout
        check(len(set(plain.split())) == 1, f"{width}: the program itself: {plain}")
        for option, functions in (("--calls", "take_registers"),
                                  ("--domains", "take_registers=double(double,double,double,double)")):
            done = recorded(option, functions, program)
            lines = done.stdout.split()
            wrong = [[at for at in range(0, len(line), 16) if line[at:at + 16] != plain[at:at + 16]]
                     for line in lines]
            check(done.stdout == plain, f"{width} bytes, {option}: words {wrong}")
            check(sum(counted("take_registers").values()) == 4,
                  f"{width} bytes, {option}: {counted('take_registers')}")


def body():
    every_path_of_a_disorderly_program_is_its_own()
    a_thread_may_have_less_stack_where_another_had_more()
    return_addresses_that_are_left_over_deceive_nobody()
    coroutines_that_share_a_stack_are_distinguished()
    a_known_place_takes_few_instructions()
    a_handler_may_call_behind_every_instruction()
    a_process_may_end_while_its_threads_call()
    libraries_at_the_same_address_are_distinguished()
    registers_are_as_the_caller_left_them()


finish_in_scratch(body)
