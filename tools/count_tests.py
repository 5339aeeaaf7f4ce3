#!/usr/bin/env python3
"""Counts what one stage of ./test ran: count_tests.py RESULTS_FOLDER EXIT_CODE -> "passed failed skipped".

In the folder: ctest.xml with GoogleTest's own files in gtest/ (each case of an executable counts, not the executable),
other *.xml in JUnit form, and *.count files with a line "N passed, N failed[, N skipped][; more]". A stage without any of them is one check.
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree


def count_junit(path):
    """(passed, failed, skipped) of a JUnit file; an unreadable file is one failure."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return 0, 1, 0
    passed = failed = skipped = 0
    for case in root.iter("testcase"):
        result = (case.get("result") or case.get("status") or "").lower()
        if case.find("failure") is not None or case.find("error") is not None or result == "fail":
            failed += 1
        elif case.find("skipped") is not None or result in ("skipped", "suppressed", "notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count_ctest(path, gtest_folder):
    """Cases inside GoogleTest executables, and one for each other test. A crashed executable is one more failure."""
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return 0, 1, 0
    totals = [0, 0, 0]
    for case in root.iter("testcase"):
        crashed = case.find("failure") is not None or (case.get("status") or "") == "fail"
        left_out = case.find("skipped") is not None or (case.get("status") or "") in ("notrun", "disabled")
        own = os.path.join(gtest_folder, f"test_{case.get('name')}.xml")
        if os.path.exists(own):
            counts = count_junit(own)
            totals = [a + b for a, b in zip(totals, counts)]
            if crashed and counts[1] == 0:
                totals[1] += 1
        elif crashed:
            totals[1] += 1
        elif left_out:
            totals[2] += 1
        else:
            totals[0] += 1
    return tuple(totals)


def count_folder(folder, exit_code):
    totals, found = [0, 0, 0], False
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if name == "ctest.xml":
            counts = count_ctest(path, os.path.join(folder, "gtest"))
        elif name.endswith(".xml"):
            counts = count_junit(path)
        elif name.endswith(".count"):
            with open(path, encoding="utf-8", errors="replace") as text:
                said = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?(?:;.*)?\s*$", text.read(), re.M)
            counts = tuple(int(n or 0) for n in said[-1]) if said else (0, 1, 0)
        else:
            continue
        found = True
        totals = [a + b for a, b in zip(totals, counts)]
    if not found:
        totals = [1, 0, 0] if exit_code == 0 else [0, 1, 0]
    elif exit_code != 0 and totals[1] == 0:
        totals[1] += 1
    return totals


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    print(*count_folder(sys.argv[1], int(sys.argv[2])))
