"""A real process with every variable wrong: a line for each, exit code 2, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.config.kit import refusal
from tests.config.rows import ROWS
from tests.waiting import DEADLINE_SECONDS

pytestmark = pytest.mark.external

ROOT = Path(__file__).resolve().parents[2]
WRONG = {row.env: row for row in ROWS if row.env and row.bad is not None}


@pytest.fixture
def run(tmp_path):
    """`run("check-config", NAME=value)`: the finished process, with these variables alone."""

    def run(*arguments, **variables):
        return subprocess.run(
            [sys.executable, "-m", "sigservice", *arguments],
            cwd=tmp_path,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), **variables},
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
        )

    return run


def test_every_variable_can_be_wrong():
    names = {row.env for row in ROWS if row.env}
    assert names - set(WRONG) == {"CHECK_VERSION"}


def test_every_wrong_variable_has_its_line_and_nothing_is_started(run, tmp_path):
    done = run(**{name: row.bad for name, row in WRONG.items()})
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert all(line.startswith("sigservice: ") for line in lines)
    lines = [line.removeprefix("sigservice: ") for line in lines]
    assert sorted(line.partition(":")[0] for line in lines) == sorted(WRONG)
    for line in lines:
        name = line.partition(":")[0]
        assert refusal(line, name, WRONG[name].says)
    assert "wr0ng" not in done.stderr
    assert "hunter2" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_check_needs_no_database_and_reports_what_is_wrong(run, tmp_path):
    nowhere = {"DATABASE_URL": "postgres://ada:hunter2@127.0.0.1:1/x", "HTTP_PORT": "4242"}
    done = run("check-config", "--format", "json", "--fail-on", "danger", **nowhere)
    assert (done.returncode, done.stderr) == (3, "")
    assert json.loads(done.stdout)["ok"] is True
    assert run("check-config", PYTHONIOENCODING="ascii", DATABASE_USERNAME="ü").returncode == 0
    done = run("check-config", "--format", "json", SESSION_TTL_HOURS="wr0ng")
    assert (done.returncode, done.stderr) == (2, "")
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem["variable"] == "SESSION_TTL_HOURS"
    assert list(tmp_path.iterdir()) == []
