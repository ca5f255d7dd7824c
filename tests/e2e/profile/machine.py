#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The whole machine: programs outermost, the kernel's functions below theirs; Ctrl-C ends a recording
and keeps its result.

usage: machine.py FASTGATE PROGRAM
"""
import contextlib
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import unittest
from pathlib import Path

from checks import HUNG_S, call
from recording import InOneHome

FASTGATE, PROGRAM = sys.argv[1:3]
NOBODY = "65534"
SECONDS = (1, 2, 4, 8, 16, 32, 64)  # lengths of the recordings
ENOUGH = 20  # samples of each program
SAMPLES_AT = 120  # offset in the header of a trace


@contextlib.contextmanager
def running(*words):
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


class Machine(InOneHome):
    fastgate = FASTGATE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        shutil.copy(PROGRAM, cls.home / "spinning")
        for seconds in SECONDS:  # until both programs have had enough CPU time
            copy = ("dd", "if=/dev/zero", "of=/dev/null", "bs=64k")
            with running(cls.home / "spinning", "on") as spinning, running(*copy) as dd:
                ours = {str(spinning.pid), str(dd.pid)}
                cls.recorded = cls.run_here("record", "--system", "--rate", "500",
                                            "--duration", f"{seconds}s", "-o", "traces")
            if cls.recorded.returncode != 0 or all(sum(cls.samples_of(pid)) >= ENOUGH for pid in ours):
                break
        cls.others = 0
        for trace in (cls.home / "traces").glob("*.fgtrace"):
            # Symbolizing the other programs of this machine is slow.
            if trace.name.split(".")[0] not in ours:
                trace.unlink()
                cls.others += 1

    @classmethod
    def samples_of(cls, pid):
        """Yields the number of samples in each trace of the process."""
        for trace in (cls.home / "traces").glob(f"{pid}.*.fgtrace"):
            yield struct.unpack_from("<Q", trace.read_bytes(), SAMPLES_AT)[0]

    def setUp(self):
        if "is not permitted" in self.recorded.stderr or "no perf events" in self.recorded.stderr:
            self.skipTest(self.recorded.stderr.strip())
        self.assertEqual(self.recorded.returncode, 0, self.recorded.stderr)

    def paths(self, *words):
        """Lines of folded stacks: frames and nanoseconds."""
        done = self.run_here("export", "-F", "folded", *words, "traces")
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in done.stdout.splitlines():
            path, value = line.rsplit(" ", 1)
            yield path.split(";"), int(value)

    def test_programs_are_the_outermost_level(self):
        ours = [path for path, _ in self.paths() if path[0] == "spinning"]
        self.assertTrue(ours)
        spinning = [path for path in ours if "in_the_program" in path]
        self.assertTrue(spinning)
        self.assertTrue(any("main" in path[: path.index("in_the_program")] for path in spinning),
                        spinning[:3])

    def test_functions_of_the_kernel_stand_below_those_of_the_program(self):
        in_kernel = [path for path, _ in self.paths("--focus", r"\[kernel\]") if path[0] == "dd"]
        self.assertTrue(in_kernel)
        if "kptr_restrict" not in self.recorded.stderr:
            names = {name for path in in_kernel for name in path}
            self.assertTrue(any(name.startswith(("ksys_", "vfs_", "do_syscall", "__x64_sys_",
                                                 "read_iter_zero", "read_zero")) for name in names),
                            names)
            self.assertTrue(any(path.index("__libc_start_call_main") < len(path) - 3
                                for path in in_kernel if "__libc_start_call_main" in path),
                            in_kernel[:3])

    def test_every_process_has_a_trace_and_its_time(self):
        self.assertGreater(self.others, 0)  # the recording itself, at least
        document = json.loads(self.run_here("view", "--json", "-V", "threads", "traces").stdout)
        self.assertGreaterEqual(len(document["rows"]), 2)
        said = re.search(r"(\d+) samples? of .* CPU time in (\d+) process image", self.recorded.stderr)
        self.assertGreaterEqual(int(said[2]), 3, self.recorded.stderr)
        ours = sum(value for _, value in self.paths())
        self.assertGreater(ours, 0)
        self.assertLessEqual(ours, int(said[1]) * 2e6)  # 2 ms per sample, at 500 Hz

    def test_it_goes_into_an_archive(self):
        done = self.run_here("archive", "-o", "machine.tar.zst", "traces")
        self.assertEqual(done.returncode, 0, done.stderr)
        here, there = (self.run_here("export", "-F", "folded", run).stdout
                       for run in ("traces", "machine.tar.zst"))
        self.assertEqual(here, there)

    def test_refusals_are_one_line(self):
        allowed = Path("/proc/sys/kernel/perf_event_paranoid").read_text(encoding="ascii").strip()
        if os.geteuid() != 0 or allowed in ("-1", "0"):
            self.skipTest("it is permitted to everybody, or this is not root")
        os.chmod(self.home, 0o777)
        done = call("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", FASTGATE,
                    "record", "--system", "--duration", "1s", "-o", "refused",
                    cwd=self.home, env=self.environment)
        if "Permission denied" in done.stderr:
            self.skipTest("the program is not for everybody here")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"^fastgate: sampling the machine is not permitted: "
                         r".*kernel\.perf_event_paranoid below 1 \(it is \d\)\n$")

    def test_it_excludes_commands_and_other_modes(self):
        for words, said in ((["--", "true"], "--system cannot be combined with a command"),
                            (["--pid", "1"], "--pid and --system cannot be combined"),
                            (["--clock", "wall"], "--clock is not possible")):
            done = self.run_here("record", "--system", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)

    @staticmethod
    def catches_interrupt(pid):
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        caught = status.split("SigCgt:")[1].split()[0]
        return int(caught, 16) & 1 << signal.SIGINT - 1

    def interrupted(self, *words):
        with subprocess.Popen([FASTGATE, "record", *map(str, words)],
                              cwd=self.home, env=self.environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as recording:
            while not self.catches_interrupt(recording.pid):
                self.assertIsNone(recording.poll())
            recording.send_signal(signal.SIGINT)
            _, said = recording.communicate(timeout=HUNG_S)
        return recording.returncode, said

    def test_ctrl_c_ends_a_recording_with_its_result(self):
        with running(self.home / "spinning", "on") as spinning:
            for words in (["--system", "-o", "one"], ["--pid", spinning.pid, "-o", "two"]):
                code, said = self.interrupted(*words)
                self.assertEqual(code, 0, said)
                self.assertRegex(said, r"samples? of .*: (one|two)|no process left a trace")
            self.assertIsNone(spinning.poll())


del sys.argv[1:3]
if os.uname().machine != "x86_64":
    sys.exit(77)
unittest.main(verbosity=1)
