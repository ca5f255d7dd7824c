# SPDX-License-Identifier: Apache-2.0
"""Called by run: FASTGATE COUNT_C [NAME...]."""
import glob
import os
import shutil
import struct
import subprocess
import sys
import tempfile

FASTGATE, COUNT_C, WANTED = sys.argv[1], sys.argv[2], sys.argv[3:]
ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0", "GIT_PAGER": "cat"}
ENVIRONMENT.pop("LD_PRELOAD", None)
C_SOURCE = ("#include <stdio.h>\n#include <stdlib.h>\n"
            "int main(void) { printf(\"%d\\n\", rand()); return 0; }\n")
NUMBERS = "with recursive c(x) as (select 1 union all select x+1 from c where x<20000)"
SUM = f"{NUMBERS} select count(*), sum(length(printf('%d %d', x, x))) from c;"
GROUPS = f"{NUMBERS} select x%97, group_concat(x) from c group by 1;"
PROGRAMS = {
    "sqlite3": ["sqlite3", ":memory:", SUM + GROUPS],
    "gcc": ["gcc", "-O2", "-c", "work.c", "-o", "work.o"],
    "clang": ["clang-14", "-O2", "-c", "work.c", "-o", "work.o"],
    "python3": ["/usr/bin/python3",
                "-c", "import json, re; print(len(json.dumps([str(i) * 3 for i in range(20000)])))"],
    "perl": ["perl", "-e", "my %h; $h{$_ % 1000} .= $_ for 1 .. 50000; print length(join '', "
             "map { $h{$_} } sort keys %h), \"\\n\"; exit 5"],
    "node": ["node", "-e", "console.log(JSON.stringify([...Array(20000).keys()].map(String)).length)"],
    "git": ["git", "-C", "repository", "log", "-p", "--stat"],
    "jq": ["jq", "-c", "map(tostring) | group_by(length) | map(length)", "numbers.json"],
    "xz": ["xz", "-9", "-k", "-c", "numbers.json"],
    "zstd": ["zstd", "-q", "-12", "-T2", "-c", "numbers.json"],
    "dot": ["dot", "-Tsvg", "graph.dot"],
    "cmake": ["cmake", "-P", "script.cmake"],
    "bc": ["bc", "-l", "sum.bc"],
    "mawk": ["mawk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (k in n) c++; print c }", "RS=,",
             "numbers.json"],
    "povray": ["sh", "-c", "povray -D scene.pov +W64 +H48 +WT1 +Oscene.ppm +FP >povray.log 2>&1; "
               "echo $?; wc -c <scene.ppm"],
    "redis-server": ["sh", "redis.sh"],
    "assistant (Qt)": ["/usr/lib/qt5/bin/assistant", "-quiet", "-register", "none.qch"],
    "xlsfonts (X11)": ["xlsfonts"],
}


def make_inputs():
    with open("work.c", "w", encoding="ascii") as file:
        file.write(C_SOURCE)
    with open("numbers.json", "w", encoding="ascii") as file:
        file.write(str(list(range(30000))).replace(" ", ""))
    with open("graph.dot", "w", encoding="ascii") as file:
        file.write("digraph { " + " ".join(f"n{i} -> n{i * 7 % 60};" for i in range(60)) + " }\n")
    with open("script.cmake", "w", encoding="ascii") as file:
        file.write("foreach(i RANGE 2000)\n  list(APPEND all \"item ${i}\")\nendforeach()\n"
                   "list(LENGTH all n)\nmessage(\"${n}\")\n")
    with open("sum.bc", "w", encoding="ascii") as file:
        file.write("s = 0\nfor (i = 1; i < 3000; ++i) s += sqrt(i)\ns\nquit\n")
    with open("scene.pov", "w", encoding="ascii") as file:
        file.write("camera { location <0,0,-4> look_at 0 }\nlight_source { <2,4,-3> rgb 1 }\n"
                   "sphere { 0, 1 pigment { rgb 1 } }\n")
    with open("redis.sh", "w", encoding="ascii") as file:
        file.write("redis-server --port 0 --unixsocket ./socket --save '' >/dev/null &\n"
                   "until redis-cli -s ./socket ping >/dev/null 2>&1; do sleep 0.1; done\n"
                   "seq 2000 | sed 's/.*/SET key& &/' | redis-cli -s ./socket | sort | uniq -c\n"
                   "redis-cli -s ./socket dbsize\nredis-cli -s ./socket shutdown nosave\nwait\n")
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", "repository"], check=True)
    for i in range(30):
        with open(f"repository/file{i % 5}", "a", encoding="ascii") as file:
            file.write(f"line {i}\n" * 50)
        subprocess.run(["git", "-C", "repository", "add", "."], check=True)
        subprocess.run(["git", "-C", "repository", *author, "commit", "-q", "-m", f"change {i}",
                        "--date", "2024-01-01T00:00:00Z"], check=True)


