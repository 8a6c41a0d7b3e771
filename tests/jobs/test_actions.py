"""Actions: from a signal to a flag, as the worker does it, on the real database."""

from __future__ import annotations

import pytest

from sigservice.repository.actions import action_runs
from sigservice.services.actions import run_batches
from tests.actions_kit import FLAGS, SETS
from tests.conftest import ADMIN

FIRING = {"status": {"operator": "IN", "values": ["firing"]}}
ROLLOUT = "/api/admin/projects/default/features/{}/environments/production/strategies"


def test_a_signal_switches_a_flag(alerts, web):
    one = alerts.set(payload={"status": {"operator": "IN", "values": ["firing"]}})
    assert one["actions"][0]["createdAt"] == one["createdAt"]
    signal = alerts.send({"status": "firing"})
    assert alerts.work() == 1
    assert not alerts.is_on()
    (run,) = alerts.runs(one["id"])
    assert (run["state"], run["signalId"], run["cause"]) == ("success", signal, "signal")
    (act,) = run["actionSet"]["actions"]
    assert (act["state"], act["details"]) == ("success", "Disabled checkout in production.")
    assert run["signal"]["payload"] == {"status": "firing"}
    event = web.get("/api/admin/events/checkout", headers=ADMIN).json["events"][0]
    assert (event["type"], event["createdBy"]) == ("feature-environment-disabled", "robot")


def test_what_does_not_match_has_a_verdict_and_no_run(alerts):
    one = alerts.set(payload=FIRING)
    two = alerts.set(name="other", filters=[{"path": "n", "operator": "NUM_GT", "value": 5}])
    signal = alerts.send({"status": "ok", "n": 6})
    assert alerts.work() == 1
    assert alerts.runs(one["id"]) == []
    assert [run["state"] for run in alerts.runs(two["id"])] == ["success"]
    assert alerts.list_results(signal) == [
        {
            "actionSetId": one["id"],
            "name": "kill checkout",
            "state": "not matched",
            "reason": {"path": "status", "operator": "IN"},
        },
        {"actionSetId": two["id"], "name": "other", "state": "runs"},
    ]
    assert alerts.queued() == 0
    assert alerts.work() == 0


@pytest.mark.parametrize("carry_on", [False, True])
def test_actions_run_in_order_and_a_failure_ends_the_run(alerts, carry_on):
    alerts.flag("second")
    gone = alerts.off("gone")
    alerts.flag("gone")
    acts = [alerts.off(), gone, alerts.off("second")]
    body = alerts.body(acts=acts, options={"continueOnFailure": carry_on})
    for act, order in zip(body["actions"], (20, 30, 40), strict=True):
        act["sortOrder"] = order
    body["actions"].reverse()
    one = alerts.web.post_json(SETS, body, headers=ADMIN).json
    assert [act["executionParams"]["featureName"] for act in one["actions"]] == [
        "checkout",
        "gone",
        "second",
    ]
    alerts.web.post_json(
        f"{FLAGS.removesuffix('/features')}/archive", {"features": ["gone"]}, headers=ADMIN
    )
    alerts.send()
    assert alerts.work() == 2 + carry_on
    assert alerts.states(one["id"]) == [("signal", "failed")]
    first, failed, last = alerts.details(one["id"])
    assert first == ("success", "Disabled checkout in production.")
    assert failed == ("failed", "gone is archived. Revive it first.")
    assert last[0] == ("success" if carry_on else "not started")
    assert (alerts.is_on(), alerts.is_on("second")) == (False, not carry_on)


def test_what_is_so_already_is_success_without_an_event(alerts):
    acts = [alerts.off(), alerts.off(), alerts.by_tag(), alerts.by_tag(state="ON")]
    alerts.tag("checkout")
    one = alerts.set(acts=acts)
    before = len(alerts.events())
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"]) == [
        ("success", "Disabled checkout in production."),
        ("success", "checkout in production was already disabled."),
        ("success", "1 flag with simple:pay: all already disabled in production."),
        ("success", "Enabled 1 flag in production (1 flag with simple:pay)."),
    ]
    types = [event["type"] for event in alerts.events()]
    assert len(types) == before + 2
    assert types[:2] == ["feature-environment-enabled", "feature-environment-disabled"]
    changes = [act["changes"] for act in alerts.runs(one["id"])[0]["actionSet"]["actions"]]
    assert [len(results) for results in changes] == [1, 0, 0, 1]


