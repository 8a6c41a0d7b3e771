"""Import from a running server: sigservice, and servers with unusual responses."""

from __future__ import annotations

import copy
import io

import pytest
import webtest

from sigservice.commands.transfer.progress import Progress
from sigservice.commands.transfer.remote_client import RemoteClient
from sigservice.commands.transfer.remote_snapshot import RemoteSnapshotReader
from sigservice.errors import StartError
from tests.commands.transfer.conftest import FIRST_START_EVENTS, count_events, read_client_document
from tests.conftest import ADMIN, ADMIN_TOKEN
from tests.samples import sample

TOKEN = "*:*.secret-token-of-the-peer"
STRATEGY = {
    "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "name": "flexibleRollout",
    "title": None,
    "disabled": None,
    "parameters": {"rollout": 50, "stickiness": "default", "groupId": None},
    "constraints": [
        {"contextName": "a", "operator": "IN", "values": ["x", 1], "value": "", "inverted": None},
        {"contextName": "b", "operator": "NUM_GT", "values": None, "value": 5},
    ],
    "variants": None,
    "segments": [12],
    "milestoneId": None,
}
FLAG = {
    "name": "odd",
    "type": "sunset",
    "description": None,
    "stale": None,
    "createdAt": "not a date",
    "createdBy": {"id": 1, "name": "eve", "imageUrl": ""},
    "environments": [
        {"name": "production", "enabled": True, "variants": None, "strategies": [STRATEGY]},
        {"name": "development", "enabled": None},
    ],
    "dependencies": [{"feature": "parent"}, {"feature": "parent"}],
    "lifecycle": {"stage": "live"},
}
ARCHIVED = "/api/admin/search/features?archived=IS:true"
ANSWERS = {
    "projects": {
        "version": 1,
        "projects": [
            {"id": "default", "name": "Default", "description": None, "mode": "open"},
            {"id": "gone", "name": "Gone", "archivedAt": "2026-01-01T00:00:00Z"},
            {"id": "no blanks", "name": "Bad"},
        ],
    },
    "projects/default/overview": {
        "name": "Default",
        "featureNaming": {"pattern": None},
        "environments": [
            {"environment": "development", "changeRequestsEnabled": True},
            {"environment": "production", "defaultStrategy": {"name": "unheard", "extra": 1}},
            {"environment": "nowhere"},
        ],
    },
    "projects/no%20blanks": {},
    "environments": {
        "environments": [
            {"name": "development", "type": "development", "sortOrder": "2", "protected": None}
        ]
    },
    "segments": {
        "segments": [
            {"id": 12, "name": "beta", "description": "", "project": None, "constraints": []},
            {"id": 13, "name": "lost", "project": "no blanks", "constraints": []},
        ]
    },
    "context": [{"name": "a", "legalValues": None}, {"name": "no blanks", "sortOrder": 1}],
    "tag-types": {"tagTypes": [{"name": "team", "color": None}, {"name": None}]},
    "strategies": {
        "strategies": [{"name": "default", "editable": False}, {"name": "own", "parameters": None}]
    },
    "projects/no%20blanks/features": {"features": []},
    "projects/default/features": {
        "features": [{"name": "odd"}, {"name": "parent"}, {"name": "bad name"}, {"name": "half"}]
    },
    "projects/default/features/odd": FLAG,
    "projects/default/features/parent": {"name": "parent", "environments": []},
    "projects/default/features/bad%20name": {"name": "bad name"},
    "projects/default/features/half": {
        "name": "half",
        "links": [{"id": "1", "url": "https://example.com"}],
        "environments": [
            {
                "name": "production",
                "enabled": True,
                "strategies": [STRATEGY, {"parameters": {"x": [1]}}],
                "releasePlans": [{"id": "r"}],
            },
            {"name": "development", "enabled": True, "strategies": [STRATEGY | {"id": ""}]},
        ],
    },
    "features/odd/tags": {"tags": [{"type": "team", "value": "core"}, {"type": "x", "value": "y"}]},
    "search/features": {
        "features": [
            {
                "name": "old",
                "type": "release",
                "archivedAt": "2026-02-02T00:00:00.000Z",
                "environments": [{"name": "production", "enabled": 1}, {"name": "development"}],
            }
        ]
    },
    "projects/default/features/old/environments/production/strategies": [{"name": "default"}],
    "roles": {"roles": [{"type": "root"}, {"type": "custom"}]},
    "user-admin": {"users": [{"id": 1}, {"id": 2}]},
}


