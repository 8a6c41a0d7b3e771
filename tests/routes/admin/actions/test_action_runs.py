"""The admin API of runs: history, the tester, undo and cancelling."""

from __future__ import annotations

import json

import pytest

from tests.actions_kit import SETS
from tests.conftest import ADMIN

FIRING = {"status": {"operator": "IN", "values": ["firing"]}}


def perform_dry_run(alerts, one, status=200, **body):
    path = f"{SETS}/{one['id']}/test"
    return alerts.web.post_json(path, body, headers=ADMIN, status=status).json


def test_the_shape_of_a_run(alerts, web):
    one = alerts.set(acts=[alerts.off(), alerts.off()])
    signal = alerts.send({"n": [1, "é"]})
    alerts.work()
    answer = web.get(f"{SETS}/{one['id']}/events", headers=ADMIN).json
    (run,) = answer["actionSetEvents"]
    path = f"{SETS}/{one['id']}/events/{run['id']}"
    assert web.get(path, headers=ADMIN).json == run
    expected = {"id", "actionSetId", "signalId", "createdAt", "state", "signal", "actionSet"}
    assert expected <= set(run)
    assert (run["actionSetId"], run["signalId"], run["state"]) == (one["id"], signal, "success")
    snapshot = run["signal"]
    assert snapshot.pop("createdAt").endswith("Z")
    assert snapshot == {
        "id": signal,
        "source": "signal-endpoint",
        "sourceId": alerts.endpoint["id"],
        "createdBySourceTokenId": snapshot["createdBySourceTokenId"],
        "payload": {"n": [1, "é"]},
    }
    copy = run["actionSet"]
    for action in copy.pop("actions"):
        assert action["state"] == "success"
        assert action["details"]
        assert action["startedAt"] <= action["finishedAt"]
    assert copy == {name: value for name, value in one.items() if name != "actions"}
    assert run["durationMs"] >= 0
    assert run["reason"] is run["restoredByRunId"] is run["restoresRunId"] is None


def test_pages_of_the_history(alerts, web):
    one = alerts.set()
    signals = [alerts.send() for _ in range(5)]
    alerts.work()
    path = f"{SETS}/{one['id']}/events"

    def page(query):
        results = web.get(f"{path}?{query}", headers=ADMIN).json["actionSetEvents"]
        return [run["signalId"] for run in results]

    assert page("") == signals[::-1]
    assert page("limit=2") == signals[:2:-1]
    assert page("limit=2&offset=2") == [signals[2], signals[1]]
    assert page("offset=9") == []
    for query in ("limit=0", "limit=-1", "limit=x", "limit=1001", "offset=-1", "before=0"):
        web.get(f"{path}?{query}", headers=ADMIN, status=400)


def test_the_tester_tells_and_changes_nothing(alerts):
    alerts.flag("tagged")
    alerts.tag("tagged")
    low = {"path": "n", "operator": "NUM_LT", "value": 5, "inverted": True}
    either = {"any": [{"path": "a", "operator": "EXISTS"}, low]}
    acts = [alerts.off(), alerts.off(), alerts.by_tag()]
    one = alerts.set(payload=FIRING, filters=[either], acts=acts)
    alerts.post(f"{SETS}/{one['id']}/off")
    signal = alerts.send({"status": "firing", "n": 7})
    before = alerts.read_state()
    trial = perform_dry_run(alerts, one, signalId=signal)
    assert (trial["matched"], trial["enabled"], trial["armed"]) == (True, False, True)
    first, second = trial["filters"]
    assert (first["path"], first["found"], first["matched"]) == ("status", "firing", True)
    assert [(inner["found"], inner["matched"]) for inner in second["any"]] == [
        (None, False),
        ("7", True),
    ]
    assert [(act["wouldSucceed"], len(act["changes"])) for act in trial["actions"]] == [
        (True, 1),
        (True, 0),  # each builds upon the ones before
        (True, 1),
    ]
    assert trial["actions"][0]["changes"][0] == {
        "what": "state",
        "feature": "checkout",
        "environment": "production",
        "before": True,
        "after": False,
        "strategy": "",
    }
    trial = perform_dry_run(alerts, one, payload={"status": "resolved"})
    assert trial["matched"] is False
    assert [result["matched"] for result in trial["filters"]] == [False, False]
    for payload in (None, [], 0, "x", {"status": ["firing"]}, {"status": int("9" * 400)}):
        assert perform_dry_run(alerts, one, payload=payload)["matched"] is False
    assert perform_dry_run(alerts, one)["matched"] is False
    assert alerts.read_state() == before
    assert alerts.is_on()
    assert alerts.is_on("tagged")