def test_a_tag_s_flags_are_switched_all_or_none(alerts, web):
    for name in ("a", "b", "c"):
        alerts.flag(name)
    alerts.tag("a")
    alerts.tag("b")
    one = alerts.set(acts=[alerts.by_tag()])
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"]) == [
        ("success", "Disabled 2 flags in production (2 flags with simple:pay).")
    ]
    assert [alerts.is_on(name) for name in ("a", "b", "c")] == [False, False, True]
    names = {e["featureName"] for e in alerts.events()[:2] if e["createdBy"] == "robot"}
    assert names == {"a", "b"}
    # An archived flag is no longer a flag of the project.
    alerts.switch("a", "on")
    web.post_json("/api/admin/projects/default/archive", {"features": ["b"]}, headers=ADMIN)
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"])[0][1].startswith("Disabled 1 flag")
    web.post_json("/api/admin/projects/default/archive", {"features": ["a"]}, headers=ADMIN)
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"]) == [
        ("success", "0 flags with simple:pay: all already disabled in production.")
    ]


def test_the_rollout_of_an_archived_flag_stays(alerts, web):
    params = {"environment": "production", "featureName": "checkout", "rollout": 5}
    one = alerts.set(acts=[{"action": "SET_FEATURE_ROLLOUT", "executionParams": params}])
    web.delete(f"{FLAGS}/checkout", headers=ADMIN)
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"]) == [("failed", "Not done: checkout is archived.")]


def test_rollouts(alerts, web):
    path = ROLLOUT.format("checkout")
    rule = {"contextName": "userId", "operator": "IN", "values": ["7"]}
    rich = {"constraints": [rule], "variants": [], "title": "half", "disabled": True}
    web.post_json(
        path, {"name": "flexibleRollout", "parameters": {"rollout": "50"}} | rich, headers=ADMIN
    )
    web.post_json(path, {"name": "default"}, headers=ADMIN)
    params = {"environment": "production", "featureName": "checkout", "rollout": 5}
    act = {"action": "SET_FEATURE_ROLLOUT", "executionParams": params}
    one = alerts.set(acts=[act], options={"restoreAfterMinutes": 5})
    before = web.get(path, headers=ADMIN).json
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"]) == [
        ("success", "Set 2 rollouts of checkout in production to 5%.")
    ]
    after = web.get(path, headers=ADMIN).json
    rollouts = [strategy["parameters"].get("rollout") for strategy in after]
    assert rollouts == ["5", "5", None]
    previous = [strategy | {"parameters": 0} for strategy in before]
    assert [strategy | {"parameters": 0} for strategy in after] == previous
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"]) == [
        ("success", "No rollout of checkout in production needed a change.")
    ]
    alerts.clock.advance(3600)
    alerts.work()
    assert web.get(path, headers=ADMIN).json == before
    for strategy in before:
        web.delete(f"{path}/{strategy['id']}", headers=ADMIN)
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"])[0][0] == "success"


def test_a_set_acts_as_its_account_and_no_more(alerts, web):
    one = alerts.set()
    path = f"/api/admin/service-account/{alerts.account}"
    body = {"username": "robot", "name": "Robot", "rootRole": "Viewer"}
    web.put_json(path, body, headers=ADMIN)
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"]) == [
        ("failed", "robot can't change flags: its role is Viewer.")
    ]
    web.delete(path, headers=ADMIN)
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"]) == [
        ("failed", "The service account of this action set was deleted.")
    ]
    assert alerts.is_on()
    answer = web.put_json(f"{SETS}/{one['id']}", alerts.body(), headers=ADMIN, status=400)
    assert [detail["path"] for detail in answer.json["details"]] == ["actorId"]


