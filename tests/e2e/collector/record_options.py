#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Each option of `fastgate record` has its effect on the traces. `fastgate run` also ignores children on
request.
"""
import glob
import json
import os
import re
import subprocess

from checks import call, check, failures, finish_in_scratch, write
from control_page import await_page
from recording import A_RATE, FASTGATE, built_target, profile, record, recorded, weight_ns


def rate_is_kept():
    for hz in (200, 5000):
        document = recorded("--rate", str(hz), "--", built_target("deep"), "10", "100")
        check(document["period_ns"] == 10**9 // hz, f"--rate {hz}: period {document['period_ns']}")
        user = [sample for sample in document["samples"] if sample["kind"] == "user"]
        check(user
              and all(sample["value"] == document["period_ns"] * sample["count"] for sample in user),
              f"--rate {hz}: weights")
    for wrong in ("0", "50001", "1k"):
        check(record("--rate", wrong, "--", "true").returncode == 2, f"--rate {wrong} is taken")


def budget_sets_the_rate():
    rates = {}
    for share in ("1%", "20%"):
        result = record("--budget", share, "--", built_target("deep"), "10", "500")
        said = re.search(r"(\d+) samples a second cost about .* \(budget " + share.replace("%", " %")
                         + r"\): on this host each signal costs \d", result.stderr)
        facts = call(FASTGATE, "view", "--facts", "fastgate-record").stdout
        # with few samples, 1 %, the cost of a signal may not have been measured
        check(said or share == "1%" and "signals not measured" in facts,
              f"--budget {share}: what it cost is not said: {result.stderr}")
        document = profile()
        weights = [sample["value"] / sample["count"]
                   for sample in document["samples"] if sample["kind"] == "user"]
        check(document["period_ns"] == 0 and weights,
              f"--budget {share}: one period, {document['period_ns']}")
        rates[share] = 1e9 / max(weights)
    check(rates["20%"] > 3 * rates["1%"], f"samples a second for 1 and 20 %: {rates}")
    for line in (r"^clock +\w", r"^unseen +time spent waiting", r"^rate +\d+ samples a second",
                 r"^cost +about \d+\.\d % of the CPU time: signals \d", r"^samples +\d+ in 1 process"):
        check(re.search(line, facts, re.M), f"view --facts lacks {line}: {facts}")
    check("cost about" not in record("--rate", "1000", "--", built_target("deep"), "10", "100").stderr,
          "a rate that was asked for has no budget")


def clock_decides_whether_waits_count():
    document = recorded("--clock", "wall", "--", "sleep", "0.4")
    kinds = {sample["kind"] for sample in document["samples"]}
    total = sum(sample["value"] for sample in document["samples"])
    check(kinds == {"wall"} and total > 1e8,
          f"--clock wall: {kinds}, {total / 1e9} s of a sleep of 0.4 s")
    document = recorded("--", "sleep", "0.4")
    kinds = {sample["kind"] for sample in document["samples"]}
    total = sum(sample["value"] for sample in document["samples"])
    check(kinds <= {"user", "system"} and total <= document["cpu_ns"] + 3e6,
          f"a sleep on the CPU: {kinds}, {total / 1e9} s of {document['cpu_ns'] / 1e9} s")


def children_are_followed_unless_forbidden():
    command = ("--", "sh", "-c", f"'{built_target('deep')}' 10 100; '{built_target('deep')}' 20 100; :")
    done = record(*command)
    check(done.returncode == 0 and len(glob.glob("fastgate-record/*.fgtrace")) == 3,
          f"children followed:\n{done.stderr}")
    check(weight_ns(profile(), "at_the_bottom") > 3e7, "children followed: their work")
    done = record("--no-follow", *command)
    check(len(glob.glob("fastgate-record/*.fgtrace")) == 1, f"children left alone:\n{done.stderr}")
    check("at_the_bottom" not in str(profile()), "children left alone: their work")
    # a program that replaces the process by exec is not a child
    document = recorded("--no-follow", "--", "sh", "-c", f"exec '{built_target('deep')}' 10 100")
    check(weight_ns(document, "at_the_bottom") > 1e7, "children left alone: the program after exec")


def write_benchmark(folder, command, settings):
    write(f"{folder}/fastgate.yml", "version: 1\nbenchmarks:\n"
          f"  - {{ name: b, command: {command} }}\n"
          "measure: { warmup: 0, schedule: stored, pairs: { min: 2, max: 2 },\n"
          f"  sampler: {{ rate: 1000, {settings} }} }}\n")


def children_of_benchmarks_are_followed_on_request():
    for follow in ("true", "false"):
        write_benchmark("benchmark", f"{built_target('storm_fork')} 10", f"follow_children: {follow}")
        call(FASTGATE, "run", cwd="benchmark", check=True)
        seen = call(FASTGATE, "export", cwd="benchmark", check=True).stdout
        check("in_parent" in seen, f"follow_children: {follow}: the program was not sampled")
        check(("in_child" in seen) == (follow == "true"), f"follow_children: {follow}: its children")


def parts_of_benchmarks_are_excluded():
    """
    measure.sampler.units, delay and paused in a gate run: no profile contains the parts that they
    exclude.
    """
    for settings, most_ns, least_ns in (("units: 5-9", 0.72e8, 0.2e8), ("delay: 10s", 0, 0),
                                        ("paused: true", 0, 0)):
        write_benchmark("parts", f"{built_target('regions')} whole 2000",
                        f"unsampled_share: 0, {settings}")
        done = call(FASTGATE, "run", cwd="parts")
        check(done.returncode == 0, f"{settings}: {done.returncode}\n{done.stderr}")
        seen = call(FASTGATE, "--quiet", "export", cwd="parts").stdout
        ns = sum(int(line.rpartition(" ")[2]) for line in seen.splitlines() if ";work" in line)
        check(least_ns <= ns <= most_ns, f"{settings}: {ns / 1e9} s in the profile")
        if least_ns:
            facts = call(FASTGATE, "view", "--facts", cwd="parts", check=True).stdout
            check(re.search(r"^clock +\w", facts, re.M)
                  and re.search(r"^rate +1000 samples a second", facts, re.M),
                  f"facts of a run: {facts}")
            said = call(FASTGATE, "report", "--verbose", cwd="parts", check=True).stdout
            check("1000 samples a second; " in said, f"the report does not name rate and clock: {said}")


def folder_of_an_earlier_recording_is_put_aside():
    for name in ("old.fgtrace", "mine.txt"):
        write(f"given/{name}", "mine\n")
    record("-o", "given", "--", built_target("deep"), "1", "20")
    names = os.listdir("given")
    check("old.fgtrace" not in names and "mine.txt" in names and len(names) == 2,
          f"an output folder of an earlier recording: {names}")
    check(os.listdir("given.old") == ["old.fgtrace"],
          f"the recording before is kept: {os.listdir('given.old')}")
    os.makedirs("project")
    for _ in range(2):
        call(FASTGATE, "record", "--", built_target("deep"), "1", "20", cwd="project", check=True)
    for name in ("fastgate-record", "fastgate-record.old"):
        names = sorted(os.listdir(f"project/{name}"))
        check(len(names) == 2 and names[0] == ".gitignore", f"{name}: git ignores it: {names}")
    record("-o", "made/below", "--", built_target("deep"), "1", "20")
    check(len(os.listdir("made/below")) == 1, "an output folder that is not there")


TRIES = 100


def times_of(*options):
    """The times of the samples since the start of a program that runs for over 300 ms."""
    return sorted(sample["time_ns"]
                  for sample in recorded(*options, "--", built_target("burst"), "300")["samples"])


def times_within(*options):
    """
    Tries several times: on a busy machine the program may not have a CPU in the requested interval.
    """
    for _ in range(TRIES):
        found = times_of(*options)
        if found:
            break
    return found


def part_by_time_has_no_other_samples():
    # the handlers of all threads may be held up between reading the clock and taking the sample
    threads = 6
    check(times_of()[-1] > 1.6e8, "the program is too short for this test")
    late = times_within("--delay", "60ms")
    check(late and late[0] >= 6e7, f"--delay: the first sample at {late[:1]}")
    early = times_within("--duration", "120ms")
    check(early and sum(time > 1.2e8 for time in early) <= threads,
          f"--duration: the last samples at {early[-9:]}")
    both = times_within("--delay", "60ms", "--duration", "80ms")
    check(both and both[0] >= 6e7 and sum(time > 1.4e8 for time in both) <= threads,
          f"--delay and --duration: {both[:2]} to {both[-9:]}")
    # a limit shorter than the collector's unit is still a limit
    short = times_of("--duration", "100us")
    check(sum(time > 1e6 for time in short) <= threads,
          f"--duration below a millisecond: {len(short)} samples")


def units_table(*filters):
    said = call(FASTGATE, "view", "-V", "units", "--json", *filters, "fastgate-record",
                check=True).stdout
    return next(row for row in json.loads(said)["rows"] if row["kind"] == "all")


def units_that_count(units, count):
    """Averages cover the recorded units that the filters keep."""
    whole = units_table()
    check(whole["units"] == count, f"--units {units}: {whole['units']} units")
    check(abs(whole["mean_ns"] * count - whole["cpu_ns"]) < 1,
          f"--units {units}: the mean is {whole['mean_ns']} of {whole['cpu_ns']}")
    parts = [units_table("--unit", numbers) for numbers in ("5-5", "6-7", "8-9")]
    check([part["units"] for part in parts] == [1, 2, 2], f"--unit: {parts}")
    for figure in ("wall_ns", "cpu_ns"):
        check(all(part[figure] > 0 for part in parts)
              and sum(part[figure] for part in parts) == whole[figure],
              f"--unit: {figure} of {parts}, of all {whole}")
    regions = json.loads(call(FASTGATE, "view", "-V", "regions", "--json", "fastgate-record",
                              check=True).stdout)
    entered = [row["entered"] for row in regions["rows"] if row.get("entered")]
    check(entered and max(entered) <= 2 * count, f"--units {units}: regions entered {entered} times")


def short_regions(which):
    """A program with 20 units of 8 ms."""
    return (built_target("regions"), which, "2000")


def part_by_work_has_no_other_samples():
    document = recorded("--units", "5-9", "--", *short_regions("whole"))
    total = weight_ns(document, "work")
    check(0.1e8 < total < 0.72e8, f"--units: {total / 1e9} s of five units of 8 ms")
    units_that_count("5-9", 5)
    check(weight_ns(recorded("--paused", "--", *short_regions("whole")), "work") == 0, "--paused")
    resumed = weight_ns(recorded("--paused", "--", *short_regions("paused")), "work")
    check(0.6e8 < resumed < 2.2e8, f"--paused, and resumed: {resumed / 1e9} s")
    # view --unit: a colon separates a kind of unit from its numbers
    for wrong in ("9-5", "5:9", "5", "a-b", "5-", "5:", "5-9-", "event:5-9"):
        refusal = record("--units", wrong, "--", "true")
        check(refusal.returncode == 2 and "FIRST-LAST" in refusal.stderr, f"--units {wrong}: {refusal}")


def ask(child, word):
    child.stdin.write(word + "\n")
    child.stdin.flush()
    return child.stdout.readline() == "done\n"


def controlled(*command):
    """Starts recording a program with a control file; each line on its standard input requests work."""
    return subprocess.Popen([FASTGATE, "record", *A_RATE, "--control", "control", "--", *command],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                            text=True)


def control_file_switches_sampling():
    """
    Another program writes the file while the command runs; the command gets neither a signal nor an
    extra descriptor.
    """
    def switch(text, record=None):
        write("control", text)
        if record:
            await_page(record, off=int(text.startswith("0")))

    with controlled(built_target("on_demand")) as child:
        answered = ask(child, "first")  # on: the file's initial content
        switch("0", child.pid)
        answered &= ask(child, "second") and ask(child, "second")
        switch("1", child.pid)
        answered &= all(ask(child, "first") for _ in range(3))
        child.stdin.close()
        check(answered and child.wait() == 0, "--control: the command")
    document = profile()
    first, second = (weight_ns(document, name) for name in ("work_first", "work_second"))
    check(first > 0.75e8, f"--control: {first / 1e9} s of 0.2 s while it is on")
    check(second <= 2e6, f"--control: {second / 1e9} s while it is off")
    switch("0\n")
    document = recorded("--control", "control", "--", built_target("on_demand"), input="first\n")
    check(weight_ns(document, "work_first") == 0, "--control, off from the start")
    # a program started later in the same process follows the file's current content
    with controlled("sh", "-c", 'read line; "$0"; exec "$0"', built_target("on_demand")) as child:
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
    check(first > 1e7 and second <= 2e6,
          f"--control of a child: {first / 1e9} s of 0.05 s, {second / 1e9} s of none")
    os.unlink("control")


def mistreated_control_file_keeps_the_last_setting():
    """When the file is removed or damaged, the program continues with the last valid setting."""
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

    with controlled(built_target("on_demand")) as child:
        await_page(child.pid)
        for mistreat in (emptied, gone, folder_instead, huge, rubbish, emptied):
            mistreat()
            check(ask(child, "first"), f"--control, {mistreat.__name__}: the program ended")
        write("control", "0\n")
        await_page(child.pid, off=1)
        emptied()
        check(ask(child, "second"), "--control, emptied while it is off")
        child.stdin.close()
        check(child.wait() == 0, f"--control, mistreated: exit code {child.returncode}")
    document = profile()
    first, second = (weight_ns(document, name) for name in ("work_first", "work_second"))
    check(first > 1.2e8 and second <= 2e6,
          f"--control, mistreated: {first / 1e9} s of 0.3 s, {second / 1e9} s of none")
    os.unlink("control")
    os.mkfifo("control")
    done = record("--control", "control", "--", "true")
    check(done.returncode == 2 and "is not a regular file" in done.stderr, f"--control, a pipe: {done}")
    os.unlink("control")


def main():
    rate_is_kept()
    budget_sets_the_rate()
    clock_decides_whether_waits_count()
    children_are_followed_unless_forbidden()
    children_of_benchmarks_are_followed_on_request()
    parts_of_benchmarks_are_excluded()
    folder_of_an_earlier_recording_is_put_aside()
    part_by_time_has_no_other_samples()
    part_by_work_has_no_other_samples()
    control_file_switches_sampling()
    mistreated_control_file_keeps_the_last_setting()
    if not failures:
        print("fastgate record does what its options say")


finish_in_scratch(main)
