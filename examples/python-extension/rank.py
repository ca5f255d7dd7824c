#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
rank.py PAGES ROUNDS: ranks made-up pages with the library next to it; exits with 1 if the ranks do
not add up to 1.
"""
import ctypes
import pathlib
import sys

PER_PAGE = 8

library = ctypes.CDLL(str(pathlib.Path(__file__).resolve().parent / "librank.so"))
library.rank_pages.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p,
                               ctypes.c_void_p]
library.rank_pages.restype = None


def main():
    pages, rounds = int(sys.argv[1]), int(sys.argv[2])
    links = (ctypes.c_uint * (pages * PER_PAGE))(*((i * 2654435761 >> 7) % pages
                                                   for i in range(pages * PER_PAGE)))
    ranks = (ctypes.c_double * pages)(*[1 / pages] * pages)
    spare = (ctypes.c_double * pages)()
    for _ in range(rounds):
        library.rank_pages(links, pages, PER_PAGE, ranks, spare)
        ranks, spare = spare, ranks
    sys.exit(0 if abs(sum(ranks) - 1) < 1e-6 else 1)


if __name__ == "__main__":
    main()