def test_what_is_switched_off_does_not_run(alerts, web):
    one = alerts.set()
    alerts.send()  # waits while the set is switched off
    alerts.post(f"{SETS}/{one['id']}/off")
    assert alerts.work() == 0
    signal = alerts.send()
    assert alerts.rows("SELECT 1 FROM signal_results WHERE signal_id = %s", signal) == []
    alerts.post(f"{SETS}/{one['id']}/on")
    alerts.send()  # waits while the endpoint is switched off
    web.post(f"/api/admin/signal-endpoints/{alerts.endpoint['id']}/off", headers=ADMIN)
    assert (alerts.work(), alerts.queued()) == (0, 0)
    web.post(f"/api/admin/signal-endpoints/{alerts.endpoint['id']}/on", headers=ADMIN)
    alerts.send()  # waits while the endpoint is deleted
    web.delete(f"/api/admin/signal-endpoints/{alerts.endpoint['id']}", headers=ADMIN)
    assert (alerts.work(), alerts.queued()) == (0, 0)
    assert alerts.is_on()
    assert alerts.runs(one["id"]) == []


def test_a_flag_that_is_gone_or_moved(alerts, web):
    web.post_json("/api/admin/projects", {"id": "other", "name": "other"}, headers=ADMIN)
    one = alerts.set()
    alerts.rows("UPDATE features SET project = 'other' WHERE name = 'checkout'")
    alerts.send()
    alerts.work()
    assert alerts.states(one["id"]) == [("signal", "failed")]
    ((state, text),) = alerts.details(one["id"])
    assert state == "failed"
    assert "checkout" in text
    path = "/api/admin/projects/other/features/checkout/environments/production"
    assert web.get(path, headers=ADMIN).json["enabled"] is True
    alerts.rows("DELETE FROM features")
    alerts.send()
    alerts.work()
    assert alerts.details(one["id"])[0][0] == "failed"


def test_a_dry_run_says_what_it_would_do(alerts):
    one = alerts.set(
        acts=[alerts.off(), alerts.off()],
        options={"dryRun": True, "latch": True, "restoreAfterMinutes": 1},
    )
    before = alerts.read_state()[:5]
    alerts.send()
    alerts.send()
    alerts.work()
    assert alerts.read_state()[:5] == before
    assert alerts.is_on()
    assert alerts.states(one["id"]) == [("signal", "success")] * 2
    run = alerts.runs(one["id"])[0]
    assert run["dryRun"] is True
    assert run["restoreDueAt"] is None
    assert alerts.details(one["id"])[0][1] == "Would have: Disabled checkout in production."
    assert run["actionSet"]["actions"][0]["changes"] == []
    alerts.post(f"{SETS}/{one['id']}/events/{run['id']}/undo", 409)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"cooldownSeconds": 60}, "Cooldown: it ran less than 60 s ago."),
        ({"maxRunsPerHour": 1}, "It ran 1 time within an hour."),
        ({"latch": True}, "It runs once and has run. Re-enable it to let it run again."),
    ],
)
@pytest.mark.parametrize("at_once", [False, True])
def test_suppressed_runs_are_recorded_with_their_reason(alerts, options, reason, at_once):
    one = alerts.set(options=options)
    alerts.send()
    if not at_once:
        alerts.work()
    signal = alerts.send()
    alerts.work()
    assert alerts.states(one["id"]) == [("signal", "success"), ("signal", "suppressed")]
    newest = alerts.runs(one["id"])[0]
    assert (newest["reason"], newest["signalId"]) == (reason, signal)
    assert newest["finishedAt"]
    assert alerts.list_results(signal)[0]["state"] == "suppressed"
    if "latch" in options:
        path = f"{SETS}/{one['id']}"
        assert alerts.web.get(path, headers=ADMIN).json["armed"] is False
        assert alerts.post(f"{path}/arm").json["armed"] is True
    else:
        alerts.rows("UPDATE action_runs SET created_at = created_at - interval '61 minutes'")
    alerts.send()
    alerts.work()
    assert alerts.states(one["id"])[-1] == ("signal", "success")


