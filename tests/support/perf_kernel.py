# SPDX-License-Identifier: Apache-2.0
"""
May this process sample the kernel, and see the names of its functions? Asks the kernel itself, not
fastgate.
"""
import ctypes
import os
import struct

PERF_EVENT_OPEN = {"x86_64": 298}
SOFTWARE, TASK_CLOCK = 1, 1
EXCLUDE_USER, EXCLUDE_HV = 1 << 4, 1 << 6
SIZE = 128


def why_not():
    """The reason why the kernel cannot be sampled or its functions cannot be named, or None."""
    number = PERF_EVENT_OPEN.get(os.uname().machine)
    if number is None:
        return "perf events of this machine are not known here"
    attributes = struct.pack("<IIQQQQQ", SOFTWARE, SIZE, TASK_CLOCK, 1000000, 0, 0,
                             EXCLUDE_USER | EXCLUDE_HV).ljust(SIZE, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(number, attributes, 0, -1, -1, 0)
    if fd < 0:
        return f"the kernel may not be sampled here: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    with open("/proc/kallsyms", encoding="ascii") as file:
        if int(file.readline().split()[0], 16) == 0 and int(file.readline().split()[0], 16) == 0:
            return "names of the kernel's functions are hidden here"
    return None
