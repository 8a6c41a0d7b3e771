"""Restoring when alerts are over: what ties a resolved signal to the runs of the one that fired."""

from __future__ import annotations

import pytest

from sigservice.repository.actions import action_runs
from tests.actions_kit import FLAGS, SETS
from tests.conftest import ADMIN
from tests.reverting_kit import FIRING, RESOLVED, Both

STILL_FIRES = "Another alert of this set still fires: "


@pytest.fixture
def alerts(service, web, make):
    return Both(service, web, make)


@pytest.fixture(params=["one by one", "in one batch"])
def pause(alerts, request):
    """Signals are evaluated one by one or in one batch, with the same result."""
    return alerts.work if request.param == "one by one" else lambda: None


def test_it_comes_back_when_the_alert_is_over(alerts, pause):
    alerts.restoring()
    alerts.fire()
    pause()
    signal = alerts.end()
    alerts.work()
    assert alerts.is_on()
    over, fired = alerts.runs(alerts.id)
    assert (over["cause"], over["state"], over["signalId"]) == ("resolved", "success", signal)
    assert (over["restoresRunId"], fired["restoredByRunId"]) == (fired["id"], over["id"])
    assert [action["action"] for action in over["actionSet"]["actions"]] == ["REVERT"]
    assert alerts.find_result(signal) == "reverts"


def test_repeated_notifications_change_nothing_and_do_not_hide_what_did(alerts, pause):
    alerts.restoring()
    for _ in range(3):
        alerts.fire()
        pause()
    alerts.end()
    alerts.work()
    assert alerts.is_on()
    assert [text for _, _, text in alerts.history()] == [
        "Disabled checkout in production.",
        "checkout in production was already disabled.",
        "checkout in production was already disabled.",
        "Reverted 1 of 1 change.",
    ]


def test_two_alerts_at_once(alerts, pause):
    alerts.restoring()
    alerts.fire("a")
    alerts.fire("b")
    pause()
    blocked = alerts.end("a")
    alerts.work()
    assert not alerts.is_on()
    assert alerts.history()[-1] == ("resolved", "suppressed", f"{STILL_FIRES}b")
    assert alerts.find_result(blocked) == "suppressed"
    alerts.end("b")
    alerts.work()
    assert alerts.is_on()
    assert alerts.runs(alerts.id)[-1]["restoredByRunId"]


def test_the_alert_that_switched_may_end_last(alerts, pause):
    alerts.restoring()
    alerts.fire("a")
    alerts.fire("b")
    pause()
    alerts.end("b")
    pause()
    alerts.fire("b")
    alerts.end("b")
    pause()
    alerts.end("a")
    alerts.work()
    assert alerts.is_on()
    states = [state for cause, state, _ in alerts.history() if cause == "resolved"]
    assert states == ["suppressed", "suppressed", "success"]


def test_a_suppressed_alert_keeps_the_flag_off_too(alerts, pause):
    alerts.restoring(maxRunsPerHour=1)
    alerts.fire("a")
    alerts.fire("b")
    pause()
    alerts.end("a")
    alerts.work()
    assert not alerts.is_on()
    alerts.end("b")
    alerts.work()
    assert alerts.is_on()
    causes = [(cause, state) for cause, state, _ in alerts.history()]
    assert causes == [
        ("signal", "success"),
        ("signal", "suppressed"),
        ("resolved", "suppressed"),
        ("resolved", "success"),
    ]


def test_what_several_runs_changed_comes_back(alerts, pause):
    by_tag = {"environment": "production", "tag": "simple:shop"}
    for name in ("checkout", "search"):
        tag = {"type": "simple", "value": "shop"}
        if name != "checkout":
            alerts.flag(name)
        alerts.web.post_json(f"/api/admin/features/{name}/tags", tag, headers=ADMIN)
    alerts.switch("search", "off")
    alerts.restoring(acts=[{"action": "TOGGLE_FEATURES_OFF_BY_TAG", "executionParams": by_tag}])
    alerts.fire()
    alerts.work()
    alerts.switch("search", "on")
    alerts.fire()
    pause()
    alerts.end()
    alerts.work()
    assert (alerts.is_on("checkout"), alerts.is_on("search")) == (True, True)
    assert alerts.history()[-1][2] == "Reverted 2 of 2 changes."
    assert {run["restoredByRunId"] for run in alerts.runs(alerts.id)[1:]} == {
        alerts.runs(alerts.id)[0]["id"]
    }