@pytest.fixture
def odd(peer):
    peer.answers = copy.deepcopy(ANSWERS)
    return peer


def test_everything_is_imported_from_sigservice_once(full, empty, command):
    start = ("import", "--from", full.url, "--token", ADMIN_TOKEN)
    code, out, err = command(empty, *start, "--dry-run")
    assert (code, "would change; nothing was written" in out) == (0, True), out
    assert count_events(empty) == FIRST_START_EVENTS
    code, out, err = command(empty, *start)
    assert (code, err) == (0, "definitions: 5\nflags: 50\n")
    assert "1 API token" in out.partition("Never imported:")[2]
    assert ADMIN_TOKEN not in out + err
    for environment in ("default", "development", "staging", "production"):
        assert read_client_document(full, environment) == read_client_document(empty, environment)
    before = count_events(empty)
    code, out, _ = command(empty, *start)
    assert (code, out.splitlines()[0]) == (0, "0 changed")
    assert count_events(empty) == before
    web = webtest.TestApp(empty.app)
    archived = web.get(f"{ARCHIVED}&query=flag-13", headers=ADMIN).json["features"]
    assert [flag["name"] for flag in archived] == ["flag-13"]


def test_a_single_project_is_imported(full, empty, command):
    start = ("import", "--from", full.url, "--token", ADMIN_TOKEN)
    code, _, _ = command(empty, *start, "--project", "shop")
    web = webtest.TestApp(empty.app)
    names = [p["id"] for p in web.get("/api/admin/projects", headers=ADMIN).json["projects"]]
    assert (code, names) == (0, ["default", "shop"])
    assert web.get("/api/admin/projects/default/features", headers=ADMIN).json["features"] == []
    with pytest.raises(StartError, match="no project nowhere"):
        command(empty, *start, "--project", "nowhere")


def test_unusual_responses_are_read_and_skipped_items_reported(odd, empty, command):
    start = ("import", "--from", f"{odd.url}/api/", "--token", TOKEN)
    code, out, err = command(empty, *start)
    assert code == 3
    assert TOKEN not in out + err
    skipped = out.partition("Skipped:")[2].partition("Never imported:")[0]
    for item in (
        "project gone: archived on the server",
        "project default: change requests in development",
        "projects no blanks: id",
        "projects default: environments[1].defaultStrategy.name",
        "projects default: environments[2].environment: Environment nowhere not found.",
        "segments lost: project",
        "contextFields no blanks",
        "tag type None",
        "features odd: type: Flag type sunset not found.",
        "features bad name",
        "flag half: its state in production",
        "flag half: the release plan in production",
        "flag half: links",
        "flag old: its state in development: not readable",
        "features odd: tags",
        "1 custom role",
    ):
        assert item in skipped, skipped
    assert "2 users" in out.partition("Never imported:")[2]
    web = webtest.TestApp(empty.app)
    path = "/api/admin/projects/default/features"
    flag = web.get(f"{path}/odd", headers=ADMIN).json
    assert (flag["type"], flag["dependencies"][0]["feature"]) == ("release", "parent")
    assert (flag["createdBy"]["name"], flag["tags"]) == (
        "eve",
        [{"type": "team", "value": "core"}],
    )
    states = {state["name"]: state for state in flag["environments"]}
    (strategy,) = states["production"]["strategies"]
    assert (strategy["id"], strategy["parameters"]["rollout"]) == (STRATEGY["id"], "50")
    assert strategy["constraints"] == [
        {"contextName": "a", "operator": "IN", "values": ["x", "1"]},
        {"contextName": "b", "operator": "NUM_GT", "value": "5", "values": []},
    ]
    half = web.get(f"{path}/half", headers=ADMIN).json
    assert [(s["name"], s["enabled"]) for s in half["environments"]] == [
        ("production", False),
        ("development", True),
    ]
    (old,) = web.get(f"{ARCHIVED}&query=old", headers=ADMIN).json["features"]
    assert old["archivedAt"] == "2026-02-02T00:00:00.000Z"
    assert [s["name"] for s in old["environments"] if s["enabled"]] == ["production"]
    code, out, _ = command(empty, *start)
    assert (code, out.splitlines()[0]) == (3, "0 changed")


