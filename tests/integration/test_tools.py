"""The scripts that judge us: a miscounted failure would look like a pass."""
import os
import subprocess
import sys

import pytest

from support.server import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))

import count_tests  # noqa: E402

JUNIT = '<testsuite><testcase name="a"/><testcase name="b"><failure>x</failure></testcase><testcase name="c"><skipped/></testcase></testsuite>'


def test_junit_counts_failures_and_skips_apart(tmp_path):
    (tmp_path / "pytest.xml").write_text(JUNIT)
    assert count_tests.count_folder(str(tmp_path), 1) == [1, 1, 1]


def test_cases_inside_a_gtest_executable_count_and_a_crash_is_a_failure(tmp_path):
    (tmp_path / "ctest.xml").write_text('<testsuite><testcase name="units_exact" status="run"/><testcase name="net_server" status="fail">'
                                        '<failure/></testcase><testcase name="must_not_compile_x" status="run"/></testsuite>')
    (tmp_path / "gtest").mkdir()
    (tmp_path / "gtest" / "test_units_exact.xml").write_text('<testsuites><testcase name="A" status="run" result="completed"/>'
                                                             '<testcase name="B" status="run" result="completed"/></testsuites>')
    assert count_tests.count_folder(str(tmp_path), 8) == [3, 1, 0]


@pytest.mark.parametrize("text,exit_code,expected", [("12 passed, 0 failed\n", 0, [12, 0, 0]), ("3 passed, 2 failed\n", 1, [3, 2, 0]),
                                                     ("crashed before the end\n", 1, [0, 1, 0]), ("12 passed, 0 failed\n", 1, [12, 1, 0])])
def test_closing_lines_of_checks_count(tmp_path, text, exit_code, expected):
    (tmp_path / "ledger.count").write_text(text)
    assert count_tests.count_folder(str(tmp_path), exit_code) == expected


@pytest.mark.parametrize("exit_code,expected", [(0, [1, 0, 0]), (1, [0, 1, 0])])
def test_a_stage_without_results_is_one_check(tmp_path, exit_code, expected):
    assert count_tests.count_folder(str(tmp_path), exit_code) == expected


def test_a_broken_result_file_is_a_failure(tmp_path):
    (tmp_path / "pytest.xml").write_text("<testsuite><testcase")
    assert count_tests.count_folder(str(tmp_path), 0) == [0, 1, 0]


@pytest.mark.parametrize("script", ["run", "test", "tools/setup.sh"])
def test_scripts_have_help_and_refuse_what_they_do_not_know(script):
    told = subprocess.run([os.path.join(ROOT, script), "--help"], capture_output=True, text=True, timeout=30)
    assert told.returncode == 0 and told.stdout.strip(), told
    if script != "run":
        bad = subprocess.run([os.path.join(ROOT, script), "--nonsense"], capture_output=True, text=True, timeout=30)
        assert bad.returncode == 2 and "--nonsense" in bad.stderr, bad


def test_the_coverage_document_is_what_the_parsers_register(tidewatt):
    told = subprocess.run([tidewatt, "power", "coverage", "--markdown"], capture_output=True, text=True, timeout=30)
    assert told.returncode == 0 and told.stdout.count("\n") > 20
    with open(os.path.join(ROOT, "docs", "method", "coverage.md"), encoding="utf-8") as file:
        document = file.read()
    assert told.stdout in document, "docs/method/coverage.md is old: paste `tidewatt power coverage --markdown` below its heading"
