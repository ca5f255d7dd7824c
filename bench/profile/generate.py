#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Creates the input of bench/profile in a folder, once:

    libraries/libNNN.so   600 libraries with 1000 functions each, under C++ linkage names of every length
    big.so                a library of templates compiled with -g -O2, about 60 MB
"""
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys

LIBRARIES, FUNCTIONS = 600, 1000
UNITS = 10
WORDS = ["track", "Fitter", "vertex", "State", "propagate", "Kalman", "hit", "Cluster", "detail",
         "geometry", "update", "Matrix", "solve", "cache", "lookup", "Iterator", "compare", "merge"]
ARGUMENTS = ["i", "d", "RKSs", "PKc", "St6vectorIdSaIdEE", "RKSt3mapIiSsSt4lessIiESaISt4pairIKiSsEEE",
             "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"]


def source_name(word):
    return f"{len(word)}{word}"


def linkage_name(number, chance):
    scopes = [chance.choice(WORDS) for _ in range(chance.randint(1, 4))]
    scopes.append(f"{chance.choice(WORDS)}{number}")
    arguments = "".join(chance.choice(ARGUMENTS) for _ in range(chance.randint(1, 4)))
    return "_ZN" + "".join(source_name(s) for s in scopes) + "E" + arguments


def make_library(folder, library):
    target = folder / f"lib{library:03}.so"
    if target.exists():
        return
    chance = random.Random(library)
    lines = [".text"]
    for function in range(FUNCTIONS):
        name = linkage_name(library * FUNCTIONS + function, chance)
        lines += [f".globl {name}", f".type {name},@function", f"{name}:", ".skip 32,0x90", "ret",
                  f".size {name},.-{name}"]
    source = folder / f"lib{library:03}.s"
    source.write_text("\n".join(lines) + "\n")
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", target, source], check=True)
    source.unlink()


def make_unit(folder, unit):
    target = folder / f"unit{unit}.o"
    if target.exists():
        return target
    source = pathlib.Path(__file__).resolve().with_name("unit.cpp")
    subprocess.run(["g++", "-g", "-O2", "-fPIC", f"-DUNIT=unit{unit}", "-c", "-o", target, source],
                   check=True)
    return target


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "libraries").mkdir(parents=True, exist_ok=True)
    (folder / "units").mkdir(exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda n: make_library(folder / "libraries", n), range(LIBRARIES)))
        units = list(pool.map(lambda n: make_unit(folder / "units", n), range(UNITS)))
    if not (folder / "big.so").exists():
        subprocess.run(["g++", "-shared", "-g", "-o", folder / "big.so", *units], check=True)


if __name__ == "__main__":
    main()
