#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
contended.py FASTGATE COLLECTOR TARGETS_FOLDER: `fastgate record --measure locks` counts the waits
for locks and their duration by call path, and nothing for a free lock.
"""
import sys

import counting
from checks import check, finish_in_scratch
from counting import expect, recorded, total

WAITS = {"wait_for_mutex": 5, "wait_to_read": 5, "wait_to_write": 5, "wait_for_c11": 5,
         "wait_in_vain": 1, "take_free_locks": 0, "make_mistakes": 0}


def only_waits_are_counted(program):
    recorded("locks", program)
    expect("locks.waits", WAITS)
    check(total("locks.waits") == 21, f"{total('locks.waits')} waits, not 21")
    times = {name: counting.within("locks.wait_time", name) for name in WAITS}
    check(all((times[name] > 0) == (waits > 0) for name, waits in WAITS.items()),
          f"times waited: {times}")


def body():
    counting.begin(sys.argv[1], sys.argv[2])
    for program in counting.programs(sys.argv[3], "contended"):
        only_waits_are_counted(program)
    counting.program_notices_nothing("locks,throws",
                                     (["sh", "-c", "echo said; exit 7"], ["git", "--version"]))


finish_in_scratch(body)
