"""Fuzzing: random input, one rule for every entry point. Never a 5xx, never a traceback.

`FUZZ_EXAMPLES` is the number of inputs for each test: 10 with `-m external`, 100 in `.ci/run`,
thousands for the long form (CONTRIBUTING.md has the command).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
import webtest

import sigservice
from sigservice.routes import find_routers
from sigservice.testing import FakeClock, QuickPasswords, TemporaryDatabase
from tests.conftest import ADMIN_TOKEN

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "10"))
SECRETS = {
    "client": "*:development.fuzz-client-token",
    "frontend": "*:development.fuzz-frontend-token",
}
NO_LIMITS = {
    "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "100000",
    "SIMPLE_LOGIN_LIMIT_PER_MINUTE": "100000",
    "CREATE_USER_RATE_LIMIT_PER_MINUTE": "100000",
    "FAILED_AUTH_LIMIT_PER_MINUTE": "100000",
}


class ErrorLog:
    """The service's log provider; keeps what is logged as an error."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, name: str) -> ErrorLog:
        return self

    def error(self, message: str, *values: Any) -> None:
        self.lines.append(message % values if values else message)

    def debug(self, message: str, *values: Any) -> None:
        """Not kept."""

    info = warn = fatal = debug


class Target:
    """A running service, and the rule that every answer of it keeps."""

    def __init__(self, database: TemporaryDatabase) -> None:
        self.log = ErrorLog()
        tokens = [{"type": "admin", "secret": ADMIN_TOKEN, "environment": "*", "project": "*"}]
        tokens += [
            {"type": kind, "secret": secret, "environment": "development", "project": "*"}
            for kind, secret in SECRETS.items()
        ]
        options = {
            "db": database.options(),
            "getLogger": self.log,
            "authentication": {
                "initialAdminUser": {"username": "ada", "password": "Correct-Horse-7"},
                "initApiTokens": tokens,
            },
        }
        self.service = sigservice.create(
            options, NO_LIMITS, clock=FakeClock(), passwords=QuickPasswords()
        )
        self.web = webtest.TestApp(self.service.app)
        self.routes = [
            route for router in find_routers() for route in router.bind(self.service.context)
        ]

    def check(self, answer: webtest.TestResponse, what: object) -> webtest.TestResponse:
        """Returns `answer`; fails for a 5xx, an error in the log and an error of another shape."""
        assert answer.status_int < 500, (what, answer.text)
        assert not self.log.lines, (what, self.log.lines)
        is_json = answer.content_type == "application/json"
        if answer.status_int >= 400 and is_json and answer.body:
            assert {"id", "name", "message", "details"} <= answer.json.keys(), (what, answer.json)
        return answer


@pytest.fixture(scope="module")
def target(temporary_database: TemporaryDatabase) -> Iterator[Target]:
    temporary_database.empty()
    target = Target(temporary_database)
    yield target
    target.service.stop()
