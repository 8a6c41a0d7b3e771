"""Restoring what runs changed: by hand, by a timer, by a resolved alert, by another set."""

from __future__ import annotations

import pytest

from sigservice.jobs import retention
from tests.actions_kit import FLAGS, SETS
from tests.conftest import ADMIN

FIRING = {"status": {"operator": "IN", "values": ["firing"]}}
RESOLVED = {"path": "status", "values": ["resolved"], "key": "groupKey"}


def firing(key="k1"):
    return {"status": "firing", "groupKey": key}


def resolved(key="k1"):
    return {"status": "resolved", "groupKey": key}


def test_undo(alerts, web):
    one = alerts.set()
    alerts.send()
    alerts.work()
    (run,) = alerts.runs(one["id"])
    web.post(f"{SETS}/{one['id']}/events/{run['id']}/undo", headers=ADMIN, status=202)
    alerts.work()
    assert alerts.is_on()
    undo, undone = alerts.runs(one["id"])
    assert (undo["cause"], undo["state"], undo["restoresRunId"]) == ("undo", "success", run["id"])
    assert undone["restoredByRunId"] == undo["id"]


@pytest.mark.parametrize("is_by_tag", [False, True])
@pytest.mark.parametrize("is_changed", [False, True])
def test_undo_removes_the_strategy_that_enabling_added_unless_it_was_changed(
    alerts, is_by_tag, is_changed
):
    """Else the next "on" would give the feature to everyone."""
    alerts.web.post_json(FLAGS, {"name": "new"}, headers=ADMIN)
    alerts.tag("new")
    on = alerts.off("new") | {"action": "TOGGLE_FEATURE_ON"}
    one = alerts.set(acts=[alerts.by_tag(state="ON") if is_by_tag else on])
    alerts.send()
    alerts.work()
    path = f"{FLAGS}/new/environments/production/strategies"
    (strategy,) = alerts.web.get(path, headers=ADMIN).json
    if is_changed:
        parameters = strategy["parameters"] | {"rollout": "10"}
        body = strategy | {"parameters": parameters}
        alerts.web.put_json(f"{path}/{strategy['id']}", body, headers=ADMIN)
    (run,) = alerts.runs(one["id"])
    alerts.post(f"{SETS}/{one['id']}/events/{run['id']}/undo", 202)
    alerts.work()
    assert not alerts.is_on("new")
    assert len(alerts.web.get(path, headers=ADMIN).json) == is_changed


def test_restoring_after_minutes(alerts):
    one = alerts.set(options={"restoreAfterMinutes": 10})
    alerts.send()
    alerts.work()
    run = alerts.runs(one["id"])[0]
    assert run["restoreDueAt"] > run["finishedAt"]
    alerts.send()  # finds the flag off already: nothing to restore of that one
    alerts.work()
    assert alerts.runs(one["id"])[0]["restoreDueAt"] is None
    alerts.clock.advance(3600)
    assert alerts.work() == 1
    assert alerts.is_on()
    assert alerts.states(one["id"])[-1] == ("timer", "success")
    timer = alerts.runs(one["id"])[0]
    assert timer["restoresRunId"] == run["id"]
    assert timer["signalId"] is None
    assert alerts.events()[0]["createdBy"] == "robot"
    alerts.switch("checkout", "off")
    assert alerts.work() == 0
    assert not alerts.is_on()


def test_scheduled_restoring_can_be_cancelled_or_overtaken(alerts):
    one = alerts.set(options={"restoreAfterMinutes": 10})
    alerts.send()
    alerts.work()
    path = f"{SETS}/{one['id']}/events/{alerts.runs(one['id'])[0]['id']}"
    alerts.post(f"{path}/cancel-restore")
    assert alerts.runs(one["id"])[0]["restoreDueAt"] is None
    alerts.post(f"{path}/cancel-restore", 409)
    alerts.post(f"{path}/undo", 202)
    alerts.rows("UPDATE action_runs SET revert_due_at = 'epoch' WHERE cause = 'signal'")
    alerts.post(f"{path}/undo", 202)  # pressed twice, and the timer at the same time
    alerts.work()
    assert alerts.is_on()
    assert [state for _, state in alerts.states(one["id"])] == ["success"] * 4
    texts = [run["actionSet"]["actions"][0]["details"] for run in alerts.runs(one["id"])[::-1]]
    assert texts[1:] == ["Reverted 1 of 1 change."] + ["It was already reverted."] * 2
    alerts.post(f"{path}/undo", 409)


