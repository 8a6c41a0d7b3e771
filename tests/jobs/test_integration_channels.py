"""Deliveries to several channels of Slack: only those that failed get it again."""

from __future__ import annotations

import json
import threading

import pytest

from sigservice.jobs import integrations as job
from sigservice.services.integrations import integration_delivery
from tests.conftest import ADMIN
from tests.integrations_kit import ADDONS, ENVIRON, FEATURES, Integrations
from tests.waiting import until

PROVIDERS = ("slack", "slack-app")
CHANNELS = ("aa", "bb", "cc")
NOT_FOUND = {"ok": False, "error": "channel_not_found"}


class Slack:
    """Answers of channels by name: a status, or what the API says; the others accept."""

    def __init__(self, receiver) -> None:
        self.receiver, self.answers = receiver, {}
        receiver.answer = self.answer

    def answer(self, request):
        answer = self.answers.get(find_channel(request), 200)
        status = answer if isinstance(answer, int) else 200
        return status, json.dumps({"ok": True} if answer == status else answer).encode()

    @property
    def channels(self):
        return [find_channel(request) for request in self.receiver.requests]

    def forget(self):
        self.receiver.requests.clear()


def find_channel(request):
    return json.loads(request.body)["channel"].removeprefix("#")


@pytest.fixture
def slack(receiver):
    return Slack(receiver)


@pytest.fixture
def kit(make_service, receiver, clock):
    environ = ENVIRON | {"SERVICE_SLACK_API_URL": f"{receiver.url}/api"}
    return Integrations(make_service(environ=environ), receiver, clock)


def create(kit, provider, **more):
    """An integration, and a flag with three channels."""
    parameters = {"accessToken": "xoxb-1"}
    if provider == "slack":
        parameters = {"url": f"{kit.receiver.url}/hook", "defaultChannel": "general"}
    events = ["feature-archived"]
    id = kit.create(provider=provider, parameters=parameters, events=events, **more)
    for name in ("f1", "f2"):
        kit.flag(name)
        for channel in CHANNELS:
            tag = {"type": "slack", "value": channel}
            kit.call("post", f"/api/admin/features/{name}/tags", tag, 201)
    return id


def archive(kit, name="f1"):
    kit.web.delete(f"{FEATURES}/{name}", headers=ADMIN)
    kit.run()


def retry(kit, id):
    kit.call("post", f"{ADDONS}/{id}/deliveries/{kit.deliveries(id)[0]['id']}/retry", {}, 202)
    kit.run()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_retry_goes_to_the_channels_that_failed(provider, kit, slack):
    id = create(kit, provider)
    slack.answers = {"bb": 503}
    archive(kit)
    assert slack.channels == ["aa", "bb", "cc"]
    assert kit.states(id) == [("waiting", "bb: The server responded with status 503.")]
    assert kit.entries(id)[0]["state"] == "failed"
    slack.answers = {}
    kit.clock.advance(7)
    kit.run()
    assert slack.channels == ["aa", "bb", "cc", "bb"]
    assert kit.states(id) == [("sent", None)]
    entry = kit.entries(id)[0]
    assert (entry["state"], sorted(entry["details"]["channels"])) == ("success", ["aa", "bb", "cc"])
    assert "bb: The receiver answered 200 in " in entry["stateDetails"]


def test_a_channel_that_is_given_up_is_shown_and_retried_alone_by_hand(kit, slack):
    id = create(kit, "slack-app")
    slack.answers = {"bb": NOT_FOUND, "cc": 500}
    archive(kit)
    assert kit.entries(id)[0]["state"] == "failed", "it waits for cc"
    slack.answers = {"bb": NOT_FOUND}
    kit.clock.advance(7)
    kit.run()
    assert slack.channels == ["aa", "bb", "cc", "cc"]
    text = "bb: Slack responded: channel_not_found."
    assert kit.states(id) == [("given up", text)]
    entry = kit.entries(id)[0]
    assert (entry["state"], entry["stateDetails"]) == ("successWithErrors", text)
    slack.forget()
    retry(kit, id)
    assert slack.channels == ["bb"]
    assert kit.states(id) == [("given up", text)]
    slack.answers = {}
    retry(kit, id)
    assert slack.channels == ["bb", "bb"]
    assert kit.entries(id)[0]["state"] == "success"


