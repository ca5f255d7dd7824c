#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
transfers.py FASTGATE COLLECTOR TARGETS_FOLDER: `fastgate record --measure io` counts every call
that reads or writes, and its bytes, at its caller, including libc's streams; the totals equal those
of strace.
"""
import glob
import re
import shutil
import subprocess
import sys

import counting
from checks import check, finish_in_scratch
from counting import expect, recorded, total

READS = ("read", "pread64", "preadv", "recvfrom", "recvmsg", "sendfile", "sendfile64")
WRITES = ("write", "pwritev", "sendto", "sendfile", "sendfile64")


def each_call_is_counted_where_it_was_made(program):
    recorded("io", program)
    expect("io.calls", {"write_plain": 640, "read_plain": 5, "use_vectors": 2, "use_sockets": 4,
                        "copy_in_kernel": 1, "read_lines": 6, "print_wide": 1, "fail": 1, "work": 600})
    expect("io.bytes_written", {"write_plain": 64000, "use_vectors": 42, "use_sockets": 107,
                                "copy_in_kernel": 300, "print_lines": 5000, "print_wide": 12, "fail": 0})
    expect("io.bytes_read", {"write_plain": 0, "read_plain": 4000, "use_vectors": 42, "use_sockets": 107,
                             "copy_in_kernel": 300, "read_lines": 5000})


def both_sides_of_a_fork_are_counted(program):
    recorded("io", program, "fork")
    expect("io.bytes_written", {"write_plain": 71000})


def calls_in_a_signal_handler_are_counted(program):
    recorded("io", program, "signal")
    expect("io.bytes_written", {"write_plain": 65000})


def traced(program):
    """Calls, bytes read and bytes written as strace saw them, from the first write on."""
    calls, read, written = 0, 0, 0
    subprocess.run(["strace", "-ff", "-o", "strace.out", program, "fork"], check=True)
    for name in glob.glob("strace.out.*"):
        with open(name, encoding="utf-8") as file:
            text = file.read()
        lines = text[max(text.find("write(-1,"), 0):].splitlines()
        for function, value in (re.match(r"(\w+)\(.* = (-?\d+)", line).groups()
                                for line in lines if re.match(r"\w+\(.* = -?\d", line)):
            if function in READS + WRITES:
                calls += 1
                read += max(int(value), 0) if function in READS else 0
                written += max(int(value), 0) if function in WRITES else 0
    return calls, read, written


def totals_are_those_of_strace(program):
    if not shutil.which("strace"):
        print("strace is not installed")
        return
    seen = traced(program)
    recorded("io", program, "fork")
    # for sendmmsg and recvmmsg (100 bytes each), strace shows messages instead of bytes: two calls
    counted = (total("io.calls") - 2, total("io.bytes_read") - 100, total("io.bytes_written") - 100)
    check(seen == counted, f"strace saw {seen}, fastgate {counted}")


def nothing_else_is_counted(program):
    recorded("io", program)
    done = counting.call(counting.FASTGATE, "view", "fastgate-record", "--measure", "heap.bytes")
    check(done.returncode == 2 and "heap.bytes" in done.stderr,
          f"allocations were not asked for: {done}")
    recorded("heap,io", program)
    check(total("heap.allocations") > 0 and total("io.calls") > 0, "two at once")
    done = counting.call(counting.FASTGATE, "record", "--measure", "heap,oi", "--", program)
    check(done.returncode == 2 and "'oi'" in done.stderr and "expected heap, " in done.stderr,
          f"an unknown word: {done}")


def body():
    counting.begin(sys.argv[1], sys.argv[2])
    both = counting.programs(sys.argv[3], "transfers")
    for program in both:
        each_call_is_counted_where_it_was_made(program)
        both_sides_of_a_fork_are_counted(program)
        calls_in_a_signal_handler_are_counted(program)
    totals_are_those_of_strace(both[0])
    nothing_else_is_counted(both[0])
    counting.program_notices_nothing("io", (["sh", "-c", "echo said; exit 7"], ["git", "--version"],
                                            ["cat", __file__]))


finish_in_scratch(body)
