# SPDX-License-Identifier: Apache-2.0
"""
Calls one of two functions at random for the given milliseconds, next to a thread that also wants
the interpreter; prints the share of each.
"""
import random
import sys
import threading
import time


def work(turns):
    total = 0
    for i in range(turns):
        total += i & 7
    return total


def leaf_a():
    work(500)


def leaf_b():
    work(500)


def beside():
    while True:
        work(500)


threading.Thread(target=beside, daemon=True).start()
end_ns = time.thread_time_ns() + int(sys.argv[1]) * 1000000
part = random.uniform(0.1, 0.9)
used_ns = {leaf_a: 0, leaf_b: 0}
while (begin_ns := time.thread_time_ns()) < end_ns:
    leaf = leaf_a if random.random() < part else leaf_b
    leaf()
    used_ns[leaf] += time.thread_time_ns() - begin_ns
for leaf, ns in used_ns.items():
    print(leaf.__name__, ns)
