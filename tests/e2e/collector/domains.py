#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
domains.py FASTGATE COLLECTOR TARGETS_FOLDER COMPILER: `fastgate record --domains` records the
arguments of functions by call path, exactly, and leaves the program's floating-point state alone.
"""
import html.parser
import json
import math
import random
import struct

from checks import call, check, finish_in_scratch, target
from folded import by_leaf, measured
from recording import FASTGATE, TARGETS, compiled



def recorded(patterns, *command):
    done = call(FASTGATE, "record", "--domains", patterns, "--", *command)
    check(done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}")
    return done


def rows(*options):
    return json.loads(call(FASTGATE, "view", "-V", "domains", "--json", *options, "fastgate-record",
                           check=True).stdout)["rows"]


def expect(found, name, **wanted):
    row = next((row for row in found if row["name"] == name), None)
    check(row is not None, f"no row of {name}: {found}")
    seen = {key: row[key] for key in wanted}
    check(seen == wanted, f"{name}: {wanted} expected, found {seen}")


def every_kind_of_value_is_distinguished(program):
    recorded("libm", program)
    found = rows()
    expect(found, "exp", calls=1000, min=-1000, max=-1, mean=-500.5, negative=1000, zeros=0, repeats=0,
           traces=1, signature="double(double)")
    expect(found, "cbrt",
           calls=10, min=-2.5, max=1e300, zeros=2, negative=3, denormal=2, infinite=2, nan=1)
    expect(found, "sinf",
           calls=4, min=-4, max=3, negative=1, denormal=1, nan=1, signature="float(float)")
    expect(found, "log", calls=2000, min=2.5, max=2.5, repeats=1999)
    expect(found, "pow", calls=100, min=0, max=99, zeros=1)
    expect(found, "pow #2", calls=100, min=2, max=2)
    expect(found, "atan2f #2", calls=100, min=-8, max=-8, negative=100, signature="float(float,float)")
    expect(found, "tanhl", calls=1, min=0.25, max=0.25)
    expect(found, "ldexp", min=7)
    expect(found, "jn", min=9)
    expect(found, "lgamma_r", min=11)
    expect(found, "cabs #2", min=4)
    expect(found, "cabsf #2", min=-6, negative=1)


def calls_and_their_arguments_are_counted_together(program):
    recorded("exp@libm,log", program)
    check([row["name"] for row in rows()] == ["log", "exp"], f"what was asked for alone: {rows()}")
    found = by_leaf(measured(FASTGATE, "calls.exp"))
    check(found == {"count_up": 1000}, f"{found}")


def one_trace_is_shown_in_full_with_its_histogram(program):
    recorded("exp,log", program)
    traces = rows("-f", "^exp$")
    check(len(traces) == 1 and traces[0]["name"].startswith("count_up ← main"),
          f"the traces of a function: {traces}")
    found = rows("--trace", str(traces[0]["trace"]))
    names = [row["name"] for row in found]
    check("main" in names and names.index("main") < names.index("count_up") < names.index("exp"),
          f"outermost first: {names}")
    bins = {row["name"].split(" #")[0].strip(): row["calls"] for row in found[names.index("exp") + 1:]}
    powers = {f"2^{i} to 2^{i + 1}": min(2 ** i, 1001 - 2 ** i) for i in range(10)}
    check(bins == powers, f"{powers} expected, found {bins}")
    done = call(FASTGATE, "view", "-V", "domains", "--trace", "4000000", "fastgate-record")
    check(done.returncode == 2 and "4000000" in done.stderr, f"a trace that is not there: {done}")


def hints_are_true(program):
    recorded("libm", program)
    text = call(FASTGATE, "view", "-V", "domains", "fastgate-record", check=True).stdout
    notes = call(FASTGATE, "view", "-V", "domains", "fastgate-record").stderr + text
    check("log, call path" in notes and "called 2000 times with the same argument" in notes, notes)
    check("1 of 10 arguments are not a number (NaN)" in notes, notes)
    check("exp, trace" not in notes, f"there is nothing to say of exp: {notes}")


class Page(html.parser.HTMLParser):
    """Checks that elements are closed, and collects the texts of each kind."""

    def __init__(self, text):
        super().__init__()
        self.open, self.texts, self.bars = [], {}, 0
        self.feed(text)
        check(not self.open, f"elements that are not closed: {self.open}")

    def handle_starttag(self, tag, attrs):
        self.bars += ("class", "bar") in attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag != "meta":
            check(self.open and self.open.pop() == tag, f"</{tag}> closes something else")

    def handle_data(self, data):
        if self.open and data.strip():
            self.texts.setdefault(self.open[-1], []).append(data.strip())


def a_page_shows_functions_call_paths_and_histograms(program):
    call(FASTGATE, "record", "--domains", "--times", "--", program, check=True)
    call(FASTGATE, "export", "-F", "html", "-o", "page.html", "fastgate-record", check=True)
    with open("page.html", encoding="utf-8") as file:
        page = Page(file.read())
    summaries = page.texts["summary"]
    check("exp: 1 call path" in summaries and "pow #2: 1 call path" in summaries,
          f"functions: {summaries}")
    check(sum(text.startswith("1000 calls: count_up ← main") for text in summaries) == 2,
          f"traces of exp, arguments and durations: {summaries}")
    check("count_up" in page.texts["li"] and "2^9 to 2^10" in page.texts["td"] and page.bars > 20,
          f"a path in full and its histogram: {page.bars}")
    check(any("called 2000 times with the same argument" in text for text in page.texts["li"]),
          f"hints: {page.texts['li']}")
    check(page.texts["h2"] == ["Arguments", "Durations"], f"sections: {page.texts['h2']}")
    call(FASTGATE, "record", "--calls", "exp", "--", program, check=True)
    done = call(FASTGATE, "export", "-F", "html", "-o", "page.html", "fastgate-record")
    check(done.returncode == 2 and "--domains" in done.stderr, f"calls alone: {done}")


def functions_of_the_user_have_a_signature_of_their_own():
    compiled("libfit.so", target("fit_library.c"), "-O1", "-shared", "-fPIC")
    caller = compiled("caller", target("fit_caller.c"), "-O1", "./libfit.so")
    done = recorded("fit=double(int,double,float)@libfit", caller)
    check(done.stdout == "885\n", done.stdout)
    expect(rows(), "fit", calls=30, min=0.5, max=0.5)
    expect(rows(), "fit #2", calls=30, min=0, max=29, mean=14.5)
    compiled("libfinite.so", "double __exp_finite(double x) { return x; }\n", "-shared", "-fPIC")
    recorded("__exp_finite",
             compiled("asks", "double __exp_finite(double x);\n"
                      "int main(void) { return __exp_finite(0.5) != 0.5; }\n", "./libfinite.so"))
    expect(rows(), "__exp_finite", calls=1, min=0.5, max=0.5, signature="double(double)")
    done = recorded("fit", caller)
    check("its signature is not known" in done.stderr, f"calls alone: {done.stderr}")
    view = call(FASTGATE, "view", "-V", "domains", "fastgate-record")
    check(view.returncode == 2 and "--domains" in view.stderr, f"no arguments were seen: {view}")


def sums_are_exact():
    """
    The sum is the double nearest to the true sum, whatever the values are (double or float, normal
    or subnormal), and the mean is that sum divided by the number of calls.
    """
    draws = random.Random(20)
    wild = [math.ldexp(draws.uniform(-1, 1), draws.randrange(-1080, 1000)) for _ in range(300)]
    narrow = [math.ldexp(draws.uniform(-1, 1), draws.randrange(-155, 120)) for _ in range(200)]
    sets = {"cbrt": wild, "atan": [*wild, *(-value for value in wild), 1e-9],
            "tanh": [1e300, 3.0, -1e300, 5e-324], "erf": [-5e-324, -1e-310, 2.5e-308],
            "asinh": [2.0 ** 53, 1.0, 2.0 ** -60], "expm1": [2.0 ** 53, 1.0], "sin": [-0.1] * 7,
            "log1p": [math.ldexp(1, 1023), math.ldexp(1.5, 1022)],
            "tanhf": [struct.unpack("f", struct.pack("f", value))[0] for value in narrow]}
    calls = "".join(f"    static volatile const double of_{name}[] = "
                    f"{{{', '.join(value.hex() for value in values)}}};\n"
                    f"    for (unsigned i = 0; i < {len(values)}; i++) sink = {name}(of_{name}[i]);\n"
                    for name, values in sets.items())
    recorded("libm", compiled("sums", target("sums_of_values.c").replace("CALLS", calls), "-O1",
                              "-fno-builtin", "-lm"))
    for name, values in sets.items():
        expect(rows(), name, calls=len(values), min=min(values), max=max(values),
               mean=math.fsum(values) / len(values), negative=sum(value < 0 for value in values))


def body():
    program = f"{TARGETS}/domains"
    every_kind_of_value_is_distinguished(program)
    calls_and_their_arguments_are_counted_together(program)
    one_trace_is_shown_in_full_with_its_histogram(program)
    hints_are_true(program)
    a_page_shows_functions_call_paths_and_histograms(program)
    functions_of_the_user_have_a_signature_of_their_own()
    sums_are_exact()


finish_in_scratch(body)
