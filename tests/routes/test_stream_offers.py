"""The header Fetch-Mode, by which the service asks Node SDKs that poll to stream."""

import itertools

import pytest

from tests.conftest import ADMIN
from tests.table_tests import each

NODE = "unleash-node-sdk:6.12.1"
IDS = itertools.count()


@pytest.fixture
def secret(web):
    body = {"tokenName": "t", "type": "client", "environment": "development"}
    return web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]


@pytest.fixture
def poll(web, secret):
    def poll(id=None, sdk=NODE, **headers):
        fields = {"Authorization": secret, "unleash-connection-id": id or f"id-{next(IDS)}"}
        fields |= {name.replace("_", "-"): text for name, text in headers.items()}
        return web.get(
            "/api/client/features", headers=fields | ({"unleash-sdk": sdk} if sdk else {})
        )

    return poll


@pytest.fixture
def etag(poll):
    """Of the current document."""
    return poll(sdk="").headers["ETag"]


def test_a_fresh_client_is_not_asked(poll):
    answer = poll("a")
    assert "Fetch-Mode" not in answer.headers
    assert answer.headers["ETag"]
    assert answer.json["version"] == 2


def test_a_node_sdk_with_the_current_document_is_asked_once(poll, etag):
    answer = poll("b", If_None_Match=etag)
    assert (answer.status_code, answer.headers["Fetch-Mode"]) == (200, "streaming")
    assert "ETag" not in answer.headers
    assert poll("b", If_None_Match=etag).status_code == 304


def test_a_changed_document_is_delivered_before_the_offer(poll):
    answer = poll("c", If_None_Match='"of-former-flags"')
    assert "Fetch-Mode" not in answer.headers
    assert "Fetch-Mode" in poll("c", If_None_Match=answer.headers["ETag"]).headers


@each("sdk", ["unleash-node-sdk:6.8.1", "unleash-client-node:6.10.0", "unleash-node-sdk:10.0.0"])
def test_sdks_that_can_return_to_polling_are_asked(poll, etag, sdk):
    assert "Fetch-Mode" in poll(sdk=sdk, If_None_Match=etag).headers


@each(
    "sdk",
    [
        "",
        "unleash-node-sdk:6.6.0",
        "unleash-node-sdk:6.7.0",
        "unleash-node-sdk:6.8.0",
        "unleash-node-sdk:6.8.1-beta.1",
        "unleash-node-sdk:6",
        "unleash-node-sdk:5.9.0",
        "unleash-client-python:6.9.1",
        "unleash-client-java:12.0.0",
        "x",
    ],
)
def test_other_sdks_are_not_asked(poll, etag, sdk):
    assert "Fetch-Mode" not in poll(sdk=sdk, If_None_Match=etag).headers


@each("id", ["", "x" * 101])
def test_an_sdk_without_a_usable_id_is_not_asked(web, secret, etag, id):
    headers = {"Authorization": secret, "unleash-connection-id": id, "unleash-sdk": NODE}
    headers["If-None-Match"] = etag
    assert "Fetch-Mode" not in web.get("/api/client/features", headers=headers).headers


@each(
    "environ",
    [{"SERVICE_STREAMING_UPGRADE": "false"}, {"SERVICE_STREAMS_LIMIT": "0"}],
)
def test_without_streams_nothing_is_offered(make_service, environ):
    import webtest

    web = webtest.TestApp(make_service(environ=environ).app)
    body = {"tokenName": "t", "type": "client", "environment": "development"}
    secret = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]
    headers = {"Authorization": secret, "unleash-connection-id": "c", "unleash-sdk": NODE}
    headers["If-None-Match"] = web.get("/api/client/features", headers=headers).headers["ETag"]
    assert web.get("/api/client/features", headers=headers).status_code == 304


def test_a_client_that_no_event_reaches_is_sent_back_to_polling(web, secret, poll, etag):
    """Something in between holds back the first event, so the client comes back without its ID."""
    poll("held", If_None_Match=etag)
    headers = {"Authorization": secret, "unleash-connection-id": "held"}
    stream = "/api/client/streaming"
    own_listener = {"sigservice.hand_over": lambda take_over: take_over(None, False)}
    environ = {"extra_environ": own_listener}
    assert web.get(stream, headers=headers, **environ).status_code == 200
    answer = web.get(stream, headers=headers, status=429, **environ)
    assert answer.headers["Retry-After"] == "30"
    with_id = headers | {"Last-Event-ID": "1"}
    assert web.get(stream, headers=with_id, **environ).status_code == 200


def test_a_client_that_was_not_asked_may_come_back_without_an_id(web, secret):
    headers = {"Authorization": secret, "unleash-connection-id": "own-choice"}
    environ = {"sigservice.hand_over": lambda take_over: take_over(None, False)}
    for _ in range(3):
        web.get("/api/client/streaming", headers=headers, extra_environ=environ)


def test_a_server_that_cannot_keep_connections_has_no_streams(web, secret):
    answer = web.get("/api/client/streaming", headers={"Authorization": secret}, status=501)
    assert answer.json["name"] == "NotImplementedError"


def test_without_places_the_answer_is_404(make_service):
    import webtest

    web = webtest.TestApp(make_service(environ={"SERVICE_STREAMS_LIMIT": "0"}).app)
    body = {"tokenName": "t", "type": "client", "environment": "development"}
    secret = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]
    web.get("/api/client/streaming", headers={"Authorization": secret}, status=404)
