"""Export of all flags to a file and import from it."""

from __future__ import annotations

import json

import pytest
import webtest

from sigservice.errors import ConflictError
from sigservice.repository.transfer import definitions
from sigservice.services.transfer import snapshot_writer
from tests.commands.transfer.conftest import (
    FIRST_START_EVENTS,
    count_events,
    create_flags,
    read_client_document,
)
from tests.conftest import ADMIN, ADMIN_TOKEN


def test_an_export_of_an_import_is_the_same_file(service, empty, command, tmp_path):
    create_flags(webtest.TestApp(service.app))
    first, second = str(tmp_path / "first.json"), str(tmp_path / "second.json")
    assert command(service, "export", first)[0] == 0
    code, out, _ = command(empty, "import", first, "--dry-run")
    assert (code, out.splitlines()[-1]) == (0, "60 would change; nothing was written")
    assert count_events(empty) == FIRST_START_EVENTS
    code, out, _ = command(empty, "import", first)
    assert (code, out.splitlines()[-1]) == (0, "60 changed")
    command(empty, "export", second)
    text = (tmp_path / "first.json").read_text()
    assert text == (tmp_path / "second.json").read_text()
    assert '"flag-13"' in text
    assert ADMIN_TOKEN not in text
    for environment in ("default", "development", "staging", "production"):
        assert read_client_document(service, environment) == read_client_document(
            empty, environment
        )
    before = count_events(empty)
    assert command(empty, "import", first)[:2] == (0, "0 changed\n")
    assert count_events(empty) == before


def test_an_environment_that_a_project_no_longer_uses_is_not_exported(
    service, empty, command, tmp_path
):
    web, file = webtest.TestApp(service.app), tmp_path / "flags.json"
    project = "/api/admin/projects/default"
    web.post_json(f"{project}/features", {"name": "f"}, headers=ADMIN)
    for name in ("production", "development"):
        web.post(f"{project}/features/f/environments/{name}/on", headers=ADMIN)
    web.delete(f"{project}/environments/production", headers=ADMIN)
    command(service, "export", str(file))
    (flag,) = json.loads(file.read_text())["features"]
    assert [state["environment"] for state in flag["environments"]] == ["development"]
    for target in (empty, service):
        code, _, err = command(target, "import", str(file))
        assert (code, err) == (0, "")


def test_a_default_strategy_is_changed_without_adding_its_environment(service, command, tmp_path):
    file = tmp_path / "flags.json"
    command(service, "export", str(file))
    document = json.loads(file.read_text())
    (project,) = document["projects"]
    (link,) = [link for link in project["environments"] if link["environment"] == "production"]
    link["defaultStrategy"] = {"name": "flexibleRollout", "parameters": {"rollout": "5"}}
    file.write_text(json.dumps(document))
    _, out, _ = command(service, "import", str(file))
    assert out.splitlines() == ["project default: default strategy in production", "1 changed"]
    web = webtest.TestApp(service.app)
    event = web.get("/api/admin/events?limit=1", headers=ADMIN).json["events"][0]
    assert (event["type"], event["environment"]) == ("default-strategy-updated", "production")
    assert (event["data"]["parameters"], event["preData"]) == ({"rollout": "5"}, None)


def test_export_without_a_file_goes_to_standard_output(empty, command):
    code, out, err = command(empty, "export")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert (document["format"], document["version"]) == ("sigservice", 1)
    assert {item["name"] for item in document["environments"]} >= {"default", "production"}


def test_an_import_updates_definitions_and_deletes_nothing(full, empty, command, tmp_path):
    file = tmp_path / "flags.json"
    command(full, "export", str(file))
    command(empty, "import", str(file))
    document = json.loads(file.read_text())
    document["segments"][0]["constraints"] = [
        {"contextName": "x", "operator": "IN", "values": ["y"]}
    ]
    document["projects"][1]["name"] = "Renamed"
    document["features"] = [f for f in document["features"] if f["name"] == "flag-49"]
    (flag,) = document["features"]
    flag["environments"][0]["strategies"] = []
    file.write_text(json.dumps(document))
    code, out, _ = command(empty, "import", str(file))
    assert code == 0
    assert [line.partition(":")[0] for line in out.splitlines()] == [
        "project shop",
        "segment a shop's",
        "flag flag-49",
        "3 changed",
    ]
    web = webtest.TestApp(empty.app)
    features = web.get("/api/admin/projects/shop/features", headers=ADMIN).json["features"]
    assert len(features) == 32


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (["features", 0, "environments", 0, "strategies"], [{"name": "x"}], "strategies[0].name"),
        (["features", 0, "project"], "nowhere", "features[0].project"),
        (["features", 0, "environments", 0, "environment"], "x", "environments[0].environment"),
        (["projects", 0, "environments", 0, "environment"], "x", "environments[0].environment"),
        (["projects", 0, "mode"], "x", "projects[0].mode"),
        (["environments", 0, "name"], "a b", "environments[0].name"),
        (["segments", 0, "project"], "nowhere", "segments[0].project"),
        (["features", 0, "createdAt"], "yesterday", "features[0].createdAt"),
        (["features", 0, "createdAt"], "9999-12-31T23:59:59-01:00", "features[0].createdAt"),
        (["features", 0, "archivedAt"], "0001-01-01T00:00:00+01:00", "features[0].archivedAt"),
        (["segments", 0, "createdAt"], "9999-12-31T23:59:59-01:00", "segments[0].createdAt"),
        (["version"], 2, "version is 2"),
        (["features"], 7, "features"),
    ],
)
def test_an_invalid_file_is_rejected_without_changes(
    empty, command, tmp_path, path, value, expected
):
    file = tmp_path / "flags.json"
    link = {"environment": "production", "enabled": True, "variants": [], "strategies": []}
    flag = {"name": "f", "project": "default", "environments": [link]}
    document = {
        "format": "sigservice",
        "version": 1,
        "environments": [{"name": "new"}],
        "projects": [{"id": "p", "name": "P", "environments": [{"environment": "new"}]}],
        "segments": [{"name": "s"}],
        "features": [flag],
    }
    parent = document
    for part in path[:-1]:
        parent = parent[part]
    parent[path[-1]] = value
    file.write_text(json.dumps(document))
    code, out, err = command(empty, "import", str(file))
    assert (code, out) == (1, "")
    assert expected in err
    assert count_events(empty) == FIRST_START_EVENTS


