# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of counted events: records a program and reads the counts of its functions."""
import os

from checks import call, check
from folded import measured

FASTGATE = None


def begin(fastgate, collector):
    global FASTGATE
    FASTGATE = os.path.abspath(fastgate)
    os.environ["FASTGATE_COLLECTOR"] = os.path.abspath(collector)


def recorded(measures, *command, code=0):
    done = call(FASTGATE, "record", "--measure", measures, "--", *command)
    check(done.returncode == code,
          f"{command}: {done.returncode} where {code} was expected\n{done.stderr}")
    return done


def stacks(measure):
    return measured(FASTGATE, measure)


def within(measure, function):
    """Counts of the function and everything that it calls."""
    return sum(value for names, value in stacks(measure) if function in names)


def total(measure):
    return sum(value for _, value in stacks(measure))


def expect(measure, wanted):
    found = {function: within(measure, function) for function in wanted}
    check(found == wanted, f"{measure}: {wanted} expected, found {found}")


def programs(targets, name):
    """The paths of the program in each width that was built."""
    return [path for path in (f"{os.path.abspath(targets)}/{name}{suffix}" for suffix in ("", "_i386"))
            if os.path.exists(path)]


def program_notices_nothing(measures, commands):
    for command in commands:
        plain = call(*command)
        done = recorded(measures, *command, code=plain.returncode)
        check(done.stdout == plain.stdout, f"{command}: {done.stdout!r} instead of {plain.stdout!r}")
