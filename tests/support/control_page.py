# SPDX-License-Identifier: Apache-2.0
"""
The page that `fastgate record --control` shares with the program: a test that writes the file
waits until the page has changed.
"""
import glob
import os
import struct

MAGIC = 0x434F4746


def read_page(record):
    """(off, dumps) of the recording by this process; None: it has not begun yet."""
    descriptors = glob.glob(f"/proc/{record}/fd/*")
    if not descriptors:
        raise RuntimeError(f"process {record} has ended")
    for path in descriptors:
        try:
            if not os.readlink(path).startswith("/memfd:fastgate-control"):
                continue
            with open(path, "rb") as file:
                magic, off, dumps = struct.unpack("<III", file.read(12))
        except (FileNotFoundError, struct.error):
            continue
        if magic == MAGIC:
            return off, dumps
    return None


def await_page(record, off=None, dumps=None):
    """Waits until the page has these values, however long that takes."""
    while True:
        page = read_page(record)
        if page and off in (None, page[0]) and dumps in (None, page[1]):
            return
        os.sched_yield()
