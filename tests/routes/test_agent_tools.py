"""The requests of unleash-mcp, with which coding agents manage flags, as its source sends them."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.routes.kit import FEATURES, Admin

HEADERS = ADMIN | {
    "Accept": "application/json",
    "Content-Type": "application/json",  # without a body too
    "X-Unleash-AppName": "unleash-mcp",
    "User-Agent": "unleash-mcp/1.0.0 (MCP Server)",
}
CHECKOUT = f"{FEATURES}/checkout"
STATE = f"{CHECKOUT}/environments/development"


@pytest.fixture
def agent(service):
    return Admin(service, HEADERS)


def test_an_agent_creates_finds_and_switches_a_flag(agent):
    flag = {"name": "checkout", "type": "release", "description": "New page"}
    flag |= {"impressionData": False}
    created = agent.post(FEATURES, flag, 201)
    assert flag | {"archived": False} == {name: created[name] for name in (*flag, "archived")}
    (project,) = agent.get("/api/admin/projects")["projects"]
    assert project["id"] == "default"
    assert [item["name"] for item in agent.get(FEATURES)["features"]] == ["checkout"]
    for state in ("on", "off"):
        agent.post(f"{STATE}/{state}")
        assert agent.get(STATE)["enabled"] == (state == "on")
    tags = {"addedTags": [{"type": "simple", "value": "agent"}], "removedTags": []}
    agent.put("/api/admin/features/checkout/tags", tags)
    agent.delete(CHECKOUT, 202)
    path = "/api/admin/search/features?project=IS%3Adefault&archived=IS%3Atrue"
    assert [item["name"] for item in agent.get(path)["features"]] == ["checkout"]


def test_an_agent_changes_and_deletes_a_rollout(agent):
    agent.flag("checkout")
    variant = {"name": "red", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    rule = {"contextName": "webVersion", "operator": "SEMVER_GTE", "value": "2.1.0"}
    parameters = {"rollout": "25", "groupId": "checkout", "stickiness": "default"}
    body = {"parameters": parameters, "variants": [variant], "constraints": [rule]}
    created = agent.strategy("checkout", **body)
    assert created["parameters"] == parameters
    # It reads the strategy of the environment and sends it back, changed.
    (state,) = (e for e in agent.get(CHECKOUT)["environments"] if e["name"] == "development")
    (current,) = state["strategies"]
    members = ("name", "title", "disabled", "constraints", "variants", "segments")
    merged = {name: current[name] for name in members if name in current}
    merged["parameters"] = current["parameters"] | {"rollout": "50"}
    updated = agent.put(f"{STATE}/strategies/{created['id']}", merged)
    assert updated["parameters"]["rollout"] == "50"
    assert [item["name"] for item in updated["variants"]] == ["red"]
    assert [item["contextName"] for item in updated["constraints"]] == ["webVersion"]
    agent.delete(f"{STATE}/strategies/{current['id']}")
    assert agent.get(f"{STATE}/strategies") == []
