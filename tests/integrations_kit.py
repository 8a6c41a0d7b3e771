"""Integrations of a service, and the receiver that records what they send."""

from __future__ import annotations

import json

import webtest

from sigservice.jobs import integrations as job
from tests.conftest import ADMIN
from tests.receiver import Receiver
from tests.waiting import until

ADDONS = "/api/admin/addons"
FEATURES = "/api/admin/projects/default/features"
URL = "https://flags.example/sub"
ENVIRON = {"SERVICE_WEBHOOK_ALLOWED_HOSTS": "127.0.0.1", "SERVICE_URL": URL}


def make_body(url="https://hooks.example/x", **more):
    body = {"provider": "webhook", "enabled": True, "events": ["feature-created"]}
    return body | {"parameters": {"url": url}} | more


class Integrations:
    """`run` sends what is due."""

    def __init__(self, service, receiver: Receiver, clock) -> None:
        self.service, self.receiver, self.clock = service, receiver, clock
        self.web = webtest.TestApp(service.app)

    def call(self, method, path, body=None, status=None, headers=ADMIN):
        if body is None:
            response = getattr(self.web, method)(path, headers=headers, status=status)
        else:
            send = getattr(self.web, f"{method}_json")
            response = send(path, body, headers=headers, status=status)
        return response.json if response.body[:1] in (b"{", b"[") else None

    def create(self, url="", **more):
        body = make_body(url or f"{self.receiver.url}/hook", **more)
        return self.call("post", ADDONS, body, 201)["id"]

    def flag(self, name="f1", **more):
        self.call("post", FEATURES, {"name": name, **more}, 201)

    def run(self):
        """Returns when no sender runs."""
        job.run_once(self.service.context)
        until(lambda: not self.service.context.integration_senders, "the end of all senders")

    def deliveries(self, id):
        return self.call("get", f"{ADDONS}/{id}/deliveries", status=200)["deliveries"]

    def entries(self, id):
        return self.call("get", f"{ADDONS}/{id}/events", status=200)["integrationEvents"]

    def states(self, id):
        """Oldest first."""
        return [(one["state"], one["lastError"]) for one in self.deliveries(id)][::-1]

    def bodies(self):
        return [json.loads(one.body) for one in self.receiver.requests]
