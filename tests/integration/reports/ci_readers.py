#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
ci_readers.py GOLDEN_FOLDER: Jenkins and GitLab show our JUnit files correctly. Neither can run in a
test, so this test applies the rules of their readers that decide what a person sees:

GitLab  every testcase below testsuites/testsuite; `failure`, `error` and `skipped` in this order decide
        its state; the text of that element is shown, or its attributes if it has no text; cases are
        listed by name and stored by classname and name; of several cases with the same key, the
        first stays; a file of 30 MB and more is not read; `time` is a number of seconds.
Jenkins a suite whose name, id and timestamp were seen before is dropped as a copy; the class is
        `classname`, the package is the part before its last dot; details are the message, the trace is
        the text; a duration that is not a number counts as zero; a case without a name is dropped.
"""
import os
import sys
import xml.etree.ElementTree

from checks import check, finish

folder = sys.argv[1]
LIMIT = 30 * 1000 * 1000
# Number of failed, unmeasured and skipped cases, by fixture.
EXPECTED = {
    "pass": (0, 0, 0), "improvement": (0, 0, 0), "regression": (1, 0, 0), "inconclusive": (0, 0, 1),
    "new": (0, 0, 1), "missing": (0, 0, 1), "error": (0, 1, 0), "mixed": (1, 1, 3), "hostile": (1, 1, 3),
    "nothing": (0, 1, 0), "identical": (0, 0, 0), "unaffected": (0, 0, 1), "accepted": (0, 0, 0),
    "expired": (1, 0, 0), "unstable": (0, 0, 1), "unsure": (1, 0, 0), "marked": (1, 0, 0),
    "counted": (1, 0, 0), "creeping": (0, 0, 1),
}


def gitlab(root):
    """(classname, name) → (state, what is shown, seconds)"""
    cases = {}
    for case in root.iter("testcase"):
        state, shown = "success", ""
        for kind in ("failure", "error", "skipped"):
            element = case.find(kind)
            if element is not None:
                state = kind
                shown = (element.text or "").strip() or " ".join(element.attrib.values())
                break
        cases.setdefault((case.get("classname"), case.get("name")),
                         (state, shown, float(case.get("time"))))
    return cases


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return 0.0


def jenkins(root):
    """[(package, class, name, seconds, details, trace, skipped)] of the suites, without copies."""
    seen = set()
    cases = []
    for suite in root.iter("testsuite"):
        key = (suite.get("name"), suite.get("id"), suite.get("timestamp"))
        if key in seen:
            continue
        seen.add(key)
        for case in suite.findall("testcase"):
            if not case.get("name"):
                continue
            bad = case.find("error") if case.find("error") is not None else case.find("failure")
            skipped = case.find("skipped")
            classname = case.get("classname") or suite.get("name")
            package, _, own = classname.rpartition(".")
            cases.append((package or "(root)", own, case.get("name"), number(case.get("time")),
                          bad.get("message") if bad is not None else None,
                          bad.text if bad is not None else None,
                          skipped.get("message") if skipped is not None else None))
    return cases


def check_counts(name, root):
    for suite in root.iter("testsuite"):
        for attribute, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            check(int(suite.get(attribute)) == len(suite.findall(f"testcase/{kind}")),
                  f"{name}: {suite.get('name')[:60]} counts {attribute} wrongly")
        check(int(suite.get("tests")) == len(suite.findall("testcase")),
              f"{name}: {suite.get('name')[:60]} counts tests wrongly")


def check_gitlab(name, root, expected):
    cases = gitlab(root)
    states = [state for state, _, _ in cases.values()]
    check(len(cases) == len(list(root.iter("testcase"))),
          f"{name}: GitLab would drop cases with names that are not unique")
    check(len({case for _, case in cases}) == len(cases), f"{name}: GitLab's list has one name twice")
    got = tuple(states.count(kind) for kind in ("failure", "error", "skipped"))
    check(got == expected, f"{name}: GitLab shows {got} failed, in error, skipped; expected {expected}")
    for (classname, case), (state, shown, seconds) in cases.items():
        check(classname and case and case.strip(), f"{name}: a case without a name")
        check(state == "success" or len(shown) > 8,
              f"{name}: {case[:60]} is {state} and GitLab shows nothing of why: {shown!r}")
        check(state != "failure" or ("%" in shown and "→" in shown),
              f"{name}: the change is not in what GitLab shows: {shown[:200]!r}")
        check(name != "error" or "exited with code 3" in shown,
              f"{name}: GitLab does not show how the program ended: {shown!r}")
        check(0 <= seconds < 1e6, f"{name}: {case[:60]} takes {seconds} s")


def check_jenkins(name, root, expected):
    cases = jenkins(root)
    check(len(cases) == len(list(root.iter("testcase"))), f"{name}: Jenkins would drop suites or cases")
    got = (sum(c[4] is not None for c in cases), sum(c[6] is not None for c in cases))
    check(got == (expected[0] + expected[1], expected[2]),
          f"{name}: Jenkins shows {got} failed and skipped; expected {expected}")
    for package, own, case, _, details, trace, _ in cases:
        check(package != "(root)" and own,
              f"{name}: {case[:60]} stands in package {package!r}, class {own!r}")
        check(details is None or (details.strip() and (trace or "").strip()),
              f"{name}: {case[:60]} fails without details or trace")


def main():
    for name, expected in EXPECTED.items():
        path = os.path.join(folder, f"{name}.junit.xml")
        check(os.path.getsize(path) < LIMIT, f"{name}: too large for GitLab")
        root = xml.etree.ElementTree.parse(path).getroot()
        check(root.tag == "testsuites", f"{name}: the root is {root.tag}")
        check_counts(name, root)
        check_gitlab(name, root, expected)
        check_jenkins(name, root, expected)
    made = {file.split(".")[0] for file in os.listdir(folder) if file.endswith(".junit.xml")}
    check(made == set(EXPECTED), f"not looked at: {made ^ set(EXPECTED)}")


main()
finish()
