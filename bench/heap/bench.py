# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE BUILD SOURCE ROUNDS. The programs take turns; the table shows the median CPU
time added to that of the bare program.
"""
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

FASTGATE, BUILD, SOURCE, ROUNDS = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
CASES = ((1, 30, 400000), (1, 300, 400000), (8, 30, 100000))


def main():
    folder = tempfile.mkdtemp(prefix="fastgate-bench-")
    program = f"{folder}/work"
    subprocess.run(["gcc", "-g", "-O1", "-fno-optimize-sibling-calls", SOURCE, "-o", program,
                    "-pthread"], check=True)
    tools = {"bare": [], "fastgate": [FASTGATE, "--quiet", "record", "--measure", "heap",
                                      "-o", f"{folder}/traces", "--"]}
    tools["allocations alone"] = [FASTGATE, "--quiet", "record", "--measure", "allocations",
                                  "-o", f"{folder}/less", "--"]
    if shutil.which("heaptrack"):
        tools["heaptrack"] = ["heaptrack", "-o", f"{folder}/heaptrack"]
    else:
        print("heaptrack is not installed")
    print(f"ns of CPU time added to one malloc and free, medians of {ROUNDS} rounds")
    for threads, depth, pairs in CASES:
        found = {tool: [] for tool in tools}
        for _ in range(ROUNDS):
            for tool, words in tools.items():
                done = subprocess.run([*words, program, str(threads), str(depth), str(pairs)],
                                      check=True, capture_output=True, text=True)
                found[tool].append(float(next(line for line in done.stdout.splitlines()
                                              if line.replace(".", "", 1).isdigit())))
        middle = {tool: statistics.median(values) for tool, values in found.items()}
        added = "  ".join(f"{tool} {middle[tool] - middle['bare']:.0f}" for tool in tools
                          if tool != "bare")
        size = sum(os.path.getsize(path) for path in glob.glob(f"{folder}/traces/*"))
        print(f"  {threads} thread{'s' if threads > 1 else ''}, {depth} deep: "
              f"bare {middle['bare']:.0f}; added: {added}; trace {size / 1024:.0f} KiB")
    shutil.rmtree(folder)


os.environ.pop("LD_PRELOAD", None)
main()
