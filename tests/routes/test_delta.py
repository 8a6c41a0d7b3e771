"""GET /api/client/delta: what has changed since an event ID; see docs/streaming.md."""

import random
from typing import Any

import pytest
import webtest

from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.samples import sample
from tests.table_tests import each

FEATURES = "/api/admin/projects/default/features"


class Delta:
    """A client of the delta API that keeps what it was sent, by the strict rules of the engine that
    is used by the Python SDK."""

    def __init__(self, web: webtest.TestApp, secret: str, query: str = "") -> None:
        self._web, self._secret, self._query = web, secret, query
        self.etag = ""
        self.flags: dict[str, Any] = {}
        self.segments: dict[int, Any] = {}

    def request(self, etag: str | None = None) -> webtest.TestResponse:
        headers = {"Authorization": self._secret}
        if etag or self.etag:
            headers["If-None-Match"] = etag or self.etag
        return self._web.get(f"/api/client/delta{self._query}", headers=headers)

    def poll(self) -> list[dict[str, Any]]:
        """The events, which are applied."""
        answer = self.request()
        if answer.status_code == 304:
            return []
        self.etag = answer.headers["ETag"]
        assert list(answer.json) == ["events"]
        events: list[dict[str, Any]] = answer.json["events"]
        assert events
        assert f'"{events[-1]["eventId"]}"' == self.etag
        for event in events:
            assert 0 < event["eventId"] < 2**32
            self.apply(event)
        return events

    def apply(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "hydration":
                self.flags = {flag["name"]: flag for flag in event["features"]}
                self.segments = {segment["id"]: segment for segment in event["segments"]}
            case "feature-updated":
                self.flags[event["feature"]["name"]] = event["feature"]
                for strategy in event["feature"]["strategies"]:
                    assert set(strategy.get("segments", [])) <= set(self.segments)
            case "feature-removed":
                assert self.flags.pop(event["featureName"])["project"] == event["project"]
            case "segment-updated":
                assert set(event["segment"]) == {"id", "name", "constraints"}
                self.segments[event["segment"]["id"]] = event["segment"]
            case "segment-removed":
                del self.segments[event["segmentId"]]
            case unknown:
                pytest.fail(f"unknown event {unknown}")

    def assert_is_current(self) -> None:
        """Compares with what the same token gets from /api/client/features."""
        headers = {"Authorization": self._secret, "Unleash-Client-Spec": "5.2.0"}
        full = self._web.get(f"/api/client/features{self._query}", headers=headers).json
        assert self.flags == {flag["name"]: flag for flag in full["features"]}
        assert self.segments == {segment["id"]: segment for segment in full["segments"]}


@pytest.fixture
def admin(web):
    class Admin:
        def send(self, method: str, path: str, body: Any = None, status: Any = "2*") -> Any:
            arguments = {"headers": ADMIN, "status": status}
            if method == "DELETE":
                return web.delete(path, **arguments)
            return getattr(web, f"{method.lower()}_json")(path, body or {}, **arguments)

        def create(self, name: str, project: str = "default") -> None:
            self.send("POST", f"/api/admin/projects/{project}/features", {"name": name})

        def switch(self, name: str, on: bool = True, environment: str = "development") -> None:
            path = f"{FEATURES}/{name}/environments/{environment}/{'on' if on else 'off'}"
            self.send("POST", path)

        def archive(self, name: str) -> None:
            self.send("DELETE", f"{FEATURES}/{name}")

        def add_project(self, id: str) -> None:
            self.send("POST", "/api/admin/projects", {"id": id, "name": id})

        def create_token(self, *projects: str, environment: str = "development") -> str:
            body = {
                "tokenName": "t",
                "type": "client",
                "environment": environment,
                "projects": list(projects or ("*",)),
            }
            return str(self.send("POST", "/api/admin/api-tokens", body).json["secret"])

        def create_segment(self, name: str) -> int:
            constraint = {"contextName": "userId", "operator": "IN", "values": ["7"]}
            body = {"name": name, "constraints": [constraint]}
            return int(self.send("POST", "/api/admin/segments", body).json["id"])

        def add_strategy(self, flag: str, *segments: int) -> str:
            path = f"{FEATURES}/{flag}/environments/development/strategies"
            body = {"name": "default", "segments": list(segments)}
            return str(self.send("POST", path, body).json["id"])

    return Admin()


@pytest.fixture
def delta(web, admin):
    return Delta(web, admin.create_token())


def test_the_first_answer_is_the_whole_state(admin, delta):
    admin.create("a")
    (event,) = delta.poll()
    assert event["type"] == "hydration"
    delta.assert_is_current()


def test_an_empty_environment_is_hydrated(delta):
    (event,) = delta.poll()
    assert (event["features"], event["segments"]) == ([], [])


def test_an_unchanged_state_is_304(admin, delta):
    admin.create("a")
    delta.poll()
    assert delta.request().status_code == 304
    assert delta.request(f"W/{delta.etag}").status_code == 304


def test_a_switched_flag_is_one_event(admin, delta):
    admin.create("a")
    admin.create("b")
    delta.poll()
    admin.switch("a")
    (event,) = delta.poll()
    assert (event["type"], event["feature"]["enabled"]) == ("feature-updated", True)


def test_a_change_of_another_environment_is_no_event(admin, delta):
    admin.create("a")
    delta.poll()
    admin.switch("a", environment="production")
    assert delta.poll() == []


def test_an_archived_flag_is_removed_and_a_revived_one_comes_back(admin, delta):
    admin.create("a")
    delta.poll()
    admin.archive("a")
    (event,) = delta.poll()
    assert (event["type"], event["featureName"], event["project"]) == (
        "feature-removed",
        "a",
        "default",
    )
    admin.send("POST", "/api/admin/archive/revive/a")
    delta.poll()
    delta.assert_is_current()


def test_a_flag_that_changed_and_changed_back_is_no_event(admin, delta):
    admin.create("a")
    admin.switch("a")
    delta.poll()
    admin.switch("a", on=False)
    Delta.poll(Delta(delta._web, delta._secret))  # another client sees the state between
    admin.switch("a", on=True)
    assert delta.poll() == []


def test_a_segment_comes_before_the_flag_that_uses_it(admin, delta):
    admin.create("a")
    id = admin.create_segment("vip")
    delta.poll()
    admin.add_strategy("a", id)
    assert [event["type"] for event in delta.poll()] == ["segment-updated", "feature-updated"]
    delta.assert_is_current()


def test_an_edited_segment_is_one_event(admin, delta):
    admin.create("a")
    id = admin.create_segment("vip")
    admin.add_strategy("a", id)
    delta.poll()
    constraint = {"contextName": "userId", "operator": "IN", "values": ["8"]}
    admin.send("PUT", f"/api/admin/segments/{id}", {"name": "vip", "constraints": [constraint]})
    (event,) = delta.poll()
    assert event["segment"]["constraints"][0]["values"] == ["8"]
    delta.assert_is_current()


def test_a_segment_without_a_flag_is_removed(admin, delta):
    admin.create("a")
    id = admin.create_segment("vip")
    strategy = admin.add_strategy("a", id)
    delta.poll()
    admin.send("DELETE", f"{FEATURES}/a/environments/development/strategies/{strategy}")
    assert [event["type"] for event in delta.poll()] == ["segment-removed", "feature-updated"]
    delta.assert_is_current()


def test_a_change_made_in_the_database_comes_with_the_next_change(admin, delta, clock, database):
    for name in "ab":
        admin.create(name)
    delta.poll()
    with database.connect() as conn, conn.cursor() as cursor:
        cursor.execute("UPDATE features SET impression_data = true WHERE name = 'a'")
    clock.advance(1)
    with pytest.raises(AssertionError):
        delta.assert_is_current()  # which compares the flags in memory with the database
    admin.switch("b")
    delta.poll()
    delta.assert_is_current()


def test_a_token_gets_only_its_projects(web, admin):
    admin.add_project("shop")
    admin.create("a")
    admin.create("b", "shop")
    scoped = Delta(web, admin.create_token("shop"))
    scoped.poll()
    assert set(scoped.flags) == {"b"}
    admin.switch("a")
    assert scoped.poll() == []


def test_a_prefix_filters_events(web, admin):
    scoped = Delta(web, admin.create_token(), "?namePrefix=shop")
    admin.create("shop-a")
    admin.create("a")
    scoped.poll()
    admin.switch("a")
    assert scoped.poll() == []
    admin.switch("shop-a")
    assert len(scoped.poll()) == 1


@each("etag", ['"2"', "2", '"99999999999"', '"4294967295"', "x", '""', "*", '"-1"', "1.5", "W/x"])
def test_an_unknown_event_id_hydrates(delta, etag):
    assert delta.request(etag).json["events"][0]["type"] == "hydration"


def test_the_etag_of_other_tokens_is_the_event_id_of_the_environment(web, admin, delta):
    other = Delta(web, admin.create_token("default"))
    delta.poll()
    other.poll()
    assert delta.etag == other.etag


@each("secret", ["", "x", ADMIN_TOKEN])
def test_a_wrong_token_is_refused(web, secret):
    headers = {"Authorization": secret} if secret else {}
    web.get("/api/client/delta", headers=headers, status=403 if secret == ADMIN_TOKEN else 401)


def test_a_revoked_token_is_refused_at_the_next_poll(admin, delta):
    delta.poll()
    admin.send("DELETE", f"/api/admin/api-tokens/{delta._secret}")
    delta._web.get("/api/client/delta", headers={"Authorization": delta._secret}, status=401)


@pytest.mark.parametrize("seed", sample(range(3), 1))
def test_folded_events_equal_the_full_document(web, admin, seed):
    """Clients of several scopes poll at random moments between random changes."""
    choose = random.Random(seed)
    admin.add_project("shop")
    segments = [admin.create_segment(f"s{number}") for number in range(3)]
    names = [f"f{number}" for number in range(6)]
    for name in names:
        admin.create(name, choose.choice(["default", "shop"]))
    scopes = (("*",), ("shop",), ("default", "shop"))
    clients = [Delta(web, admin.create_token(*projects)) for projects in scopes]
    types: set[str] = set()
    for _ in range(40):
        change_at_random(choose, admin, names, segments)
        for client in choose.sample(clients, 2):
            types |= {event["type"] for event in client.poll()}
            client.assert_is_current()
    assert types >= {"hydration", "feature-updated", "feature-removed", "segment-updated"}


def change_at_random(choose, admin, names, segments):
    """Some requests are refused, for example a switch of an archived flag."""
    name, segment = choose.choice(names), choose.choice(segments)
    flag = f"/api/admin/projects/{choose.choice(['default', 'shop'])}/features/{name}"
    environment = f"{flag}/environments/development"
    strategy = {"name": "default", "segments": choose.sample(segments, choose.randrange(3))}
    users = {"contextName": "userId", "operator": "IN", "values": [str(choose.randrange(9))]}
    for method, path, body in choose.choice(
        (
            [("POST", f"{environment}/strategies", strategy)],
            [("POST", f"{environment}/{choose.choice(['on', 'off'])}", None)],
            [("DELETE", flag, None)],
            [("POST", f"/api/admin/archive/revive/{name}", None)],
            [
                (
                    "PUT",
                    f"/api/admin/segments/{segment}",
                    {"name": f"s-{segment}", "constraints": [users]},
                )
            ],
            [  # the same name in a project that may be another one
                ("DELETE", flag, None),
                ("DELETE", f"/api/admin/archive/{name}", None),
                ("POST", flag.rpartition("/")[0], {"name": name}),
            ],
        )
    ):
        admin.send(method, path, body, status="*")
