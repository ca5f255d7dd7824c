#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
values.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record --domains ... --values N`
keeps the arguments themselves, bit for bit or rounded, and `fastgate export -F npz` writes them as
numpy reads them.
"""
import ast
import collections
import math
import os
import struct
import subprocess
import sys
import zipfile

from checks import call, check, finish_in_scratch, target, write

FASTGATE, COLLECTOR = (os.path.abspath(path) for path in sys.argv[1:3])
COMPILER = sys.argv[4]
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR

PROGRAM = target("values.c")
FORMATS = {"<f8": "d", "<u4": "I"}


def read_npz(path):
    """Reads a file as numpy.load() does."""
    arrays = {}
    with zipfile.ZipFile(path) as archive:
        check(archive.testzip() is None, "a damaged archive")
        for member in archive.namelist():
            content = archive.read(member)
            check(content[:8] == b"\x93NUMPY\x01\x00", f"{member}: {content[:8]}")
            size = struct.unpack_from("<H", content, 8)[0]
            check((10 + size) % 64 == 0 and content[10 + size - 1:10 + size] == b"\n",
                  f"{member}: a head of {size} bytes")
            head = ast.literal_eval(content[10:10 + size].decode())
            count, kind, items = head["shape"][0], head["descr"], content[10 + size:]
            if kind.startswith("|S"):
                width = int(kind[2:])
                found = [items[i * width:(i + 1) * width].rstrip(b"\0").decode() for i in range(count)]
            else:
                found = list(struct.unpack(f"<{count}{FORMATS[kind]}", items))
            check(member.endswith(".npy") and not head["fortran_order"], f"{member}: {head}")
            arrays[member[:-len(".npy")]] = found
    return arrays


def recorded(*options):
    call(FASTGATE, "record", "--domains", *options, "--", "./program", check=True)
    call(FASTGATE, "export", "-F", "npz", "-o", "values.npz", "fastgate-record", check=True)
    return read_npz("values.npz")


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def of_most_called(found):
    """The arguments of exp on the call path with the most calls."""
    most = collections.Counter(found["exp.trace"]).most_common(1)[0][0]
    return [value for value, trace in zip(found["exp.1"], found["exp.trace"]) if trace == most]


def every_value_is_kept_bit_for_bit():
    found = recorded("libm", "--values", "1")
    paths = dict(zip(found["traces.number"], found["traces.path"]))
    check([bits(x) for x in found["pow.1"]] == [bits(i / 7.0) for i in range(20000)],
          "the first argument of pow")
    check(found["pow.2"] == [0.5 + i for i in range(20000)], "the second one of the same calls")
    check(all(paths[trace].endswith("main") for trace in found["pow.trace"]), f"traces of pow: {paths}")
    exp = list(zip(found["exp.1"], found["exp.trace"], found["exp.thread"]))
    check([bits(x) for x in of_most_called(found)] == [bits(i * 1e-4) for i in range(20000)],
          "exp in the loop of main")
    times = collections.Counter(found["exp.trace"])
    single = [value for value, trace, _ in exp if paths[trace].endswith(";main") and times[trace] == 1]
    check(len(single) == 5 and sum(math.isnan(value) for value in single) == 1,
          f"special values: {single}")
    check({bits(x) for x in single if not math.isnan(x)}
          == {bits(x) for x in (math.inf, -0.0, 2.0 ** -1060, sys.float_info.max)},
          f"special values: {single}")
    other = [(value, thread) for value, trace, thread in exp if paths[trace].endswith(";work")]
    check([value for value, _ in other] == [-i * 1e-3 for i in range(1000)], "exp in the other thread")
    of_main = {thread for _, trace, thread in exp if paths[trace].endswith(";main")}
    check(of_main.isdisjoint(thread for _, thread in other), "two threads")
    check(found["sinf.1"] == [struct.unpack("f", struct.pack("f", 0.1))[0]]
          and found["tanhl.1"] == [0.25], "float and long double")
    check(os.path.getsize("values.npz") < 8 * 41000,
          f"no smaller than the numbers themselves: {os.path.getsize('values.npz')}")


def equal_recordings_are_equal_bytes():
    with open("values.npz", "rb") as file:
        first = file.read()
    call(FASTGATE, "export", "-F", "npz", "-o", "values.npz", "fastgate-record", check=True)
    with open("values.npz", "rb") as file:
        check(file.read() == first, "the same recording, exported twice")


def few_bits_are_rounded_to_the_nearest():
    exact = [i * 1e-4 for i in range(20000)]
    found = recorded("exp", "--values", "1", "--precision", "12")
    kept = of_most_called(found)
    check(len(kept) == len(exact), f"all are kept: {len(kept)}")
    check(all(bits(value) & ((1 << 40) - 1) == 0 for value in kept), "12 bits are kept")
    check(all(abs(value - true) <= true * 2.0 ** -13 for value, true in zip(kept, exact)),
          "to the nearest")
    check(any(math.isnan(value) for value in found["exp.1"])
          and any(math.isinf(value) for value in found["exp.1"]), "NaN and infinity stay")
    check(max(value for value in found["exp.1"] if math.isfinite(value)) > 1e308,
          "the largest number does not become infinite")


def one_of_many_calls_is_kept():
    found = recorded("exp,pow", "--values", "10")
    kept = len(found["pow.1"])
    check(1000 < kept < 4000, f"about a tenth of 20000: {kept}")
    pairs = zip(found["pow.1"], found["pow.2"])
    check(all(bits(y - 0.5) == bits(float(round(x * 7))) for x, y in pairs),
          "arguments of one call stay together")


def nonsense_is_refused():
    for options, part in ((["--calls", "exp", "--values", "1"], "--domains"),
                          (["--domains", "exp", "--precision", "3"], "--values"),
                          (["--domains", "exp", "--values", "0"], "--values")):
        done = call(FASTGATE, "record", *options, "--", "./program")
        check(done.returncode == 2 and part in done.stderr, f"{options}: {done}")
    call(FASTGATE, "record", "--domains", "exp", "--", "./program", check=True)
    done = call(FASTGATE, "export", "-F", "npz", "-o", "values.npz", "fastgate-record")
    check(done.returncode == 2 and "--values" in done.stderr, f"no values: {done}")


def body():
    write("program.c", PROGRAM)
    subprocess.run([COMPILER, "-O1", "-fno-builtin", "-ffp-contract=off", "program.c", "-o", "program",
                    "-lm", "-pthread"], check=True)
    every_value_is_kept_bit_for_bit()
    equal_recordings_are_equal_bytes()
    few_bits_are_rounded_to_the_nearest()
    one_of_many_calls_is_kept()
    nonsense_is_refused()


finish_in_scratch(body)
