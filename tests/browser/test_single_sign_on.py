"""Sign-in and sign-out with the provider in Chromium, which applies form-action to redirects."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

import sigservice
from tests.conftest import Cast
from tests.oidc_provider import CLIENT_ID, CLIENT_SECRET, run_provider
from tests.server.process import find_free_port

pytestmark = pytest.mark.browser


@pytest.fixture
def provider():
    with run_provider(lambda: datetime.now(UTC)) as one:
        yield one


@pytest.fixture
def service(database: Any, provider: Any):
    port = find_free_port()
    options = {
        "db": database.options(),
        "logLevel": "error",
        "server": {"host": "127.0.0.1", "port": port, "gracefulShutdownEnable": False},
        "authentication": {"initialAdminUser": {"username": "ada", "password": Cast.PASSWORD}},
    }
    environ = {
        "SERVICE_URL": f"http://127.0.0.1:{port}",
        "SERVICE_OIDC_ISSUER": provider.url,
        "SERVICE_OIDC_CLIENT_ID": CLIENT_ID,
        "SERVICE_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "SERVICE_OIDC_NAME": "Keycloak",
        "SERVICE_OIDC_CREATE_USERS": "true",
        "SERVICE_OIDC_SIGN_OUT": "true",
    }
    service = sigservice.start(options, environ)
    yield service
    service.stop()


def test_user_signs_in_and_out_with_the_provider(tab, service, provider):
    page = tab()
    page.goto(f"{service.url}/admin/segments")
    page.get_by_role("link", name="Sign in with Keycloak").click()
    page.wait_for_url(f"{service.url}/admin/segments")
    assert page.get_by_title("eva@example.org").count()
    page.get_by_role("button", name="Sign out").first.click()
    page.wait_for_url(f"{service.url}/sign-in?done=signed-out")
    assert page.get_by_text("You have signed out.").is_visible()
    assert any(path.startswith("/end-session?id_token_hint=") for path in provider.paths)
    assert page.complaints == []
