"""The previous version of the program may change endpoints and tokens without a new `version`."""

from __future__ import annotations

import pytest

from sigservice.crypto import secrets

URL = "/api/signal-endpoint/deploys"


@pytest.fixture
def endpoint(make):
    return make.endpoint()


@pytest.fixture
def token(web, make, endpoint):
    """A token that this process has in memory."""
    secret = make.token(endpoint)["token"]
    web.post(URL, headers={"Authorization": secret})
    return secret


@pytest.fixture
def execute(service):
    def execute(statement, *parameters):
        with service.context.database.transaction() as conn, conn.cursor() as cursor:
            cursor.execute(statement, parameters)

    return execute


def test_a_token_of_the_previous_version_is_valid(web, endpoint, token, execute):
    execute(
        "INSERT INTO signal_endpoint_tokens "
        "(signal_endpoint_id, name, secret_hash, secret_prefix, created_by_user_id) "
        "VALUES (%s, 'old', %s, 'signal_x', -42)",
        endpoint["id"],
        secrets.sha256("signal_x"),
    )
    web.post(URL, headers={"Authorization": "signal_x"})


def test_a_token_that_the_previous_version_deleted_is_401(web, clock, token, execute):
    execute("DELETE FROM signal_endpoint_tokens")
    clock.advance(1)
    web.post(URL, headers={"Authorization": token}, status=401)


def test_an_endpoint_that_the_previous_version_disabled_is_404(web, clock, token, execute):
    execute("UPDATE signal_endpoints SET enabled = false")
    clock.advance(1)
    web.post(URL, headers={"Authorization": token}, status=404)


def test_an_endpoint_that_the_previous_version_renamed_has_the_new_name(web, clock, token, execute):
    execute("UPDATE signal_endpoints SET name = 'renamed'")
    clock.advance(1)
    web.post("/api/signal-endpoint/renamed", headers={"Authorization": token})
