"""Messages and audit entries about releases: one sentence everywhere."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ADMIN
from tests.jobs.release_kit import Releases


@pytest.fixture
def kit(make_service, clock, receiver):
    service = make_service({"webhooks": {"allowedHosts": ["127.0.0.1"], "allowPrivate": False}})
    return Releases(service, clock)


def test_a_rollback_is_in_the_audit_log_and_notified_with_the_same_sentence(kit, receiver):
    url = f"{receiver.url}/hook?key=s3cret"
    channel = {"type": "webhook", "url": url, "on": ["rolledBack"]}
    release = kit.create(guards=[kit.guard(kit.endpoint())], notifications=[channel])
    assert url not in str(release["notifications"])
    kit.signal("firing")
    text = kit.events(release)[-1]["text"]
    events = kit.get("/api/admin/events/checkout")["events"]
    logged = {event["type"]: event["data"] for event in events}
    assert logged["release-rolled-back"]["text"] == text
    assert "release-guard-fired" in logged
    kit.notify()
    (body,) = [json.loads(request.body) for request in receiver.requests]
    assert (body["type"], body["data"]["text"]) == ("release.rolledBack", text)


def test_a_dry_run_notifies_what_it_would_have_done(kit, receiver):
    channel = {"type": "webhook", "url": f"{receiver.url}/hook", "on": ["wouldAct"]}
    kit.create(guards=[kit.guard(kit.endpoint(), dryRun=True)], notifications=[channel])
    kit.signal("firing")
    kit.notify()
    (request,) = receiver.requests
    assert json.loads(request.body)["type"] == "release.wouldRollBack"


def test_a_metric_counts_the_events(kit):
    release = kit.create()
    kit.command(release, "rollback")
    page = kit.web.get("/internal-backstage/prometheus", headers=ADMIN).text
    assert 'release_events_total{type="rolledBack"} 1.0' in page
    assert 'release_events_total{type="started"} 1.0' in page
