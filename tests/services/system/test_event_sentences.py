"""The sentences of events."""

import json
import re
import time
from datetime import UTC, datetime, timedelta

from sigservice.clock import format_iso
from sigservice.services.integrations.integration_events import RECORDED
from sigservice.services.system.event_sentences import (
    compare_lines,
    describe_event,
    has_subject,
)
from tests.table_tests import each

VERBS = {
    *("added", "applied", "archived", "cancelled", "changed", "created", "deleted", "deprecated"),
    *("ended", "failed", "imported", "marked", "reactivated", "removed", "requested", "turned"),
    *("connected", "disconnected", "retried", "revived", "sent", "signed", "undid", "moved"),
    *("ignored", "stopped", "ran", "did", "reverted", "held", "started", "advanced", "resumed"),
    *("edited", "froze", "kept", "acted", "rolled", "finished", "would", "set"),
}
# What names nothing: an end without a name, two spaces, an empty quotation, a missing value.
FLAW = re.compile(r"\b(of|the|a|as|to|set|user|application|project)$|  |“”|None|^$")
RUN = {"runId": 3, "actionSetId": 2, "actionSetName": "kill"}
CHECKOUT = {"feature_name": "checkout", "environment": "production", "project": "default"}


def make_event(type, data=None, before=None, **more):
    fields = {"project": None, "environment": None, "feature_name": None, "created_by_user_id": 7}
    texts = {"data": data and json.dumps(data), "pre_data": before and json.dumps(before)}
    return fields | texts | {"type": type} | more


def make_strategy(rollout, **more):
    return {"name": "flexibleRollout", "parameters": {"rollout": rollout, "groupId": "x"}} | more


NOW = datetime(2026, 11, 29, 10, tzinfo=UTC)


def make_run(*flags, due=None, alert="", reason=None, cause="signal"):
    """The data of a run; without an `alert` it had none, None is one whose name is hidden."""
    return {
        "actionSetName": "k",
        "cause": cause,
        "reason": reason,
        "alert": None if alert == "" else {"name": alert, "endpoint": "shop"},
        "restoreDueAt": due and format_iso(NOW + timedelta(minutes=due)),
        "flags": [
            {
                "name": name,
                "environment": "staging" if after == 25 else "production",
                "after": after,
            }
            for name, after in flags
        ],
    }


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
    "turned checkout on in production": make_event("feature-environment-enabled", **CHECKOUT),
    "created the flag checkout": make_event("feature-created", **CHECKOUT),
    "added the tag simple:shop to checkout": make_event(
        "feature-tagged", {"type": "simple", "value": "shop"}, **CHECKOUT
    ),
    "changed the automation kill": make_event("actions-updated", {"name": "kill"}),
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
    "signed out": make_event("user-signed-out", {"id": 7, "username": "ada"}),
    "signed out bob": make_event("user-signed-out", {"id": 1, "username": "bob"}),
    "failed to sign in as bob": make_event("user-sign-in-failed", {"username": "bob"}),
    "failed to sign in": make_event("user-sign-in-failed", {"reason": "state"}),
    "30 more sign-ins failed": make_event("user-sign-ins-failed", {"count": 30, "byUser": {}}),
    "changed their own password": make_event(
        "user-updated", {"id": 7, "username": "ada", "password": "changed"}
    ),
    "ended sessions of their own": make_event("user-sessions-ended", {"sessionId": 5, "count": 1}),
    "ended the sessions of bob": make_event("user-sessions-ended", {"id": 1, "username": "bob"}),
    "created a reset link for bob": make_event(
        "password-link-created", {"id": 1, "username": "bob"}
    ),
    "created the personal token laptop": make_event(
        "pat-created", {"id": 5, "description": "laptop"}
    ),
    "deleted the application shop": make_event("application-deleted", None, {"appName": "shop"}),
    "changed the allowed origins of the frontend API": make_event(
        "setting-updated", {"frontendApiOrigins": ["*"]}
    ),
    "acted in an emergency: rolled back all releases, froze releases: “incident”": make_event(
        "emergency-started",
        {"rollBackReleases": True, "freezeReleases": True, "undoMinutes": 0, "reason": "incident"},
    ),
    "ended the emergency: releases are no longer frozen: “incident”": make_event(
        "emergency-ended", {"what": ["freeze"], "reason": "incident"}
    ),
    "created the tag simple:shop": make_event("tag-created", {"type": "simple", "value": "shop"}),
    "sent signal 3 to deploys again, as signal 7": make_event(
        "signal-sent", {"id": 7, "signalEndpointId": 2, "signalEndpoint": "deploys", "replayOf": 3}
    ),
    "changed the default strategy of the project default in production": make_event(
        "default-strategy-updated", make_strategy("50"), **CHECKOUT | {"feature_name": None}
    ),
    "added the parent flag shop to checkout": make_event(
        "feature-dependency-added", {"feature": "shop", "enabled": True}, **CHECKOUT
    ),
    "turned a, b and c off in production, set d to 25% in staging for 9 min: E (automation k)": (
        make_event(
            "action-run-succeeded",
            make_run(("a", False), ("b", False), ("c", False), ("d", 25), due=9, alert="E"),
            created_at=NOW,
        )
    ),
    "turned a back on in production, because the alert resolved (automation k)": make_event(
        "action-run-reverted", make_run(("a", True), cause="resolved")
    ),
    "failed to run the automation k: it is archived: an alert of shop": make_event(
        "action-run-failed", make_run(alert=None, reason="it is archived.")
    ),
    "undid run 3 of the automation kill": make_event("actions-undone", RUN),
    "cancelled the auto-revert of run 3 of the automation kill": make_event(
        "actions-restore-cancelled", RUN
    ),
    "ignored the alert of run 3 of the automation kill until it resolves": make_event(
        "actions-alert-ignored", RUN
    ),
    "stopped ignoring the alert of run 3 of the automation kill": make_event(
        "actions-alert-watched", RUN
    ),
    "something new x": make_event("something-new", {"name": "x"}),
}


@each("sentence", CHANGES)
def test_event_is_a_sentence(sentence):
    assert describe_event(CHANGES[sentence]) == sentence


def test_each_recorded_type_begins_with_a_verb_and_names_a_thing():
    types = {type for group in RECORDED.values() for type in group}
    events = {event["type"]: event for event in CHANGES.values()}
    data = {"id": 1, "name": "x", "text": "Held x.", "ruleName": "x"} | RUN
    for type in types - set(events):
        events[type] = make_event(type, data, **CHECKOUT)
    assert len(types) > 110
    assert list_flaws(events[type] for type in types) == []


def list_flaws(events):
    """The sentences that name nothing, or begin with neither a verb nor a subject."""
    sentences = [(event, describe_event(event)) for event in events]
    return [
        text
        for event, text in sentences
        if FLAW.search(text)
        or text == event["type"].replace("-", " ")
        or not (has_subject(event) or text.split()[0] in VERBS)
    ]


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
