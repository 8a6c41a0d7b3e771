"""The sentences of events."""

import json
import re
import time
from pathlib import Path

import pytest

import sigservice
from sigservice.services.system.event_sentences import compare_lines, describe_event

SERVICES = Path(sigservice.__file__).parent / "services"
VERBS = {
    *("added", "archived", "cancelled", "changed", "created", "deleted", "deprecated", "disabled"),
    *("enabled", "ended", "failed", "imported", "marked", "reactivated", "removed", "requested"),
    *("connected", "disconnected", "retried", "revived", "sent", "signed", "undid"),
    *("ignored", "stopped"),
}
CHECKOUT = {"feature_name": "checkout", "environment": "production", "project": "default"}


def make_event(type, data=None, before=None, **more):
    fields = {"project": None, "environment": None, "feature_name": None}
    texts = {"data": data and json.dumps(data), "pre_data": before and json.dumps(before)}
    return fields | texts | {"type": type} | more


def make_strategy(rollout, **more):
    return {"name": "flexibleRollout", "parameters": {"rollout": rollout, "groupId": "x"}} | more


CHANGES = {
    "changed the rollout of checkout from 25% to 50% in production": make_event(
        "feature-strategy-update", make_strategy("50"), make_strategy("25"), **CHECKOUT
    ),
    "changed the strategy b of checkout in production: 25% of users → 50% of users": make_event(
        "feature-strategy-update",
        make_strategy("50", title="b"),
        make_strategy("25", title="a"),
        **CHECKOUT,
    ),
    "enabled checkout in production": make_event("feature-environment-enabled", **CHECKOUT),
    "created the flag checkout": make_event("feature-created", **CHECKOUT),
    "added the tag simple:shop to checkout": make_event(
        "feature-tagged", {"type": "simple", "value": "shop"}, **CHECKOUT
    ),
    "changed the action set kill": make_event("actions-updated", {"name": "kill"}),
    "deleted the API token shop": make_event("api-token-deleted", None, {"tokenName": "shop"}),
    "sent the test signal 7 to deploys": make_event(
        "signal-sent", {"id": 7, "signalEndpointId": 2, "signalEndpoint": "deploys"}
    ),
    "changed the password of ed": make_event(
        "user-updated", {"id": 3, "username": "ed", "password": "changed"}
    ),
    "A guard of the release of checkout in production acted": make_event(
        "safeguard-triggered", {"text": "Rolled back checkout from 10% to 0%."}, **CHECKOUT
    ),
    "A guard of the release of checkout fires": make_event(
        "release-guard-fired", {"text": "A guard of the release of checkout fires."}, **CHECKOUT
    ),
    "Alert rule errors is firing: too many": make_event(
        "alert-rule-firing", {"ruleName": "errors", "reason": "too many"}
    ),
    "signed in": make_event("user-signed-in", {"username": "ada"}),
    "something new x": make_event("something-new", {"name": "x"}),
}


@pytest.mark.parametrize("sentence", CHANGES)
def test_event_is_a_sentence(sentence):
    assert describe_event(CHANGES[sentence]) == sentence


def test_each_recorded_type_begins_with_a_verb():
    source = "".join(path.read_text() for path in SERVICES.rglob("*.py"))
    types = set(re.findall(r'record(?:_many)?\(\s*conn,\s*"([a-z-]+)"', source))
    assert len(types) > 40
    sentences = {
        type: describe_event(make_event(type, {"name": "x"}, **CHECKOUT)) for type in types
    }
    assert {t: text for t, text in sentences.items() if text.split()[0] not in VERBS} == {}


def test_lines_that_differ_are_marked():
    event = make_event("x", {"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert compare_lines(event) == [
        (" ", "{"),
        (" ", '  "a": 1,'),
        ("-", '  "b": 3'),
        ("+", '  "b": 2'),
        (" ", "}"),
    ]


def test_a_change_of_many_similar_values_is_compared_fast():
    values = [
        {"values": [f"{letter}-{n * 7919 % 100_003}" for n in range(1000)]} for letter in "ab"
    ]
    start = time.thread_time()
    lines = compare_lines(make_event("segment-updated", *values))
    assert time.thread_time() - start < 1
    assert lines[:3] == [(" ", "{"), (" ", '  "values": ['), ("-", '    "b-0",')]
