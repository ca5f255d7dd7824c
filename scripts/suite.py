#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
suite.py JOBS             runs the builds, every test and the analysis, for `./dev test`
suite.py JOBS --changed   runs everything that the changes since the main branch can affect, for
                          `./dev test --changed`
suite.py JOBS --left-out  fails if a test is run neither in the optimised build nor under the sanitizers

The tests run in the foreground, one stage after the other. The builds for later stages and the
analysis run in the background at the lowest priority, so tests must not depend on how busy the
machine is. Each stage's output goes to build/suite, and is printed if the stage fails.

Tests create and remove hundreds of thousands of files, so these go to memory (/dev/shm) if it has
room, unless TMPDIR is set.
"""
import concurrent.futures
import contextlib
import fnmatch
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from rooms import read_rooms, room_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "suite"
TOOK = LOGS / "took.json"
MEMORY = "/dev/shm"
MEMORY_NEEDED = 4 << 30  # bytes that must be free; the suite uses a quarter
BACKGROUND_NICENESS = 19
TAIL_LINES = 60

# The room of a test under tests/integration or tests/e2e is the folder that contains it.
ROOM_TESTS = {
    "collector": ["collector"],
    "trace": ["profile"],
    "binary": ["binary", "profile"],
    "profile": ["profile"],
    "profile/views": ["profile"],
    "profile/exchange": ["exchange", "profile"],
    "config": ["cli"],
    "runner": ["gate"],
    "gate": ["gate"],
    "gate/statistics": ["gate"],
    "store": ["report", "perfdb"],
    "reporters": ["report", "reports"],
    "perfdb": ["perfdb"],
    "perfdb/client": ["perfdb"],
    "perfdb/server": ["perfdb"],
    "perfdb/web": ["perfdb"],
    "cli": ["cli"],
}


class Stage:
    """Commands that run one after the other once their prerequisites have succeeded."""

    def __init__(self, name, expected_s, needs, *commands):
        self.name = name
        self.expected_s = expected_s
        self.needs = needs
        self.commands = commands
        self.log = LOGS / f"{name.replace(' ', '-')}.log"
        self.started = None
        self.cpu_s = 0  # CPU time of all processes that its commands waited for
        self.state = "waiting"
        self.ended = threading.Event()


def build(preset, jobs, *targets):
    words = ["cmake", "--build", "--preset", preset, "-j", jobs]
    return [["sh", "scripts/configure.sh", preset], [*words, "--target", *targets] if targets else words]


# Selections: tests of the optimised build, and tests under the sanitizers (cmake/FgTest.cmake).
OPTIMISED = ("-LE", "^sanitized$")
SANITIZED = ("-L", "^(unit|integration|e2e|fuzz)$", "-LE", "^(web|plain)$")


def test(preset, jobs, *selection):
    """One job more than CPUs, because some tests wait for a browser, a server or a time limit."""
    return ["ctest", "--preset", preset, "-j", str(int(jobs) + 1), "--output-on-failure", *selection]


def lanes(jobs):
    """
    Returns the stages (in the foreground, in the background). The expected seconds are from two
    quiet CPUs, and are used until a run has measured the durations here.

    gcc's build has the programs as users get them; its tests are not optimised. clang's build has the
    sanitizers of addresses and undefined behaviour, clang's warnings, and the tests labelled
    "compilers". A third build has the thread sanitizer.
    """
    front = [
        Stage("build release", 90, [], *build("release", jobs, "optimised_tests")),
        Stage("test release", 200, ["build release"], test("release", jobs, *OPTIMISED)),
        Stage("test asan", 80, ["build asan"], test("asan", jobs, *SANITIZED),
              [sys.executable, "scripts/suite.py", jobs, "--left-out"]),
        Stage("test tsan", 8, ["build tsan"], test("tsan", jobs, "-L", "^threads$")),
    ]
    background = [Stage("build asan", 90, ["build release"],
                        *build("asan", jobs, "sanitizer_tests", "compiler_tests")),
                  Stage("build tsan", 30, ["build release"], *build("tsan", jobs, "thread_tests")),
                  Stage("analysis", 120, ["build release"],
                        ["python3", "scripts/analyse.py", "build/release", jobs]),
    ]
    return front, background


class Suite:
    """Runs two lanes of stages, with a line when each begins and ends."""

    def __init__(self, front, background):
        self.lanes = (front, background)
        self.stages = {stage.name: stage for lane in self.lanes for stage in lane}
        self.began = time.monotonic()
        self.printing = threading.Lock()
        LOGS.mkdir(parents=True, exist_ok=True)
        for name, seconds in self.measured().items():
            if name in self.stages:
                self.stages[name].expected_s = seconds

    @staticmethod
    def measured():
        """The durations of the stages in their last successful run."""
        try:
            return json.loads(TOOK.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def left_s(self):
        """The time until the last stage ends, if every stage takes the expected time."""
        now = time.monotonic()
        ends = {}
        for _ in self.lanes:  # twice, because the lanes wait for each other's stages
            for lane in self.lanes:
                at = 0
                for stage in lane:
                    at = max([at, *(ends.get(name, 0) for name in stage.needs)])
                    if stage.state == "waiting":
                        at += stage.expected_s
                    elif stage.state == "running":
                        at += max(0, stage.expected_s - (now - stage.started))
                    ends[stage.name] = at
        return max(ends.values())

    def say(self, text):
        with self.printing:
            elapsed = int(time.monotonic() - self.began)
            left = round(self.left_s())
            rest = f"; about {left // 60}:{left % 60:02} left" if left else ""
            print(f"[{elapsed // 60:2}:{elapsed % 60:02}] {text}{rest}", flush=True)

    def show_log(self, stage):
        """
        Prints the log of tests without the lines about passed tests, or the end of any other log.
        """
        lines = stage.log.read_text(encoding="utf-8", errors="replace").splitlines()
        if any(words[0] == "ctest" for words in stage.commands):
            lines = [line for line in lines
                     if not re.search(r"^ +Start +\d+:|Passed +[\d.]+ sec$", line)]
        else:
            lines = lines[-TAIL_LINES:]
        with self.printing:
            print("\n".join(lines), flush=True)

    def execute(self, stage, niceness):
        with open(stage.log, "wb") as log:
            for words in stage.commands:
                process = subprocess.Popen(["nice", "-n", str(niceness), *words] if niceness else words,
                                           stdout=log, stderr=subprocess.STDOUT,
                                           stdin=subprocess.DEVNULL, cwd=ROOT)
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                stage.cpu_s += used.ru_utime + used.ru_stime
                if process.returncode != 0:
                    return False
        return True

    def run_stage(self, stage, niceness):
        for name in stage.needs:
            self.stages[name].ended.wait()
        if any(self.stages[name].state != "passed" for name in stage.needs):
            stage.state = "not run"
            self.say(f"{stage.name}: not run")
            return
        stage.started = time.monotonic()
        stage.state = "running"
        self.say(f"{stage.name}: begins")
        stage.state = "passed" if self.execute(stage, niceness) else "failed"
        took = time.monotonic() - stage.started
        self.say(f"{stage.name}: {stage.state} after {took:.0f} s, "
                 f"{stage.cpu_s:.0f} s of CPU time{summary(stage)}")
        if stage.state == "passed":
            stage.expected_s = took
        else:
            self.show_log(stage)

    def run_lane(self, lane, niceness):
        for stage in lane:
            try:
                self.run_stage(stage, niceness)
            finally:
                stage.ended.set()

    def run(self):
        """Returns True if every stage has passed."""
        with concurrent.futures.ThreadPoolExecutor(len(self.lanes)) as pool:
            for done in [pool.submit(self.run_lane, lane, niceness)
                         for lane, niceness in zip(self.lanes, (0, BACKGROUND_NICENESS))]:
                done.result()
        took = {s.name: round(s.expected_s) for s in self.stages.values() if s.state == "passed"}
        TOOK.write_text(json.dumps({**self.measured(), **took}))
        bad = [stage.name for stage in self.stages.values() if stage.state != "passed"]
        used = sum(stage.cpu_s for stage in self.stages.values())
        self.say(f"not passed: {', '.join(bad)}" if bad
                 else f"all tests passed, in {used:.0f} s of CPU time")
        return not bad


def summary(stage):
    """The number of tests and the names of skipped tests, or the last line of the analysis."""
    text = stage.log.read_text(encoding="utf-8", errors="replace") if stage.log.exists() else ""
    found = re.search(r"\d+% tests passed, .*", text)
    if not found:
        return f": {text.splitlines()[-1]}" if stage.name == "analysis" and text else ""
    skipped = re.findall(r"^\s*\d+ - (\S+) \(Skipped\)", text, re.M)
    return f": {found[0]}" + (f"; skipped: {', '.join(skipped)}" if skipped else "")


# ---- changed files ----

def changed_files():
    """Files changed since the branch left main, including uncommitted ones."""
    def git(*words):
        return subprocess.run(["git", *words],
                              cwd=ROOT, capture_output=True, text=True, check=False).stdout.split("\n")

    base = "HEAD"
    for main in ("origin/main", "main"):
        found = git("merge-base", "HEAD", main)[0]
        if found:
            base = found
            break
    return sorted({name for name in git("diff", "--name-only", base)
                   + git("ls-files", "--others", "--exclude-standard") if name})


def touched(files):
    """
    (rooms, folders of tests) that these files belong to; None means everything, because a file is
    part of the build or shared by all tests.
    """
    rooms = read_rooms(ROOT)
    found, folders = set(), set()
    for name in files:
        room = room_of(name, rooms)
        parts = name.split("/")
        if parts[0] == "tests" and len(parts) > 3 and parts[1] in ("unit", "integration", "e2e"):
            folders.add(parts[2])
        elif room and room not in ("tests", "docs", "examples", "bench", "scripts", "cmake"):
            found.add(room)
        elif any(fnmatch.fnmatch(name, pattern)
                 for pattern in ("CMake*", "cmake/*", "tests/support/*", "tests/CMakeLists.txt")):
            return None
    return found, folders


def including(rooms, changed):
    """The changed rooms, and the rooms that include a changed room, directly or indirectly."""
    found = set(changed)
    while True:
        more = {name for name, law in rooms.items() if set(law.rooms) & found} - found
        if not more:
            return found
        found |= more


def changed_selection():
    """ctest's arguments for the tests of the changed parts, and a description of those tests."""
    found = touched(changed_files())
    if found is None:
        return ["-LE", "^(web|slow)$"], "the build or what all tests share: every test but slow ones"
    rooms, folders = found
    unit = {part for name in including(read_rooms(ROOT), rooms) for part in name.split("/")} | folders
    whole = folders | {folder for room in rooms for folder in ROOM_TESTS.get(room, [])}
    labels = ["lint", "fuzz", *(f"unit:{name}" for name in sorted(unit)),
              *(f"whole:{name}" for name in sorted(whole))]
    return (["-L", f"^({'|'.join(labels)})$", "-LE", "^(web|slow)$"],
            ", ".join(sorted(rooms | folders)) or "no room")


