"""The requests of unleash-mcp, with which coding agents manage flags, as its source sends them."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.contract.kit import Answer, Api

HEADERS = ADMIN | {
    "Accept": "application/json",
    "Content-Type": "application/json",  # without a body too
    "X-Unleash-AppName": "unleash-mcp",
    "User-Agent": "unleash-mcp/1.0.0 (MCP Server)",
}
PROJECT = "/api/admin/projects/default"
STRATEGIES = f"{PROJECT}/features/checkout/environments/development/strategies"


@pytest.fixture
def ask(api, check):
    def ask(method: str, path: str, *body: object) -> Answer:
        answer = api.ask(method, path, *body, headers=HEADERS)
        check(answer.status_int < 300, f"{method} {path}: {answer.status} {answer.text[:200]}")
        return answer

    return ask


def test_an_agent_creates_finds_and_switches_a_flag(api: Api, check, ask):
    flag = {"name": "checkout", "type": "release", "description": "New page",
            "impressionData": False}  # fmt: skip
    created = ask("POST", f"{PROJECT}/features", flag).json
    check.equal({name: created[name] for name in flag}, flag, "created")
    check("createdAt" in created and created["archived"] is False, f"{created}")
    (project,) = ask("GET", "/api/admin/projects").json["projects"]
    check.equal(project["id"], "default", "projects")
    features = ask("GET", f"{PROJECT}/features").json["features"]
    check.equal([it["name"] for it in features], ["checkout"], "flags")
    path = f"{PROJECT}/features/checkout/environments/development"
    for state in ("on", "off"):
        ask("POST", f"{path}/{state}")
        check.equal(api.state("checkout")["enabled"], state == "on", state)
    ask("PUT", "/api/admin/features/checkout/tags",
        {"addedTags": [{"type": "simple", "value": "agent"}], "removedTags": []})  # fmt: skip
    api.done("DELETE", f"{PROJECT}/features/checkout")
    archived = "/api/admin/search/features?project=IS%3Adefault&archived=IS%3Atrue"
    check.equal([it["name"] for it in ask("GET", archived).json["features"]], ["checkout"], "gone")


def test_an_agent_changes_and_deletes_a_rollout(api: Api, check, ask):
    api.flag("checkout")
    variant = {"name": "red", "weight": 1000, "weightType": "variable", "stickiness": "default"}
    rule = {"contextName": "webVersion", "operator": "SEMVER_GTE", "value": "2.1.0"}
    parameters = {"rollout": "25", "groupId": "checkout", "stickiness": "default"}
    body = {"name": "flexibleRollout", "parameters": parameters, "variants": [variant],
            "constraints": [rule]}  # fmt: skip
    created = ask("POST", STRATEGIES, body).json
    check.equal(created["parameters"], parameters, "parameters")
    # It reads the strategy of the environment and sends it back, changed.
    environments = ask("GET", f"{PROJECT}/features/checkout").json["environments"]
    (environment,) = (it for it in environments if it["name"] == "development")
    (current,) = environment["strategies"]
    check.equal(current["id"], created["id"], "id")
    members = ("name", "title", "disabled", "constraints", "variants", "segments")
    merged = {name: current[name] for name in members if name in current}
    merged["parameters"] = current["parameters"] | {"rollout": "50"}
    updated = ask("PUT", f"{STRATEGIES}/{current['id']}", merged).json
    check.equal(updated["parameters"]["rollout"], "50", "changed")
    check.equal([it["name"] for it in updated["variants"]], ["red"], "variants stay")
    check.equal([it["contextName"] for it in updated["constraints"]], ["webVersion"], "rules stay")
    ask("DELETE", f"{STRATEGIES}/{current['id']}")
    check.equal(ask("GET", STRATEGIES).json, [], "deleted")