def test_a_run_keeps_its_copies(alerts, web):
    one = alerts.set(description="as it was")
    alerts.send({"n": 1})
    alerts.work()
    alerts.put(one, name="renamed", acts=[alerts.by_tag()])
    alerts.rows("DELETE FROM signals")
    (run,) = alerts.runs(one["id"])
    assert run["signal"]["payload"] == {"n": 1}
    assert run["actionSet"]["name"] == "kill checkout"
    assert run["actionSet"]["description"] == "as it was"
    assert [act["action"] for act in run["actionSet"]["actions"]] == ["TOGGLE_FEATURE_OFF"]
    alerts.send()  # the filters of the set are read again
    alerts.work()
    assert alerts.runs(one["id"])[0]["actionSet"]["name"] == "renamed"
    web.delete(f"{SETS}/{one['id']}", headers=ADMIN)
    assert alerts.rows("SELECT count(*) FROM action_runs") == [(2,)]


def test_open_runs_outlive_their_set(alerts, web):
    one = alerts.set(acts=[alerts.off(), alerts.off()])
    alerts.send()
    context = alerts.service.context
    logger = context.get_logger("actions")
    with context.database.transaction() as conn:
        action_runs.lock(conn)
        assert context.evaluator.evaluate_batch(conn, logger) == (1, 1)
    with context.database.transaction() as conn:
        run_batches.perform_batch(conn, logger, steps := [], is_alone=True)
    assert [step.state for step in steps] == ["started"]
    assert not alerts.is_on()
    web.delete(f"{SETS}/{one['id']}", headers=ADMIN)
    assert alerts.work() == 1
    assert alerts.rows("SELECT state FROM action_runs") == [("success",)]


@pytest.mark.parametrize(
    "snapshot",
    [
        '[{"path": "x", "operator": "REGEX", "value": "("}]',
        '[{"path": "x", "operator": "NUM_GT", "value": "many"}]',
        '[{"path": "x", "operator": "OF_LATER"}]',
    ],
)
def test_one_broken_set_stops_no_other(alerts, snapshot):
    broken = alerts.set(name="a broken one")
    one = alerts.set()
    alerts.rows("UPDATE action_sets SET filters = %s WHERE id = %s", snapshot, broken["id"])
    alerts.send({"x": 5})
    alerts.work()
    assert alerts.queued() == 0
    assert alerts.states(broken["id"]) == [("signal", "failed")]
    assert alerts.states(one["id"]) == [("signal", "success")]


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        0,
        "text",
        {"x": int("9" * 400)},
        {"x": 1e308},
        {"x": "a" * 90000},
        {"é\u202e": {"\uffff": []}},
    ],
)
def test_any_payload_is_judged(alerts, payload):
    number = {"path": "x", "operator": "NUM_LT", "value": 0}
    moment = {"path": "x", "operator": "DATE_AFTER", "value": "2026-01-01"}
    text = {"path": "x", "operator": "REGEX", "value": "(a+)+$", "inverted": True}
    one = alerts.set(filters=[{"any": [number, moment, text]}])
    alerts.set(name="all")
    alerts.send(payload)
    assert alerts.work() >= 1
    assert alerts.queued() == 0
    assert len(alerts.runs(one["id"])) <= 1
    assert not alerts.is_on()


def test_a_set_and_a_signal_meet_once(alerts):
    one = alerts.set()
    signal = alerts.send()
    alerts.work()
    alerts.rows(
        "INSERT INTO signal_queue (signal_id, endpoint_id) VALUES (%s, %s)",
        signal,
        alerts.endpoint["id"],
    )
    alerts.switch("checkout", "on")
    assert (alerts.work(), alerts.queued()) == (0, 0)
    assert alerts.is_on()
    assert len(alerts.runs(one["id"])) == 1