@pytest.mark.parametrize("carry_on", [False, True])
def test_the_tester_ends_where_a_run_would(alerts, carry_on):
    alerts.flag("second")
    alerts.flag("gone")
    acts = [alerts.off("gone"), alerts.off("second")]
    one = alerts.set(acts=acts, options={"continueOnFailure": carry_on})
    path = "/api/admin/projects/default/archive"
    alerts.web.post_json(path, {"features": ["gone"]}, headers=ADMIN)
    before = alerts.read_state()
    trial = perform_dry_run(alerts, one, payload={})
    assert [act["wouldSucceed"] for act in trial["actions"]] == [False, True][: 1 + carry_on]
    assert trial["actions"][0]["details"] == "gone is archived. Revive it first."
    alerts.web.delete(f"/api/admin/service-account/{alerts.account}", headers=ADMIN)
    assert "was deleted" in perform_dry_run(alerts, one, payload={})["actions"][0]["details"]
    assert alerts.read_state()[:3] == before[:3]


def test_the_tester_refuses(alerts, web):
    one = alerts.set()
    path = f"{SETS}/{one['id']}/test"
    other = web.post_json("/api/admin/signal-endpoints", {"name": "other"}, headers=ADMIN).json[
        "id"
    ]
    signal = alerts.send()
    for id in (0, -1, signal + 1, 2**31, 2**63, 2**70):
        answer = web.post_json(path, {"signalId": id}, headers=ADMIN, expect_errors=True)
        assert answer.status_int in (400, 404), id
    moved = alerts.body()
    moved["match"]["sourceId"] = other
    web.put_json(f"{SETS}/{one['id']}", moved, headers=ADMIN)
    web.post_json(path, {"signalId": signal}, headers=ADMIN, status=404)  # another endpoint's


def name_run(one, run):
    return {"runId": run["id"], "actionSetId": one["id"], "actionSetName": one["name"]}


def test_undo_is_asked_for_by_a_person_and_told(alerts, cast):
    one = alerts.set()
    alerts.send()
    alerts.work()
    (run,) = alerts.runs(one["id"])
    ada = cast.signed_in("ada")
    path = f"{SETS}/{one['id']}/events/{run['id']}"
    ada.post(f"{path}/undo", status=403)  # without the token against forgery
    answer = ada.post(f"{path}/undo", headers={"X-CSRF-Token": ada.csrf}, status=202)
    assert not alerts.is_on()  # the worker does it
    assert alerts.events()[0]["type"] == "actions-undone"
    assert alerts.events()[0]["data"] == name_run(one, run)
    alerts.work()
    assert alerts.is_on()
    assert alerts.runs(one["id"])[0]["id"] == answer.json["id"]
    assert alerts.events()[0]["createdBy"] == "ada"
    assert alerts.events()[0]["type"] == "feature-environment-enabled"


def test_cancelling_is_told(alerts):
    one = alerts.set(options={"restoreAfterMinutes": 1})
    alerts.send()
    alerts.work()
    (run,) = alerts.runs(one["id"])
    alerts.post(f"{SETS}/{one['id']}/events/{run['id']}/cancel-restore")
    event = alerts.events()[0]
    assert (event["type"], event["data"]) == ("actions-restore-cancelled", name_run(one, run))
    alerts.rows("UPDATE action_runs SET finished_at = now() - interval '1 day'")
    assert alerts.work() == 0
    assert json.dumps(alerts.runs(one["id"])[0]["restoreDueAt"]) == "null"
