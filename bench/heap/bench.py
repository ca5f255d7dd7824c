# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE SOURCE ROUNDS. The programs take turns; the table shows the median CPU
time added to that of the bare program.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

FASTGATE, SOURCE, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
DEPTH, PAIRS = 30, 400000


def main():
    folder = tempfile.mkdtemp(prefix="fastgate-bench-")
    program = f"{folder}/work"
    subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", SOURCE, "-o", program],
                   check=True)
    tools = {"bare": [], "fastgate": [FASTGATE, "--quiet", "record", "--measure", "heap",
                                      "-o", f"{folder}/traces", "--"]}
    tools["allocations alone"] = [FASTGATE, "--quiet", "record", "--measure", "allocations",
                                  "-o", f"{folder}/less", "--"]
    if shutil.which("heaptrack"):
        tools["heaptrack"] = ["heaptrack", "-o", f"{folder}/heaptrack"]
    else:
        print("heaptrack is not installed")
    found = {tool: [] for tool in tools}
    for _ in range(ROUNDS):
        for tool, words in tools.items():
            done = subprocess.run([*words, program, str(DEPTH), str(PAIRS)],
                                  check=True, capture_output=True, text=True)
            found[tool].append(float(next(line for line in done.stdout.splitlines()
                                          if line.replace(".", "", 1).isdigit())))
    middle = {tool: statistics.median(values) for tool, values in found.items()}
    added = "  ".join(f"{tool} {middle[tool] - middle['bare']:.0f}" for tool in tools if tool != "bare")
    print(f"ns of CPU time of one malloc and free, {DEPTH} deep, medians of {ROUNDS} rounds:\n"
          f"  bare {middle['bare']:.0f}; added: {added}")
    shutil.rmtree(folder)


os.environ.pop("LD_PRELOAD", None)
main()
