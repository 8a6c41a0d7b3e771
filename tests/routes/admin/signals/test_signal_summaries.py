"""Summary, status and severity in the lists of signals."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ADMIN
from tests.routes.admin.signals.test_signal_endpoints import PATH

ALERT = {
    "status": "firing",
    "commonLabels": {"alertname": "Latency", "severity": "warning", "team": "shop"},
    "commonAnnotations": {"summary": "Slow"},
}


@pytest.fixture
def endpoint(admin):
    return admin.post(PATH, {"name": "alerts"}, 201)


@pytest.fixture
def send(admin, endpoint):
    """`send(payload)` returns the signal."""

    def post(payload):
        return admin.post(f"{PATH}/{endpoint['id']}/test-signal", {"payload": payload}, 201)

    return post


def states(signal):
    return signal["summary"], signal["status"], signal["severity"]


def test_every_form_of_a_signal_has_the_same_summary(admin, endpoint, send):
    signal = send(ALERT)
    assert states(signal) == (
        [{"label": "Alert", "text": "Latency"}, {"label": "Summary", "text": "Slow"}],
        "firing",
        "warning",
    )
    (in_list,) = admin.get(f"{PATH}/{endpoint['id']}/signals")["signalEndpointSignals"]
    (in_all,) = admin.get("/api/admin/signals")["signals"]
    alone = admin.get(f"{PATH}/{endpoint['id']}/signals/{signal['id']}")
    for other in (in_list, in_all, alone):
        assert states(other) == states(signal)


def test_a_new_summary_applies_to_old_signals(admin, endpoint, send):
    send(ALERT)
    options = {
        "summary": [{"label": "Team", "path": "commonLabels.team"}],
        "statusPath": "commonLabels.severity",
        "severityPath": "nowhere",
    }
    admin.put(f"{PATH}/{endpoint['id']}", {"name": "alerts", "options": options})
    (signal,) = admin.get("/api/admin/signals")["signals"]
    assert states(signal) == ([{"label": "Team", "text": "shop"}], "firing", "")


def test_each_signal_is_summarized_as_its_endpoint_says(admin, endpoint, send):
    send({"a": 1})
    options = {"summary": [{"label": "B", "path": "b"}]}
    other = admin.post(PATH, {"name": "other", "options": options}, 201)
    admin.post(f"{PATH}/{other['id']}/test-signal", {"payload": {"a": 1, "b": 2}}, 201)
    newest, oldest = admin.get("/api/admin/signals")["signals"]
    assert newest["summary"] == [{"label": "B", "text": "2"}]
    assert oldest["summary"] == [{"label": "a", "text": "1"}]


def test_the_response_to_a_sender_has_no_summary(web, make):
    token = make.token(make.endpoint())
    answer = web.post(
        "/api/signal-endpoint/deploys",
        json.dumps(ALERT),
        headers={"Authorization": token["token"]},
        content_type="application/json",
    )
    assert "summary" not in answer.json["signals"][0]
    assert web.get("/api/admin/signals", headers=ADMIN).json["signals"][0]["status"] == "firing"
