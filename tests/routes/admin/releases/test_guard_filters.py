"""Whose filters of signal guards are allowed: with those of one's own, payloads could be read."""

from __future__ import annotations

import pytest

from sigservice.services.releases import guard_signals
from tests.jobs.release_kit import RESOLVED, STEPS, Releases
from tests.table_tests import each

SECRET = {"path": "password", "operator": "STR_STARTS_WITH", "values": ["p"]}
FIRING = {"path": "status", "operator": "IN", "values": ["firing"]}
EXISTS = {"path": "groupKey", "operator": "EXISTS"}
BODY = {"steps": STEPS}


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


@pytest.fixture
def send(kit, cast):
    """`send(method, path, body, status)` as an Editor, below the releases of the flag."""
    ed = cast.signed_in("ed")

    def send(method, path, body, status):
        call = getattr(ed, f"{method}_json")
        headers = {"X-CSRF-Token": ed.csrf}
        return call(f"{kit.place}/releases{path}", body, headers=headers, status=status).json

    return send


def make_guard(endpoint, **more):
    return {"kind": "signal", "endpointId": endpoint["id"], "effect": "hold"} | more


def test_editors_use_the_filters_of_the_template_and_released_paths(kit, send):
    endpoint = kit.endpoint(template="alertmanager", options={"guardPaths": ["team", "alert.id"]})
    team = {"path": "team", "operator": "IN", "values": ["shop"]}

    @each(
        "case",
        [
            ({}, 200),
            ({"filters": [EXISTS, FIRING]}, 200),
            ({"filters": [FIRING | {"values": ["firing", "resolved"]}]}, 403),
            ({"filters": [FIRING, team]}, 200),
            ({"filters": [{"any": [team, SECRET]}]}, 403),
            ({"filters": [FIRING, SECRET]}, 403),
            ({"resolved": RESOLVED}, 200),
            ({"resolved": {"path": "team", "values": ["x"], "key": "alert.id, team"}}, 200),
            ({"resolved": {"path": "team", "values": ["x"], "key": "team, password"}}, 403),
            ({"resolved": {"path": "password", "values": ["x"], "key": "team"}}, 403),
        ],
        name=str,
    )
    def check(case):
        members, status = case
        answer = send(
            "post", "/preview", {"guards": [make_guard(endpoint, **members)]} | BODY, status
        )
        if status == 403:
            assert answer["details"][0]["path"] == "guards[0].filters"

    check()


def test_editors_create_no_release_with_other_filters(kit, send):
    guard = make_guard(kit.endpoint(), filters=[SECRET])
    send("post", "", BODY | {"guards": [guard]}, 403)
    assert kit.get(f"{kit.place}/releases")["releases"] == []
    kit.create(guards=[guard])


def test_editors_keep_filters_that_an_admin_has_chosen(kit, send):
    endpoint = kit.endpoint()
    guard = make_guard(endpoint, filters=[SECRET], resolved=RESOLVED)
    release = kit.create(guards=[guard])
    path = f"/{release['id']}/guards"
    send("put", path, {"guards": [guard | {"dryRun": True}]}, 200)
    send("put", path, {"guards": [guard | {"filters": [SECRET | {"values": ["pa"]}]}]}, 403)
    assert kit.read(release)["guards"][0]["filters"] == [SECRET]


def test_recent_signals_are_read_up_to_a_number_of_bytes(kit, monkeypatch):
    """The newest ones: an alert that fires behind them isn't seen."""
    monkeypatch.setattr(guard_signals, "MAX_BYTES", 20_000)
    guard = make_guard(kit.endpoint(), filters=[FIRING])
    kit.alert()
    kit.create(guards=[guard], status=400)
    for _ in range(2):
        kit.alert("info", text="x" * 9_990)
    kit.create(guards=[guard])


def test_guards_of_one_endpoint_share_its_signals_which_are_read_before_the_lock(
    kit, service, monkeypatch
):
    endpoint, names = kit.endpoint(), []
    observer = service.context.database.observer
    monkeypatch.setattr(observer, "on_query", lambda _, store, action: names.append(action))
    guards = [make_guard(endpoint, filters=[FIRING], dryRun=True)] * 2
    kit.create(guards=guards)
    assert names.index("list_recent_signals") < names.index("lock_revisions")
    assert names.index("list_endpoints") < names.index("list_recent_signals")
    before = names[: names.index("lock_revisions")]
    assert before.count("list_recent_signals") == 1
