"""The summary of a signal: configured fields, known senders, other payloads, hostile ones."""

from __future__ import annotations

import time

import msgspec

from sigservice.senders import SENDERS
from sigservice.services.signals.endpoint_options import EndpointOptions, SummaryField
from sigservice.services.signals.signal_summaries import (
    MAX_TEXT_LENGTH,
    Summarizer,
    summarize_row,
)
from tests.table_tests import each

AUTOMATIC = Summarizer(EndpointOptions())
KNOWN = {
    "alertmanager": "Alert: HighErrorRate · Summary: 5% of the requests fail",
    "grafana": "Alert: Checkout errors · Summary: More than 2% of the checkouts fail",
    "sentry": "Issue: PaymentError: the gateway does not answer · Project: shop",
    "pagerduty": "Event: incident.triggered · Title: Checkouts fail · Service: shop",
    "github": "Workflow: Smoke test · Conclusion: failure · Branch: main · "
    "Repository: example/shop",
    "generic": "type: alert · title: 5% of the checkouts fail · status: firing · "
    "key: checkout-errors",
}
UNKNOWN = [
    (
        {"type": "deploy", "data": {"app": "shop", "ok": True}},
        "type: deploy · app: shop · ok: true",
    ),
    ({"message": "Disk full", "host": "db-1"}, "message: Disk full · host: db-1"),
    ({"a": [{"b": [1, 2.0]}], "c": None}, "a[0].b[0]: 1 · a[0].b[1]: 2"),
    ({"n": 12345678901234567890123, "x": 1e308}, "n: 12345678901234567890123 · x: 1e308"),
    ({"commonLabels": 5, "event": [], "data": {"issue": None}}, "commonLabels: 5"),
    ([{"a": 1}], "[0].a: 1"),
    ({}, "{}"),
    ([], "[]"),
    ("text", "text"),
    (False, "false"),
    (None, "null"),
    ({"involvedObject": {"kind": "Pod"}, "reason": "BackOff"}, "Reason: BackOff · Kind: Pod"),
    ({"specversion": "1.0", "type": "com.x", "source": "/a"}, "Type: com.x · Source: /a"),
    ({"TopicArn": "arn:x", "Message": "m", "Type": "N"}, "Message: m · Topic: arn:x"),
    ({"repository": {"full_name": "a/b"}, "ref": "v1"}, "Repository: a/b · Ref: v1"),
]


def configure(*fields, **more):
    summary = [SummaryField(label=label, path=path) for label, path in fields]
    return Summarizer(EndpointOptions(summary=summary, **more))


NAMES = [
    (SENDERS["alertmanager"].samples.firing, KNOWN["alertmanager"]),
    (SENDERS["generic"].samples.firing, "title: 5% of the checkouts fail"),
    ({"message": "Disk full", "password": "hunter2"}, "message: Disk full"),
    ({"data": {"rule": "Slow", "reason": "p95 is 2 s"}}, "Alert: Slow · Reason: p95 is 2 s"),
    ({"user": {"name": "hunter2"}}, ""),
    ("hunter2", ""),
]


@each("row", NAMES)
def test_summary_for_users_who_may_not_read_payloads_has_only_names(row):
    payload, text = row
    assert Summarizer(EndpointOptions(), names_only=True).summarize(payload).text == text


@each("name", KNOWN)
def test_known_sender_is_summarized_by_the_members_that_matter(name):
    assert AUTOMATIC.summarize(SENDERS[name].samples.firing).text == KNOWN[name]


@each("row", UNKNOWN)
def test_other_payload_is_summarized_by_its_first_values(row):
    payload, text = row
    assert AUTOMATIC.summarize(payload).text == text


def test_configured_fields_have_their_labels_and_order():
    summarizer = configure(("Team", "labels.team"), ("Host", "alerts[0].host"), ("None", "x"))
    summary = summarizer.summarize({"alerts": [{"host": "db-1"}], "labels": {"team": "shop"}})
    assert summary.text == "Team: shop · Host: db-1"
    assert summarizer.list_texts({"alerts": [{"host": 5}]}) == ["", "5", ""]


def test_state_of_an_alert_is_not_its_name():
    payload = {"status": "firing", "title": "Errors", "summary": "Too many"}
    fields = [SummaryField(name, name) for name in payload]
    summary = Summarizer(EndpointOptions(summary=fields)).summarize(payload)
    assert summary.name_alert() == ("Errors", "Too many")
    assert Summarizer(EndpointOptions()).summarize({"status": "firing"}).name_alert() == ("", "")


def test_payload_without_a_configured_value_gets_the_automatic_summary():
    assert configure(("Team", "labels.team")).summarize({"type": "test"}).text == "type: test"


def test_values_of_a_wildcard_are_joined_once_each_and_shortened():
    summarizer = configure(("Hosts", "[*].host"))
    items = [{"host": f"db-{n // 2}"} for n in range(20)]
    assert summarizer.list_texts(items[:4]) == ["db-0, db-1"]
    assert summarizer.list_texts(items) == ["db-0, db-1, db-2, db-3, db-4 and 5 more"]
    assert summarizer.list_texts(items * 50) == ["db-0, db-1, db-2, db-3, db-4 and more"]
    (text,) = summarizer.list_texts([{"host": "x" * 150 + str(n)} for n in range(20)])
    assert len(text) == MAX_TEXT_LENGTH
    assert text.endswith("… and 15 more")


def test_object_at_a_path_is_shown_as_json():
    assert configure(("Labels", "labels")).list_texts({"labels": {"a": [1]}}) == ['{"a":[1]}']


def test_text_is_one_line_without_invisible_characters():
    text = " a\u202eb\tc\r\n\n\x1b[31md\u2066e\u200b\ufeff "
    assert AUTOMATIC.summarize({"message": text}).text == "message: a b c [31md e"
    family = "\U0001f468\u200d\U0001f469"
    assert AUTOMATIC.summarize({"message": family}).text == f"message: {family}"


def test_label_of_an_automatic_summary_is_bounded():
    (field,) = AUTOMATIC.summarize({"k" * 400 + "\u202e": "v"}).fields
    assert len(field.label) == MAX_TEXT_LENGTH


def test_costly_payload_is_summarized_quickly():
    payloads = [
        {f"k{n}": {} for n in range(9000)},
        [[] for _ in range(30_000)],
        {"a": [{"b": [[{"c": {}}]]} for _ in range(4000)]},
        {"alerts": [{"status": f"s{n}", "labels": {"severity": n}} for n in range(2000)]},
        "x" * 100_000,
    ]
    summarizer = configure(*[("C", "a[*].b[*][*].c")] * 10)
    rows = [{"payload": msgspec.json.encode(payload).decode()} for payload in payloads]
    started_at = time.thread_time()
    for row in rows:
        summarize_row(summarizer, row)
        summarize_row(AUTOMATIC, row)
    assert time.thread_time() - started_at < 2


def test_deep_payload_is_summarized():
    payload = msgspec.json.decode("[" * 64 + "1" + "]" * 64)
    assert AUTOMATIC.summarize(payload).text == "[0]" * 64 + ": 1"
