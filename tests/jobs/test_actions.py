"""Actions: from a signal to a flag, as the worker does it, on the real database."""

from __future__ import annotations

import pytest

from sigservice.jobs import actions
from tests.conftest import ADMIN

FLAGS = "/api/admin/projects/default/features"
SETS = "/api/admin/projects/default/actions"


class Alerts:
    """An endpoint with a token, a flag that is on in production, an account to act as."""

    def __init__(self, service, web, make):
        self.service, self.web = service, web
        self.endpoint = make.endpoint("alerts")
        self.token = make.token(self.endpoint)["token"]
        self.clock = service.context.clock
        self.account = web.post_json(
            "/api/admin/service-account",
            {"username": "robot", "name": "Robot", "rootRole": "Editor"},
            headers=ADMIN,
        ).json["id"]
        self.flag("checkout")

    def flag(self, name, **body):
        self.web.post_json(FLAGS, {"name": name} | body, headers=ADMIN)
        self.switch(name, "on")

    def switch(self, name, state):
        self.web.post(f"{FLAGS}/{name}/environments/production/{state}", headers=ADMIN)

    def is_on(self, name="checkout"):
        path = f"{FLAGS}/{name}/environments/production"
        return self.web.get(path, headers=ADMIN).json["enabled"]

    def body(self, payload=None, filters=(), acts=None, **more):
        off = {"environment": "production", "featureName": "checkout"}
        acts = acts or [{"action": "TOGGLE_FEATURE_OFF", "executionParams": off}]
        return {
            "name": "kill checkout",
            "actorId": self.account,
            "match": {
                "source": "signal-endpoint",
                "sourceId": self.endpoint["id"],
                "payload": payload or {},
                "filters": list(filters),
            },
            "actions": [act | {"sortOrder": n} for n, act in enumerate(acts, 1)],
        } | more

    def set(self, **more):
        return self.web.post_json(SETS, self.body(**more), headers=ADMIN).json

    def send(self, payload=None):
        self.clock.advance(2)  # past the limit of one a second
        answer = self.web.post_json(
            "/api/signal-endpoint/alerts",
            {} if payload is None else payload,
            headers={"Authorization": f"Bearer {self.token}"},
        )
        return answer.json["signals"][0]["id"]

    def work(self):
        return actions.run_once(self.service.context)

    def runs(self, set_id):
        return self.web.get(f"{SETS}/{set_id}/events", headers=ADMIN).json["actionSetEvents"]


@pytest.fixture
def alerts(service, web, make):
    return Alerts(service, web, make)


def test_a_signal_switches_a_flag(alerts, web):
    one = alerts.set(payload={"status": {"operator": "IN", "values": ["firing"]}})
    assert one["actions"][0]["createdAt"] == one["createdAt"]
    signal = alerts.send({"status": "firing"})
    assert alerts.work() == 1
    assert not alerts.is_on()
    (run,) = alerts.runs(one["id"])
    assert (run["state"], run["signalId"], run["cause"]) == ("success", signal, "signal")
    (act,) = run["actionSet"]["actions"]
    assert (act["state"], act["details"]) == ("success", "Switched checkout in production off.")
    assert run["signal"]["payload"] == {"status": "firing"}
    event = web.get("/api/admin/events/checkout", headers=ADMIN).json["events"][0]
    assert (event["type"], event["createdBy"]) == ("feature-environment-disabled", "robot")


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