# ---- temporary files of tests ----

def has_room():
    """Does MEMORY have enough space, and does it allow programs? Docker mounts it noexec."""
    try:
        there = os.statvfs(MEMORY)
        available = re.search(r"^MemAvailable: +(\d+) kB",
                              pathlib.Path("/proc/meminfo").read_text(encoding="utf-8"), re.M)
    except OSError:
        return False
    return (not there.f_flag & os.ST_NOEXEC and there.f_bavail * there.f_frsize >= MEMORY_NEEDED
            and available is not None and int(available[1]) * 1024 >= MEMORY_NEEDED)


@contextlib.contextmanager
def scratch():
    if "TMPDIR" in os.environ or not has_room():
        yield
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="fastgate-suite-", dir=MEMORY) as folder:
        os.chmod(folder, 0o755)  # a database server runs as another user
        os.environ["TMPDIR"] = folder
        yield


def tests_of(preset, *selection):
    words = ["ctest", "--preset", preset, "--show-only=json-v1", *selection]
    listed = subprocess.run(words, capture_output=True, check=True).stdout
    return {one["name"] for one in json.loads(listed)["tests"]}


def left_out():
    """Tests that run in neither build."""
    return sorted(tests_of("release") - tests_of("release", *OPTIMISED) - tests_of("asan", *SANITIZED))


def main():
    jobs = sys.argv[1]
    if sys.argv[2:] == ["--left-out"]:
        found = left_out()
        print(f"run in neither build: {', '.join(found)}" if found
              else "each test is run in one build at least")
        return 1 if found else 0
    if sys.argv[2:] == ["--changed"]:
        selection, words = changed_selection()
        print(f"changed: {words}", flush=True)
        front = [Stage("build dev", 35, [], *build("dev", jobs)),
                 Stage("test changed", 40, ["build dev"], test("dev", jobs, *selection))]
        chosen = (front, [])
    else:
        chosen = lanes(jobs)
    with scratch():
        return 0 if Suite(*chosen).run() else 1


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
