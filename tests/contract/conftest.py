"""Fixtures of the contract tests, which use the public APIs only."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import webtest

from tests.contract.kit import Api, Checks


@pytest.fixture
def check() -> Checks:
    return Checks()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    """Fails the test with all collected failures, also after an exception."""
    check = pyfuncitem.funcargs.get("check")
    try:
        result = yield
    except Exception as error:
        if isinstance(check, Checks) and check.problems:
            raise AssertionError(f"{check.report()}\n  and broke off: {error!r}") from error
        raise
    if isinstance(check, Checks) and check.problems:
        pytest.fail(check.report(), pytrace=False)
    return result


@pytest.fixture
def service(make_service: Any) -> Any:
    """These tests cause hundreds of failed authentications from one address."""
    return make_service(environ={"FAILED_AUTH_LIMIT_PER_MINUTE": "1000000"})


@pytest.fixture
def api(web: webtest.TestApp) -> Api:
    return Api(web)


@pytest.fixture
def person(service: Any) -> dict[str, str]:
    """Headers of the administrator's personal token, for routes that need a user."""
    browser = webtest.TestApp(service.app)
    body = {"username": "ada", "password": "Correct-Horse-7"}
    csrf = browser.post_json("/auth/simple/login", body).json["csrfToken"]
    item = browser.post_json(
        "/api/admin/user/tokens",
        {
            "description": "contract",
            "expiresAt": (datetime.now(UTC) + timedelta(days=30)).isoformat(),
            "password": body["password"],
        },
        headers={"X-CSRF-Token": csrf},
    )
    return {"Authorization": item.json["secret"]}
