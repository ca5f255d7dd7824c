# SPDX-License-Identifier: Apache-2.0
"""Call paths as `fastgate export -F folded` writes them, for tests that look at sums of them."""
import functools
import operator
import os

from checks import call


def content(trace):
    """Distinguishes a recording from another in the same place: its files, and when they were written."""
    if not os.path.isdir(trace):
        return trace
    return trace, tuple(sorted((entry.name, entry.stat().st_ino, entry.stat().st_size, entry.stat().st_mtime_ns) for entry in os.scandir(trace)))


@functools.cache
def exported(words, folder, seen, check):
    """The text of an export, made once per recording (`folder` and `seen`), however often it is used."""
    del folder, seen
    return call(*words, check=check).stdout


def stacks(fastgate, *words, trace="fastgate-record", check=True):
    """(functions from the outside to the inside, value) of each call path. With check=False an export that fails has none."""
    found = []
    for line in exported((fastgate, "--quiet", "export", "-F", "folded", *words, trace), os.getcwd(), content(trace), check).splitlines():
        names, _, value = line.rpartition(" ")
        found.append((names.split(";"), float(value) if "." in value else int(value)))
    return found


def measured(fastgate, measure, **more):
    """Likewise the values of one measure."""
    return stacks(fastgate, "--measure", measure, **more)


def by_leaf(found, within=None, join=operator.add):
    """{innermost function: its values, joined}; only of paths that have `within`."""
    sums = {}
    for names, value in found:
        if within is None or within in names:
            sums[names[-1]] = join(sums[names[-1]], value) if names[-1] in sums else value
    return sums


def total(found):
    return sum(value for _, value in found)
