# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE RECORDINGS. Every pair of recordings of the same program is a comparison of
identical builds.
"""
import collections
import itertools
import os
import shutil
import subprocess
import sys
import tempfile

FASTGATE, RECORDINGS = sys.argv[1], int(sys.argv[2])
TOLERATED = 0.001  # the tolerance that the documentation recommends for counts
MEASURES = ("heap.allocations", "heap.bytes", "heap.peak", "fd.opened", "io.bytes_written")
SUM = ("with recursive c(x) as (select 1 union all select x+1 from c where x<20000)"
       " select x%97, group_concat(x) from c group by 1;")
PROGRAMS = {
    "sqlite3": ["sqlite3", ":memory:", SUM],
    "gcc": ["gcc", "-O2", "-c", "work.c", "-o", "work.o"],
    "python3": ["/usr/bin/python3",
                "-c", "import json; print(len(json.dumps([str(i) * 3 for i in range(5000)])))"],
    "jq": ["jq", "-c", "map(tostring) | group_by(length) | map(length)", "numbers.json"],
    "git": ["git", "--no-pager", "log", "-p", "--stat"],
    "xz": ["xz", "-6", "-k", "-c", "numbers.json"],
    "mawk": ["mawk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (k in n) c++; print c }", "RS=,",
             "numbers.json"],
}


def make_inputs():
    with open("work.c", "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\nint main(void) { return printf(\"%d\\n\", 1) < 0; }\n")
    with open("numbers.json", "w", encoding="ascii") as file:
        file.write(str(list(range(5000))).replace(" ", ""))
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", "."], check=True)
    for name in ("work.c", "numbers.json"):
        subprocess.run(["git", "add", name], check=True)
        subprocess.run(["git", *author, "commit", "-q", "-m", name], check=True)


def recording(command):
    # Switch address randomisation off, as the gate does when it counts.
    subprocess.run(["setarch", "-R", FASTGATE, "--quiet", "record", "--measure", "heap,fd,io",
                    "-o", "traces", "--", *command],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sums = {}
    for measure in MEASURES:
        folded = subprocess.run([FASTGATE, "--quiet", "export", "-F", "folded", "--measure", measure,
                                 "traces"],
                                capture_output=True, text=True, check=False).stdout
        sums[measure] = sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines())
    shutil.rmtree("traces")
    return sums


def main():
    folder = tempfile.mkdtemp(prefix="fastgate-bench-")
    os.chdir(folder)
    os.environ["PYTHONHASHSEED"] = "0"
    os.environ.pop("LD_PRELOAD", None)
    make_inputs()
    found = collections.defaultdict(list)
    programs = {name: command for name, command in PROGRAMS.items() if shutil.which(command[0])}
    for _ in range(RECORDINGS):
        for name, command in programs.items():
            found[name].append(recording(command))
    print(f"{RECORDINGS} recordings per program; of all pairs: exactly equal, "
          f"the largest difference, red (more than {TOLERATED:.1%} more)")
    pairs = red = 0
    for name, recordings in found.items():
        here = list(itertools.combinations(recordings, 2))
        pairs += len(here)
        reds = set()
        cells = []
        for measure in MEASURES:
            differences = [abs(a[measure] - b[measure])
                           / max(1, min(a[measure], b[measure])) for a, b in here]
            reds.update(i for i, difference in enumerate(differences) if difference > TOLERATED)
            equal = sum(d == 0 for d in differences) / len(here)
            cells.append(f"{measure} {equal:4.0%} {max(differences):.3%}")
        red += len(reds)
        print(f"  {name:8} {recordings[0]['heap.allocations']:8,} allocations; {'; '.join(cells)}; "
              f"red {len(reds)}")
    print(f"{red} of {pairs:,} pairs red")
    shutil.rmtree(folder)


main()
