#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A recording packed into one file: other hosts show the same, and a changed file is refused.

usage: archive.py FASTGATE PROGRAM
"""
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import unittest
from pathlib import Path

from recording import InOneHome

FASTGATE, PROGRAM = sys.argv[1:3]
WAYS = (["view"], ["view", "-V", "lines", "--all"], ["view", "-V", "callgraph"],
        ["view", "--json", "-V", "top-down"], ["view", "--facts"], ["view", "--names-only"],
        ["view", "-V", "instructions", "--all"], ["graph"], ["export", "-F", "tables"],
        ["export", "-F", "json"])


def unpacked(path):
    return subprocess.run(["zstd", "-dc", path], stdout=subprocess.PIPE, check=True).stdout


def packed(path, members):
    """Writes an archive of these members: (TarInfo, bytes)."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content) if info.isreg() else None)
    with open(path, "wb") as file:
        subprocess.run(["zstd", "-qc"], input=data.getvalue(), stdout=file, check=True)


def plain(name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    return info, content


def manifest_of(listed, **more):
    """The first member of an archive, which lists these files."""
    rows = [{"name": name, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in listed]
    return plain("manifest.json", json.dumps({"schema": "fastgate-archive/1", "files": rows,
                                              "modules": [], "maps": [], **more}).encode())


class Archive(InOneHome):
    fastgate = FASTGATE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = cls.home / "program"
        cls.environment["TMPDIR"] = str(cls.home / "scratch")
        (cls.home / "scratch").mkdir()
        debug = cls.home / "program.debug"
        for words in (["--only-keep-debug", PROGRAM, debug],
                      ["--strip-all", f"--add-gnu-debuglink={debug}", PROGRAM, cls.program]):
            subprocess.run(["objcopy", *words], check=True)
        done = cls.run_here("record", "--archive", "--rate", "2000", "-o", "traces", "--", cls.program)
        assert done.returncode == 0, done.stderr
        cls.said = done.stderr
        trace = next((cls.home / "traces").glob("*.fgtrace"))
        map_file = Path(f"/tmp/perf-{trace.name.split('.')[0]}.map")
        # This comes before the views: their look-ups add to the cache of symbols, which is also packed.
        cls.again = cls.run_here("archive", "-o", "again.tar.zst", "traces/")
        cls.here = [cls.run_here(*way, "traces") for way in WAYS]
        map_file.unlink(missing_ok=True)
        debug.unlink()
        shutil.move(PROGRAM_COPY := cls.program, cls.home / "moved")
        assert not PROGRAM_COPY.exists()

    def refused(self, name, words, code=2):
        done = self.run_here("view", name)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertRegex(done.stderr, words)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(os.listdir(self.home / "scratch"), [])

    def test_another_host_shows_the_same_byte_for_byte(self):
        elsewhere = {"HOME": str(self.home / "elsewhere")}
        for way, here in zip(WAYS, self.here):
            there = self.run_here(*way, "traces.tar.zst", env=elsewhere)
            self.assertEqual((there.returncode, there.stdout, there.stderr),
                             (0, here.stdout, here.stderr), way)
        self.assertEqual(os.listdir(self.home / "scratch"), [])

    def test_the_names_come_from_the_archive_and_not_from_this_host(self):
        shown = self.run_here("view", "--all", "traces.tar.zst").stdout
        self.assertIn("in_the_program", shown)
        self.assertIn("archived.c", self.run_here("view", "-V", "lines", "traces.tar.zst").stdout)
        if os.uname().machine == "x86_64":
            self.assertIn("made_while_running", shown)
        without = self.run_here("view", "--all", "traces", env={"HOME": str(self.home / "empty")}).stdout
        self.assertNotIn("in_the_program", without)
        self.assertNotIn("made_while_running", without)

    def test_a_file_of_another_build_at_the_same_place_is_not_used(self):
        shutil.copy("/bin/true", self.program)
        try:
            self.assertEqual(self.run_here("view", "traces.tar.zst").stdout, self.here[0].stdout)
            self.assertEqual(self.run_here("view", "--facts", "traces.tar.zst").stdout,
                             self.here[4].stdout)
        finally:
            self.program.unlink()

    def test_the_same_traces_give_the_same_bytes(self):
        self.assertEqual(self.again.returncode, 0, self.again.stderr)
        self.assertEqual((self.home / "again.tar.zst").read_bytes(),
                         (self.home / "traces.tar.zst").read_bytes())

    def test_contents_are_listed(self):
        self.assertRegex(self.said, r"traces\.tar\.zst: 1 trace, \d+ binaries, \d+ debug files?, "
                         r"[\d.]+ MiB unpacked")

    def test_unpacked_files_are_reported(self):
        done = self.run_here("archive", "-o", "late.tar.zst", "traces",
                             env={"HOME": str(self.home / "empty")})
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"not in the archive: program: .*program': No such file")
        late = self.run_here("view", "late.tar.zst")
        self.assertRegex(late.stderr, r"note: program: functions have no names: .*No such file")

    def test_binaries_that_moved_are_found_in_given_folders(self):
        (self.home / "kept").mkdir(exist_ok=True)
        shutil.copy(PROGRAM, self.home / "leaving")
        done = self.run_here("record", "--rate", "2000", "-o", "moved-traces",
                             "--", self.home / "leaving")
        self.assertEqual(done.returncode, 0, done.stderr)
        shutil.move(self.home / "leaving", self.home / "kept" / "leaving")
        (self.home / "nowhere").mkdir(exist_ok=True)
        for folder, found in (("nowhere", False), ("kept", True)):
            # A separate home, without cached symbols of the program.
            fresh = {"HOME": str(self.home / f"home-{folder}")}
            done = self.run_here("archive", "--binaries", folder, "-o", f"{folder}.tar.zst",
                                 "moved-traces", env=fresh)
            self.assertEqual((done.returncode, "not in the archive: leaving" not in done.stderr),
                             (0, found), done.stderr)
            for words in (("view", "--all", f"{folder}.tar.zst"),
                          ("view", "--all", "--binaries", folder, "moved-traces")):
                shown = self.run_here(*words, env={"HOME": str(self.home / "elsewhere")})
                self.assertEqual("in_the_program" in shown.stdout, found,
                                 (words, shown.stdout, shown.stderr))

    def test_another_fastgate_may_write_to_the_cache_meanwhile(self):
        home = self.home / "shared"
        shutil.copytree(self.home / ".cache", home / ".cache")
        versions = [(path, content) for path in home.glob(".cache/**/*.fgsym")
                    for content in (path.read_bytes(), path.read_bytes() + b"more")]
        self.assertNotEqual(versions, [])
        over = threading.Event()

        def write():
            while not over.is_set():
                for path, content in versions:
                    (home / "new").write_bytes(content)
                    os.replace(home / "new", path)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(10):
                done = self.run_here("archive", "-o", "other.tar.zst", "traces", env={"HOME": str(home)})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.run_here("view", "other.tar.zst").returncode, 0)
        finally:
            over.set()
            writer.join()

    def test_it_can_be_imported(self):
        done = self.run_here("import", "-o", "run.fgrun", "traces.tar.zst")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("in_the_program", self.run_here("view", "--all", "run.fgrun").stdout)

    def test_no_traces_no_archive(self):
        (self.home / "nothing").mkdir(exist_ok=True)
        done = self.run_here("archive", "nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no trace", done.stderr)
        self.assertFalse((self.home / "nothing.tar.zst").exists())

    def test_a_changed_file_is_refused(self):
        data = bytearray(unpacked(self.home / "traces.tar.zst"))
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            victim = next(one for one in tar.getmembers() if one.name.endswith(".fgtrace"))
        data[victim.offset_data + 100] ^= 1
        with open(self.home / "changed.tar.zst", "wb") as file:
            subprocess.run(["zstd", "-qc"], input=bytes(data), stdout=file, check=True)
        self.refused("changed.tar.zst", r"changed\.tar\.zst: refused: "
                     r"this file does not have the digest in the manifest \(SHA-256\): "
                     r"traces/000000\.fgtrace")

    def test_a_damaged_or_cut_archive_is_refused(self):
        whole = (self.home / "traces.tar.zst").read_bytes()
        for size in (40, len(whole) // 2, len(whole) - 7):
            (self.home / "cut.tar.zst").write_bytes(whole[:size])
            self.refused("cut.tar.zst", "cut.tar.zst: (damaged archive|refused): ")
        broken = bytearray(whole)
        broken[len(broken) // 2] ^= 0xff
        (self.home / "cut.tar.zst").write_bytes(broken)
        self.refused("cut.tar.zst", "cut.tar.zst: (damaged archive|refused): ")

    def test_names_that_lead_elsewhere_are_refused(self):
        for name in ("../evil", "traces/../../evil", "/tmp/fastgate-evil", "a//b", "./evil",
                     "evil\n", "sub/"):
            packed(self.home / "evil.tar.zst", [manifest_of([(name, b"x")]), plain(name, b"x")])
            self.refused("evil.tar.zst", "refused: it (contains a file whose name leads out of the "
                         "archive|contains a link, a folder or a device)")
        self.assertFalse(Path("/tmp/fastgate-evil").exists())
        self.assertFalse((self.home / "evil").exists())

    def test_links_and_devices_are_refused(self):
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE,
                     tarfile.DIRTYPE):
            info = tarfile.TarInfo("traces")
            info.type, info.linkname = kind, "/etc"
            packed(self.home / "evil.tar.zst",
                   [manifest_of([("traces", b"")]), (info, b""), plain("traces/x", b"x")])
            self.refused("evil.tar.zst", "refused: it contains a link, a folder or a device")

    def test_unlisted_files_are_refused(self):
        one, other = ("a", b"one"), ("b", b"other")
        for members, words in (
                ([manifest_of([one]), plain(*one), plain(*other)], "the manifest does not list b"),
                ([manifest_of([one]), plain(*one), plain(*one)],
                 "the archive contains this file twice: a"),
                ([manifest_of([one, one]), plain(*one)], "the manifest lists this file twice: a"),
                ([manifest_of([one, other]), plain(*one)], "the archive lacks b"),
                ([manifest_of([one]), plain("a", b"longer")],
                 "this file does not have the size in the manifest: a"),
                ([manifest_of([one], schema="fastgate-archive/9"), plain(*one)],
                 "has schema 'fastgate-archive/9'"),
                ([plain(*one), manifest_of([one])], "is not an archive that fastgate made"),
                ([plain("manifest.json", b"{")], "evil.tar.zst: "),
                ([plain("manifest.json", b'{"schema": "fastgate-archive/1", "files": [{"name": 1}]}')],
                 "refused: its manifest: 'name' is not a string"),
                ([manifest_of([])], "traces")):
            packed(self.home / "evil.tar.zst", members)
            self.refused("evil.tar.zst", words)

    def test_more_than_there_may_be_is_refused_before_it_is_written(self):
        rows = [{"name": f"f{i}", "size": 1 << 32, "sha256": "0" * 64} for i in range(3)]
        packed(self.home / "evil.tar.zst", [manifest_of([], files=rows)])
        self.refused("evil.tar.zst", "unpacks to more than 8 GiB")
        packed(self.home / "evil.tar.zst", [manifest_of([], files=rows[:1])])
        self.refused("evil.tar.zst", "unpack to 4096 MiB, which is more than 100 times as much")
        rows = [{"name": f"f{i}", "size": 0, "sha256": "0" * 64} for i in range(100001)]
        packed(self.home / "evil.tar.zst", [manifest_of([], files=rows)])
        self.refused("evil.tar.zst", "more than 100000 files")

    def test_a_manifest_that_lies_about_modules_harms_nothing(self):
        trace = next((self.home / "traces").glob("*.fgtrace")).read_bytes()
        modules = [{"path": 3, "binary": {"name": "../../etc/passwd"}}, 7, None, {"debug": []}]
        one = ("traces/0.fgtrace", trace)
        packed(self.home / "odd.tar.zst",
               [manifest_of([one], modules=modules, maps=[{"pid": -1}, 3]), plain(*one)])
        done = self.run_here("view", "odd.tar.zst")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not in the archive", done.stderr)


del sys.argv[1:3]
unittest.main(verbosity=1)