def test_older_servers_are_read_at_their_paths(odd, empty, command):
    for path in ("search/features", "projects/default/overview", "strategies", "segments"):
        del odd.answers[path]
    odd.answers["projects/default"] = {"name": "Default", "environments": ["production"]}
    odd.answers["archive/features/default"] = {"features": [{"name": "older", "type": "release"}]}
    odd.answers["projects/default/features"] = {"features": []}
    _, out, _ = command(empty, "import", "--from", odd.url, "--token", TOKEN)
    assert "flag older: created" in out
    del odd.answers["archive/features/default"]
    _, out, _ = command(empty, "import", "--from", odd.url, "--token", TOKEN)
    assert "archived flags: the server doesn't list them" in out


def test_a_project_whose_environments_can_not_be_read_is_skipped(odd, empty, command):
    del odd.answers["projects/default/overview"]
    code, out, _ = command(empty, "import", "--from", odd.url, "--token", TOKEN)
    assert code == 3
    assert "project default: its environments: not readable" in out
    assert "no longer uses" not in out


def test_a_server_that_ignores_the_offset_is_read_once(odd, empty, command):
    (old,) = odd.answers["search/features"]["features"]
    odd.answers["search/features"]["features"] = [old | {"name": f"old-{n}"} for n in range(100)]
    _, out, _ = command(empty, "import", "--from", odd.url, "--token", TOKEN, "--dry-run")
    assert "archived flags: the server doesn't list them" in out
    assert sum("project=IS%3Adefault" in path for path, _ in odd.requests) == 2


def test_a_child_is_skipped_with_its_parent(odd, empty, command):
    odd.answers["projects/default/features/parent"] = {"name": "parent", "description": "x" * 6000}
    code, out, _ = command(empty, "import", "--from", odd.url, "--token", TOKEN)
    assert code == 3
    assert "Parent flag parent not found." in out
    web = webtest.TestApp(empty.app)
    web.get("/api/admin/projects/default/features/odd", headers=ADMIN, status=404)


@pytest.mark.parametrize("odd_value", sample([[None, "x", []], 7, {"name": []}], 1))
def test_any_response_is_read_or_rejected_with_one_line(peer, odd_value):
    for path in ANSWERS:
        peer.answers = copy.deepcopy(ANSWERS) | {path: odd_value}
        RemoteSnapshotReader(RemoteClient(peer.url, TOKEN), Progress(io.StringIO()), []).read()
    for members in (FLAG, FLAG["environments"][0], STRATEGY):
        for name in members:
            flag = copy.deepcopy(FLAG)
            state = flag["environments"][0]
            at = next(m for m in (flag, state, state["strategies"][0]) if set(m) == set(members))
            at[name] = odd_value
            peer.answers = copy.deepcopy(ANSWERS) | {"projects/default/features/odd": flag}
            RemoteSnapshotReader(RemoteClient(peer.url, TOKEN), Progress(io.StringIO()), []).read()
