# SPDX-License-Identifier: Apache-2.0
"""Call paths as `fastgate export -F folded` writes them, for tests that add them up."""
import functools
import operator
import os

from checks import call


def content(trace):
    """Distinguishes recordings that were made in the same place, by their files and times of writing."""
    if not os.path.isdir(trace):
        return trace
    return (trace,
            tuple(sorted((entry.name, entry.stat().st_ino, entry.stat().st_size,
                          entry.stat().st_mtime_ns)
                         for entry in os.scandir(trace))))


@functools.cache
def exported(words, folder, seen, check):
    """The text of an export, made only once per recording (`folder` and `seen`)."""
    del folder, seen
    return call(*words, check=check).stdout


def stacks(fastgate, *words, trace="fastgate-record", check=True):
    """
    (functions from the outermost to the innermost, value) of each call path. With
    check=False, a failed export has no paths.
    """
    found = []
    for line in exported((fastgate, "--quiet", "export", "-F", "folded", *words, trace), os.getcwd(),
                         content(trace), check).splitlines():
        names, _, value = line.rpartition(" ")
        found.append((names.split(";"), float(value) if "." in value else int(value)))
    return found


def measured(fastgate, measure, **more):
    """The values of one measure by call path, as from stacks()."""
    return stacks(fastgate, "--measure", measure, **more)


def by_leaf(found, within=None, join=operator.add):
    """{innermost function: its values, joined}, limited to paths that contain `within`."""
    sums = {}
    for names, value in found:
        if within is None or within in names:
            sums[names[-1]] = join(sums[names[-1]], value) if names[-1] in sums else value
    return sums


def total(found):
    return sum(value for _, value in found)