def test_a_segment_stays_usable_by_the_projects_that_use_it_here(empty, command, tmp_path):
    web, file = webtest.TestApp(empty.app), tmp_path / "flags.json"
    body = {"name": "beta", "constraints": []}
    segment = web.post_json("/api/admin/segments", body, headers=ADMIN).json["id"]
    web.post_json("/api/admin/projects/default/features", {"name": "f"}, headers=ADMIN)
    path = "/api/admin/projects/default/features/f/environments/production/strategies"
    web.post_json(path, {"name": "default", "segments": [segment]}, headers=ADMIN)
    document = {
        "format": "sigservice",
        "version": 1,
        "projects": [{"id": "shop", "name": "Shop"}],
        "segments": [{"name": "beta", "project": "shop", "constraints": []}],
    }
    file.write_text(json.dumps(document))
    code, _, err = command(empty, "import", str(file))
    assert (code, "The segment beta is used in project default." in err) == (1, True)
    assert web.get(f"/api/admin/segments/{segment}", headers=ADMIN).json["project"] is None


def test_an_unleash_file_requires_a_project_and_an_environment(full, empty, command, tmp_path):
    web = webtest.TestApp(full.app)
    scope = {"environment": "production", "project": "shop"}
    document = web.post_json("/api/admin/features-batch/export", scope, headers=ADMIN).json
    for segment in document["segments"]:
        segment["constraints"] = []
    document["strategies"] = [{"name": "robots"}]
    file = tmp_path / "unleash.json"
    file.write_text(json.dumps(document))
    assert command(empty, "import", str(file))[0] == 1
    place = ("--project", "default", "--environment", "development")
    code, _, err = command(empty, "import", str(file), *place)
    assert (code, err) == (0, "")
    assert command(empty, "import", str(file), *place)[:2] == (0, "0 changed\n")


def test_a_file_that_is_no_export_is_rejected(empty, command, tmp_path):
    for text in ("", "[]", "{", '{"format": "sigservice", "version": 1, "x": "\\u0000"}'):
        file = tmp_path / "file.json"
        file.write_text(text)
        code, out, err = command(empty, "import", str(file))
        assert (code, out, len(err.splitlines())) == (1, "", 1)
        assert "body" not in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["import"],
        ["import", "f", "--from", "http://x"],
        ["import", "--from", "http://x"],
        ["import", "f", "--token", "t"],
        ["import", "--from", "http://x", "--token", "t", "--environment", "e"],
    ],
)
def test_arguments_that_cannot_be_combined(command, arguments):
    with pytest.raises(SystemExit) as ended:
        command(None, *arguments)
    assert ended.value.code == 2


def test_many_flags_are_written_in_pieces(full, empty, command, tmp_path, monkeypatch):
    file = str(tmp_path / "flags.json")
    command(full, "export", file)
    monkeypatch.setattr(snapshot_writer, "PIECE", 7)
    code, _, err = command(empty, "import", file)
    assert (code, err) == (0, "writing flags: 50\n")
    for environment in ("development", "production"):
        assert read_client_document(full, environment) == read_client_document(empty, environment)


def test_an_import_that_fails_in_a_later_piece_changes_nothing(
    full, empty, command, tmp_path, monkeypatch
):
    file = str(tmp_path / "flags.json")
    command(full, "export", file)
    monkeypatch.setattr(snapshot_writer, "PIECE", 7)
    pieces = []

    def fail_late(*arguments):
        pieces.append(arguments)
        if len(pieces) == 3:
            raise ConflictError("The database refuses it.")

    monkeypatch.setattr(definitions, "put_feature_tags", fail_late)
    assert command(empty, "import", file)[0] == 1
    assert len(pieces) == 3
    assert read_client_document(empty, "development") == ([], [])
    assert count_events(empty) == FIRST_START_EVENTS
