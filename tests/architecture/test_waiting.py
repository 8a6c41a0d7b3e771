"""Tests wait with until(); fixed pauses are in tests/waiting.py alone."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
WAITING = TESTS / "waiting.py"
SLEEP = re.compile(r"\btime\.sleep\(|\bfrom time import .*\bsleep\b|\bwait_for_timeout\(")
# What is slow on purpose, and what measures over a window.
TAKE_TIME = re.compile(r"\btake_time\(")
SLOW = {
    "db/test_pool.py",
    "concurrency/test_shared.py",
    "outgoing/test_post.py",
    "outgoing/test_smtp.py",
    "sdk/cutting_proxy.py",
    "sdk/test_streaming.py",
    "server/kills.py",
    "server/test_idle.py",
    "server/test_embedded.py",
    "server/test_costly_input.py",
    "server/test_kill_releases.py",
    "server/test_kill_rules.py",
    "server/test_source_leases.py",
    "server/test_stop.py",
    "spec/callables.py",
}
FILES = sorted(path for path in TESTS.rglob("*.py") if path not in (WAITING, Path(__file__)))


def lines_with(pattern: re.Pattern[str], path: Path) -> list[str]:
    lines = enumerate(path.read_text().splitlines(), 1)
    return [f"{path.relative_to(TESTS)}:{n}" for n, line in lines if pattern.search(line)]


def test_no_test_sleeps():
    result = [line for path in FILES for line in lines_with(SLEEP, path)]
    assert not result, "use until() of tests/waiting.py"


def test_only_these_take_time():
    takers = {str(path.relative_to(TESTS)) for path in FILES if lines_with(TAKE_TIME, path)}
    assert takers <= SLOW, "take_time() is for what is slow on purpose; to wait use until()"