def test_a_rollout_goes_back_through_all_runs(alerts):
    """Two runs set it, a person in between: it goes back to what the newest run found."""
    strategies = f"{FLAGS}/checkout/environments/production/strategies"
    body = {"name": "flexibleRollout", "parameters": {"rollout": "100", "stickiness": "default"}}
    strategy = alerts.web.post_json(strategies, body, headers=ADMIN).json

    def rollout(new=None):
        path = f"{strategies}/{strategy['id']}"
        if new is not None:
            parameters = strategy["parameters"] | {"rollout": new}
            alerts.web.put_json(path, strategy | {"parameters": parameters}, headers=ADMIN)
        return alerts.web.get(path, headers=ADMIN).json["parameters"]["rollout"]

    params = {"environment": "production", "featureName": "checkout", "rollout": 10}
    alerts.restoring(acts=[{"action": "SET_FEATURE_ROLLOUT", "executionParams": params}])
    alerts.fire()
    alerts.work()
    rollout("60")
    alerts.fire()
    alerts.work()
    assert rollout() == "10"
    alerts.end()
    alerts.work()
    assert rollout() == "60"


@pytest.mark.parametrize("filters", [(FIRING,), ()], ids=["filters", "no filters"])
def test_over_before_it_fired_does_nothing(alerts, pause, filters):
    """Without filters too: what says that an alert is over is no reason to act."""
    alerts.restoring(filters=filters)
    early = alerts.end()
    pause()
    assert alerts.is_on()
    alerts.fire()
    alerts.work()
    assert not alerts.is_on()
    assert alerts.find_result(early) == "nothing to revert"
    assert len(alerts.runs(alerts.id)) == 1


def test_over_twice_restores_once(alerts, pause):
    alerts.restoring()
    alerts.fire()
    pause()
    alerts.end()
    pause()
    repeated = alerts.end()
    alerts.work()
    assert alerts.is_on()
    assert alerts.find_result(repeated) == "nothing to revert"
    assert [cause for cause, _, _ in alerts.history()] == ["signal", "resolved"]


def test_it_works_again_and_again(alerts, pause):
    alerts.restoring()
    for _ in range(3):
        alerts.fire()
        pause()
        alerts.end()
        pause()
    alerts.fire()
    alerts.work()
    assert not alerts.is_on()
    assert [cause for cause, _, _ in alerts.history()] == ["signal", "resolved"] * 3 + ["signal"]
    alerts.end()
    alerts.work()
    assert alerts.is_on()


@pytest.mark.parametrize(
    ("fired", "ended"),
    [
        ({"groupKey": "a"}, {"groupKey": "b"}),
        ({}, {}),
        ({"groupKey": None}, {}),
        ({"groupKey": {"a": 1}}, {"groupKey": {"a": 1}}),
        ({"groupKey": ["a"]}, {"groupKey": ["a"]}),
    ],
    ids=["another key", "no key", "null and missing", "object", "list"],
)
def test_other_keys_and_none_restore_nothing(alerts, fired, ended):
    alerts.restoring()
    alerts.send({"status": "firing"} | fired)
    signal = alerts.send({"status": "resolved"} | ended)
    alerts.work()
    assert not alerts.is_on()
    assert alerts.find_result(signal) == "nothing to revert"


def test_keys_are_compared_as_text(alerts):
    alerts.restoring()
    alerts.fire(7)
    alerts.end("7")
    alerts.work()
    assert alerts.is_on()


def test_a_dry_run_keeps_nothing_off_and_restores_nothing(alerts):
    alerts.restoring(dryRun=True)
    alerts.fire()
    signal = alerts.end()
    alerts.work()
    assert alerts.is_on()
    assert alerts.find_result(signal) == "nothing to revert"


@pytest.mark.parametrize(
    ("options", "ran"),
    [({"latch": True}, 1), ({"cooldownSeconds": 600}, 1), ({"maxRunsPerHour": 2}, 2), ({}, 4)],
    ids=["latch", "cooldown", "cap", "none"],
)
def test_a_batch_counts_its_own_runs(alerts, pause, options, ran):
    """Flapping: what is over restores however often, what fires is held by the options."""
    alerts.restoring(**options)
    for _ in range(4):
        alerts.fire()
        pause()
        alerts.end()
        pause()
    alerts.work()
    assert alerts.is_on()
    states = [state for cause, state, _ in alerts.history() if cause == "signal"]
    assert states == ["success"] * ran + ["suppressed"] * (4 - ran)