def test_undo_leaves_what_was_changed_since(alerts, web):
    for name in ("a", "b"):
        alerts.flag(name)
        alerts.tag(name)
    alerts.tag("checkout")
    one = alerts.set(acts=[alerts.by_tag()])
    alerts.send()
    alerts.work()
    web.post_json("/api/admin/projects/default/archive", {"features": ["a"]}, headers=ADMIN)
    alerts.switch("b", "on")
    (run,) = alerts.runs(one["id"])
    alerts.post(f"{SETS}/{one['id']}/events/{run['id']}/undo", 202)
    alerts.work()
    ((state, text),) = alerts.details(one["id"])
    assert state == "success"
    assert text.startswith("Reverted 1 of 3 changes.")
    assert "a is archived" in text
    assert "b in production was changed since." in text
    assert alerts.is_on("checkout")
    assert alerts.events()[0]["createdBy"] == "admin token"


def test_what_can_t_be_undone(alerts):
    one = alerts.set(payload=FIRING, options={"maxRunsPerHour": 2})
    alerts.switch("checkout", "off")
    alerts.send(firing())
    alerts.work()
    path = f"{SETS}/{one['id']}/events"
    nothing = alerts.runs(one["id"])[0]["id"]
    alerts.post(f"{path}/{nothing}/undo", 409)  # it changed nothing
    alerts.switch("checkout", "on")
    alerts.send(firing())
    alerts.work()
    alerts.send(firing())
    alerts.work()
    suppressed, changed = [run["id"] for run in alerts.runs(one["id"])[:2]]
    alerts.post(f"{path}/{suppressed}/undo", 409)
    alerts.post(f"{path}/{changed}/undo", 202)
    alerts.work()
    undo = alerts.runs(one["id"])[0]["id"]
    alerts.post(f"{path}/{undo}/undo", 409)
    for id in (0, 999_999, 2**63 - 1, 2**63):
        alerts.post(f"{path}/{id}/undo", 404)
        alerts.post(f"{path}/{id}/cancel-restore", 404)
        alerts.post(f"{SETS}/{id}/events/{changed}/undo", 404)
        alerts.post(f"/api/admin/projects/other/actions/{one['id']}/events/{changed}/undo", 404)


def test_a_resolved_alert_restores_all_that_its_repetitions_changed(alerts):
    alerts.tag("checkout")
    options = {"restoreWhenResolved": RESOLVED}
    one = alerts.set(payload=FIRING, acts=[alerts.by_tag()], options=options)
    alerts.send(firing())
    alerts.work()
    alerts.flag("late")
    alerts.tag("late")
    alerts.send(firing())
    alerts.work()
    assert (alerts.is_on(), alerts.is_on("late")) == (False, False)
    alerts.send(resolved())
    alerts.work()
    assert (alerts.is_on(), alerts.is_on("late")) == (True, True)
    restored = {run["restoredByRunId"] for run in alerts.runs(one["id"])[1:]}
    assert restored == {alerts.runs(one["id"])[0]["id"]}


@pytest.mark.parametrize("change", [None, {"disabled": True}])
def test_a_flag_whose_strategies_are_gone_stays_off(alerts, web, change):
    one = alerts.set(payload=FIRING, options={"restoreWhenResolved": RESOLVED})
    alerts.send(firing())
    alerts.work()
    strategies = f"{FLAGS}/checkout/environments/production/strategies"
    (strategy,) = web.get(strategies, headers=ADMIN).json
    path = f"{strategies}/{strategy['id']}"
    if change is None:
        web.delete(path, headers=ADMIN)
    else:
        web.put_json(path, strategy | change, headers=ADMIN)
    before = web.get(strategies, headers=ADMIN).json
    alerts.send(resolved())
    alerts.work()
    assert not alerts.is_on()
    text = "Reverted 0 of 1 change. checkout: It no longer has an active strategy."
    assert alerts.details(one["id"]) == [("success", text)]
    assert web.get(strategies, headers=ADMIN).json == before


