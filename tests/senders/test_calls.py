"""Each sender, with its template, its credential, its headers and its payload."""

from __future__ import annotations

import json

from sigservice.senders import SENDERS, list_external
from tests.senders.kit import Caller, check_samples, read_test
from tests.services.signals.test_sns import Sns
from tests.table_tests import each

TESTS = {name: read_test(name) for name in list_external()}
CALLS = [(name, call) for name, test in TESTS.items() for call in test["calls"]]
each_call = each("row", CALLS, name=lambda row: f"{row[0]} {list(row[1]['headers'])}")


def test_each_sender_has_a_call():
    silent = {name for name, test in TESTS.items() if not test["calls"]}
    assert silent == {"aws-sns"}  # signs in the body, with a certificate: see below


def test_samples_are_stored_with_status_and_summary(web, clock):
    @each_call
    def check(row):
        name, call = row
        caller = Caller(web, clock, SENDERS[name], call)
        try:
            check_samples(caller, TESTS[name]["expected"])
        finally:
            caller.delete()

    check()


def test_repeated_deliveries_are_stored_once_where_the_sender_identifies_them(web, clock):
    @each_call
    def check(row):
        name, call = row
        caller = Caller(web, clock, SENDERS[name], call)
        first, second = (caller.send(SENDERS[name].samples.firing) for _ in range(2))
        count = len(caller.list_signals())
        caller.delete()
        has_key = bool(SENDERS[name].endpoint_options.idempotency.paths)
        is_identified = has_key or "{delivery}" in call["headers"].values()
        is_replayed = second.headers.get("Idempotency-Replayed") == "true"
        assert (is_replayed, count) == ((True, 1) if is_identified else (False, 2))
        is_same = first.json["signals"][0]["id"] == second.json["signals"][0]["id"]
        assert is_same is is_identified

    check()


def test_a_hundred_groups_at_once_are_stored(web, clock):
    sender = SENDERS["alertmanager"]
    caller = Caller(web, clock, sender, TESTS["alertmanager"]["calls"][0])
    for number in range(100):
        caller.send(sender.samples.firing | {"groupKey": str(number)})
    answer = caller.send(sender.samples.firing, status=503)
    assert int(answer.headers["Retry-After"]) >= 1


def test_the_binary_mode_of_cloudevents_is_stored_as_its_sample(web, clock):
    sample = SENDERS["cloudevents"].samples.firing
    caller = Caller(web, clock, SENDERS["cloudevents"], TESTS["cloudevents"]["calls"][0])
    attributes = {
        f"ce-{name}": text
        for name, text in sample.items()
        if name not in ("data", "datacontenttype")
    }
    headers = attributes | {
        "Authorization": f"Bearer {caller.secret}",
        "Content-Type": sample["datacontenttype"],
    }
    web.post("/api/signal-endpoint/alerts", json.dumps(sample["data"]), headers=headers)
    (row,) = caller.list_signals()
    assert row["payload"] == sample


def test_cloudwatch_alarms_are_stored_as_their_samples(service, web, clock, monkeypatch):
    amazon = Sns(clock)
    monkeypatch.setattr(service.context.sns, "fetch", amazon.fetch)
    sender = SENDERS["aws-sns"]
    topics = [sender.samples.firing["TopicArn"]]
    caller = Caller(web, clock, sender, {"headers": {}}, topics=topics)
    samples = [sender.samples.firing, sender.samples.resolved]
    answers = []
    for sample in samples * 2:  # each one is delivered twice
        changes = {name: sample[name] for name in ("MessageId", "TopicArn", "Subject")}
        url = f"https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-{'0' * 32}.pem"
        body = amazon.make_body(json.dumps(sample["Message"]), SigningCertURL=url, **changes)
        headers = {"x-amz-sns-message-type": "Notification", "Content-Type": "text/plain"}
        answers.append(web.post("/api/signal-endpoint/alerts", body, headers=headers))
    rows, expected = caller.list_signals(), TESTS["aws-sns"]["expected"]
    timestamp = {"Timestamp": clock.now().isoformat()}
    assert [row["payload"] for row in rows] == [sample | timestamp for sample in samples]
    assert [row["status"] for row in rows] == expected["statuses"]
    assert rows[0]["summary"][0]["text"] == expected["summary"]
    replays = [answer.headers.get("Idempotency-Replayed") for answer in answers]
    assert replays == [None, None, "true", "true"]
