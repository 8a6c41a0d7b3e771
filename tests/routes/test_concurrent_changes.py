"""Concurrent changes: none fails, limits hold, and every change bumps the revision."""

from __future__ import annotations

from sigservice.services.flags import features, strategies
from tests.routes.kit import FEATURES, PROJECT, SEGMENTS, race

RULE = {"contextName": "userId", "operator": "IN", "values": ["1"]}


def test_flags_are_created_up_to_the_limit(service, admin, monkeypatch):
    monkeypatch.setattr(features, "MAX_FEATURES", 8)
    for name in ("a", "b", "gone"):
        admin.flag(name)
    admin.delete(f"{FEATURES}/gone", 202)
    before = admin.revisions_ahead()

    def create(racer, n):
        if n % 5 == 0:
            return racer.ask("POST", f"{FEATURES}/a/clone", {"name": f"f{n}"}).status_int
        return racer.ask("POST", FEATURES, {"name": f"f{n}"}).status_int

    assert sorted(race(service, 20, create)) == [201] * 6 + [400] * 14
    assert len(admin.get(FEATURES)["features"]) == 8
    assert admin.revision() == before + 6
    created = [e["type"] for e in admin.events(6)]
    assert created == ["feature-created"] * 6


def test_one_of_20_gets_the_name(service, admin):
    def create(racer, _):
        return racer.ask("POST", FEATURES, {"name": "same"}).status_int

    assert sorted(race(service, 20, create)) == [201] + [409] * 19
    assert admin.types(1) == ["feature-created"]


def test_everything_at_once(service, admin, monkeypatch):
    """Two flags in opposite orders, archive against switches, parents both ways, segments."""
    monkeypatch.setattr(strategies, "MAX_STRATEGIES", 6)
    monkeypatch.setattr(features, "MAX_FEATURES", 6)
    for name in ("a", "b", "c", "d"):
        admin.flag(name)
    segment = admin.segment()
    development = "environments/development"
    tag = {"type": "simple", "value": "one"}
    plans = [
        [
            ("POST", f"{FEATURES}/a/{development}/on", None),
            ("POST", f"{PROJECT}/bulk_features/{development}/off", {"features": ["b", "a"]}),
            ("POST", f"{FEATURES}/a/dependencies", {"feature": "b"}),
            ("POST", f"{PROJECT}/stale", {"features": ["b", "a"], "stale": True}),
        ],
        [
            ("POST", f"{PROJECT}/bulk_features/{development}/on", {"features": ["a", "b"]}),
            ("POST", f"{FEATURES}/b/dependencies", {"feature": "a"}),
            ("POST", f"{PROJECT}/stale", {"features": ["a", "b"], "stale": False}),
            ("DELETE", f"{FEATURES}/b/dependencies", None),
        ],
        [
            ("POST", f"{FEATURES}/a/{development}/strategies", {"name": "default"}),
            (
                "POST",
                f"{FEATURES}/b/{development}/strategies",
                {"name": "default", "segments": [segment]},
            ),
            ("PUT", f"{SEGMENTS}/{segment}", {"name": "beta", "constraints": [RULE]}),
            ("DELETE", f"{SEGMENTS}/{segment}", None),
        ],
        [
            ("POST", f"{PROJECT}/archive", {"features": ["d", "c"]}),
            ("POST", f"{PROJECT}/revive", {"features": ["c", "d"]}),
            ("POST", f"{FEATURES}/a/clone", {"name": "clone"}),
            ("POST", f"{PROJECT}/delete", {"features": ["d", "c"]}),
        ],
        [
            ("POST", f"{FEATURES}/c/{development}/on", None),
            ("POST", "/api/admin/features/c/tags", tag),
            ("PUT", "/api/admin/features/d/tags", {"addedTags": [tag], "removedTags": [tag]}),
            ("PATCH", f"{FEATURES}/c", [{"op": "replace", "path": "/stale", "value": True}]),
        ],
    ]

    def work(racer, n):
        plan = plans[n % 5]
        return [racer.ask(*plan[(n + turn) % 4]) for turn in range(8)]

    answers = [answer for result in race(service, 20, work) for answer in result]
    unexpected = {a.status_int: a.text for a in answers if a.status_int >= 500}
    assert not unexpected
    assert {a.status_int for a in answers} <= {200, 201, 202, 204, 400, 403, 404, 409}
    for name in ("a", "b"):
        flag = admin.get(f"{FEATURES}/{name}")
        assert all(len(environment["strategies"]) <= 6 for environment in flag["environments"])
    # Never both are each other's parent, and no flag is on without an active strategy.
    assert len(admin.rows("SELECT child FROM feature_dependencies")) <= 1
    orphans = admin.rows(
        "SELECT feature FROM feature_environments e WHERE enabled AND NOT EXISTS ("
        "SELECT 1 FROM feature_strategies s WHERE s.feature = e.feature "
        "AND s.environment = e.environment AND NOT disabled)"
    )
    assert orphans == []
    assert len(admin.get(FEATURES)["features"]) <= 6