@pytest.mark.parametrize("change", ["created again", "revived"])
def test_a_flag_that_was_created_again_or_revived_since_stays_off(alerts, web, change):
    one = alerts.set(payload=FIRING, options={"restoreWhenResolved": RESOLVED})
    alerts.send(firing())
    alerts.work()
    web.delete(f"{FLAGS}/checkout", headers=ADMIN)
    if change == "revived":
        web.post("/api/admin/archive/revive/checkout", headers=ADMIN)
    else:
        web.delete("/api/admin/archive/checkout", headers=ADMIN)
        alerts.flag("checkout")
        alerts.switch("checkout", "off")
    assert web.get("/api/admin/alerts", headers=ADMIN).json["alerts"] == []
    alerts.send(resolved())
    alerts.work()
    assert not alerts.is_on()
    text = "Reverted 0 of 1 change. checkout: It was created again or revived since."
    assert alerts.details(one["id"]) == [("success", text)]


def test_an_alert_that_fires_for_longer_than_runs_are_kept_is_reverted(alerts):
    one = alerts.set(payload=FIRING, options={"restoreWhenResolved": RESOLVED})
    alerts.send(firing())
    alerts.work()
    for _ in range(2):
        alerts.send(firing())  # changes nothing
    alerts.work()
    make_old = "UPDATE action_runs SET created_at = created_at - interval '91 days'"
    alerts.rows("UPDATE features SET created_at = created_at - interval '91 days'")
    alerts.rows(make_old)
    retention.run_once(alerts.service.context)
    assert len(alerts.runs(one["id"])) == 2  # the one that switched the flag, and the newest
    alerts.send(resolved())
    alerts.work()
    assert alerts.is_on()
    alerts.rows(make_old)
    retention.run_once(alerts.service.context)
    assert alerts.runs(one["id"]) == []


@pytest.mark.parametrize("was_on", [True, False])
def test_an_alert_that_is_not_resolved_is_forgotten_with_its_runs_unless_its_set_holds_a_flag(
    alerts, was_on
):
    alerts.set(payload=FIRING, options={"restoreWhenResolved": RESOLVED})
    alerts.switch("checkout", "on" if was_on else "off")
    alerts.send(firing())
    alerts.work()
    for table, column in (("alerts", "reported_at"), ("action_runs", "created_at")):
        alerts.rows(f"UPDATE {table} SET {column} = {column} - interval '91 days' RETURNING 1")
    retention.run_once(alerts.service.context)
    rows = [alerts.rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("alerts", "holds")]
    assert rows == [was_on, was_on]


def test_a_flag_is_held_however_often_its_alert_is_repeated(alerts, web):
    one = alerts.set(payload=FIRING, options={"restoreWhenResolved": RESOLVED})
    alerts.send(firing())
    alerts.work()
    first = alerts.runs(one["id"])[0]["id"]
    for _ in range(101):
        alerts.send(firing())
    alerts.work()
    (alert,) = web.get("/api/admin/alerts", headers=ADMIN).json["alerts"]
    assert (alert["runId"], alert["isFiring"]) == (first, True)
    newest = alerts.runs(one["id"])[0]
    assert (alert["since"] < alert["lastReportedAt"], alert["lastReportedAt"]) == (
        True,
        newest["createdAt"],
    )


@pytest.mark.parametrize("is_disabled", [False, True])
def test_old_runs_still_say_which_alerts_fire(alerts, is_disabled):
    one = alerts.set(payload=FIRING, options={"restoreWhenResolved": RESOLVED})
    for key in ("k1", "k2"):  # the second one changes nothing
        alerts.send(firing(key))
    alerts.work()
    if is_disabled:
        alerts.post(f"{SETS}/{one['id']}/off")
    alerts.send(resolved("k1"))
    alerts.work()
    alerts.post(f"{SETS}/{one['id']}/on")
    alerts.rows("UPDATE features SET created_at = created_at - interval '91 days'")
    alerts.rows("UPDATE action_runs SET created_at = created_at - interval '91 days'")
    retention.run_once(alerts.service.context)
    assert not alerts.is_on()
    alerts.send(firing("k3"))
    alerts.send(resolved("k3"))
    alerts.work()
    assert not alerts.is_on()
    text = "Another alert of this set still fires: k2"
    assert alerts.runs(one["id"])[0]["reason"] == text
    alerts.send(resolved("k2"))
    alerts.work()
    assert alerts.is_on()


