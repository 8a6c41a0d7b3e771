"""Favorites: of each user alone, repeatable, without effect on SDKs."""

from __future__ import annotations

import pytest

from tests.routes.kit import FEATURES, PROJECT, Admin

FLAG = f"{FEATURES}/a/favorites"
OWN_PROJECT = f"{PROJECT}/favorites"


@pytest.fixture
def viewer(service, admin):
    """A Viewer, by a token of a service account."""
    path = "/api/admin/service-account"
    account = admin.post(path, {"name": "Eve", "username": "eve", "rootRole": 3}, 201)
    body = {"description": "t", "expiresAt": "2999-01-01T00:00:00Z"}
    token = admin.post(f"{path}/{account['id']}/token", body, 201)
    user = Admin(service, {"Authorization": token["secret"]})
    user.id = account["id"]
    return user


def read_flags(admin):
    """`favorite` of the flag wherever it is shown."""
    return {
        admin.get(f"{FEATURES}/a")["favorite"],
        admin.get(FEATURES)["features"][0]["favorite"],
        admin.get("/api/admin/search/features")["features"][0]["favorite"],
    }


def read_projects(admin):
    return {
        admin.get("/api/admin/projects")["projects"][0]["favorite"],
        admin.get(PROJECT)["favorite"],
        admin.get(f"{PROJECT}/overview")["favorite"],
    }


def test_favorites_are_shown_to_the_user_who_has_them(admin, viewer):
    admin.flag()
    assert (read_flags(viewer), read_projects(viewer)) == ({False}, {False})
    assert viewer.ask("POST", FLAG, status=200).body == b""
    viewer.post(OWN_PROJECT)
    assert (read_flags(viewer), read_projects(viewer)) == ({True}, {True})
    assert (read_flags(admin), read_projects(admin)) == ({False}, {False})
    viewer.delete(FLAG)
    viewer.delete(OWN_PROJECT)
    assert (read_flags(viewer), read_projects(viewer)) == ({False}, {False})
    events = admin.events(4)
    assert [event["type"] for event in events] == [
        "feature-favorited",
        "project-favorited",
        "feature-unfavorited",
        "project-unfavorited",
    ]
    assert {event["createdBy"] for event in events} == {"eve"}
    assert [event["featureName"] for event in events] == ["a", None, "a", None]


def test_a_repeated_request_changes_nothing_and_no_request_a_revision(admin):
    admin.flag()
    revision = admin.revision()
    for method in ("POST", "DELETE"):
        for path in (FLAG, OWN_PROJECT):
            admin.ask(method, path, status=200)
            before = admin.read_state()
            admin.ask(method, path, status=200)
            assert admin.read_state() == before
    assert admin.revision() == revision


def test_favorites_end_with_the_flag_the_project_and_the_user(admin, viewer):
    admin.flag()
    admin.post("/api/admin/projects", {"id": "web", "name": "Web"}, 201)
    viewer.post(FLAG)
    viewer.post("/api/admin/projects/web/favorites")
    admin.post(FLAG)
    admin.ask("DELETE", f"{FEATURES}/a", status=202)
    viewer.delete(FLAG)
    viewer.ask("POST", FLAG, status=404)  # archived
    admin.delete("/api/admin/archive/a")
    admin.flag()
    assert read_flags(admin) == {False}
    viewer.post(FLAG)
    admin.delete(f"/api/admin/service-account/{viewer.id}")
    assert admin.rows("SELECT user_id FROM favorite_features") == []
    assert admin.rows("SELECT user_id FROM favorite_projects") == []
    admin.post("/api/admin/projects/web/favorites")
    admin.delete("/api/admin/projects/web")
    assert admin.rows("SELECT user_id FROM favorite_projects") == []


def test_unknown_flags_and_projects_are_404(admin):
    admin.flag()
    before = admin.read_state()
    for method in ("POST", "DELETE"):
        for path in (
            f"{FEATURES}/b",
            "/api/admin/projects/web/features/a",
            "/api/admin/projects/web",
        ):
            admin.ask(method, f"{path}/favorites", status=404)
    assert admin.read_state() == before
