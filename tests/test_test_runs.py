"""How tests are selected, and what a run of them reports: tests/external.py, tests/repeated.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.server.process import ROOT

pytestmark = pytest.mark.external
TESTS = """
import pytest, subprocess

def test_unmarked():
    pass

def test_unmarked_that_starts_a_process():
    subprocess.run(["true"])

@pytest.mark.external
def test_marked():
    subprocess.run(["true"])
"""
FAIL_ONCE = """
import pytest
from pathlib import Path

@pytest.mark.parametrize("name", {names})
def test_fails_once(name):
    before = Path(name)
    is_first = not before.exists()
    before.touch()
    assert not is_first
"""


@pytest.fixture
def run_pytest(tmp_path):
    """`run_pytest(source, *arguments)`: (exit code, output) of a run of this file of tests."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\nmarkers = external\n")

    def run(source, *arguments):
        (tmp_path / "tests" / "test_it.py").write_text(source)
        plugins = ("-p", "tests.external", "-p", "tests.repeated")
        variables = {"PYTHONPATH": str(ROOT), "REPEATED_TESTS": str(tmp_path / "repeated")}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, *arguments],
            cwd=tmp_path,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


def test_run_without_a_path_leaves_external_tests_out(run_pytest):
    _, output = run_pytest(TESTS)
    assert "1 failed, 1 passed, 1 deselected" in output


def test_marker_and_path_select_external_tests(run_pytest):
    assert "1 passed, 2 deselected" in run_pytest(TESTS, "-m", "external")[1]
    assert "1 failed, 2 passed" in run_pytest(TESTS, "tests")[1]


def test_unmarked_test_that_starts_a_process_fails_with_the_remedy(run_pytest):
    code, output = run_pytest(TESTS)
    assert code == 1
    assert "test_unmarked_that_starts_a_process starts a process: mark it with" in output


@pytest.mark.parametrize(("names", "code"), [(["a", "b"], 0), (["a", "b", "c"], 1)])
def test_tests_that_pass_when_run_again_are_listed_and_limited(run_pytest, names, code):
    source = FAIL_ONCE.format(names=names)
    assert run_pytest(source)[0] == 1
    repeated_code, output = run_pytest(source, "--last-failed")
    assert f"tests that failed and passed when run again: {len(names)} (at most 2)" in output
    assert "test_it.py::test_fails_once[a]" in output
    assert repeated_code == code
