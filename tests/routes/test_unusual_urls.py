"""Unusual URLs, methods and query values, and the names of errors."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.routes.kit import FEATURES, Admin
from tests.routes.sdk import AUTHENTICATION, CLIENT, FRONTEND
from tests.table_tests import each

NAMES = ("%00", "%ff", "a%2Fb", "%2e%2e", "a%20b", "%E2%98%83", "'", '"', "%25", "$1", "*")
VALUES = ("", "%00", "%ff", "'", "a" * 2000, "%F0%9F%98%8A", "-1", "1e999", "IS:%00")
ABSENT = [
    ("GET", "/api/admin/nothing", ADMIN),
    ("GET", f"{FEATURES}/one/nothing", ADMIN),
    ("GET", "/api/admin", ADMIN),
    ("GET", "/api/nothing", ADMIN),
    ("GET", "/api/client/nothing", CLIENT),
    ("GET", "/api/frontend/nothing", FRONTEND),
]
OTHER_METHODS = [
    ("DELETE", "/api/client/features", CLIENT),
    ("POST", "/api/client/features", CLIENT),
    ("GET", "/api/client/metrics", CLIENT),
    ("GET", "/api/client/register", CLIENT),
    ("PATCH", "/api/admin/projects", ADMIN),
    ("DELETE", "/api/admin/segments", ADMIN),
    ("PUT", "/api/frontend", FRONTEND),
    ("GET", "/api/frontend/client/features", FRONTEND),
    ("GET", "/api/frontend/health", FRONTEND),
]
MORE_SLASHES = [
    ("/api/admin/projects/", ADMIN),
    ("/api//admin///projects", ADMIN),
    (f"{FEATURES}/one/".replace("projects/", "projects//"), ADMIN),
    ("/api/admin/projects/?x=1", ADMIN),
    ("/api/client/features/", CLIENT),
    ("/api//client//features", CLIENT),
    ("/api/client/features/one/", CLIENT),
    ("/api/frontend/", FRONTEND),
    ("/api//frontend", FRONTEND),
]


@pytest.fixture
def admin(make_service):
    admin = Admin(make_service({"authentication": AUTHENTICATION}))
    admin.flag("one")
    return admin


def ask(admin, method, path, headers):
    return admin.web.request(path, method=method, headers=headers, expect_errors=True)


def test_unknown_paths_are_404_and_other_methods_405(admin):
    for status, rows in ((404, ABSENT), (405, OTHER_METHODS)):
        for row in rows:
            answer = ask(admin, *row)
            assert answer.status_int == status, row
            assert {"id", "name", "message", "details"} <= set(answer.json), row
            assert status == 404 or answer.headers["Allow"], row


@each("path headers", MORE_SLASHES, name=lambda row: row[0])
def test_more_slashes_change_nothing(admin, path, headers):
    assert ask(admin, "GET", path, headers).status_int == 200


def test_a_change_works_with_more_slashes(admin):
    admin.post(f"{FEATURES}/one/environments/development/on/")
    assert admin.get(f"{FEATURES}/one/environments/development")["enabled"] is True


def test_each_kind_of_error_has_its_name(admin):
    plain = ADMIN | {"Content-Type": "text/plain"}
    answers = [
        admin.ask("POST", FEATURES, {"name": "a b"}, 400),
        admin.ask("GET", f"{FEATURES}/nothing", None, 404),
        admin.ask("POST", FEATURES, {"name": "one"}, 409),
        admin.web.get("/api/admin/projects", status=401),
        admin.web.post(FEATURES, "{}", headers=plain, status=415),
    ]
    assert [answer.json["name"] for answer in answers] == [
        "BadDataError", "NotFoundError", "NameExistsError", "AuthenticationRequired",
        "ContentTypeError",
    ]  # fmt: skip


@each("name", NAMES)
def test_a_strange_name_in_a_path_is_not_found(admin, name):
    for path in (
        f"{FEATURES}/{name}",
        f"{FEATURES}/{name}/environments/{name}",
        f"/api/admin/features/{name}/tags",
        f"/api/admin/projects/{name}/overview",
        f"/api/admin/segments/{name}",
        f"/api/admin/environments/{name}",
        f"/api/admin/tag-types/{name}",
        f"/api/admin/context/{name}",
        f"/api/admin/strategies/{name}",
    ):
        assert admin.ask("GET", path).status_int in (400, 404), path
    assert ask(admin, "GET", f"/api/client/features/{name}", CLIENT).status_int in (400, 404)


@each("value", VALUES)
def test_a_strange_value_in_a_query_is_no_internal_error(admin, value):
    for query in ("namePrefix={}", "tag=simple:{}", "project={}"):
        path = f"/api/client/features?{query.format(value)}"
        assert ask(admin, "GET", path, CLIENT).status_int in (200, 400), path
    for path in (
        "/api/admin/search/features?query=",
        "/api/admin/search/features?limit=",
        "/api/admin/search/events?query=",
        "/api/admin/search/events?offset=",
        "/api/admin/search/events?from=",
        "/api/admin/search/events?feature=",
        "/api/admin/client-metrics/features/one/raw?hoursBack=",
        f"{FEATURES}?namePrefix=",
        f"{FEATURES}?tag=",
    ):
        assert admin.ask("GET", f"{path}{value}").status_int in (200, 400), path
