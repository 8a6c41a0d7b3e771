"""Switching flags: many at once, and one flag concurrently."""

from __future__ import annotations

import contextlib
import threading

import pytest

from sigservice.db.statements import fetch_value
from sigservice.errors import BadDataError
from sigservice.repository.flags import feature_strategies
from sigservice.services import revisions
from sigservice.services.flags import feature_switches, features, strategies
from sigservice.services.flags.feature_states import FeatureEnvironment, get_state
from sigservice.services.flags.features import Metadata
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import SYSTEM
from tests.server.process import until
from tests.statement_counter import count_statements
from tests.waiting import DEADLINE_SECONDS

DEV = "development"


@pytest.fixture
def conn(service):
    with service.context.database.transaction() as conn:
        yield conn
        conn.rollback()


def make(conn, names):
    for name in names:
        features.create(conn, "default", name, Metadata(), SYSTEM)
    return names


def rows(conn, names):
    result = feature_strategies.list_by_features(conn, names, DEV)
    return [(row["feature"], row["disabled"], row["sort_order"]) for row in result]


def test_twenty_cost_the_statements_of_two(conn, monkeypatch):
    few, many = make(conn, ["a", "b"]), make(conn, [f"m{n:02}" for n in range(20)])

    def on(names):
        return lambda: feature_switches.switch_all(conn, "default", DEV, names, True, SYSTEM)

    cost = count_statements(monkeypatch, on(few))
    assert cost > 0
    assert count_statements(monkeypatch, on(many)) == cost
    assert rows(conn, many) == [(name, False, 0) for name in many]
    groups = [row["parameters"] for row in feature_strategies.list_by_features(conn, many, DEV)]
    assert all(f'"groupId": "{name}"' in text for name, text in zip(many, groups, strict=True))
    assert all(
        get_state(conn, FeatureEnvironment("default", name, DEV))["enabled"] for name in many
    )


@pytest.mark.parametrize("activate", [False, True])
def test_disabled_strategies_come_back_or_get_one_beside_them(conn, activate):
    names = make(conn, ["active", "bare", "off"])
    for name, disabled in (("active", False), ("off", True)):
        strategy = Strategy("default", disabled=disabled)
        target = FeatureEnvironment("default", name, DEV)
        strategies.add(conn, target, strategy, SYSTEM, max_segments=5)
    batch = feature_switches.SwitchBatch(conn, activate_disabled=activate)
    batch.switch_all("default", DEV, names, True, SYSTEM)
    batch.write()
    off = [("off", False, 0)] if activate else [("off", True, 0), ("off", False, 1)]
    assert rows(conn, names) == [("active", False, 0), ("bare", False, 0), *off]


def test_archived_flag_can_not_be_switched(conn):
    names = make(conn, ["a", "b"])
    features.archive(conn, "default", ["a"], SYSTEM)
    with pytest.raises(BadDataError, match="a must be revived first"):
        feature_switches.switch_all(conn, "default", DEV, names, True, SYSTEM)
    assert rows(conn, names) == []


def test_switch_that_waited_reads_the_state_again(service, database):
    """The state is read before the lock; the generation of the lock shows that it is stale."""
    target, done = FeatureEnvironment("default", "raced", DEV), []
    with service.context.database.transaction() as conn:
        make(conn, ["raced"])

    def second():
        with service.context.database.transaction() as conn:
            done.append(feature_switches.switch(conn, target, True, SYSTEM))

    waiting = threading.Thread(target=second)
    with service.context.database.transaction() as conn:
        revisions.lock(conn)
        waiting.start()
        with contextlib.closing(database.connect()) as other:
            until(lambda: locks_waited_for(other), "the second one waits")
        assert feature_switches.switch(conn, target, True, SYSTEM)
    waiting.join(DEADLINE_SECONDS)
    assert done == [False]
    with service.context.database.autocommit() as conn:
        rest = fetch_value(
            conn,
            "SELECT count(*) FROM events WHERE type = 'feature-environment-enabled' "
            "AND feature_name = 'raced'",
        )
    assert rest == 1


def test_batch_reads_states_again_that_changed_before_its_lock(service):
    database = service.context.database
    targets = [FeatureEnvironment("default", name, DEV) for name in ("first", "second")]
    with database.transaction() as conn:
        make(conn, ["first", "second"])
    with database.transaction() as conn:
        batch = feature_switches.SwitchBatch(conn, targets)
        with database.transaction() as other:
            assert feature_switches.switch(other, targets[0], True, SYSTEM)
        assert [batch.switch(target, True, SYSTEM) for target in targets] == [False, True]
        batch.write()
        assert get_state(conn, targets[1])["enabled"]


def test_batch_that_writes_nothing_takes_no_lock(conn, monkeypatch):
    (name,) = make(conn, ["a"])
    target = FeatureEnvironment("default", name, DEV)
    batch = feature_switches.SwitchBatch(conn, [target])

    def work():
        assert not batch.switch(target, False, SYSTEM)
        batch.write()

    assert count_statements(monkeypatch, work) == 0


def locks_waited_for(conn):
    with conn.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return cursor.fetchone()[0]
