"""The header Fetch-Mode, by which the service asks Node SDKs that poll to stream."""

import itertools
import re
from types import SimpleNamespace

import pytest
import webtest

from sigservice.delivery.stream_trials import FIRST_EVENT_SECONDS, TRIAL_SECONDS
from tests.conftest import ADMIN
from tests.table_tests import each

NODE, PYTHON = "unleash-node-sdk:6.12.1", "unleash-python-sdk:6.9.1"
POLL_AGAIN = "event: fetch-mode\ndata: polling\n\n"
NO_CHANGES = SimpleNamespace(browser=None, end=None)
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
def poll_current(poll):
    """Polls with the ETag of the current document."""

    def poll_current(id=None, sdk=NODE, **headers):
        return poll(id, sdk, If_None_Match=poll(sdk="").headers["ETag"], **headers)

    return poll_current


@pytest.fixture
def stream(web, secret):
    """Opens a stream and leaves at once, before the service's own thread has it."""

    def stream(id, sdk=NODE, status=200, **headers):
        fields = {"Authorization": secret, "unleash-connection-id": id, "unleash-sdk": sdk}
        fields |= {name.replace("_", "-"): text for name, text in headers.items()}
        environ = {"sigservice.hand_over": lambda take_over: take_over(None, False)}
        path = "/api/client/streaming"
        return web.get(path, headers=fields, extra_environ=environ, status=status)

    return stream


def is_short(stream):
    return re.search(r"^id: \d+s$", stream.text, re.MULTILINE) is not None


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
    [{"SERVICE_STREAMING_UPGRADE": "false"}, {"SERVICE_STREAMS_LIMIT": "0"}],
)
def test_without_streams_nothing_is_offered(make_service, environ):
    web = webtest.TestApp(make_service(environ=environ).app)
    body = {"tokenName": "t", "type": "client", "environment": "development"}
    secret = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]
    headers = {"Authorization": secret, "unleash-connection-id": "c", "unleash-sdk": NODE}
    headers["If-None-Match"] = web.get("/api/client/features", headers=headers).headers["ETag"]
    assert not is_asked(web.get("/api/client/features", headers=headers))


def test_a_client_that_polls_during_its_trial_is_asked_to_stay(poll, poll_current, stream):
    """The event in the trial, which asks it to poll, has reached it."""
    poll_current("a")
    assert stream("a").text.endswith(POLL_AGAIN)
    answer = poll("a")
    assert is_asked(answer)
    assert "ETag" not in answer.headers
    assert not is_asked(poll("a"))
    assert POLL_AGAIN not in stream("a").text
    assert not is_asked(poll_current("a"))


def test_an_outdated_client_gets_its_document_before_the_second_offer(poll, poll_current, stream):
    poll_current("a")
    stream("a")
    assert not is_asked(poll("a", If_None_Match='"of-former-flags"'))
    assert is_asked(poll_current("a"))


def test_a_client_that_passed_its_trial_is_asked_until_it_streams(poll, poll_current, stream):
    """Another process, which has it on trial too, may get its next stream."""
    poll_current("a")
    stream("a")
    poll("a")
    assert is_asked(poll_current("a"))


def test_a_client_that_no_event_reaches_is_sent_back_to_polling(poll, poll_current, stream, clock):
    """Something in between holds back the first event, so the client comes back without its ID."""
    poll_current("a")
    stream("a")
    clock.advance(TRIAL_SECONDS)
    assert stream("a", status=429).headers["Retry-After"] == "30"
    assert not is_asked(poll("a"))
    assert not is_asked(poll_current("a"))
    stream("a", status=429)


def test_a_trial_that_was_cut_goes_on_with_the_next_stream(poll, poll_current, stream, clock):
    poll_current("a")
    stream("a")
    clock.advance(TRIAL_SECONDS - 1)
    assert POLL_AGAIN in stream("a").text
    clock.advance(1)
    stream("a", status=429)


def test_a_client_that_comes_back_with_an_event_id_has_no_second_trial(poll_current, stream):
    poll_current("a")
    stream("a")
    assert POLL_AGAIN not in stream("a", Last_Event_ID="1").text


def test_a_client_that_another_process_has_asked_has_a_trial(poll, stream):
    poll("a")
    assert POLL_AGAIN in stream("a").text


def test_a_client_that_got_no_event_of_another_process_is_sent_back(poll_current, stream, clock):
    poll_current("a")
    clock.advance(FIRST_EVENT_SECONDS)
    stream("a", status=429)


@each("sdk", [NODE, PYTHON])
def test_a_client_that_was_not_asked_has_no_trial(stream, sdk):
    answers = [stream("a", sdk) for _ in range(3)]
    assert all(POLL_AGAIN not in answer.text for answer in answers)


def test_a_node_sdk_that_no_event_has_reached_is_sent_to_polling(stream, clock):
    stream("a")
    clock.advance(FIRST_EVENT_SECONDS - 1)
    stream("a")
    clock.advance(1)
    stream("a", status=429)
    stream("a", Last_Event_ID="1")


def test_a_python_sdk_that_no_event_has_reached_gets_short_streams(stream, clock):
    """It never polls."""
    assert not is_short(stream("a", PYTHON))
    clock.advance(FIRST_EVENT_SECONDS)
    assert is_short(stream("a", PYTHON))


def test_a_client_with_short_streams_gets_them_from_other_processes_too(stream):
    event_id = re.search("^id: (.+)$", stream("a", PYTHON).text, re.MULTILINE)[1]
    answer = stream("a", PYTHON, Last_Event_ID=f"{event_id}s")
    assert is_short(answer)
    assert '{"events":[]}' in answer.text
    assert not is_short(stream("a", PYTHON, Last_Event_ID=event_id))


def test_another_client_gets_an_endless_stream_at_any_time(stream, clock):
    """It may have dropped the ID of an event that has reached it."""
    stream("a", "unleash-edge:19.0.0")
    clock.advance(FIRST_EVENT_SECONDS)
    assert not is_short(stream("a", "unleash-edge:19.0.0"))


def test_a_client_that_found_no_place_is_asked_later(service, poll_current, stream):
    streams = service.context.streams
    limit, streams.limit = streams.limit, 1
    release_place = streams.open(NO_CHANGES)
    stream("a", status=429)
    release_place(None, False)
    streams.limit = limit
    assert is_asked(poll_current("a"))


def test_a_server_that_cannot_keep_connections_has_no_streams(web, secret):
    answer = web.get("/api/client/streaming", headers={"Authorization": secret}, status=501)
    assert answer.json["name"] == "NotImplementedError"


def test_without_places_the_answer_is_404(make_service):
    web = webtest.TestApp(make_service(environ={"SERVICE_STREAMS_LIMIT": "0"}).app)
    body = {"tokenName": "t", "type": "client", "environment": "development"}
    secret = web.post_json("/api/admin/api-tokens", body, headers=ADMIN).json["secret"]
    web.get("/api/client/streaming", headers={"Authorization": secret}, status=404)
