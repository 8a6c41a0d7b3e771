"""Batches of actions: many changes in one transaction, bounded, with failures that stay alone."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from sigservice.services.actions import run_batches
from tests.actions_kit import FLAGS
from tests.conftest import ADMIN
from tests.jobs.test_actions_at_once import queue
from tests.statement_counter import count_statements
from tests.waiting import DEADLINE_SECONDS


@pytest.fixture(autouse=True)
def no_time_limit(monkeypatch):
    """On a busy machine, a batch would end early."""
    monkeypatch.setattr(run_batches, "MAX_SECONDS", DEADLINE_SECONDS)


@pytest.fixture
def toggles(alerts):
    """Sets that switch the flag of the payload on and off."""

    def add(flag, kind):
        params = {"environment": "production", "featureName": flag}
        act = {"action": f"TOGGLE_FEATURE_{kind}", "executionParams": params}
        matches = {"to": {"operator": "IN", "values": [kind]}}
        matches |= {"flag": {"operator": "IN", "values": [flag]}}
        return alerts.set(name=f"{flag} {kind}", payload=matches, acts=[act])["id"]

    sets = {kind: add("checkout", kind) for kind in ("ON", "OFF")}
    alerts.flag("search")
    sets["search"] = add("search", "OFF")
    return sets


def queue_toggles(alerts, count, flag="checkout"):
    """OFF and ON in turns, of a flag that is on."""
    for kind in ("OFF", "ON") * (count // 2):
        queue(alerts, 1, json.dumps({"flag": flag, "to": kind}))


def list_transactions(rows, table, condition="true"):
    """The number of rows of each transaction, oldest first."""
    return list(
        Counter(
            xmin
            for (xmin,) in rows(f"SELECT xmin::text FROM {table} WHERE {condition} ORDER BY id")
        ).values()
    )


SWITCHED = "type LIKE 'feature-environment-%%' AND data ? 'actionRun'"


@pytest.mark.usefixtures("toggles")
def test_changes_of_one_flag_share_a_transaction_and_keep_their_order(alerts, rows):
    queue_toggles(alerts, 20)
    assert alerts.work() == 20
    assert list_transactions(rows, "events", SWITCHED) == [20]
    types = [type for (type,) in rows(f"SELECT type FROM events WHERE {SWITCHED} ORDER BY id")]
    assert types == ["feature-environment-disabled", "feature-environment-enabled"] * 10
    runs = rows("SELECT signal_id, state, finished_at FROM action_runs ORDER BY id")
    assert {state for _, state, _ in runs} == {"success"}
    for column in (0, 2):
        values = [run[column] for run in runs]
        assert values == sorted(set(values))
    assert alerts.is_on()


@pytest.mark.usefixtures("toggles")
def test_a_batch_ends_after_its_largest_number_of_changes(alerts, rows, monkeypatch):
    monkeypatch.setattr(run_batches, "MAX_CHANGES", 4)
    queue_toggles(alerts, 10)
    assert alerts.work() == 10
    assert list_transactions(rows, "events", SWITCHED) == [4, 4, 2]


@pytest.mark.usefixtures("toggles")
def test_a_batch_ends_after_its_time(alerts, rows, monkeypatch):
    monkeypatch.setattr(run_batches, "MAX_SECONDS", 0.0)
    queue_toggles(alerts, 4)
    assert alerts.work() == 4
    assert list_transactions(rows, "events", SWITCHED) == [1] * 4


@pytest.mark.usefixtures("toggles")
def test_forty_changes_cost_the_statements_of_ten(alerts, monkeypatch):
    def measure(count):
        queue_toggles(alerts, count)
        runs = []
        cost = count_statements(monkeypatch, lambda: runs.append(alerts.work()))
        assert runs == [count]
        return cost

    assert measure(10) == measure(40) < 20


def test_a_failed_action_in_a_batch_stays_alone(alerts, web, rows, toggles):
    web.post_json("/api/admin/projects/default/archive", {"features": ["search"]}, headers=ADMIN)
    for flag, kind in (("checkout", "OFF"), ("search", "OFF"), ("checkout", "ON")):
        queue(alerts, 1, json.dumps({"flag": flag, "to": kind}))
    assert alerts.work() == 3
    assert alerts.states(toggles["search"]) == [("signal", "failed")]
    assert alerts.details(toggles["search"]) == [("failed", "search is archived. Revive it first.")]
    assert list_transactions(rows, "events", SWITCHED) == [2]
    assert alerts.is_on()


def test_an_internal_error_in_a_batch_fails_its_run_only(alerts, rows, toggles):
    rows(
        "CREATE FUNCTION breaks_search() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'broken'; END $$"
    )
    rows(
        "CREATE TRIGGER breaks_search BEFORE INSERT OR UPDATE ON feature_environments "
        "FOR EACH ROW WHEN (NEW.feature = 'search') EXECUTE FUNCTION breaks_search()"
    )
    try:
        for flag, kind in (("checkout", "OFF"), ("search", "OFF"), ("checkout", "ON")):
            queue(alerts, 1, json.dumps({"flag": flag, "to": kind}))
        assert alerts.work() == 3
    finally:
        rows("DROP FUNCTION breaks_search CASCADE")
    states = rows("SELECT state FROM action_runs ORDER BY id")
    assert [state for (state,) in states] == ["success", "failed", "success"]
    assert alerts.states(toggles["search"]) == [("signal", "failed")]
    types = [type for (type,) in rows(f"SELECT type FROM events WHERE {SWITCHED} ORDER BY id")]
    assert types == ["feature-environment-disabled", "feature-environment-enabled"]
    assert alerts.is_on()
    assert alerts.is_on("search")


@pytest.mark.usefixtures("toggles")
def test_an_unreadable_run_in_a_batch_fails_alone(alerts, rows):
    queue_toggles(alerts, 4)
    context = alerts.service.context
    with context.database.transaction() as conn:
        context.evaluator.evaluate_batch(conn, context.get_logger("actions"))
    rows(
        "UPDATE action_runs SET action_set = '[]' "
        "WHERE id = (SELECT id FROM action_runs ORDER BY id OFFSET 1 LIMIT 1)"
    )
    assert alerts.work() == 4
    states = rows("SELECT state FROM action_runs ORDER BY id")
    assert [state for (state,) in states] == ["success", "failed", "success", "success"]


def test_two_environments_of_a_batch_have_a_new_revision(alerts, web):
    for name in ("development", "default"):
        web.post(f"{FLAGS}/checkout/environments/{name}/on", headers=ADMIN)
    acts = [
        {
            "action": "TOGGLE_FEATURE_OFF",
            "executionParams": {"environment": name, "featureName": "checkout"},
        }
        for name in ("production", "development")
    ]
    alerts.set(acts=acts)
    before = dict(alerts.rows("SELECT topic, id FROM revisions"))
    alerts.send()
    assert alerts.work() == 2
    after = dict(alerts.rows("SELECT topic, id FROM revisions"))
    bumped = {topic for topic, id in after.items() if id > before[topic]}
    assert bumped == {"", "in/production", "in/development"}
