"""A failing action costs one run and never blocks the queue; the failure is recorded."""

from __future__ import annotations

import re

import pytest

from sigservice.db.errors import DatabaseUnavailable
from sigservice.jobs import actions, retention
from sigservice.repository.actions import action_runs
from sigservice.services.actions import run_batches
from tests.actions_kit import SETS, Alerts
from tests.conftest import ADMIN

OUR_FAULT = re.compile(r"Internal server error \(error [0-9a-f-]{36}\)\.")


@pytest.fixture
def alerts(service, web, make):
    return Alerts(service, web, make)


@pytest.fixture
def breaks(rows):
    """`breaks(sqlstate)`: each change of a flag's state ends with this error from now on."""

    def add_trigger(sqlstate):
        rows(
            "CREATE OR REPLACE FUNCTION breaks() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION 'broken' USING ERRCODE = '{sqlstate}'; END $$"
        )
        rows(
            "CREATE OR REPLACE TRIGGER breaks BEFORE INSERT OR UPDATE ON feature_environments "
            "FOR EACH ROW EXECUTE FUNCTION breaks()"
        )

    yield add_trigger
    rows("DROP TRIGGER IF EXISTS breaks ON feature_environments")


def states(alerts, one):
    return [run["state"] for run in alerts.runs(one["id"])]


def waiting(rows):
    return rows("SELECT count(*) FROM signal_queue")[0][0]


@pytest.mark.parametrize(
    "filters",
    [
        '[{"operator": 5}]',  # can't be read
        '[{"path": "n", "operator": "NUM_GT", "value": null}]',  # raises when it is asked
    ],
)
def test_a_set_that_cant_be_judged_costs_itself_only(alerts, rows, filters):
    broken = alerts.set(name="broken")
    rows("UPDATE action_sets SET filters = %s", filters)
    well = alerts.set(name="well")
    signal = alerts.send({"n": 1})
    alerts.work()
    (run,) = alerts.runs(broken["id"])
    assert run["state"] == "failed"
    assert OUR_FAULT.fullmatch(run["reason"])
    assert states(alerts, well) == ["success"]
    (results,) = rows("SELECT results FROM signal_results WHERE signal_id = %s", signal)[0]
    assert {v["name"]: v["state"] for v in results} == {"broken": "failed", "well": "runs"}
    assert waiting(rows) == 0


def test_a_signal_that_stops_everything_is_a_dead_letter(alerts, rows):
    one = alerts.set()
    before, poison, after = (alerts.send({"n": n}) for n in range(3))
    rows("UPDATE signals SET payload = '1e99999' WHERE id = %s", poison)
    alerts.work()
    assert [run["signalId"] for run in alerts.runs(one["id"])] == [after, before]
    (results,) = rows("SELECT results FROM signal_results WHERE signal_id = %s", poison)[0]
    assert [v["state"] for v in results] == ["failed"]
    assert waiting(rows) == 0


def test_a_run_that_cant_be_performed_is_given_up(alerts, rows):
    alerts.set()
    stuck, well = alerts.send(), alerts.send()
    context = alerts.service.context
    with context.database.transaction() as conn:
        action_runs.lock(conn)
        context.evaluator.evaluate_batch(conn, context.get_logger("actions"))
    rows("UPDATE action_runs SET action_set = '{}' WHERE signal_id = %s", stuck)
    assert alerts.work() == 2
    first, second = rows("SELECT signal_id, state, reason FROM action_runs ORDER BY id")
    assert first[:2] == (stuck, "failed")
    assert OUR_FAULT.fullmatch(first[2])
    assert second == (well, "success", None)
    assert not alerts.is_on()


@pytest.mark.parametrize(
    ("sqlstate", "details"),
    [
        ("57014", "The database timed out twice."),
        ("22012", "A value can't be stored in the database."),
        ("XX000", OUR_FAULT.pattern),
    ],
)
def test_an_action_that_the_database_refuses_fails(alerts, breaks, sqlstate, details):
    one = alerts.set()
    breaks(sqlstate)
    alerts.send()
    alerts.send()
    assert alerts.work() == 2
    for run in alerts.runs(one["id"]):
        (act,) = run["actionSet"]["actions"]
        assert (run["state"], act["state"]) == ("failed", "failed")
        assert re.fullmatch(details, act["details"])
    assert alerts.is_on()


def test_an_action_waits_for_a_database_that_is_busy(alerts, rows, breaks, web):
    one = alerts.set()
    breaks("55P03")
    alerts.send()
    for _ in range(2):
        with pytest.raises(DatabaseUnavailable):
            alerts.work()
        assert states(alerts, one) == ["started"]
    rows("DROP TRIGGER breaks ON feature_environments")
    assert alerts.work() == 1
    assert states(alerts, one) == ["success"]
    events = web.get("/api/admin/events/checkout", headers=ADMIN).json["events"]
    assert [e["type"] for e in events].count("feature-environment-disabled") == 1


def test_failures_among_many_cost_themselves_only(alerts):
    """Actions that change nothing share a transaction; one that fails among them is done again."""
    gone = {"environment": "production", "featureName": "gone"}
    alerts.flag("gone")
    bad = alerts.set(
        name="bad",
        payload={"n": {"operator": "IN", "values": [7, 9]}},
        acts=[{"action": "TOGGLE_FEATURE_OFF", "executionParams": gone}],
    )
    alerts.web.delete(
        "/api/admin/projects/default/features/gone", headers=ADMIN, expect_errors=True
    )
    good = alerts.set(name="good")
    signals = [alerts.send({"n": n}) for n in range(50)]
    assert alerts.work() == 52
    assert states(alerts, bad) == ["failed", "failed"]
    runs = alerts.web.get(f"{SETS}/{good['id']}/events?limit=100", headers=ADMIN)
    items = runs.json["actionSetEvents"]
    assert [run["signalId"] for run in items] == signals[::-1]
    assert {run["state"] for run in items} == {"success"}


