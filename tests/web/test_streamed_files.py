"""How many files are sent at a time, and when the place of one is free again."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest

from sigservice.concurrency.workers import MAX_STREAMED_FILES
from sigservice.services.system import event_export
from tests.conftest import ADMIN, ADMIN_TOKEN

EXPORT = "/api/admin/search/events/export"


@pytest.fixture
def open_file(service):
    """`open_file(path, token)`: (status, headers, parts) of a response that nothing has read."""
    responses = []

    def call(path: str = EXPORT, token: str = ADMIN_TOKEN, method: str = "GET", **more: Any) -> Any:
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "HTTP_AUTHORIZATION": token,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": io.StringIO(),
        } | more
        head: list[Any] = []
        parts = service.app(
            environ, lambda status, headers, exc_info=None: head.extend([status, headers])
        )
        responses.append(parts)
        return int(head[0][:3]), dict(head[1]), parts

    yield call
    for parts in responses:
        if hasattr(parts, "close"):
            parts.close()


@pytest.fixture
def endpoint_path(make):
    return f"/api/admin/signal-endpoints/{make.endpoint()['id']}/export"


@pytest.mark.parametrize("second", ["events", "signals"])
def test_user_gets_one_file_at_a_time(open_file, endpoint_path, second):
    assert open_file(EXPORT)[0] == 200
    status, headers, _ = open_file(EXPORT if second == "events" else endpoint_path)
    assert status == 503
    assert int(headers["Retry-After"]) >= 1


def test_sessions_and_tokens_of_a_user_share_one_file(clock, open_file, cast):
    vera = cast.signed_in("vera")
    body = {
        "description": "ci",
        "expiresAt": f"{clock.now() + timedelta(days=9):%FT%TZ}",
        "password": cast.PASSWORD,
    }
    headers = {"X-CSRF-Token": vera.csrf}
    secret = vera.post_json("/api/admin/user/tokens", body, headers=headers, status=201).json[
        "secret"
    ]
    _, _, parts = open_file(token=secret, QUERY_STRING="format=csv")
    assert vera.get(EXPORT, status=503)
    parts.close()
    vera.get(EXPORT, status=200)


def test_file_of_another_user_is_sent_too(open_file, cast):
    open_file()
    cast.signed_in("vera").get(EXPORT, status=200)


def test_files_of_all_users_are_limited(service, open_file):
    for user in range(MAX_STREAMED_FILES):
        assert service.context.streamed_files.acquire(user)
    status, headers, _ = open_file()
    assert (status, headers["Retry-After"]) == (503, "5")
    service.context.streamed_files.release(0)
    assert open_file()[0] == 200


@pytest.mark.parametrize("format", event_export.FORMATS)
def test_file_that_was_read_is_followed_by_another_one(web, format):
    for _ in range(2):
        web.get(f"{EXPORT}?format={format}", headers=ADMIN)


def test_file_that_nothing_has_read_is_followed_by_another_one_after_its_end(open_file):
    open_file()[2].close()
    assert open_file()[0] == 200


def test_file_that_failed_is_followed_by_another_one(web, open_file, monkeypatch):
    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr(event_export, "read_part", fail)
        assert open_file()[0] == 500
    with monkeypatch.context() as patch:
        patch.setattr(event_export, "make_encoder", lambda *_: (b"", fail))
        assert open_file()[0] == 500
    assert open_file()[0] == 200


def test_head_of_a_file_needs_no_place(open_file):
    assert open_file(method="HEAD")[0] == 200
    assert open_file()[0] == 200