@pytest.fixture
def two_sets(alerts):
    """Both disable the flag, for alerts of their own."""
    alerts.tag("checkout")
    ids = {}
    for name, act in {"a": alerts.off(), "b": alerts.by_tag()}.items():
        filters = [{"path": "set", "operator": "IN", "values": [name]}]
        options = {"restoreWhenResolved": RESOLVED}
        one = alerts.set(name=name, payload=FIRING, acts=[act], filters=filters, options=options)
        ids[name] = one["id"]
    return ids


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_flag_that_alerts_of_two_sets_disable_is_restored_with_the_last(
    alerts, two_sets, web, order, at_once
):
    def send(payload, name):
        alerts.send(payload(name) | {"set": name})
        if not at_once:
            alerts.work()

    for name in "abb":
        send(firing, name)
    alerts.work()
    rows = web.get("/api/admin/alerts", headers=ADMIN).json["alerts"]
    assert sorted(row["actionSet"]["name"] for row in rows) == ["a", "b"]
    first, last = order
    send(resolved, first)
    alerts.work()
    assert not alerts.is_on()
    text = f"Reverted 0 of 1 change. checkout in production: an alert of {last} still fires."
    assert alerts.details(two_sets[first])[0] == ("success", text)
    send(resolved, last)
    alerts.work()
    assert alerts.is_on()


def test_a_person_or_the_end_of_the_other_set_restores_a_shared_flag(alerts, two_sets, web):
    def fire():
        for name in "ab":
            alerts.send(firing(name) | {"set": name})
        alerts.work()

    def resolve():
        alerts.send(resolved("a") | {"set": "a"})
        alerts.work()

    fire()
    run = alerts.runs(two_sets["a"])[0]["id"]
    alerts.post(f"{SETS}/{two_sets['a']}/events/{run}/undo", 202)
    alerts.work()
    assert alerts.is_on()
    resolve()
    fire()
    web.post(f"{SETS}/{two_sets['b']}/off", headers=ADMIN)
    resolve()
    assert alerts.is_on()


def test_a_set_shares_a_flag_that_an_alert_of_a_disabled_set_disabled(alerts, two_sets, web):
    def send(payload, name):
        alerts.send(payload(name) | {"set": name})
        alerts.work()

    path = f"{SETS}/{two_sets['a']}"
    send(firing, "a")
    web.post(f"{path}/off", headers=ADMIN)
    send(firing, "b")
    web.post(f"{path}/on", headers=ADMIN)
    send(resolved, "a")
    assert not alerts.is_on()
    send(resolved, "b")
    assert alerts.is_on()


@pytest.mark.parametrize("change", ["other endpoint", "deleted endpoint", "no account"])
def test_a_set_whose_alert_can_t_resolve_keeps_no_flag(alerts, two_sets, web, make, change):
    path = f"{SETS}/{two_sets['a']}"
    (one,) = [row for row in web.get(SETS, headers=ADMIN).json["actions"] if row["name"] == "a"]
    former = make.endpoint("former")
    headers = {"Authorization": f"Bearer {make.token(former)['token']}"}

    def put(**more):
        web.put_json(path, one | more, headers=ADMIN)

    def send(payload):
        alerts.clock.advance(2)
        web.post_json("/api/signal-endpoint/former", payload | {"set": "a"}, headers=headers)
        alerts.work()

    put(match=one["match"] | {"sourceId": former["id"]})
    send(firing("a"))
    alerts.send(firing("b") | {"set": "b"})
    if change == "other endpoint":
        put()
    elif change == "deleted endpoint":
        web.delete(f"/api/admin/signal-endpoints/{former['id']}", headers=ADMIN)
    else:
        alerts.rows("UPDATE action_sets SET actor_id = 999 WHERE id = %s RETURNING id", one["id"])
        send(resolved("a"))
        assert alerts.states(one["id"])[-1] == ("resolved", "failed")
    alerts.send(resolved("b") | {"set": "b"})
    alerts.work()
    assert alerts.is_on()


def test_restoring_many_flags_is_one_revision(alerts):
    alerts.tag("checkout")
    for name in ("a", "b"):
        alerts.flag(name)
        alerts.tag(name)
    alerts.set(payload=FIRING, acts=[alerts.by_tag()], options={"restoreWhenResolved": RESOLVED})
    alerts.send(firing())
    alerts.work()
    query = "SELECT count(*) FROM revision_changes"
    ((before,),) = alerts.rows(query)
    alerts.send(resolved())
    alerts.work()
    assert alerts.rows(query) == [(before + 1,)]
    assert all(alerts.is_on(name) for name in ("checkout", "a", "b"))
    names = [event["featureName"] for event in alerts.events()[:3]]
    assert names == ["a", "b", "checkout"]  # newest first: the last change is reverted first
