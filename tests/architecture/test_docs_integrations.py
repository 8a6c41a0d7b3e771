"""The recipes of docs/integrations.md: each makes the JSON that its receiver takes."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from sigservice.services.integrations.integration_messages import Delivery, build_requests

PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text()
RECIPES = [
    (heading, template)
    for heading, section in re.findall(r"^### (.+?)\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S)
    for template in re.findall(r"```text recipe\n(.*?)```", section, re.S)
]
TEXT = 'a "quoted" \\ <b> & @all\nname'
RULE = {"ruleId": 7, "ruleName": TEXT, "reason": TEXT, "url": "/admin/alert-rules/7"}
FLAG = {"name": "checkout", "environment": "production", "before": True, "after": False}
RUN = {
    "actionSetId": 3, "actionSetName": TEXT, "cause": "signal", "reason": None,
    "restoreDueAt": None,
    "alert": {"key": "k", "summary": TEXT, "signalId": 1, "endpoint": "alerts"}, "flags": [FLAG],
    "url": "/admin/projects/default/actions/3/runs/9",
}  # fmt: skip
EVENTS = {"alert-rule-firing": RULE, "alert-rule-resolved": RULE, "action-run-succeeded": RUN}


def render(template, type, public_url="https://flags.example"):
    row = {
        "event_id": 71,
        "type": type,
        "created_by": TEXT,
        "created_by_user_id": 1,
        "created_at": datetime(2026, 11, 24, tzinfo=UTC),
        "project": None,
        "environment": None,
        "feature_name": None,
        "data": json.dumps(EVENTS[type]),
        "pre_data": None,
        "tags": "[]",
    }
    parameters = {"url": "https://hooks.example/x", "bodyTemplate": template}
    message = Delivery("msg_1", row, parameters, public_url, "", row["created_at"])
    return json.loads(build_requests("webhook", message)[0].body)


def find(heading):
    return [template for name, template in RECIPES if name == heading]


def test_each_receiver_has_a_recipe():
    names = "Discord, Telegram, ntfy, Mattermost, Google, PagerDuty, Opsgenie, Alertmanager"
    assert ", ".join(dict.fromkeys(heading.split()[0] for heading, _ in RECIPES)) == names


@pytest.mark.parametrize("public_url", ["https://flags.example", ""])
@pytest.mark.parametrize("type", EVENTS)
@pytest.mark.parametrize("template", [template for _, template in RECIPES])
def test_a_recipe_makes_json_of_every_event(template, type, public_url):
    body = str(render(template, type, public_url))
    assert ("https://flags.example/admin/" in body) == (bool(public_url) and "{{url}}" in template)


def test_one_key_opens_and_closes_an_incident():
    trigger, resolve, run = find("PagerDuty")
    opened, closed = render(trigger, "alert-rule-firing"), render(resolve, "alert-rule-resolved")
    assert (opened["event_action"], closed["event_action"]) == ("trigger", "resolve")
    assert opened["dedup_key"] == closed["dedup_key"] == "sigservice-rule-7"
    assert opened["payload"]["summary"] == f"{TEXT}: {TEXT}"
    summary = render(run, "action-run-succeeded")["payload"]["summary"]
    assert summary == f"{TEXT}: checkout in production, {TEXT}"


def test_equal_labels_end_an_alert():
    firing, resolved = find("Alertmanager")
    (before,), (after,) = (
        render(firing, "alert-rule-firing"),
        render(resolved, "alert-rule-resolved"),
    )
    assert before["labels"] == after["labels"]
    assert after["endsAt"] == "2026-11-24T00:00:00.000Z" < before["endsAt"]


def test_the_snippet_verifies_signatures():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    names = {}
    exec(code, names)
    secret = re.search(r'"(whsec_\w+)"', code)[1]
    now, body = datetime.now(UTC), json.dumps({"data": {"id": 17}})

    def receive(at, body_received):
        signature = Webhook(secret).sign("msg_1", at, body)
        headers = {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(at.timestamp()))}
        return names["receive"](headers | {"Webhook-Signature": signature}, body_received)

    assert receive(now, body.encode()) == {"id": 17}
    for at, text in ((now, body + " "), (now - timedelta(minutes=6), body)):
        with pytest.raises(WebhookVerificationError):
            receive(at, text.encode())
