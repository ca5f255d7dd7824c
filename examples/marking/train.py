# SPDX-License-Identifier: Apache-2.0
import contextlib
import ctypes

marks = ctypes.CDLL("./libmarks.so")


@contextlib.contextmanager
def region(name):
    marks.mark_region(name.encode())
    try:
        yield
    finally:
        marks.mark_region_end()


for epoch in range(1, 21):
    marks.mark_unit(b"epoch", ctypes.c_uint64(epoch))
    with region("load"):
        rows = [[i * j % 7 for j in range(100)] for i in range(100)]
    with region("fit"):
        total = sum(sum(row) ** 0.5 for row in rows * 5)
    marks.mark_unit_end()
