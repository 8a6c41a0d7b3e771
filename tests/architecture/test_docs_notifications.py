"""docs/notifications.md: its snippet takes what is really sent, its JSON is JSON."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from sigservice.outgoing.addresses import AddressPolicy
from sigservice.services.channel_delivery import find_problems

PAGE = (Path(__file__).parents[2] / "docs" / "notifications.md").read_text()


def test_the_snippet_verifies():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    names = {}
    exec(code, names)
    secret = re.search(r'"(whsec_\w+)"', code)[1]
    now = datetime.now(UTC)
    body = json.dumps({"data": {"id": 17}})

    def headers(at):
        return {
            "Webhook-Id": "msg_1",
            "Webhook-Timestamp": str(int(at.timestamp())),
            "Webhook-Signature": Webhook(secret).sign("msg_1", at, body),
        }

    assert names["receive"](headers(now), body.encode()) == {"id": 17}
    with pytest.raises(WebhookVerificationError):
        names["receive"](headers(now), body.encode() + b" ")
    with pytest.raises(WebhookVerificationError):
        names["receive"](headers(now - timedelta(minutes=6)), body.encode())


def test_the_examples_are_accepted():
    channels, event = (json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.S))
    webhook, apprise = channels
    assert not find_problems("webhook", webhook["url"], webhook["secret"], AddressPolicy())
    assert apprise["type"] == "apprise"
    assert event["type"] == "action.run.success"
