# SPDX-License-Identifier: Apache-2.0
"""Call paths as `fastgate export -F folded` writes them, for tests that look at sums of them."""
import operator

from checks import call


def stacks(fastgate, *words, trace="fastgate-record", check=True):
    """(functions from the outside to the inside, value) of each call path. With check=False an export that fails has none."""
    found = []
    for line in call(fastgate, "--quiet", "export", "-F", "folded", *words, trace, check=check).stdout.splitlines():
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