def test_what_an_earlier_worker_judged_but_did_not_perform_is_found(alerts):
    """Killed between the two: the next one takes up the run, and then restores it."""
    alerts.restoring()
    alerts.fire()
    context = alerts.service.context
    with context.database.transaction() as conn:
        action_runs.lock(conn)
        context.evaluator.evaluate_batch(conn, context.get_logger("actions"))
    alerts.end()
    with context.database.transaction() as conn:
        action_runs.lock(conn)
        context.evaluator.evaluate_batch(conn, context.get_logger("actions"))
    assert alerts.is_on()
    assert alerts.work() == 2
    assert alerts.is_on()
    assert [text for _, _, text in alerts.history()] == [
        "Disabled checkout in production.",
        "Reverted 1 of 1 change.",
    ]


def test_the_tester_knows_what_ends_an_alert(alerts, web):
    alerts.restoring(filters=())
    for payload, expected in (
        ({"status": "resolved", "groupKey": "a"}, (False, True)),
        ({"status": "firing", "groupKey": "a"}, (True, False)),
    ):
        answer = web.post_json(f"{SETS}/{alerts.id}/test", {"payload": payload}, headers=ADMIN).json
        assert (answer["matched"], answer["endsAlert"]) == expected
    assert alerts.is_on()


def test_a_key_of_several_paths_needs_all_its_values(alerts):
    options = {"restoreWhenResolved": RESOLVED | {"key": "groupKey , branch"}}
    alerts.id = alerts.set(filters=[FIRING], options=options)["id"]
    alerts.fire(branch="main")
    alerts.end(branch="other")
    alerts.end()
    alerts.work()
    assert not alerts.is_on()
    alerts.end(branch="main")
    alerts.work()
    assert alerts.is_on()
    options["restoreWhenResolved"]["key"] = "groupKey, "
    body = alerts.body(name="other", options=options)
    details = alerts.web.post_json(SETS, body, headers=ADMIN, status=400).json["details"]
    assert details[0]["path"] == "options.restoreWhenResolved.key"


@pytest.mark.parametrize("path", ["alerts[*].status", "status"])
def test_a_group_resolves_with_the_last_of_its_alerts(alerts, path):
    options = {"restoreWhenResolved": RESOLVED | {"path": path}}
    filters = [{"path": "alerts[*].status", "operator": "IN", "values": ["firing"]}]
    alerts.id = alerts.set(filters=filters, options=options)["id"]
    for is_on, states in (
        (False, ["firing", "firing"]),
        (False, ["resolved", "firing"]),
        (False, ["resolved", "truncated"]),  # those left out may still fire
        (True, ["resolved", "resolved"]),
    ):
        items = [state for state in states if state != "truncated"]
        status = "firing" if "firing" in items else "resolved"  # without those left out
        payload = {"groupKey": "a", "status": status, "truncatedAlerts": len(states) - len(items)}
        alerts.send(payload | {"alerts": [{"status": state} for state in items]})
        alerts.work()
        assert alerts.is_on() is is_on


def test_an_alert_that_resolves_while_its_set_is_disabled_fires_no_longer(alerts, pause):
    alerts.restoring()
    alerts.fire("a")
    alerts.work()
    alerts.post(f"{SETS}/{alerts.id}/off")
    alerts.fire("b")  # runs nothing
    alerts.end("a")
    alerts.work()
    assert not alerts.is_on()
    reason = "The alert resolved while the action set was disabled."
    assert alerts.history()[-1] == ("resolved", "suppressed", reason)
    alerts.post(f"{SETS}/{alerts.id}/on")
    alerts.fire("c")
    pause()
    alerts.end("c")
    alerts.work()
    assert alerts.is_on()
    assert alerts.history()[-1] == ("resolved", "success", "Reverted 1 of 1 change.")


def test_an_alert_that_resolves_in_a_dry_run_fires_no_longer(alerts, pause):
    alerts.restoring()
    alerts.fire("a")
    alerts.work()
    options = {"restoreWhenResolved": RESOLVED}
    alerts.put({"id": alerts.id}, filters=[FIRING], options=options | {"dryRun": True})
    alerts.end("a")
    alerts.work()
    assert not alerts.is_on()
    alerts.put({"id": alerts.id}, filters=[FIRING], options=options)
    alerts.fire("c")
    pause()
    alerts.end("c")
    alerts.work()
    assert alerts.is_on()


def test_an_alert_of_a_former_key_fires_no_longer(alerts, pause):
    alerts.restoring()
    alerts.fire("a")
    alerts.work()
    options = {"restoreWhenResolved": RESOLVED | {"key": "fingerprint"}}
    alerts.put({"id": alerts.id}, filters=[FIRING], options=options)
    alerts.send({"status": "firing", "fingerprint": "b"})
    pause()
    alerts.send({"status": "resolved", "fingerprint": "b"})
    alerts.work()
    assert alerts.is_on()
