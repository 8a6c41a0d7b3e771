"""sql/queries/system/defaults.sql: written once, by one process."""

from __future__ import annotations

import threading

from sigservice.repository.system import defaults
from tests.repository.kit import add_built_ins, run
from tests.waiting import DEADLINE_SECONDS


def test_one_of_several_processes_is_to_write(pool):
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


def test_who_fails_leaves_the_writing_to_the_next(pool):
    try:
        with pool.transaction() as conn:
            assert defaults.mark_seeded(conn, "first")
            raise RuntimeError
    except RuntimeError:
        pass
    with pool.transaction() as conn:
        assert defaults.mark_seeded(conn, "second")


def test_what_a_new_installation_starts_with(conn):
    add_built_ins(conn)
    environments = run(conn, "SELECT name, enabled FROM environments ORDER BY sort_order")
    assert environments == [("default", True), ("development", True), ("production", True)]
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
