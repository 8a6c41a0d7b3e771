"""Every documented operation, called by schemathesis with input made from /docs/openapi.json."""

from __future__ import annotations

from typing import Any

import pytest

schemathesis = pytest.importorskip(
    "schemathesis", reason="schemathesis is installed by the extra dev"
)
from hypothesis import HealthCheck, given, settings

from tests.conftest import ADMIN_TOKEN
from tests.fuzz.conftest import EXAMPLES, SECRETS, Target


def secret_for(path: str) -> str:
    if path.startswith(("/api/client", "/api/frontend", "/edge", "/ofrep")):
        return SECRETS["frontend" if "frontend" in path else "client"]
    return ADMIN_TOKEN


def test_no_documented_operation_fails(target: Target) -> None:
    document = schemathesis.openapi.from_wsgi("/docs/openapi.json", target.service.app)
    operations = [result.ok() for result in document.get_all_operations()]
    assert len(operations) > 150
    for operation in operations:
        call_operation(target, operation)


def call_operation(target: Target, operation: Any) -> None:
    @settings(
        max_examples=max(1, EXAMPLES // 10),
        deadline=None,
        derandomize=EXAMPLES <= 100,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy())
    def call(case: Any) -> None:
        answer = case.call(headers={"Authorization": secret_for(operation.path)})
        # Only the listener has streams: here they are answered 501.
        assert answer.status_code in (*range(500), 501), (case.as_curl_command(), answer.text)
        assert not target.log.lines, (case.as_curl_command(), target.log.lines)

    call()