@pytest.mark.parametrize(
    ("gone", "says"),
    [
        ("DELETE FROM features WHERE name = 'checkout'", "checkout not found"),
        ("UPDATE features SET archived_at = now()", "archived"),
        ("DELETE FROM users WHERE username = 'robot'", "service account"),
    ],
)
def test_what_is_gone_when_its_turn_comes(alerts, rows, gone, says):
    alerts.set()
    alerts.send()
    context = alerts.service.context
    with context.database.transaction() as conn:
        action_runs.lock(conn)
        context.evaluator.evaluate_batch(conn, context.get_logger("actions"))
    rows(f"SET session_replication_role = replica; {gone}")
    assert alerts.work() == 1
    (state, copy) = rows("SELECT state, action_set FROM action_runs")[0]
    assert state == "failed"
    assert says in copy["actions"][0]["details"]


def test_disabling_or_deleting_a_set_stops_what_still_waits(alerts, web, rows):
    off, gone = alerts.set(name="off"), alerts.set(name="gone")
    alerts.send()
    web.post(f"{SETS}/{off['id']}/off", headers=ADMIN)
    web.delete(f"{SETS}/{gone['id']}", headers=ADMIN)
    assert alerts.work() == 0
    assert rows("SELECT count(*) FROM action_runs") == [(0,)]
    assert waiting(rows) == 0


def test_another_process_goes_on_where_one_has_stopped(alerts, make_service, rows):
    """Killed or asked to stop between two actions."""
    off = {"environment": "production", "featureName": "checkout"}
    acts = [{"action": f"TOGGLE_FEATURE_{k}", "executionParams": off} for k in ("OFF", "ON", "OFF")]
    one = alerts.set(acts=acts)
    alerts.send()
    context = alerts.service.context
    logger = context.get_logger("actions")
    with context.database.transaction() as conn:
        action_runs.lock(conn)
        context.evaluator.evaluate_batch(conn, logger)
    with context.database.transaction() as conn:
        run_batches.perform_batch(conn, logger, [], is_alone=True)
    assert states(alerts, one) == ["started"]
    assert actions.run_once(make_service().context) == 2
    (run,) = alerts.runs(one["id"])
    assert [len(act["changes"]) for act in run["actionSet"]["actions"]] == [1, 1, 1]
    assert not alerts.is_on()


def test_a_stopping_process_begins_nothing(alerts, rows):
    alerts.set()
    alerts.send()
    alerts.service.context.stopping.set()
    assert alerts.work() == 0
    assert waiting(rows) == 1


def test_large_payloads_are_judged_a_few_at_a_time(alerts, rows):
    for name in "abcde":
        alerts.set(name=name)
    text = "x" * 90_000
    for _ in range(8):
        alerts.send({"text": text})
    context, evaluated = alerts.service.context, []
    for _ in range(8):
        with context.database.transaction() as conn:
            action_runs.lock(conn)
            evaluated.append(context.evaluator.evaluate_batch(conn, context.get_logger("actions")))
    assert evaluated[:3] == [(3, 15), (3, 15), (2, 10)]
    assert rows("SELECT count(*) FROM action_runs") == [(40,)]


def test_retention_leaves_what_waits(alerts, rows):
    alerts.set()
    for _ in range(3):
        alerts.send()
    rows("UPDATE signals SET created_at = now() - interval '1000 days'")
    assert retention.run_once(alerts.service.context) == 0
    assert alerts.work() == 3
    assert retention.run_once(alerts.service.context) >= 3
    assert rows("SELECT count(*) FROM signals") == [(0,)]


def test_cooldown_and_cap_ask_a_few_rows_only(alerts, rows):
    one = alerts.set(options={"cooldownSeconds": 60, "maxRunsPerHour": 2})
    alerts.send()
    alerts.send()
    alerts.work()
    assert states(alerts, one) == ["suppressed", "success"]
    rows("UPDATE action_runs SET created_at = now() - interval '2 minutes'")
    for count in (2, 2):
        alerts.send()
        alerts.work()
        rows("UPDATE action_runs SET created_at = now() - interval '2 minutes'")
        assert states(alerts, one).count("success") == count
    reasons = [run["reason"] for run in alerts.runs(one["id"])]
    assert reasons[0] == "It ran 2 times within an hour."


def test_run_of_a_clock_that_was_ahead_holds_no_set_back(alerts, rows):
    one = alerts.set(options={"cooldownSeconds": 60, "maxRunsPerHour": 1})
    alerts.send()
    alerts.work()
    rows("UPDATE action_runs SET created_at = now() + interval '1 day'")
    alerts.send()
    alerts.work()
    assert states(alerts, one) == ["success", "success"]


def test_the_queue_shows_in_the_metrics(alerts, web, rows, clock):
    alerts.set()
    alerts.send()
    rows("UPDATE signal_queue SET queued_at = now() - interval '1 hour'")
    text = web.get("/internal-backstage/prometheus").text
    assert "action_queue_signals 1.0" in text
    assert "action_queue_age_seconds 36" in text
    alerts.work()
    clock.advance(6)
    text = web.get("/internal-backstage/prometheus").text
    assert "action_queue_signals 0.0" in text
    assert "action_queue_age_seconds 0.0" in text