def test_a_retry_by_hand_of_a_waiting_delivery_repeats_what_was_given_up_too(kit, slack):
    id = create(kit, "slack-app")
    slack.answers = {"bb": NOT_FOUND, "cc": 500}
    archive(kit)
    slack.answers = {}
    retry(kit, id)
    assert slack.channels == ["aa", "bb", "cc", "bb", "cc"]
    assert kit.states(id) == [("sent", None)]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_ten_attempts_give_up_only_the_channels_that_failed(provider, kit, slack):
    id = create(kit, provider)
    slack.answers = {"aa": 500}
    archive(kit)
    for _ in range(10):
        kit.clock.advance(7200)
        kit.run()
    assert sorted(slack.channels) == ["aa"] * 10 + ["bb", "cc"]
    assert kit.states(id)[0][0] == "given up"
    assert kit.entries(id)[0]["state"] == "successWithErrors"


def test_a_delivery_that_no_channel_accepts_has_failed(kit, slack):
    id = create(kit, "slack-app")
    slack.answers = dict.fromkeys(CHANNELS, NOT_FOUND)
    archive(kit)
    assert kit.entries(id)[0]["state"] == "failed"
    assert kit.states(id)[0][0] == "given up"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_kill_between_channels_repeats_only_the_one_in_flight(provider, kit, slack, monkeypatch):
    id = create(kit, provider)

    def answer(request):
        if find_channel(request) == "cc":  # and the process dies: nothing more is stored
            kit.service.context.stopping.set()
            monkeypatch.setattr(job, "_settle", lambda *_: False)
        return 200, b'{"ok": true}'

    slack.receiver.answer = answer
    archive(kit)
    assert slack.channels == ["aa", "bb", "cc"]
    monkeypatch.undo()
    kit.service.context.stopping.clear()
    slack.receiver.answer = slack.answer
    kit.run()
    assert slack.channels == ["aa", "bb", "cc", "cc"]
    assert kit.states(id) == [("sent", None)]


def test_the_longest_pause_that_a_channel_wants_is_kept(kit, slack):
    id = create(kit, "slack")
    slack.receiver.answer = None
    slack.receiver.answers = [(429, {"Retry-After": "600"}), (500, {}), (204, {})]
    archive(kit)
    kit.clock.advance(599)
    kit.run()
    assert len(slack.channels) == 3
    kit.clock.advance(1)
    kit.run()
    assert slack.channels == ["aa", "bb", "cc", "aa", "bb"]
    assert kit.states(id) == [("sent", None)]


def test_channels_without_time_follow_at_once_and_the_attempt_does_not_count(
    kit, slack, monkeypatch, rows
):
    id = create(kit, "slack")
    monkeypatch.setattr(integration_delivery, "_START_SECONDS", -1)
    archive(kit, "f1")
    archive(kit, "f2")
    assert slack.channels == ["aa", "bb", "cc"] * 2
    assert rows("SELECT attempts FROM outbox ORDER BY id") == [(1,), (1,)]
    assert [state for state, _ in kit.states(id)] == ["sent"] * 2


def test_a_disabled_integration_sends_to_no_further_channel(kit, slack):
    id = create(kit, "slack-app")
    slack.receiver.hold = threading.Event()
    kit.web.delete(f"{FEATURES}/f1", headers=ADMIN)
    job.run_once(kit.service.context)
    until(lambda: slack.channels, "the first channel")
    body = {"provider": "slack-app", "enabled": False, "events": ["feature-archived"]}
    kit.call("put", f"{ADDONS}/{id}", body | {"parameters": {"accessToken": "*****"}}, 200)
    slack.receiver.hold.set()
    until(lambda: not kit.service.context.integration_senders, "the end of all senders")
    assert slack.channels == ["aa"]


def test_a_receiver_that_is_gone_gets_no_further_channel(kit, slack):
    id = create(kit, "slack")
    slack.answers = {"aa": 410}
    archive(kit)
    assert slack.channels == ["aa"]
    assert "410" in kit.call("get", f"{ADDONS}/{id}")["disabledReason"]