def counted_by_allocator(folder, traced):
    """Calls and bytes of the process images that left a trace, except fastgate's own."""
    calls = size = 0
    for path in glob.glob(f"{folder}/*"):
        with open(path, "rb") as file:
            image_calls, image_size, program = struct.unpack("QQ4096s", file.read())
        name = os.path.realpath(program.rstrip(b"\0").decode(errors="replace"))
        if os.path.basename(path).split(".")[0] in traced and name != os.path.realpath(FASTGATE):
            calls += image_calls
            size += image_size
    return calls, size


def total(measure):
    done = subprocess.run([FASTGATE, "--quiet", "export", "-F", "folded", "--measure", measure,
                           "traces"],
                          check=True, capture_output=True, text=True)
    return sum(int(line.rsplit(" ", 1)[1]) for line in done.stdout.splitlines())


def record(words, library):
    """
    Records; returns the process, the number of traces, and the counts of fastgate and of the
    allocator in the same processes.
    """
    shutil.rmtree("counts", ignore_errors=True)
    os.mkdir("counts")
    environment = {**ENVIRONMENT, "LD_PRELOAD": library, "COUNT_FOLDER": os.path.abspath("counts")}
    done = subprocess.run([FASTGATE, "--quiet", "record", "--measure", "heap", "-o", "traces",
                           "--", *words],
                          capture_output=True, check=False, env=environment)
    traces = glob.glob("traces/*.fgtrace")
    allocator = counted_by_allocator("counts", {os.path.basename(path).split(".")[0] for path in traces})
    return done, len(traces), (total("heap.allocations"), total("heap.bytes")), allocator


def compare(name, words, library, look_ups):
    """
    Compares the counts, allowing for the C library's allocations during failed look-ups before the
    program runs.
    """
    plain = subprocess.run(words, capture_output=True, env=ENVIRONMENT, check=False)
    done, images, found, allocator = record(words, library)
    same = done.stdout == plain.stdout and done.returncode == plain.returncode
    is_equal = any(allocator == (found[0] + n * look_ups[0], found[1] + n * look_ups[1])
                   for n in range(images + 1))
    verdict = "equal" if is_equal else f"{allocator[0]:,} / {allocator[1]:,}"
    print(f"| {name} | {images} | {found[0]:,} | {found[1]:,} | {'yes' if same else 'NO'} | "
          f"{verdict} |", flush=True)
    return same and is_equal


def start_display():
    """Starts a display for the programs that need one; None if Xvfb is not installed."""
    if not shutil.which("Xvfb"):
        return None
    read_end, write_end = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write_end), "-nolisten", "tcp"],
                              pass_fds=[write_end], stderr=subprocess.DEVNULL)
    os.close(write_end)
    with os.fdopen(read_end, encoding="ascii") as file:
        ENVIRONMENT["DISPLAY"] = f":{file.readline().strip()}"
    return server


def main():
    fine = True
    display = start_display()
    folder = tempfile.mkdtemp(prefix="fastgate-programs-")
    os.chdir(folder)
    subprocess.run(["gcc", "-O2", "-w", "-fPIC", "-shared", "-ftls-model=initial-exec", COUNT_C,
                    "-o", "count.so", "-ldl", "-pthread"], check=True)
    make_inputs()
    _, _, found, allocator = record(["true"], f"{folder}/count.so")
    look_ups = (allocator[0] - found[0], allocator[1] - found[1])
    print("| program | process images | allocations | bytes | same output and exit code | counting "
          "allocator |")
    print("|---|---:|---:|---:|---|---|")
    for name, words in PROGRAMS.items():
        if WANTED and name not in WANTED:
            continue
        if not shutil.which(name if words[0] == "sh" else words[0]):
            print(f"| {name} | not installed | | | | |")
            continue
        fine = compare(name, words, f"{folder}/count.so", look_ups) and fine
    shutil.rmtree(folder)
    if display:
        display.terminate()
        display.wait()
    return 0 if fine else 1


sys.exit(main())
