"""Event streams of OFREP: addresses, events, revocation."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from datetime import timedelta

import pytest
import webtest

from tests.conftest import ADMIN
from tests.routes.kit import give_projects
from tests.routes.test_frontend import ALLOW, CLIENT, FRONTEND, HERE, OPTIONS, SHOP, add
from tests.routes.test_ofrep import PATH
from tests.table_tests import each
from tests.waiting import DEADLINE_SECONDS

HOURS = 3600
SWITCH = "/api/admin/projects/default/features/f/environments"


@pytest.fixture
def service(make_service):
    service = make_service(OPTIONS)
    give_projects(service, SHOP["Authorization"], ["shop"])
    return service


@pytest.fixture
def web(service):
    """Requests as from a listener that can hand connections over."""
    environ = {"sigservice.hand_over": lambda take_over: take_over(None, False)}
    return webtest.TestApp(service.app, extra_environ=environ)


def fetch(web, headers=FRONTEND, **more):
    return web.post_json(PATH, {"context": {"targetingKey": "7"}}, headers=headers | more)


def address(answer):
    (stream,) = answer.json["eventStreams"]
    assert stream["type"] == "sse"
    assert stream["inactivityDelaySec"] == 120
    assert list(stream["endpoint"]) == ["requestUri"]
    return stream["endpoint"]["requestUri"]


def test_the_address_opens_a_stream_that_pages_may_read(web):
    for headers in (FRONTEND, CLIENT, {"X-API-Key": FRONTEND["Authorization"]}):
        answer = web.get(address(fetch(web, headers)), headers=HERE)
        assert answer.content_type == "text/event-stream"
        assert answer.headers[ALLOW] == "*"
        assert headers.get("Authorization", "none") not in address(fetch(web, headers))


def test_the_address_changes_twice_a_day_and_with_it_the_etag(web, clock):
    first = fetch(web)
    etag = first.headers["ETag"]
    clock.advance(12 * HOURS)
    second = fetch(web, **{"If-None-Match": etag})
    assert second.status_int == 200
    assert address(second) != address(first)
    web.get(address(first))
    clock.advance(12 * HOURS)
    web.get(address(first), status=401)
    web.get(address(second))
    etag = fetch(web).headers["ETag"]
    clock.advance(60)
    assert fetch(web, **{"If-None-Match": etag}).status_int == 304


@each(
    "change",
    [
        lambda token: "",
        lambda token: "x",
        lambda token: token[:-1] + ("A" if token[-1] != "A" else "Q"),
        lambda token: token.replace("-", "-1", 1),
        lambda token: "9" * 18 + token[token.index("-") :],
        lambda token: "9" * 400 + token[token.index("-") :],
        lambda token: token + "\n",
        lambda token: FRONTEND["Authorization"],
    ],
)
def test_a_changed_address_is_refused(web, change):
    path, _, token = address(fetch(web)).partition("?token=")
    answer = web.get(path, {"token": change(token)}, headers=HERE, status=401)
    assert answer.headers[ALLOW] == "*"
    assert answer.json["errorCode"] == "GENERAL"


def test_an_address_ends_with_its_token_and_its_scope(web, service):
    shop, first = address(fetch(web, SHOP)), address(fetch(web))
    give_projects(service, SHOP["Authorization"], ["other"])
    web.get(shop, status=401)
    web.get(first)
    web.delete(f"/api/admin/api-tokens/{FRONTEND['Authorization']}", headers=ADMIN)
    web.get(first, status=401)


def test_no_stream_is_announced_that_may_be_refused(make_service):
    options = {"authentication": OPTIONS["authentication"]}
    environ = {"sigservice.hand_over": lambda take_over: take_over(None, False)}

    def announces(environ, headers=FRONTEND, **more):
        app = make_service(options | more).app
        return "eventStreams" in fetch(webtest.TestApp(app, extra_environ=environ), headers).json

    assert announces(environ)
    assert not announces({})  # another server runs the application
    assert not announces(environ, streaming={"maxStreams": 0})
    options["authentication"] = options["authentication"] | {"enableApiToken": False}
    assert announces(environ)
    assert not announces(environ, {})


def test_browsers_leave_places_to_sdks_and_to_each_other(make_service):
    web = webtest.TestApp(make_service(OPTIONS | {"streaming": {"maxStreams": 40}}).app)
    places = []

    def environ(host):
        return {"sigservice.hand_over": places.append, "REMOTE_ADDR": f"203.0.113.{host}"}

    def announces(host):
        answer = web.post_json(PATH, {}, headers=FRONTEND, extra_environ=environ(host))
        return address(answer) if "eventStreams" in answer.json else ""

    for host in range(1, 6):
        for _ in range(4):
            web.get(announces(host), extra_environ=environ(host), status=200)
        assert not announces(host)
    assert not announces(6)
    places.pop()(None, False)
    assert not announces(1)
    path = announces(6)
    web.get(path, extra_environ=environ(1), status=429)
    web.get(path, extra_environ=environ(6), status=200)
    web.get(path, extra_environ=environ(7), status=429)
    web.get("/api/client/streaming", headers=CLIENT, extra_environ=environ(1), status=200)


def test_the_address_has_the_base_path(make_service):
    service = make_service(OPTIONS, {"BASE_URI_PATH": "/flags"})
    environ = {"sigservice.hand_over": lambda take_over: take_over(None, False)}
    web = webtest.TestApp(service.app, extra_environ=environ)
    answer = web.post_json(f"/flags{PATH}", {}, headers=FRONTEND)
    assert address(answer).startswith("/flags/ofrep/v1/events?token=")
    web.get(address(answer))


class Stream:
    """A connection to the address of a stream."""

    def __init__(self, port: int, path: str, last_event_id: str = "") -> None:
        self._conn = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_SECONDS)
        self._conn.request("GET", path, headers={"Last-Event-ID": last_event_id})
        self.answer = self._conn.getresponse()

    def read(self) -> list[str]:
        """The lines up to the next blank one; none at the end."""
        lines = []
        while line := self.answer.readline().decode().rstrip("\n"):
            lines.append(line)
        return lines

    def read_event(self) -> tuple[str, dict]:
        """(ID, data); an event without name has no more."""
        id, data = self.read()
        return id.removeprefix("id: "), json.loads(data.removeprefix("data: "))

    def close(self) -> None:
        self._conn.close()


def test_a_stream_tells_when_to_fetch_until_its_token_is_revoked(make_service, clock):
    server = {"host": "127.0.0.1", "port": 0, "gracefulShutdownEnable": False}
    service = make_service(OPTIONS | {"server": server})
    service.start()
    environ = {"sigservice.hand_over": lambda take_over: take_over(None, False)}
    web = webtest.TestApp(service.app, extra_environ=environ)
    add(web, "f")
    path = address(fetch(web))
    with closing(Stream(service.port, path)) as stream:
        assert stream.answer.headers["Content-Type"].startswith("text/event-stream")
        first, event = stream.read_event()
        assert event == {
            "type": "refetchEvaluation",
            "etag": f'"{first}"',
            "lastModified": int(clock.now().timestamp()),
        }
        assert first == fetch(web).json["metadata"]["version"]
        web.post(f"{SWITCH}/production/on", headers=ADMIN)
        web.post(f"{SWITCH}/development/off", headers=ADMIN)
        second, event = stream.read_event()
        assert int(second) > int(first)
        assert not fetch(web).json["flags"][0]["value"]
        with closing(Stream(service.port, path, first)) as late:
            assert late.read_event()[0] == second
        with closing(Stream(service.port, path, second)) as current:
            assert current.read() == [": ping"]
            web.delete(f"/api/admin/api-tokens/{FRONTEND['Authorization']}", headers=ADMIN)
            assert current.read() == stream.read() == []


def test_a_shortened_expiry_of_its_token_ends_a_stream(make_service, clock):
    server = {"host": "127.0.0.1", "port": 0, "gracefulShutdownEnable": False}
    service = make_service(OPTIONS | {"server": server})
    service.start()
    environ = {"sigservice.hand_over": lambda take_over: take_over(None, False)}
    web = webtest.TestApp(service.app, extra_environ=environ)
    add(web, "f")
    with closing(Stream(service.port, address(fetch(web)))) as stream:
        stream.read_event()
        expiry = {"expiresAt": (clock.now() + timedelta(hours=1)).isoformat()}
        path = f"/api/admin/api-tokens/{FRONTEND['Authorization']}"
        web.put_json(path, expiry, headers=ADMIN)
        web.post(f"{SWITCH}/development/off", headers=ADMIN)
        stream.read_event()  # after the new expiry was read
        clock.advance(2 * HOURS)
        web.post(f"{SWITCH}/development/on", headers=ADMIN)
        assert stream.read() == []
