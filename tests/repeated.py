"""Counts the tests that failed and passed when run again (`--last-failed`).

Their names are in the file that REPEATED_TESTS names, which several runs can share. Each run prints
them at its end, and fails when they are more than MAX_REPEATED.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MAX_REPEATED = 2
FILE = os.environ.get("REPEATED_TESTS")


def read_names() -> list[str]:
    path = Path(FILE or "")
    return path.read_text().splitlines() if path.is_file() else []


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if not FILE or hasattr(config, "workerinput"):
        return
    if config.option.lf:
        passed = config.pluginmanager.get_plugin("terminalreporter").stats.get("passed", [])
        with Path(FILE).open("a") as file:
            file.writelines(f"{report.nodeid}\n" for report in passed)
    if len(read_names()) > MAX_REPEATED:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if FILE:
        names = read_names()
        terminalreporter.write_line(
            f"tests that failed and passed when run again: {len(names)} (at most {MAX_REPEATED})"
        )
        for name in names:
            terminalreporter.write_line(f"  {name}")
