"""What the tests of actions need: an endpoint, a flag, an account, and a worker that is called."""

from __future__ import annotations

import json

from sigservice.jobs import actions
from tests.conftest import ADMIN
from tests.repository.kit import run

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

    def off(self, name="checkout"):
        params = {"environment": "production", "featureName": name}
        return {"action": "TOGGLE_FEATURE_OFF", "executionParams": params}

    def by_tag(self, tag="simple:pay", state="OFF"):
        params = {"environment": "production", "tag": tag}
        return {"action": f"TOGGLE_FEATURES_{state}_BY_TAG", "executionParams": params}

    def tag(self, name, value="pay"):
        body = {"type": "simple", "value": value}
        self.web.post_json(f"/api/admin/features/{name}/tags", body, headers=ADMIN, status=201)

    def switch(self, name, state):
        self.web.post(f"{FLAGS}/{name}/environments/production/{state}", headers=ADMIN)

    def is_on(self, name="checkout"):
        path = f"{FLAGS}/{name}/environments/production"
        return self.web.get(path, headers=ADMIN).json["enabled"]

    def body(self, payload=None, filters=(), acts=None, **more):
        acts = acts or [self.off()]
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
        return self.web.post_json(SETS, self.body(**more), headers=ADMIN, status=201).json

    def put(self, one, **more):
        path = f"{SETS}/{one['id']}"
        return self.web.put_json(path, self.body(**more), headers=ADMIN, status=200).json

    def post(self, path, status=200):
        return self.web.post(path, headers=ADMIN, status=status)

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
        """Newest first."""
        return self.web.get(f"{SETS}/{set_id}/events", headers=ADMIN).json["actionSetEvents"]

    def states(self, set_id):
        """Oldest first: (cause, state) of the runs."""
        return [(run["cause"], run["state"]) for run in self.runs(set_id)[::-1]]

    def details(self, set_id):
        """Of the newest run's actions: (state, details)."""
        return [(a["state"], a["details"]) for a in self.runs(set_id)[0]["actionSet"]["actions"]]

    def rows(self, statement, *values):
        """A statement of the test's own."""
        with self.service.context.database.autocommit() as conn:
            return run(conn, statement, *values)

    def list_results(self, signal):
        ((results,),) = self.rows("SELECT results FROM signal_results WHERE signal_id = %s", signal)
        return json.loads(results) if isinstance(results, str) else results

    def queued(self):
        return self.rows("SELECT count(*) FROM signal_queue")[0][0]

    def events(self, **query):
        results = self.web.get("/api/admin/events", query, headers=ADMIN).json["events"]
        return [event for event in results if event["type"].startswith(("actions-", "feature-env"))]

    def read_state(self):
        """The rows that a read must not change."""
        tables = ("features", "feature_environments", "feature_strategies", "events", "revisions")
        tables += ("action_sets", "actions", "action_runs", "signal_queue", "signals")
        return [self.rows(f"SELECT x::text FROM {table} x ORDER BY 1") for table in tables]
