"""The built-in rows of sql/queries/system/defaults.sql, which one process writes once."""

from __future__ import annotations

import threading

from sigservice.repository.system import defaults
from tests.repository.kit import add_built_ins, run
from tests.waiting import DEADLINE_SECONDS


def test_one_of_several_processes_writes_the_rows(pool):
    wins, together = [], threading.Barrier(5)

    def start(n):
        together.wait(DEADLINE_SECONDS)
        with pool.transaction() as conn:
            wins.append(defaults.mark_seeded(conn, f"instance-{n}"))

    threads = [threading.Thread(target=start, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(wins) == [False] * 4 + [True]
    with pool.transaction() as conn:
        assert defaults.mark_seeded(conn, "again") is False


def test_another_process_writes_the_rows_after_a_failure(pool):
    try:
        with pool.transaction() as conn:
            assert defaults.mark_seeded(conn, "first")
            raise RuntimeError
    except RuntimeError:
        pass
    with pool.transaction() as conn:
        assert defaults.mark_seeded(conn, "second")


def test_a_new_installation_has_the_built_in_rows(conn):
    add_built_ins(conn)
    environments = run(conn, "SELECT name, enabled FROM environments ORDER BY sort_order")
    assert environments == [("production", True), ("development", True), ("default", True)]
    assert run(conn, "SELECT project FROM project_environments") == [("default",)] * 3
    assert run(conn, "SELECT name FROM tag_types") == [("simple",)]
    fields = run(conn, "SELECT name FROM context_fields WHERE built_in ORDER BY name")
    assert fields == [
        (n,) for n in ("appName", "currentTime", "environment", "sessionId", "userId")
    ]
    types = {name for (name,) in run(conn, "SELECT name FROM strategy_types WHERE built_in")}
    assert types == {
        "default",
        "flexibleRollout",
        "userWithId",
        "remoteAddress",
        "applicationHostname",
        "gradualRolloutRandom",
        "gradualRolloutSessionId",
        "gradualRolloutUserId",
    }
    assert run(conn, "SELECT id FROM feature_types ORDER BY id") == [
        ("experiment",),
        ("kill-switch",),
        ("operational",),
        ("permission",),
        ("release",),
    ]
