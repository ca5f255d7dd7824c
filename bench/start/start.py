# SPDX-License-Identifier: Apache-2.0
"""
Called by run: FASTGATE TURNS. Runs each command and its peer alternately. Prints the medians
of their CPU times and of the times from start to end, and the ratio of the CPU times.
"""
import os
import shutil
import statistics
import sys
import time

FASTGATE, TURNS = sys.argv[1], int(sys.argv[2])
ROWS = [
    ([FASTGATE, "--version"], ["true"]),
    ([FASTGATE, "--version"], ["git", "--version"]),
]


def once_ms(words):
    """(CPU time of the program and its children, time from its start to its end)."""
    nowhere = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in range(3)]
    begin = time.monotonic()
    pid = os.posix_spawn(shutil.which(words[0]), words, os.environ, file_actions=nowhere)
    _, _, used = os.wait4(pid, 0)
    return 1e3 * (used.ru_utime + used.ru_stime), 1e3 * (time.monotonic() - begin)


def medians(pair):
    times = ([], [])
    for turn in range(TURNS):
        for side in (0, 1) if turn % 2 else (1, 0):
            times[side].append(once_ms(pair[side]))
    return [[statistics.median(of) for of in zip(*side)] for side in times]


def say(words):
    return " ".join([os.path.basename(words[0]), *words[1:]])


def main():
    print(f"{'command':<44}{'CPU ms':>8}{'from start to end':>19}  "
          f"{'peer':<24}{'CPU ms':>8}{'from start to end':>19}{'ratio':>8}")
    for pair in ROWS:
        if not all(shutil.which(side[0]) for side in pair):
            print(f"{say(pair[0]):<44}{'':>27}  {say(pair[1]):<24}  one of them is not installed")
            continue
        ours, peers = medians(pair)
        print(f"{say(pair[0]):<44}{ours[0]:>8.2f}{ours[1]:>19.2f}  "
              f"{say(pair[1]):<24}{peers[0]:>8.2f}{peers[1]:>19.2f}{ours[0] / peers[0]:>8.2f}")


main()
