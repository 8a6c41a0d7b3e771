"""The header Fetch-Mode, by which the service asks Node SDKs that poll to stream."""

import itertools
from types import SimpleNamespace

import pytest
import webtest

from tests.conftest import ADMIN
from tests.table_tests import each

NODE = "unleash-node-sdk:6.12.1"
NO_CHANGES = SimpleNamespace(browser=None)
IDS = itertools.count()
ON = {"SERVICE_STREAMING_UPGRADE": "true"}


@pytest.fixture
def service(make_service):
    return make_service(environ=ON)


@pytest.fixture
def web(service):
    return webtest.TestApp(service.app)


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
def poll_current(poll):
    """Polls with the ETag of the current document."""

    def poll_current(id=None, sdk=NODE, **headers):
        return poll(id, sdk, If_None_Match=poll(sdk="").headers["ETag"], **headers)

    return poll_current


def is_asked(answer):
    return answer.headers.get("Fetch-Mode") == "streaming"


def test_a_node_sdk_is_asked_once_when_it_has_the_current_document(poll, poll_current):
    first = poll("a")
    assert not is_asked(first)
    second = poll("a", If_None_Match=first.headers["ETag"])
    assert is_asked(second)
    assert second.status_code == 200
    assert "ETag" not in second.headers
    assert second.json["version"] == 2
    assert poll_current("a").status_code == 304


@each("headers", [{}, {"X_Forwarded_For": "192.0.2.1"}, {"If_None_Match": '"of-former-flags"'}])
def test_a_node_sdk_gets_the_current_document_before_the_offer(poll, headers):
    answer = poll(**headers)
    assert not is_asked(answer)
    assert answer.headers["ETag"]
    assert answer.json["version"] == 2


@each("sdk", ["unleash-node-sdk:6.8.1", "unleash-client-node:6.10.0", "unleash-node-sdk:10.0.0"])
def test_sdks_that_can_return_to_polling_are_asked(poll_current, sdk):
    assert is_asked(poll_current(sdk=sdk))


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
        "unleash-python-sdk:6.9.1",
        "unleash-client-java:12.0.0",
        "x",
    ],
)
def test_other_sdks_are_not_asked(poll_current, sdk):
    assert not is_asked(poll_current(sdk=sdk))


@each("id", ["", "x" * 101])
def test_an_sdk_without_a_usable_id_is_not_asked(poll, web, secret, id):
    headers = {"Authorization": secret, "unleash-connection-id": id, "unleash-sdk": NODE}
    headers["If-None-Match"] = poll(sdk="").headers["ETag"]
    assert not is_asked(web.get("/api/client/features", headers=headers))


@each(
    "environ",
    [{}, ON | {"SERVICE_STREAMS_LIMIT": "0"}],
)
def test_without_streams_or_the_option_nothing_is_offered(make_service, environ):
    web = webtest.TestApp(make_service(environ=environ).app)
    body = {"tokenName": "t", "type": "client", "environment": "development"}
    secret = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]
    headers = {"Authorization": secret, "unleash-connection-id": "c", "unleash-sdk": NODE}
    headers["If-None-Match"] = web.get("/api/client/features", headers=headers).headers["ETag"]
    assert not is_asked(web.get("/api/client/features", headers=headers))


def test_a_client_is_asked_when_there_is_a_place(service, poll_current, monkeypatch):
    streams = service.context.streams
    with monkeypatch.context() as patch:
        patch.setattr(streams, "limit", 1)
        release_place = streams.open(NO_CHANGES)
        assert not is_asked(poll_current("a"))
        release_place(None, False)
    assert is_asked(poll_current("a"))


def test_a_server_that_cannot_keep_connections_has_no_streams(web, secret):
    answer = web.get("/api/client/streaming", headers={"Authorization": secret}, status=501)
    assert answer.json["name"] == "NotImplementedError"


def test_without_places_the_answer_is_404(make_service):
    web = webtest.TestApp(make_service(environ={"SERVICE_STREAMS_LIMIT": "0"}).app)
    body = {"tokenName": "t", "type": "client", "environment": "development"}
    secret = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]
    web.get("/api/client/streaming", headers={"Authorization": secret}, status=404)
