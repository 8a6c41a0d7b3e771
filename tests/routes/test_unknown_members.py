"""Bodies of releases, alert rules and metric sources: unknown members are refused, and what a
response has can be sent back."""

from __future__ import annotations

import pytest

from tests.jobs.release_kit import STEPS, Releases
from tests.table_tests import each

RULES, SOURCES = "/api/admin/alert-rules", "/api/admin/metric-sources"
EMERGENCY = "/api/admin/emergency"
METRIC = {
    "kind": "impactMetric", "metric": "errors", "per": "requests", "measure": "ratio",
    "environment": "production",
}  # fmt: skip
CONDITION = {"source": METRIC, "above": 1}
SOURCE = {"name": "main", "url": "https://prometheus.example.com/prom"}
FILTER = {"path": "status", "operator": "IN", "values": ["firing"]}
SIGNAL = {"kind": "signal", "endpointId": 1, "effect": "rollBack"}
RULE = {"kind": "rule", "rule": CONDITION, "effect": "hold"}
WINDOW = {"timezone": "UTC", "days": ["mon"], "from": "09:00", "to": "16:00"}


def make_release(**members):
    return {"steps": STEPS} | members


# Method, path (below the environment if it is relative), body, and the unknown paths.
BODIES = [
    ("POST", "releases", make_release(dryrun=True), ["dryrun"]),
    (
        "POST",
        "releases/preview",
        make_release(guards=[SIGNAL | {"dryrun": True}, RULE | {"filters": []}]),
        ["guards[0].dryrun", "guards[1].filters"],
    ),
    (
        "POST",
        "releases",
        make_release(
            steps=[{"rollout": 1, "minutes": 10, "waitForPersons": True}, {"rollout": 100}],
            window=WINDOW | {"zone": "UTC"},
            notifications=[],
            guards=[SIGNAL | {"filters": [FILTER | {"any": [FILTER | {"case": 1}]}]}],
        ),
        [
            "steps[0].waitForPersons",
            "window.zone",
            "guards[0].filters[0].any[0].case",
            "notifications",
        ],
    ),
    (
        "POST",
        "releases",
        make_release(guards=[RULE | {"rule": CONDITION | {"over": 1}}]),
        ["guards[0].rule.over"],
    ),
    ("PUT", "releases/1/guards", {"guards": [SIGNAL], "steps": 1}, ["steps"]),
    ("POST", "releases/1/hold", {"why": "slow"}, ["why"]),
    ("POST", EMERGENCY, {"freezereleases": True}, ["freezereleases"]),
    ("POST", RULES, CONDITION | {"name": "x", "endpointId": 1, "window": 5}, ["window"]),
    ("POST", f"{RULES}/preview", {"source": METRIC | {"app": "x"}, "above": 1}, ["source.app"]),
    ("POST", SOURCES, SOURCE | {"timeout": 5}, ["timeout"]),
    ("POST", SOURCES, SOURCE | {"auth": {"type": "none", "user": "x"}}, ["auth.user"]),
    ("POST", f"{SOURCES}/main/query", {"query": "up", "time": 1}, ["time"]),
]  # fmt: skip


@pytest.fixture
def kit(service, clock):
    return Releases(service, clock)


@each("item", BODIES, name=lambda item: f"{item[0]} {item[1]}")
def test_unknown_members_are_refused_with_their_paths(kit, item):
    method, path, body, unknown = item
    send = kit.post if method == "POST" else kit.put
    error = send(path if path.startswith("/") else f"{kit.place}/{path}", body, 400)
    assert sorted(detail["path"] for detail in error["details"]) == sorted(unknown)
    assert kit.get(f"{kit.place}/releases")["releases"] == []


def test_deep_filters_are_no_internal_error(kit):
    item = FILTER
    for _ in range(400):
        item = {"any": [item]}
    kit.create(400, guards=[SIGNAL | {"filters": [item]}])


def test_a_long_list_of_long_names_is_cut(kit):
    error = kit.create(400, **{f"{n:03}" + "x" * 1000: n for n in range(30)})
    assert len(error["details"]) == 20
    assert max(len(detail["path"]) for detail in error["details"]) == 100


def test_responses_can_be_sent_back(kit):
    endpoint, silent = kit.endpoint(), kit.endpoint("silent")
    guards = [
        kit.guard(endpoint),
        RULE,
        {
            "kind": "rule",
            "rule": {"source": {"kind": "silence", "endpointId": silent["id"], "everySeconds": 60}},
            "effect": "hold",
        },
    ]
    release = kit.create(guards=guards, window=WINDOW)
    kit.put(f"{kit.place}/releases/{release['id']}/guards", {"guards": release["guards"]})
    kit.command(release, "stop")
    kit.post(f"{kit.place}/releases/preview", kit.read(release))
    rule = kit.post(RULES, CONDITION | {"name": "x", "endpointId": endpoint["id"]}, 201)
    kit.put(f"{RULES}/{rule['id']}", rule)
    kit.post(f"{RULES}/preview", rule)
    source = kit.post(SOURCES, SOURCE, 201)
    kit.put(f"{SOURCES}/main", source)
