#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
descriptors.py FASTGATE COLLECTOR TARGETS_FOLDER: `fastgate record --measure fd` finds who opened
each descriptor, who still holds it at the end, and how many each held at the process's peak; the
numbers agree with the program's own.
"""
import sys

import counting
from checks import check, finish_in_scratch
from counting import expect, recorded, total

OPENED = {"open_files": 25, "open_ends": 6, "open_others": 9, "accept_one": 3, "make_copies": 5,
          "use_streams": 5, "work": 5}
HELD = {"open_files": 3, "open_ends": 4, "open_others": 0, "accept_one": 0, "make_copies": 1,
        "use_streams": 0}


def each_descriptor_has_an_owner(program):
    done = recorded("fd", program)
    expect("fd.opened", OPENED)
    expect("fd.live", HELD)
    expect("fd.peak", {"open_files": 20, "open_ends": 0})
    check(total("fd.live") == int(done.stdout),
          f"the program counts {done.stdout}, fastgate {total('fd.live')}")
    check(total("fd.peak") == 20, f"at the peak: {total('fd.peak')}")


def child_of_fork_has_its_own(program):
    recorded("fd", program, "fork")
    expect("fd.opened", {"open_files": 27})
    expect("fd.live", {"open_files": 4})
    expect("fd.peak", {"open_files": 22})


def child_of_vfork_is_left_out(program):
    done = recorded("fd", program, "vfork")
    check(total("fd.live") == int(done.stdout) == sum(HELD.values()),
          f"{done.stdout}: {total('fd.live')}")


def body():
    counting.begin(sys.argv[1], sys.argv[2])
    for program in counting.programs(sys.argv[3], "descriptors"):
        each_descriptor_has_an_owner(program)
        child_of_fork_has_its_own(program)
        child_of_vfork_is_left_out(program)
    counting.program_notices_nothing("fd",
                                     (["sh", "-c", "exec 3</dev/null; cat <&3; echo said | cat; exit 7"],
                                      ["git", "--version"], ["ls", "/"]))


finish_in_scratch(body)
