# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE SOURCE_FOLDER SECONDS. Counts a million allocations a second below 300 calls,
each in a different one of 600 libraries.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

FASTGATE, SOURCES, SECONDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
LIBRARIES, DEPTH = 600, 300


def main():
    folder = tempfile.mkdtemp(prefix="fastgate-storm-")
    subprocess.run(["gcc", "-O1", "-g", f"{SOURCES}/storm.c", "-o", f"{folder}/storm", "-ldl"],
                   check=True)
    subprocess.run(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", "-shared",
                    "-fPIC", f"{SOURCES}/step.c", "-o", f"{folder}/lib0.so"], check=True)
    for i in range(1, LIBRARIES):
        shutil.copy(f"{folder}/lib0.so", f"{folder}/lib{i}.so")
    words = [f"{folder}/storm", folder, str(LIBRARIES), str(DEPTH), str(SECONDS * 1000000)]
    print(f"{SECONDS} million allocations, {DEPTH} deep, {LIBRARIES} libraries")
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    bare = [float(word) for word in done.stdout.split()]
    done = subprocess.run([FASTGATE, "--quiet", "record", "--measure", "heap", "-o", f"{folder}/traces",
                           "--", *words],
                          check=True, capture_output=True, text=True)
    counted = [float(word) for word in done.stdout.split()]
    for name, (_, cpu) in (("bare", bare), ("counted", counted)):
        print(f"  {name}: {cpu / 1e9:.1f} s of CPU time, {SECONDS * 1e9 / cpu:.2f} million a second")
    print(f"  {counted[1] / bare[1]:.2f} times the CPU time; "
          f"trace {sum(map(os.path.getsize, glob.glob(f'{folder}/traces/*'))) / 1024:.0f} KiB")
    folded = subprocess.run([FASTGATE, "--quiet", "export", "-F", "folded",
                             "--measure", "heap.allocations", f"{folder}/traces"],
                            check=True, capture_output=True, text=True).stdout
    found = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()
                if "allocate_some" in line and line.count("step;") == DEPTH)
    print(f"  {found:,} of {SECONDS * 1000000:,} allocations found, each with {DEPTH} frames")
    shutil.rmtree(folder)
    return 0 if found == SECONDS * 1000000 else 1


os.environ.pop("LD_PRELOAD", None)
sys.exit(main())
