#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our chains of functions and lines with llvm-symbolizer's, address by address.

    agreement.py BENCH_PROFILE_SYMBOLS FILE COUNT

Each difference is classified as below; the last line shows which share agrees, and with which tool.
"""
import collections
import os
import subprocess
import sys


def ours(program, path, addresses):
    out = subprocess.run([program, "chains", path],
                         input=addresses, capture_output=True, text=True, check=True)
    chains = {}
    for line in out.stdout.splitlines():
        fields = line.split("\t")
        pairs = list(zip(fields[1::2], fields[2::2]))
        chains[int(fields[0], 16)] = [(name, place) for name, place in pairs]
    return chains


def theirs(path, addresses):
    out = subprocess.run(["llvm-symbolizer", f"--obj={path}", "--functions=linkage", "--no-demangle"],
                         input=addresses, capture_output=True, text=True, check=True)
    chains = {}
    blocks = out.stdout.split("\n\n")
    for address, block in zip(addresses.split(), blocks):
        lines = block.strip("\n").split("\n")
        chain = []
        for name, place in zip(lines[0::2], lines[1::2]):
            chain.append((name, place.rsplit(":", 1)[0]))
        chains[int(address, 16)] = chain
    return chains


def debug_file(path):
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    for line in notes.splitlines():
        if "Build ID:" in line:
            build_id = line.split()[-1]
            return f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"
    return ""


def aliases(path):
    """Groups the names that share an address: a tool may print any of them."""
    groups = collections.defaultdict(set)
    at = {}
    for arguments in (["nm", path], ["nm", "-D", path], ["nm", debug_file(path)]):
        out = subprocess.run(arguments, capture_output=True, text=True)
        for line in out.stdout.splitlines():
            fields = line.split()
            if len(fields) == 3:
                name = fields[2].split("@")[0]
                groups[fields[0]].add(name)
                at.setdefault(name, fields[0])
    return groups, at


def same_name(one, other, names):
    groups, at = names
    strip = lambda n: n.split(".")[0].split("@")[0]
    if one == other or strip(one) == strip(other):
        return True
    places = [at.get(one, one), at.get(other, other)]
    return (places[0] == places[1] or one in groups.get(places[1], ())
            or other in groups.get(places[0], ()))


def place_of(text):
    file, _, line = text.rpartition(":")
    return os.path.basename(os.path.normpath(file)) if file not in ("", "??") else "??", line


def compare(a, b, names):
    if not a or not b:
        return "no answer"
    unknown = [c[0][0] == "??" for c in (a, b)]
    if all(unknown):
        return "same: no function known"
    if any(unknown):
        if len(a) == len(b) == 1 and (a[0][0].endswith("@plt") or b[0][0].endswith("@plt")):
            return "same: a PLT entry, named by one of the two"
        if b[0][0] == "??" and a[0][0] in names[1]:
            return "same: a name of the symbol table, which the other does not read"
        return "one of the two knows no function"
    if not all(same_name(x[0], y[0], names) for x, y in zip(a, b)) or len(a) != len(b):
        if a[0][0].endswith("@plt") or b[0][0].endswith("@plt"):
            return "same: a PLT entry, named by one of the two"
        return "other functions"
    lines = [(place_of(x[1]), place_of(y[1])) for x, y in zip(a, b)]
    if all(x == y or "0" in (x[1], y[1]) for x, y in lines):
        return "same"
    return "same functions, other lines"


def main():
    program, path, count = sys.argv[1:4]
    addresses = subprocess.run([program, "addresses", path, count],
                               capture_output=True, text=True, check=True).stdout
    left, right = ours(program, path, addresses), theirs(path, addresses)
    names = aliases(path)
    kinds = collections.Counter()
    examples = collections.defaultdict(list)
    for address in {int(a, 16) for a in addresses.split()}:
        kind = compare(left.get(address), right.get(address), names)
        kinds[kind] += 1
        if len(examples[kind]) < int(os.environ.get("EXAMPLES", "0")):
            examples[kind].append((hex(address), left.get(address), right.get(address)))
    total = sum(kinds.values())
    for kind, number in kinds.most_common():
        print(f"{number:8} {100 * number / total:7.3f} %  {kind}")
        if not kind.startswith("same") or kind == "same functions, other lines":
            for example in examples[kind]:
                print("          ", *example, sep="\n            ")
    functions = sum(n for k, n in kinds.items() if k.startswith("same"))
    lines = functions - kinds["same functions, other lines"]
    print(f"{os.path.basename(path)}: {total} addresses, "
          f"functions agree {100 * functions / total:.3f} %, with lines {100 * lines / total:.3f} %")


if __name__ == "__main__":
    main()
