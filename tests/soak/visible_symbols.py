# SPDX-License-Identifier: Apache-2.0
"""Makes the hidden symbols of an archive visible; for mutants.py, which loads mutants as libraries."""
import struct

SYMBOL_TABLE, HIDDEN = 2, 2  # values in ELF


def make_visible(archive):
    """A copy of the archive in which every hidden symbol is visible, so that a library can use it."""
    data = bytearray(archive)
    at = 8
    while at + 60 <= len(data):
        size = int(data[at + 48:at + 58])
        if data[at + 60:at + 64] == b"\x7fELF":
            show_symbols(data, at + 60)
        at += 60 + size + size % 2
    return bytes(data)


def show_symbols(data, start):
    """Makes the hidden symbols visible in the ELF object that begins at `start`."""
    sections, = struct.unpack_from("<Q", data, start + 0x28)
    entry_size, count = struct.unpack_from("<HH", data, start + 0x3a)
    for number in range(count):
        kind, _, _, offset, size = struct.unpack_from("<4xI4Q", data,
                                                      start + sections + number * entry_size)
        if kind != SYMBOL_TABLE:
            continue
        for symbol in range(start + offset, start + offset + size, 24):
            if data[symbol + 5] & 3 == HIDDEN:
                data[symbol + 5] &= ~3
