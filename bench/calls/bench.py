# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE SOURCE ROUNDS. All ways of counting take turns; the results are medians of
CPU time added to the bare program.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

FASTGATE, SOURCE, ROUNDS = sys.argv[1], sys.argv[2], int(sys.argv[3])
CASES = (("5", "1000000"), ("30", "1000000"), ("tracks", "3000"))


def medians(ways, program, words):
    found = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, before in ways.items():
            done = subprocess.run([*before, program, *words], check=True, capture_output=True, text=True)
            found[way].append(float(done.stdout.split()[-1]))
    return {way: statistics.median(values) for way, values in found.items()}


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def povray(ways, scene, folder):
    """Measures a whole program, including fastgate's own time; the picture must stay the same."""
    if not shutil.which("povray"):
        print("  povray: not installed")
        return
    found = {way: [] for way in ways}
    pictures = set()
    for _ in range(ROUNDS):
        for way, before in ways.items():
            begin = children_s()
            subprocess.run([*before, "povray", f"+I{scene}", "+W640", "+H480", "-D", "+FP",
                            f"+O{folder}/picture.ppm", "+WT1"],
                           check=True, capture_output=True)
            found[way].append(children_s() - begin)
            with open(f"{folder}/picture.ppm", "rb") as file:
                pictures.add(file.read()[-640 * 480 * 3:])  # the header contains the date
    middle = {way: statistics.median(values) for way, values in found.items()}
    print(f"  povray ({middle['bare']:.2f} s): "
          + ", ".join(f"{way} {middle[way] / middle['bare']:.2f} x" for way in ways)
          + f"; {len(pictures)} picture{'s differ' if len(pictures) > 1 else ', the same each time'}")


def main():
    folder = tempfile.mkdtemp(prefix="fastgate-bench-")
    program = f"{folder}/work"
    subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "-fno-optimize-sibling-calls", SOURCE,
                    "-o", program, "-lm"], check=True)
    hooked = f"{folder}/hooked"
    subprocess.run(["gcc", "-g", "-O1", "-fno-builtin", "-fno-optimize-sibling-calls",
                    "-finstrument-functions", SOURCE, "-o", hooked, "-lm"], check=True)
    record = [FASTGATE, "--quiet", "record", "-o", f"{folder}/traces"]
    ways = {"bare": [], "--calls": [*record, "--calls", "*@libm", "--"],
            "--calls --times": [*record, "--calls", "*@libm", "--times", "--"],
            "--domains": [*record, "--domains", "libm", "--"],
            "--domains --values": [*record, "--domains", "libm", "--values", "1", "--"]}
    print(f"medians of {ROUNDS} rounds")
    for words in CASES:
        middle = medians(ways, program, words)
        if words[0] == "tracks":
            print("  a program that follows tracks: "
                  + ", ".join(f"{way} {middle[way] / middle['bare']:.2f} x" for way in ways))
        else:
            added = ", ".join(f"{way} {middle[way] - middle['bare']:.0f} ns" for way in ways
                              if way != "bare")
            print(f"  a call of exp {words[0]} deep: bare {middle['bare']:.1f} ns; added: {added}")
    povray(ways, os.path.join(os.path.dirname(SOURCE), "scene.pov"), folder)
    ways = {"bare": [], "hooks that count nothing": [*record, "--calls", "exp", "--"],
            "--calls": [*record, "--calls", "half", "--"],
            "--calls --times": [*record, "--calls", "half", "--times", "--"]}
    middle = medians(ways, hooked, ("30", "1000000", "half"))
    added = ", ".join(f"{way} {middle[way] - middle['bare']:.0f} ns" for way in ways if way != "bare")
    print(f"  a call of a function with hooks 30 deep: bare {middle['bare']:.1f} ns; added: {added}")
    shutil.rmtree(folder)


os.environ.pop("LD_PRELOAD", None)
main()
