"""tests/routes/members.txt lists the members of each JSON response to a GET request of the admin,
client and frontend API, with their types. SNAPSHOT=write pytest … renews it."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import webtest

from sigservice.routes import find_routers
from tests.conftest import ADMIN, ADMIN_TOKEN, sign_in_by_json
from tests.jobs.release_kit import STEPS
from tests.pages.page_reader import create_own_token
from tests.pages.test_crawl import CLIENT_TOKEN, fill

FILE = Path(__file__).with_name("members.txt")
FRONTEND_TOKEN = "*:default.frontend"
TOKENS = {"client token": CLIENT_TOKEN, "frontend token": FRONTEND_TOKEN}
FEATURES = "/api/admin/projects/default/features"
RULE = "/api/admin/projects/<project>/features/<name>/environments/<environment>"
FLAG = {"name": "checkout", "environment": "production"}
# The parts of a path, by its beginning; the last one that fits decides.
PARTS = (
    ("/", FLAG | {"project": "default", "type": "simple", "value": "shop"}),
    (f"{RULE}/releases", {"name": "new"}),
    ("/api/admin/api-tokens", {"name": "shop"}),
    ("/api/admin/context", {"name": "plan"}),
    ("/api/admin/environments", {"name": "staging"}),
    ("/api/admin/metric-sources", {"name": "prom"}),
    ("/api/admin/metrics", {"name": "shop", "environment": "default"}),
    ("/api/admin/strategies", {"name": "byRegion"}),
    ("/api/admin/tag-types", {"name": "owner"}),
)
# The part of a path that is the first ID of a list.
IDS = (
    ("id", "/api/admin/addons", "addons"),
    ("id", "/api/admin/alert-rules", "alertRules"),
    ("id", "/api/admin/projects/default/actions", "actions"),
    ("run_id", "/api/admin/projects/default/actions/{id}/events", "actionSetEvents"),
    ("id", f"{FEATURES}/new/environments/production/releases", "releases"),
    ("id", f"{FEATURES}/checkout/environments/production/strategies", ""),
    ("strategy_id", f"{FEATURES}/checkout/environments/production/strategies", ""),
    ("id", "/api/admin/segments", "segments"),
    ("id", "/api/admin/service-account", "serviceAccounts"),
    ("id", "/api/admin/signal-endpoints", "signalEndpoints"),
    ("token_id", "/api/admin/signal-endpoints/{id}/tokens", "signalEndpointTokens"),
    ("signal_id", "/api/admin/signal-endpoints/{id}/signals", "signalEndpointSignals"),
    ("id", "/api/admin/user-admin", "users"),
)
# Their members are names that users and senders choose.
MAPS = {"data", "preData", "payload", "parameters", "executionParams", "sample", "resolvedSample"}


@pytest.fixture
def get(make_service, clock):
    """`get(caller, path)`: the response for this type of token or permission."""
    tokens = [("admin", ADMIN_TOKEN, "*")]
    tokens += [("client", CLIENT_TOKEN, "default"), ("frontend", FRONTEND_TOKEN, "default")]
    authentication = {
        "initialAdminUser": {"username": "ada", "password": "Correct-Horse-7"},
        "initApiTokens": [
            {"type": type, "secret": secret, "environment": environment, "project": "*"}
            for type, secret, environment in tokens
        ],
    }
    service = make_service({"authentication": authentication})
    web = webtest.TestApp(service.app)
    fill(service, web, clock)
    strategies = f"{FEATURES}/new/environments/production/strategies"
    body = {"name": "flexibleRollout", "parameters": {"rollout": "0"}}
    web.post_json(strategies, body, headers=ADMIN)
    web.post(f"{FEATURES}/new/environments/production/on", headers=ADMIN)
    body = {"steps": STEPS}
    web.post_json(f"{FEATURES}/new/environments/production/releases", body, headers=ADMIN)
    ada = sign_in_by_json(service, "ada")
    create_own_token(ada)
    ids = list_ids(web)

    def get(caller: str, rule: str) -> webtest.TestResponse:
        parts: dict[str, Any] = {}
        for start, more in (*PARTS, *ids):
            parts |= more if rule.startswith(start) else {}
        path = re.sub(r"<(\w+)(?::\w+)?>", lambda match: str(parts[match[1]]), rule)
        if re.fullmatch("/api/admin/user(/.*)?", path):
            return ada.get(path, expect_errors=True)
        headers = {"Authorization": TOKENS.get(caller, ADMIN_TOKEN)}
        return web.get(path, headers=headers, expect_errors=True)

    return get


def list_ids(web: webtest.TestApp) -> list[tuple[str, dict[str, Any]]]:
    """The beginnings of paths, and the IDs that are part of them."""
    ids: dict[str, Any] = {}
    result = []
    for part, path, member in IDS:
        items = web.get(path.format(**ids), headers=ADMIN).json
        items = items[member] if member else items
        ids[part] = min(items, key=lambda item: item.get("sortOrder", item["id"]))["id"]
        start = re.sub(f"{FEATURES}/\\w+/environments/production", RULE, path.partition("/{")[0])
        result.append((start.replace("/default/", "/<project>/"), dict(ids)))
    return result


def list_members(value: Any, path: str, members: dict[str, dict[str, set[str]]]) -> None:
    """Adds the types of each member of each object to `members`."""
    if isinstance(value, list):
        for item in value:
            list_members(item, f"{path}[]", members)
    if isinstance(value, dict):
        of_object = members[path or "."]
        for name, item in value.items():
            of_object.setdefault(name, set()).add(name_type(item))
            if name not in MAPS or isinstance(item, list):
                list_members(item, f"{path}.{name}", members)


def name_type(value: Any) -> str:
    types = {bool: "boolean", int: "number", float: "number", str: "text", list: "list"}
    return "null" if value is None else types.get(type(value), "object")


def describe(get: Any) -> str:
    lines = []
    routes = {
        (route.options.get("needs") or router.caller, route.path)
        for router in find_routers()
        for route in router.routes
        if route.method == "GET" and route.path.startswith("/api/")
    }
    for caller, path in sorted(routes, key=lambda route: route[1]):
        if path.endswith("/streaming"):
            continue
        response = get(caller, path)
        is_json = response.content_type == "application/json" and response.body
        lines.append(f"GET {path} {response.status_int} {response.content_type}")
        members: dict[str, dict[str, set[str]]] = defaultdict(dict)
        list_members(response.json if is_json else None, "", members)
        for place, of_object in sorted(members.items()):
            texts = (
                f"{name}:{'|'.join(sorted(types))}" for name, types in sorted(of_object.items())
            )
            lines.append(f"  {place} {' '.join(texts)}")
    return "\n".join(lines) + "\n"


def test_the_members_of_each_response_are_those_of_the_file(get):
    description = describe(get)
    if os.environ.get("SNAPSHOT") == "write":
        FILE.write_text(description)
    assert FILE.read_text() == description
