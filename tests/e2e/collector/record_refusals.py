#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`fastgate record` refuses programs that cannot be sampled, in one line, before it starts them.
"""
import os
import shutil
import struct

from checks import call, check, failures, finish_in_scratch
from recording import ANOTHER, FASTGATE, another_user_can_work, compile_program, drop_rights, record


def refused(name, part, **more):
    if os.path.exists("it-ran"):
        os.unlink("it-ran")
    done = record("-o", "refused", "--", name, **more)
    lines = done.stderr.splitlines()
    check(done.returncode == 2 and len(lines) == 1 and lines[0].startswith("fastgate: ")
          and part in lines[0] and name in lines[0], f"{name}: {done.returncode}\n{done.stderr}")
    check(not os.path.exists("it-ran"), f"{name}: it ran")
    check(not os.path.exists("refused"), f"{name}: a folder was made for nothing")


def unfit_builds_are_refused():
    check(compile_program("plain"), "the compiler makes no program")
    check(record("--", "./plain").returncode == 0 and os.path.exists("it-ran"),
          "a plain program is refused")
    for name, flags, part in (("address", ("-fsanitize=address",), "AddressSanitizer"),
                              ("thread", ("-fsanitize=thread",), "ThreadSanitizer")):
        if compile_program(name, *flags):
            refused(f"./{name}", part)
        else:
            print(f"left out, the compiler makes none: {' '.join(flags)}")
    for name, part in (("address", "AddressSanitizer"), ("thread", "ThreadSanitizer"),
                       ("memory", "MemorySanitizer")):
        if compile_program(f"clang-{name}", f"-fsanitize={name}", compiler="clang"):
            refused(f"./clang-{name}", part)
    # for a script, its interpreter decides
    if compile_program("static", "-static"):
        with open("script", "w", encoding="ascii") as file:
            file.write(f"#!{os.getcwd()}/static\n")
        os.chmod("script", 0o755)
        done = record("-o", "refused", "--", "./script")
        check(done.returncode == 2 and "linked statically" in done.stderr,
              f"a script for a static program: {done.returncode}\n{done.stderr}")
    with open("plain", "rb") as file:
        foreign = bytearray(file.read())
    for number, machine in ((243, "RISC-V"), (40, "32-bit ARM")):
        struct.pack_into("<H", foreign, 18, number)
        with open("foreign", "wb") as file:
            file.write(foreign)
        os.chmod("foreign", 0o755)
        refused("./foreign", f"is for {machine}, but the collector is for")
    if (os.uname().machine == "x86_64" and
            compile_program("musl32", "-m32", "-Wl,--dynamic-linker=/lib/ld-musl-i386.so.1")):
        refused("./musl32", "is a 32-bit program linked with musl")
    else:
        print("left out, the compiler makes no 32-bit programs")


def unfit_files_are_refused():
    refused("./there-is-none", "No such file")
    refused("there-is-none", "program 'there-is-none' was not found")
    shutil.copy("plain", "unexecutable")
    os.chmod("unexecutable", 0o644)
    refused("./unexecutable", "is not executable")
    os.makedirs("directory")
    refused("./directory", "is not a program")
    with open("orphan", "w", encoding="ascii") as file:
        file.write("#!/nonexistent/interpreter\n")
    os.chmod("orphan", 0o755)
    done = record("-o", "refused", "--", "./orphan")
    check(done.returncode == 2 and "/nonexistent/interpreter" in done.stderr,
          f"a script without its interpreter: {done.returncode}\n{done.stderr}")


def unfit_places_are_refused():
    """Refuses a kernel that reports an old version, and a file system mounted noexec."""
    if shutil.which("setarch") and call("setarch", "--uname-2.6", "true").returncode == 0:
        done = call("setarch", "--uname-2.6", FASTGATE, "record", "-o", "refused", "--", "./plain")
        check(done.returncode == 2 and "needs 4.14 or newer" in done.stderr
              and len(done.stderr.splitlines()) == 1, f"an old kernel: {done.returncode}\n{done.stderr}")
    else:
        print("left out, setarch cannot make the kernel look old")
    os.makedirs("noexec")
    inside = "mount -t tmpfs -o noexec none noexec && cp plain noexec && exec \"$@\""
    done = call("unshare", "--mount", "sh", "-c", inside, "sh", FASTGATE, "record", "-o", "refused",
                "--", "noexec/plain") if os.geteuid() == 0 else None
    if not done or "unshare" in done.stderr or "mount:" in done.stderr:
        print("left out, nothing can be mounted here")
        return
    check(done.returncode == 2 and "is mounted noexec: copy the program" in done.stderr,
          f"noexec: {done.returncode}\n{done.stderr}")


def additional_rights_are_refused():
    if os.geteuid() != 0:
        print("left out, not root: programs with more privileges than their caller")
        return
    for name, mode, uid, gid, part in (("setuid", 0o4755, ANOTHER, 0, "is set-user-id"),
                                       ("setgid", 0o2755, 0, ANOTHER, "is set-group-id")):
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


def main():
    unfit_builds_are_refused()
    unfit_files_are_refused()
    unfit_places_are_refused()
    additional_rights_are_refused()
    if not failures:
        print("fastgate record refuses what cannot be sampled")


finish_in_scratch(main)
