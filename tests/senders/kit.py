"""Senders as their test.json has them: how they call, and what lists show of their samples."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from sigservice.senders import FOLDER, Sender
from sigservice.services.signals.signature_schemes import find_scheme
from tests.conftest import ADMIN

PATH = "/api/admin/signal-endpoints"
FIRST_DELIVERY = "72d3162e-cc78-11e3-81ab-4c9367dc0958"
SECRET_OF_SENDER = "f2d9c1b07a6e4f5f8f0f6f3e1c0b9a8d"


def read_test(name: str, folder=FOLDER) -> dict[str, Any]:
    return json.loads((folder / name / "test.json").read_text())


class Caller:
    """An endpoint made for a sender, and a token of the type that the call uses. `call` has
    headers, and what the sender signs if it does; `signature` adds to the settings of its token."""

    def __init__(self, web, clock, sender: Sender, call: dict[str, Any], **signature: Any) -> None:
        self.web, self.clock, self.sender, self.call = web, clock, sender, call
        body = {"name": "alerts", "template": sender.name}
        self.path = f"{PATH}/{web.post_json(PATH, body, headers=ADMIN).json['id']}"
        self.secret = self._create_token(signature)

    def _create_token(self, signature: dict[str, Any]) -> str:
        body: dict[str, Any] = {"name": "token"}
        if "signed" in self.call or signature:
            recipes = self.web.get("/api/admin/action-recipes", headers=ADMIN).json["recipes"]
            (recipe,) = (item for item in recipes if item["name"] == self.sender.name)
            body["signature"] = recipe["signature"] | signature
            if not signature and find_scheme(self.sender.signature).is_secret_of_sender:
                body["secret"] = SECRET_OF_SENDER
        token = self.web.post_json(f"{self.path}/tokens", body, headers=ADMIN, status=201).json
        return token.get("token") or body.get("secret", "")

    def _make_headers(self, body: str, delivery: str) -> dict[str, str]:
        texts = {
            "token": self.secret,
            "body": body,
            "timestamp": str(int(self.clock.now().timestamp())),
            "delivery": delivery,
        }
        signed = self.call.get("signed", "").format(**texts)
        texts["signature"] = hmac.digest(
            self.secret.encode(), signed.encode(), hashlib.sha256
        ).hex()
        headers = {name: text.format(**texts) for name, text in self.call["headers"].items()}
        return {"Content-Type": "application/json"} | headers

    def send(self, payload: Any, delivery: str = FIRST_DELIVERY, **arguments: Any):
        body = json.dumps(payload)
        headers = self._make_headers(body, delivery)
        body = arguments.pop("body", body)
        return self.web.post("/api/signal-endpoint/alerts", body, headers=headers, **arguments)

    def list_signals(self) -> list[dict[str, Any]]:
        """Oldest first."""
        rows = self.web.get(f"{self.path}/signals", headers=ADMIN).json["signalEndpointSignals"]
        return rows[::-1]

    def delete(self) -> None:
        self.web.delete(self.path, headers=ADMIN)


def check_samples(caller: Caller, expected: dict[str, Any]) -> None:
    """Sends the samples; lists must show them as the test.json expects."""
    samples = [caller.sender.samples.firing, caller.sender.samples.resolved]
    samples = [sample for sample in samples if sample is not None]
    for number, sample in enumerate(samples):
        caller.send(sample, delivery=f"delivery-{number}")
    rows = caller.list_signals()
    assert [row["payload"] for row in rows] == samples
    assert [row["status"] for row in rows] == expected["statuses"]
    assert rows[0]["summary"][0]["text"] == expected["summary"]
    assert rows[0]["severity"] == expected["severity"]
