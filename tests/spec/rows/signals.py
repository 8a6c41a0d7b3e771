"""The limits of signals."""

from __future__ import annotations

import time
from typing import Any

from tests.spec.kit import ADMIN_SECRET, Answer, Case, Row

ENDPOINTS = "/api/admin/signal-endpoints"


def check_overrides(case: Case) -> None:
    variables = {
        "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "2",
        "SIGNAL_ENDPOINT_RATE_LIMIT_BURST": "6",
        "SERVICE_SIGNAL_ENDPOINTS_LIMIT": "2",
        "SERVICE_SIGNAL_TOKENS_PER_ENDPOINT_LIMIT": "3",
        "SERVICE_SIGNAL_PAYLOAD_LIMIT": "200000",
    }
    service = case.start(variables)
    limits = case.admin("GET", "/api/admin/ui-config", service=service)["resourceLimits"]
    assert (limits["signalEndpoints"], limits["signalTokensPerEndpoint"]) == (2, 3)
    endpoint = case.admin("POST", ENDPOINTS, {"name": "deploys"}, service=service)
    path = f"{ENDPOINTS}/{endpoint['id']}/tokens"
    tokens = [
        case.admin("POST", path, {"name": f"t{n}"}, service=service)["token"] for n in range(3)
    ]
    for there, name, status in ((path, "t3", 400), (ENDPOINTS, "a", 201), (ENDPOINTS, "b", 400)):
        answer = case.request("POST", there, {"name": name}, token=ADMIN_SECRET, service=service)
        assert answer.status == status

    def send(token: str, body: Any = None) -> Answer:
        return case.request(
            "POST", "/api/signal-endpoint/deploys", body, token=token, service=service
        )

    assert send(tokens[0], "x" * 199_998).status == 200
    assert send(tokens[0], "x" * 199_999).status == 413
    started_at = time.monotonic()
    answers = [send(tokens[1]) for _ in range(7)]
    seconds = time.monotonic() - started_at
    assert {answer.headers["RateLimit-Limit"] for answer in answers} == {"6"}
    if seconds < 1 / 2:
        assert [answer.status for answer in answers] == [200] * 6 + [429]


ROWS = (Row("limits: the four of signals can be overridden", check_overrides, alone=True),)
