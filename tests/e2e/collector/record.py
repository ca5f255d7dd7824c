#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
record.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record` as a user calls it.  What each option asks for is in the
traces, the exit code is the command's, and what cannot be sampled is refused in one line, before it starts.  Children are left
alone by `fastgate run`, too, where it is told so.
"""
import contextlib
import glob
import json
import os
import re
import shutil
import signal as signals
import struct
import subprocess
import sys

from checks import HUNG_S, call, check, failures, finish_in_scratch
from control_page import await_page
from seccomp import PTRACE, forbid_system_call

FASTGATE, COLLECTOR, TARGETS = (os.path.abspath(path) for path in sys.argv[1:4])
COMPILER = sys.argv[4]
ANOTHER = 65534
os.environ["FASTGATE_COLLECTOR"] = COLLECTOR


def target(name):
    return f"{TARGETS}/{name}"


# What has a say in the rate, or wants none.
ABOUT_RATES = {"--rate", "--budget", "--clock"}
A_RATE = ("--rate", "1000")


def record(*words, **more):
    """At a rate of ours where none is at issue: otherwise it is first measured, for a tenth of a second, what samples cost here."""
    own = words[:words.index("--")] if "--" in words else words
    return call(FASTGATE, "record", *(() if ABOUT_RATES & set(own) else A_RATE), *words, **more)


def profile(folder="fastgate-record"):
    return json.loads(subprocess.run([FASTGATE, "--quiet", "export", "-F", "json", folder], stdout=subprocess.PIPE, check=True).stdout)


def recorded(*words, code=0, **more):
    """The profile that a recording leaves."""
    done = record(*words, **more)
    check(done.returncode == code, f"{words}: {done.returncode} where {code} was expected\n{done.stderr}")
    return profile()


def weight_ns(document, name):
    """Time of the samples that have this function on their stack."""
    stacks, frames, functions = document["stacks"], document["frames"], document["functions"]

    def names(stack):
        while stack:
            yield functions[frames[stacks["frame"][stack]]["function"]]["name"]
            stack = stacks["parent"][stack]

    return sum(sample["weight_ns"] for sample in document["samples"] if name in names(sample["stack"]))


# ---- the command ----

def exit_codes():
    for code in (0, 1, 42, 255):
        done = call(FASTGATE, "record", "--", "sh", "-c", f"echo said; echo complained >&2; exit {code}")
        check(done.returncode == code, f"exit code {done.returncode}, the command's is {code}")
        check(done.stdout == "said\n", f"exit code {code}: said {done.stdout!r}")
        check(done.stderr.startswith("complained\n"), f"exit code {code}: complained {done.stderr!r}")
    for signal, name in ((15, "TERM"), (9, "KILL"), (6, "ABRT")):
        done = record("--", "sh", "-c", f"kill -{name} $$")
        check(done.returncode == 128 + signal, f"ended by {name}: {done.returncode}")


def environment():
    other = next(iter(sorted(glob.glob("/lib/*/libm.so.6"))), None)
    if other:
        # (An AddressSanitizer in fastgate itself would want to be the first library.)
        done = record("--", "sh", "-c", "echo $LD_PRELOAD",
                      env={**os.environ, "LD_PRELOAD": other, "ASAN_OPTIONS": "verify_asan_link_order=0"})
        check(done.stdout.endswith(f":{other}\n"), f"a library that is preloaded already: {done.stdout!r}")


def names_of_threads():
    document = recorded("--", target("deep"), "10", "100")
    check([thread["name"] for thread in document["threads"]] == ["deep"], f"the main thread: {document['threads']}")


def environments_that_lack_us():
    """Whatever a wrapper does to the environment, the program behind it is sampled."""
    other = next(iter(sorted(glob.glob("/lib/*/libm.so.6"))), None)
    for wrapper in (["env", "-i"], ["env", "-u", "FASTGATE_COLLECTOR_OUTPUT", "LD_PRELOAD="], ["env", f"LD_PRELOAD={other}"],
                    ["sh", "-c", 'unset LD_PRELOAD; exec "$@"', "sh"]):
        seen = weight_ns(recorded("--", *wrapper, target("deep"), "20", "100"), "at_the_bottom")
        check(seen > 1e7, f"{wrapper}: {seen / 1e6} ms of the program behind it")
    done = record("--", "env", f"LD_PRELOAD={other}", "sh", "-c", "echo $LD_PRELOAD", env={**os.environ, "ASAN_OPTIONS": "verify_asan_link_order=0"})
    check(done.stdout.startswith(f"{other}:"), f"a library that the program preloads stays in front: {done.stdout!r}")


def programs_that_escape():
    if not compile_program("escapes", "-static"):
        print("left out, the compiler makes no static program")
        return
    record("--", "sh", "-c", "./escapes; :")
    notes = " ".join(profile()["notes"])
    check("./escapes is linked statically" in notes, f"a static program behind a shell: {notes!r}")
    check("statically" not in " ".join(recorded("--", "sh", "-c", "true; :")["notes"]), "a program that does not escape")


SPAWNER = """
#include <spawn.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
	char *nothing[] = {"LANG=C", 0};
	pid_t child;
	int status = 1;
	if (argc < 3 || (argv[1][0] == 'p' ? posix_spawnp : posix_spawn)(&child, argv[2], 0, 0, argv + 2, nothing) != 0)
		return 2;
	return waitpid(child, &status, 0) == child ? status : 3;
}
"""


def compiled(name, source, *flags):
    subprocess.run([COMPILER, *flags, "-x", "c", "-", "-o", name], input=source, text=True, check=True)


def spawned_with_an_own_environment():
    compiled("spawner", SPAWNER)
    for how in ("plain", "path"):
        seen = recorded("--", "./spawner", how, target("deep"), "10", "100")
        check(weight_ns(seen, "at_the_bottom") > 5e7, f"posix_spawn, {how}: the child was not sampled")


def programs_that_gain_rights_or_have_another_libc():
    compiled("musl", "int main(void) { return 0; }", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    notes = " ".join(recorded("--", "sh", "-c", "./musl; :")["notes"])
    check("./musl is linked with musl" in notes, f"a program of another libc: {notes!r}")
    if os.geteuid() != 0:
        return
    shutil.copy("/bin/true", "rights")
    os.chown("rights", ANOTHER, ANOTHER)
    os.chmod("rights", 0o4755)
    notes = " ".join(recorded("--", "sh", "-c", "./rights; :")["notes"])
    check("./rights runs with the rights of another" in notes, f"a program that gains rights: {notes!r}")


def no_samples():
    for words, reason in ((("--units", "7-8", "--", "true"), "no unit of work"), (("--paused", "--", "true"), "did not ask"),
                          (("--delay", "10s", "--", "true"), "before --delay")):
        said = record(*words).stderr
        check("no samples: " in said and reason in said, f"{words}: {said!r}")
    check("no samples" not in record("--", target("deep"), "10", "100").stderr, "samples there are, and a reason why not")


def told_to_end(signal, *command):
    """A signal that is sent to `record` alone; the command says when it is there, and its child holds the pipe open."""
    with subprocess.Popen([FASTGATE, "record", *A_RATE, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        ready = child.stdout.readline()
        child.send_signal(signal)
        rest, said = child.communicate(timeout=HUNG_S)
    check(ready == "ready\n" and rest == "", f"{signal.name}: said {ready!r}, then {rest!r}")
    return child.returncode, said


def signals_are_handed_on():
    summary = re.compile(r"\b(no samples|1 sample|\d+ samples)\b")  # how many there are is up to the machine
    for signal in (signals.SIGTERM, signals.SIGINT, signals.SIGHUP):
        code, said = told_to_end(signal, "sh", "-c", "echo ready; exec sleep 100")
        check(code == 128 + signal and summary.search(said), f"{signal.name}: {code}\n{said}")
        # communicate() returns when nobody holds the pipe any more: the sleep has ended, too
        code, said = told_to_end(signal, "sh", "-c", "sleep 100 & echo ready; wait")
        check(code == 128 + signal and summary.search(said), f"{signal.name}, with a child: {code}\n{said}")
    code, _ = told_to_end(signals.SIGTERM, "sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do :; done")
    check(code == 7, f"a command that decides for itself: {code}")


# ---- options ----

def rate():
    for hz in (200, 5000):
        document = recorded("--rate", str(hz), "--", target("deep"), "10", "100")
        check(document["period_ns"] == 10**9 // hz, f"--rate {hz}: period {document['period_ns']}")
        user = [sample for sample in document["samples"] if sample["kind"] == "user"]
        check(user and all(sample["weight_ns"] == document["period_ns"] * sample["count"] for sample in user), f"--rate {hz}: weights")
    for wrong in ("0", "50001", "1k"):
        check(record("--rate", wrong, "--", "true").returncode == 2, f"--rate {wrong} is taken")


def budget():
    periods = {}
    for share in ("1%", "6%"):
        result = record("--budget", share, "--", target("deep"), "10", "100")
        said = re.search(r"(\d+) samples a second cost about .* \(budget " + share.replace("%", " %"), result.stderr)
        check(said, f"--budget {share}: what it cost is not said: {result.stderr}")
        periods[share] = profile()["period_ns"]
        check(abs(periods[share] - 10**9 / int(said[1])) < 2e4, f"--budget {share}: it says {said[1]}, the period is {periods[share]}")
    check(periods["1%"] > 1.5 * periods["6%"], f"periods for 1 and 6 %: {periods}")
    facts = subprocess.run([FASTGATE, "view", "--facts", "fastgate-record"], capture_output=True, text=True, check=False).stdout
    for line in (r"^clock +\w", r"^unseen +time spent waiting", r"^rate +\d+ samples a second", r"^cost +about \d+\.\d % of the CPU time: signals \d", r"^samples +\d+ in 1 process"):
        check(re.search(line, facts, re.M), f"view --facts lacks {line}: {facts}")
    check("cost about" not in record("--rate", "1000", "--", target("deep"), "10", "100").stderr, "a rate that was asked for has no budget")


def clock():
    document = recorded("--clock", "wall", "--", "sleep", "0.4")
    kinds = {sample["kind"] for sample in document["samples"]}
    total = sum(sample["weight_ns"] for sample in document["samples"])
    check(kinds == {"wall"} and total > 2e8, f"--clock wall: {kinds}, {total / 1e9} s of a sleep of 0.4 s")
    document = recorded("--", "sleep", "0.4")
    kinds = {sample["kind"] for sample in document["samples"]}
    total = sum(sample["weight_ns"] for sample in document["samples"])
    check(kinds <= {"user", "system"} and total <= document["cpu_ns"] + 3e6,
          f"a sleep on the CPU: {kinds}, {total / 1e9} s of {document['cpu_ns'] / 1e9} s")


def children():
    command = ("--", "sh", "-c", f"'{target('deep')}' 10 100; '{target('deep')}' 20 100; :")
    done = record(*command)
    check(done.returncode == 0 and len(glob.glob("fastgate-record/*.fgtrace")) == 3, f"children followed:\n{done.stderr}")
    check(weight_ns(profile(), "at_the_bottom") > 1e8, "children followed: their work")
    done = record("--no-follow", *command)
    check(len(glob.glob("fastgate-record/*.fgtrace")) == 1, f"children left alone:\n{done.stderr}")
    check("at_the_bottom" not in str(profile()), "children left alone: their work")
    # and what the program becomes by exec is no child
    check(weight_ns(recorded("--no-follow", "--", "sh", "-c", f"exec '{target('deep')}' 10 100"), "at_the_bottom") > 5e7, "children left alone: the program after exec")


def children_of_benchmarks():
    os.makedirs("benchmark")
    for follow in ("true", "false"):
        with open("benchmark/fastgate.yml", "w", encoding="ascii") as file:
            file.write(f"version: 1\nbenchmarks:\n  - {{ name: b, command: {target('storm_fork')} 10 }}\n"
                       f"measure: {{ warmup: 0, schedule: stored, pairs: {{ min: 2, max: 2 }}, sampler: {{ rate: 1000, follow_children: {follow} }} }}\n")
        subprocess.run([FASTGATE, "run"], cwd="benchmark", capture_output=True, check=True)
        seen = subprocess.run([FASTGATE, "export"], cwd="benchmark", capture_output=True, text=True, check=True).stdout
        check("in_parent" in seen, f"follow_children: {follow}: the program was not sampled")
        check(("in_child" in seen) == (follow == "true"), f"follow_children: {follow}: its children")


def parts_of_benchmarks():
    """measure.sampler.units, delay and paused in a gate run: what they leave out is in no profile."""
    os.makedirs("parts")
    for settings, most_ns, least_ns in (("units: 5-9", 0.72e8, 0.2e8), ("delay: 10s", 0, 0), ("paused: true", 0, 0)):
        with open("parts/fastgate.yml", "w", encoding="ascii") as file:
            file.write(f"version: 1\nbenchmarks:\n  - {{ name: b, command: {target('regions')} whole 2000 }}\nmeasure: {{ warmup: 0, schedule: stored, "
                       f"pairs: {{ min: 2, max: 2 }}, sampler: {{ rate: 1000, unsampled_share: 0, {settings} }} }}\n")
        done = subprocess.run([FASTGATE, "run"], cwd="parts", capture_output=True, text=True, check=False)
        check(done.returncode == 0, f"{settings}: {done.returncode}\n{done.stderr}")
        seen = subprocess.run([FASTGATE, "--quiet", "export"], cwd="parts", capture_output=True, text=True, check=False).stdout
        ns = sum(int(line.rpartition(" ")[2]) for line in seen.splitlines() if ";work" in line)
        check(least_ns <= ns <= most_ns, f"{settings}: {ns / 1e9} s in the profile")
        if least_ns:
            facts = subprocess.run([FASTGATE, "view", "--facts"], cwd="parts", capture_output=True, text=True, check=True).stdout
            check(re.search(r"^clock +\w", facts, re.M) and re.search(r"^rate +1000 samples a second", facts, re.M), f"facts of a run: {facts}")
            said = subprocess.run([FASTGATE, "report", "--verbose"], cwd="parts", capture_output=True, text=True, check=True)
            check("1000 samples a second; " in said.stdout, f"the report does not name rate and clock: {said.stdout}")


def folder():
    os.makedirs("given")
    for name in ("old.fgtrace", "mine.txt"):
        with open(f"given/{name}", "w", encoding="ascii") as file:
            file.write("mine\n")
    record("-o", "given", "--", target("deep"), "1", "20")
    names = os.listdir("given")
    check("old.fgtrace" not in names and "mine.txt" in names and len(names) == 2, f"an output folder of an earlier recording: {names}")
    check(os.listdir("given.old") == ["old.fgtrace"], f"the recording before is kept: {os.listdir('given.old')}")
    os.makedirs("project")
    for _ in range(2):
        subprocess.run([FASTGATE, "record", "--", target("deep"), "1", "20"], cwd="project", capture_output=True, check=True)
    for name in ("fastgate-record", "fastgate-record.old"):
        names = sorted(os.listdir(f"project/{name}"))
        check(len(names) == 2 and names[0] == ".gitignore", f"{name}: git ignores it: {names}")
    record("-o", "made/below", "--", target("deep"), "1", "20")
    check(len(os.listdir("made/below")) == 1, "an output folder that is not there")


TRIES = 100


def times_of(*options):
    """When samples were taken, from the start of the program."""
    return sorted(sample["time_ns"] for sample in recorded(*options, "--", target("burst"), "100")["samples"])


def times_within(*options):
    """Of a program that had a CPU at that time: where others want it, too, one recording may have met none."""
    for _ in range(TRIES):
        found = times_of(*options)
        if found:
            break
    return found


def part_by_time():
    threads = 6  # a handler of each may be held up between the look at the clock and the sample
    check(times_of()[-1] > 1.6e8, "the program is too short for this test")
    late = times_within("--delay", "60ms")
    check(late and late[0] >= 6e7, f"--delay: the first sample at {late[:1]}")
    early = times_within("--duration", "120ms")
    check(early and sum(time > 1.2e8 for time in early) <= threads, f"--duration: the last samples at {early[-9:]}")
    both = times_within("--delay", "60ms", "--duration", "80ms")
    check(both and both[0] >= 6e7 and sum(time > 1.4e8 for time in both) <= threads, f"--delay and --duration: {both[:2]} to {both[-9:]}")
    # shorter than what the collector counts in: still a limit
    short = times_of("--duration", "100us")
    check(sum(time > 1e6 for time in short) <= threads, f"--duration below a millisecond: {len(short)} samples")


def units_table(*filters):
    said = subprocess.run([FASTGATE, "view", "-V", "units", "--json", *filters, "fastgate-record"], capture_output=True, text=True, check=True).stdout
    return next(row for row in json.loads(said)["rows"] if row["kind"] == "all")


def units_that_count(units, count):
    """Averages are over what was recorded, and over what the filters keep of that."""
    whole = units_table()
    check(whole["units"] == count, f"--units {units}: {whole['units']} units")
    check(abs(whole["mean_ns"] * count - whole["cpu_ns"]) < 1, f"--units {units}: the mean is {whole['mean_ns']} of {whole['cpu_ns']}")
    parts = [units_table("--unit", numbers) for numbers in ("5-5", "6-7", "8-9")]
    check([part["units"] for part in parts] == [1, 2, 2], f"--unit: {parts}")
    for figure in ("wall_ns", "cpu_ns"):
        check(all(part[figure] > 0 for part in parts) and sum(part[figure] for part in parts) == whole[figure], f"--unit: {figure} of {parts}, of all {whole}")
    regions = json.loads(subprocess.run([FASTGATE, "view", "-V", "regions", "--json", "fastgate-record"], capture_output=True, text=True, check=True).stdout)
    entered = [row["entered"] for row in regions["rows"] if row.get("entered")]
    check(entered and max(entered) <= 2 * count, f"--units {units}: regions entered {entered} times")


def short_regions(which):
    """20 units of 8 ms."""
    return (target("regions"), which, "2000")


def part_by_work():
    document = recorded("--units", "5-9", "--", *short_regions("whole"))
    total = weight_ns(document, "work")
    check(0.24e8 < total < 0.72e8, f"--units: {total / 1e9} s of five units of 8 ms")
    units_that_count("5-9", 5)
    check(weight_ns(recorded("--paused", "--", *short_regions("whole")), "work") == 0, "--paused")
    resumed = weight_ns(recorded("--paused", "--", *short_regions("paused")), "work")
    check(1.2e8 < resumed < 2.2e8, f"--paused, and resumed: {resumed / 1e9} s")
    # a colon is between a kind of unit and its numbers, in view --unit
    for wrong in ("9-5", "5:9", "5", "a-b", "5-", "5:", "5-9-", "event:5-9"):
        refusal = record("--units", wrong, "--", "true")
        check(refusal.returncode == 2 and "FIRST-LAST" in refusal.stderr, f"--units {wrong}: {refusal}")


def ask(child, word):
    child.stdin.write(word + "\n")
    child.stdin.flush()
    return child.stdout.readline() == "done\n"


def control():
    """The file is written by another program, while the command runs; the command sees neither signal nor descriptor of it."""
    def switch(text, record=None):
        with open("control", "w", encoding="ascii") as file:
            file.write(text)
        if record:
            await_page(record, off=int(text.startswith("0")))

    with subprocess.Popen([FASTGATE, "record", *A_RATE, "--control", "control", "--", target("on_demand")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as child:
        answered = ask(child, "first")  # on, as the file is made
        switch("0", child.pid)
        answered &= ask(child, "second") and ask(child, "second")
        switch("1", child.pid)
        answered &= ask(child, "first")
        child.stdin.close()
        check(answered and child.wait() == 0, "--control: the command")
    document = profile()
    first, second = (weight_ns(document, name) for name in ("work_first", "work_second"))
    check(first > 0.75e8, f"--control: {first / 1e9} s of 0.1 s while it is on")
    check(second <= 2e6, f"--control: {second / 1e9} s while it is off")
    switch("0\n")
    check(weight_ns(recorded("--control", "control", "--", target("on_demand"), input="first\n"), "work_first") == 0, "--control, off from the start")
    # a program that begins later, in the process of another, is as the file says by then
    with subprocess.Popen([FASTGATE, "record", *A_RATE, "--control", "control", "--", "sh", "-c", 'read line; "$0"; exec "$0"', target("on_demand")],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
        await_page(child.pid, off=1)
        switch("1\n", child.pid)
        child.stdin.write("go\n")
        answered = ask(child, "first")
        switch("0\n", child.pid)
        answered &= ask(child, "second")
        child.stdin.close()
        check(answered and child.wait() == 0, "--control: the command after a command")
    document = profile()
    first, second = (weight_ns(document, name) for name in ("work_first", "work_second"))
    check(first > 3.5e7 and second <= 2e6, f"--control of a child: {first / 1e9} s of 0.05 s, {second / 1e9} s of none")
    os.unlink("control")


def control_file_is_mistreated():
    """Whatever happens to the file, the program goes on, as it was told last."""
    def emptied():
        os.truncate("control", 0)

    def gone():
        os.unlink("control")

    def folder_instead():
        os.mkdir("control")

    def huge():
        os.rmdir("control")
        with open("control", "wb") as file:
            file.write(b"1")
            file.truncate(1 << 40)

    def rubbish():
        with open("control", "wb") as file:
            file.write(bytes(range(255, 0, -1)) * 1000)

    with subprocess.Popen([FASTGATE, "record", *A_RATE, "--control", "control", "--", target("on_demand")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as child:
        await_page(child.pid)
        for mistreat in (emptied, gone, folder_instead, huge, rubbish, emptied):
            mistreat()
            check(ask(child, "first"), f"--control, {mistreat.__name__}: the program ended")
        with open("control", "w", encoding="ascii") as file:
            file.write("0\n")
        await_page(child.pid, off=1)
        emptied()
        check(ask(child, "second"), "--control, emptied while it is off")
        child.stdin.close()
        check(child.wait() == 0, f"--control, mistreated: exit code {child.returncode}")
    document = profile()
    first, second = (weight_ns(document, name) for name in ("work_first", "work_second"))
    check(first > 2e8 and second <= 2e6, f"--control, mistreated: {first / 1e9} s of 0.3 s, {second / 1e9} s of none")
    os.unlink("control")
    os.mkfifo("control")
    done = record("--control", "control", "--", "true")
    check(done.returncode == 2 and "is not a regular file" in done.stderr, f"--control, a pipe: {done}")
    os.unlink("control")


# ---- libraries ----

def libraries_by_relative_path():
    """Who reads a trace stands elsewhere than who opened `./plugin.so`, and a program may have gone on by then."""
    os.makedirs("where/it/is")
    with open("where/plugin.c", "w", encoding="ascii") as file:
        file.write("#include <time.h>\nvoid plugged_in(void)\n{\n\tfor (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;)\n"
                   "\t\tfor (volatile int i = 0; i < 200000; i++) {}\n}\n")
    with open("where/host.c", "w", encoding="ascii") as file:
        file.write("#include <dlfcn.h>\n#include <unistd.h>\nint main(int count, char **words)\n{\n"
                   "\tvoid *plugin = count > 1 ? dlopen(words[1], RTLD_NOW) : 0;\n"
                   "\tvoid (*work)(void) = plugin ? (void (*)(void))dlsym(plugin, \"plugged_in\") : 0;\n"
                   "\tif (!work || chdir(\"/\") != 0)\n\t\treturn 1;\n\twork();\n\treturn 0;\n}\n")
    for words in (("-O1", "-shared", "-fPIC", "-o", "plugin.so", "plugin.c"), ("-O1", "-o", "host", "host.c", "-ldl")):
        subprocess.run([COMPILER, *words], cwd="where", check=True)
    for folder, path in (("where", "./plugin.so"), ("where", ".//././plugin.so"), ("where/it/is", "../../plugin.so"), ("where", os.path.abspath("where/plugin.so"))):
        output = os.path.abspath("fastgate-record")
        done = record("-o", output, "--", os.path.abspath("where/host"), path, cwd=folder)
        check(done.returncode == 0, f"{path}: {done.returncode}\n{done.stderr}")
        document = profile()
        named = weight_ns(document, "plugged_in")
        check(named > 0.5 * document["cpu_ns"] > 0, f"a library opened as {path}: {named / 1e6} of {document['cpu_ns'] / 1e6} ms stand under its function")


def program_with_gaps_between_its_segments():
    """As where code is aligned to huge pages: only the first of its mappings begins with the headers that lead to the unwind tables."""
    with open("gaps.c", "w", encoding="ascii") as file:
        file.write("#include <time.h>\n__attribute__((noinline)) static double inner(double x) { for (int i = 0; i < 100000; i++) x = x * 0.5 + 1; return x; }\n"
                   "__attribute__((noinline)) static double outer(double x) { return inner(x) + 1; }\n"
                   "int main(void) { double x = 0; for (clock_t end = clock() + CLOCKS_PER_SEC * 2 / 5; clock() < end;) x = outer(x); return x < 0; }\n")
    made = subprocess.run([COMPILER, "-g", "-O1", "-fomit-frame-pointer", "-no-pie", "-Wl,-z,max-page-size=0x200000,-z,separate-code", "gaps.c", "-o", "gaps"],
                          capture_output=True, text=True, check=False)
    check(made.returncode == 0, made.stderr)
    document = recorded("--", "./gaps")
    check(weight_ns(document, "main") > 0.9 * weight_ns(document, "inner") > 0, "main is not found as the caller")
    # All of them would; some do at the start of any program, and on a busy machine that is more of its time.
    check(document["truncated_ns"] < 0.5 * document["cpu_ns"], f"stacks that end early: {document['truncated_ns']} of {document['cpu_ns']}")


# ---- refusals ----

def compile_program(name, *flags, compiler=COMPILER):
    with open("touch.c", "w", encoding="ascii") as file:
        file.write('#include <stdio.h>\nint main(void) { FILE *f = fopen("it-ran", "w"); return f ? fclose(f) : 1; }\n')
    if not shutil.which(compiler):
        return False
    return subprocess.run([compiler, *flags, "touch.c", "-o", name], capture_output=True, check=False).returncode == 0


def refused(name, part, **more):
    if os.path.exists("it-ran"):
        os.unlink("it-ran")
    done = record("-o", "refused", "--", name, **more)
    lines = done.stderr.splitlines()
    check(done.returncode == 2 and len(lines) == 1 and lines[0].startswith("fastgate: ") and part in lines[0] and name in lines[0],
          f"{name}: {done.returncode}\n{done.stderr}")
    check(not os.path.exists("it-ran"), f"{name}: it ran")
    check(not os.path.exists("refused"), f"{name}: a folder was made for nothing")


def builds_refused():
    check(compile_program("plain"), "the compiler makes no program")
    check(record("--", "./plain").returncode == 0 and os.path.exists("it-ran"), "a plain program is refused")
    for name, flags, part in (("address", ("-fsanitize=address",), "AddressSanitizer"), ("thread", ("-fsanitize=thread",), "ThreadSanitizer")):
        if compile_program(name, *flags):
            refused(f"./{name}", part)
        else:
            print(f"left out, the compiler makes none: {' '.join(flags)}")
    for name, part in (("address", "AddressSanitizer"), ("thread", "ThreadSanitizer"), ("memory", "MemorySanitizer")):
        if compile_program(f"clang-{name}", f"-fsanitize={name}", compiler="clang"):
            refused(f"./clang-{name}", part)
    # scripts are as good as what they are for
    if compile_program("static", "-static"):
        with open("script", "w", encoding="ascii") as file:
            file.write(f"#!{os.getcwd()}/static\n")
        os.chmod("script", 0o755)
        done = record("-o", "refused", "--", "./script")
        check(done.returncode == 2 and "linked statically" in done.stderr, f"a script for a static program: {done.returncode}\n{done.stderr}")
    with open("plain", "rb") as file:
        foreign = bytearray(file.read())
    struct.pack_into("<H", foreign, 18, 243)  # RISC-V
    with open("foreign", "wb") as file:
        file.write(foreign)
    os.chmod("foreign", 0o755)
    refused("./foreign", "another machine")


def files_refused():
    refused("./there-is-none", "No such file")
    refused("there-is-none", "there is no program")
    shutil.copy("plain", "unexecutable")
    os.chmod("unexecutable", 0o644)
    refused("./unexecutable", "is not executable")
    os.makedirs("directory")
    refused("./directory", "is not a program")
    with open("orphan", "w", encoding="ascii") as file:
        file.write("#!/nonexistent/interpreter\n")
    os.chmod("orphan", 0o755)
    done = record("-o", "refused", "--", "./orphan")
    check(done.returncode == 2 and "/nonexistent/interpreter" in done.stderr, f"a script without its interpreter: {done.returncode}\n{done.stderr}")


def drop_rights():
    os.setgroups([])
    os.setgid(ANOTHER)
    os.setuid(ANOTHER)


def another_user_can_work():
    os.chmod(".", 0o777)
    try:
        tried = subprocess.run([FASTGATE, "--version"], preexec_fn=drop_rights, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("left out, another user cannot reach the programs here")
        return False
    if tried.stderr:
        print("left out, this build complains that another user cannot write its counts")
    return not tried.stderr


def rights_refused():
    if os.geteuid() != 0:
        print("left out, not root: programs with more rights than their caller")
        return
    for name, mode, uid, gid, part in (("setuid", 0o4755, ANOTHER, 0, "is set-user-id"), ("setgid", 0o2755, 0, ANOTHER, "is set-group-id")):
        shutil.copy("plain", name)
        os.chown(name, uid, gid)
        os.chmod(name, mode)
        refused(f"./{name}", part)
    shutil.copy("plain", "capable")
    try:
        # version 2, no effective bit; permitted: CAP_NET_BIND_SERVICE
        os.setxattr("capable", "security.capability", struct.pack("<5I", 0x02000000, 1 << 10, 0, 0, 0))
    except OSError:
        print("left out, this file system keeps no capabilities")
        return

    if another_user_can_work():
        refused("./capable", "has file capabilities", preexec_fn=drop_rights)


# ---- from outside ----

SHARES = """
#include <stdlib.h>
__attribute__((noinline)) static long one(long n) { long s = 0; for (volatile long i = 0; i < n; i++) s += i; return s; }
__attribute__((noinline)) static long three(long n) { long s = 0; for (volatile long i = 0; i < 3 * n; i++) s += i; return s; }
int main(int argc, char **argv)
{
	long sum = 0;
	for (long rounds = argc > 1 ? atol(argv[1]) : -1; rounds != 0; rounds--)
		sum += one(1000000) + three(1000000);
	return sum == 42 ? 1 : 7;
}
"""


def state_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        fields = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    return fields["State"][0], fields["TracerPid"].strip()


def runs_freely(pid, when):
    state, tracer = state_of(pid)
    check(state not in "tT" and tracer == "0", f"{when}: state {state}, traced by {tracer}")


def used_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rsplit(")", 1)[1].split()[11])


def build(name, source, *options):
    with open(f"{name}.c", "w", encoding="ascii") as file:
        file.write(source)
    subprocess.run([COMPILER, "-g", "-O1", f"{name}.c", "-o", name, *options], check=True)


def looked_at(process, is_enough, *words):
    """`record` of a running process, and its profile, once that is enough: on a busy machine the process seldom has a processor."""
    for duration in ("500ms", "5s", "50s"):
        done = record("--pid", str(process.pid), "--duration", duration, *words)
        if done.returncode != 0 or is_enough(profile()):
            break
    return done, profile()


def from_outside():
    build("shares", SHARES)
    with subprocess.Popen(["./shares"]) as running:
        try:
            done, document = looked_at(running, lambda seen: weight_ns(seen, "three") > 0, "--rate", "1000")
            check(done.returncode == 0 and re.search(r"stopped a thread \d+ times?, in 99 % of them for at most [\d.]+ [nµm]?s", done.stderr),
                  f"--pid: {done.returncode}\n{done.stderr}")
            check(weight_ns(document, "three") > 0 and weight_ns(document, "main") > 0, "--pid: no samples in three, called by main")
            runs_freely(running.pid, "after --pid")
            killed_while_it_samples(running.pid)
        finally:
            running.kill()
    done = record("--pid", str(running.pid))
    check(done.returncode == 2 and f"there is no process {running.pid}" in done.stderr, f"a process that is gone: {done.returncode}\n{done.stderr}")
    done = record("--pid", "1", "--", "true")
    check(done.returncode == 2 and "exclude each other" in done.stderr, f"--pid with a command: {done.returncode}\n{done.stderr}")
    done = record("--pid", "1", "--clock", "exact")
    check(done.returncode == 2 and "--clock exact is not possible from outside" in done.stderr, f"--pid with --clock: {done.returncode}\n{done.stderr}")


# It computes for some 10 microseconds between system calls, nearly all of its time.
CALLS_OFTEN = """
#include <time.h>
__attribute__((noinline)) static void between(void) { for (long i = 0; i < 20000; i++) __asm__ volatile("" ::: "memory"); __asm__ volatile(""); }
int main(void) { struct timespec t; for (;;) { between(); clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); } }
"""


def system_calls_attract_no_samples():
    """A thread stops where it is when the moment comes, not at the system call that it makes next."""
    build("often", CALLS_OFTEN)
    with subprocess.Popen(["./often"]) as running:
        try:
            done, document = looked_at(running, lambda seen: weight_ns(seen, "main") > 2e7, "--rate", "500", "--budget", "50%")
            check(done.returncode == 0, f"--pid: {done.returncode}\n{done.stderr}")
        finally:
            running.kill()
    whole, between = weight_ns(document, "main"), weight_ns(document, "between")
    check(between > whole / 2 > 0, f"--pid: {between} of {whole} ns between system calls, which is nearly all of it")


# Ends with 9 where a call is cut short; says how long it was in each function.
WAITS = """
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int epoll, sockets[2];
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000L + t.tv_nsec; }
static void must(int done) { if (!done) { puts("cut short"); _exit(9); } }
__attribute__((noinline)) static long sleeps(void) { long a = now(); struct timespec t = {0, 30000000}; must(nanosleep(&t, NULL) == 0); return now() - a; }
__attribute__((noinline)) static long polls(void) { struct epoll_event e; long a = now(); must(epoll_wait(epoll, &e, 1, 20) == 0); return now() - a; }
__attribute__((noinline)) static long spins(void) { long a = now(); while (now() < a + 10000000) {} return now() - a; }
static void *receives(void *unused)
{
	char byte;
	struct timeval limit = {.tv_sec = 3600};
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	must(read(sockets[0], &byte, 1) == 1);
	return unused;
}
int main(void)
{
	long in[3] = {0};
	pthread_t thread;
	epoll = epoll_create1(0);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0 && pthread_create(&thread, NULL, receives, NULL) == 0);
	for (long begin = now(); now() < begin + 2000000000L;) {
		in[0] += sleeps();
		in[1] += polls();
		in[2] += spins();
	}
	must(write(sockets[1], "", 1) == 1 && pthread_join(thread, NULL) == 0);
	printf("sleeps %ld polls %ld spins %ld\\n", in[0], in[1], in[2]);
	return 0;
}
"""


@contextlib.contextmanager
def crowded_processor():
    """Busy processes on one processor, and what puts another one there, too."""
    def there():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    crowd = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=there) for _ in range(16)]
    try:
        yield there
    finally:
        for process in crowd:
            process.kill()
            process.wait()


def shares_are_as_said(what, said):
    words = said.split()
    check(len(words) == 6, f"--clock wall from outside, {what}: the program said {said}")
    document = profile()
    whole = weight_ns(document, "main")
    truth = {name: int(ns) for name, ns in zip(words[::2], words[1::2])}
    for name, ns in truth.items():
        share, true = weight_ns(document, name) / whole, ns / sum(truth.values())
        check(abs(share - true) < 0.2, f"--clock wall from outside, {what}: {name} has {share:.2f} of main's time instead of {true:.2f}")
    check(weight_ns(document, "receives") > whole / 2, f"--clock wall from outside, {what}: the thread that waits all the time is missing")


def waiting_from_outside():
    """Elapsed time of every thread, that in which it waits for a processor too, and no system call that is cut short."""
    build("waits", WAITS, "-pthread")
    with subprocess.Popen(["./waits"], stdout=subprocess.PIPE, text=True) as running:
        recorded("--pid", str(running.pid), "--clock", "wall", "--budget", "50%")
        said = running.communicate()[0]
    check(running.returncode == 0, f"a system call was cut short: {running.returncode} {said}")
    shares_are_as_said("--pid", said)
    build("waits", WAITS, "-pthread", "-static")
    with crowded_processor() as there:
        done = record("--clock", "wall", "--budget", "50%", "--", "./waits", preexec_fn=there)
    check(done.returncode == 0, f"a system call was cut short: {done.returncode} {done.stdout} {done.stderr}")
    shares_are_as_said("a crowd", done.stdout)


def tracing_forbidden():
    with subprocess.Popen(["./shares"]) as running:
        try:
            done = subprocess.run([FASTGATE, "record", *A_RATE, "--pid", str(running.pid), "--duration", "100ms"], preexec_fn=lambda: forbid_system_call(PTRACE),
                                  capture_output=True, text=True, check=False)
            check(done.returncode == 2, f"ptrace forbidden by seccomp: {done.returncode}\n{done.stderr}")
            check(len(done.stderr.splitlines()) == 1 and "seccomp filter forbids" in done.stderr, f"seccomp is not named in one line: {done.stderr}")
            runs_freely(running.pid, "after ptrace was forbidden")
        finally:
            running.kill()
    done = subprocess.run([FASTGATE, "record", *A_RATE, "--pid", str(running.pid), "--duration", "100ms"], preexec_fn=lambda: forbid_system_call(PTRACE),
                          capture_output=True, text=True, check=False)
    check(done.returncode == 2 and "seccomp filter forbids" in done.stderr, f"a process that has ended meanwhile: {done}")


def processes_of_others():
    """What another user may not look at is refused in one line that says why."""
    if os.geteuid() != 0 or not another_user_can_work():
        print("left out, not root: processes that may not be looked at")
        return
    with open("undumpable.c", "w", encoding="ascii") as file:
        file.write("#include <stdio.h>\n#include <sys/prctl.h>\n#include <unistd.h>\n"
                   "int main(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); puts(\"ready\"); fflush(stdout); pause(); return 0; }\n")
    subprocess.run([COMPILER, "undumpable.c", "-o", "undumpable"], check=True)
    for user, reason in ((None, "it belongs to another user (0)"), (drop_rights, "PR_SET_DUMPABLE")):
        with subprocess.Popen(["./undumpable"], preexec_fn=user, stdout=subprocess.PIPE, text=True) as running:
            try:
                running.stdout.readline()
                done = record("--pid", str(running.pid), "--duration", "100ms", "-o", "refused", preexec_fn=drop_rights)
                check(done.returncode == 2 and len(done.stderr.splitlines()) == 1 and f"process {running.pid} may not be looked at: " in done.stderr
                      and reason in done.stderr, f"{reason}: {done.returncode}\n{done.stderr}")
            finally:
                running.kill()


def killed_while_it_samples(pid):
    """Nothing stays stopped, and the program goes on to use time."""
    with subprocess.Popen([FASTGATE, "record", "--pid", str(pid), "--rate", "10000", "-o", "killed"], stderr=subprocess.DEVNULL) as sampler:
        begin = used_ticks(pid)
        while used_ticks(pid) < begin + 5:
            pass
        sampler.kill()
    runs_freely(pid, "after kill -9 of fastgate")
    begin = used_ticks(pid)
    while used_ticks(pid) == begin:
        pass


def static_programs():
    if subprocess.run([COMPILER, "-g", "-O1", "-static", "shares.c", "-o", "shares-static"], capture_output=True, check=False).returncode:
        print("left out, the compiler makes no static program")
        return
    document = recorded("--", "./shares-static", "60", code=7)
    check(weight_ns(document, "three") > 0, "a static program: no samples in three")
    check(weight_ns(document, "main") >= weight_ns(document, "three"), "a static program: three is not called by main")


def main():
    for part in (exit_codes, environment, names_of_threads, environments_that_lack_us, programs_that_escape, spawned_with_an_own_environment, programs_that_gain_rights_or_have_another_libc, no_samples, signals_are_handed_on, rate, budget, clock, children, children_of_benchmarks, parts_of_benchmarks, folder, part_by_time, part_by_work, control, control_file_is_mistreated, libraries_by_relative_path, program_with_gaps_between_its_segments,
                 builds_refused, files_refused, rights_refused, from_outside, system_calls_attract_no_samples, waiting_from_outside,
                 tracing_forbidden, processes_of_others, static_programs):
        part()
    if not failures:
        print("fastgate record does what its options say")


finish_in_scratch(main)
