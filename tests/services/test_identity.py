"""Identities and permissions."""

from __future__ import annotations

import dataclasses

import pytest

from sigservice.services.identity import ADMIN, EDIT, PERMISSIONS, SYSTEM, VIEW, Identity
from tests.table_tests import each


@pytest.mark.parametrize(
    ("role", "allowed"),
    [("Admin", {ADMIN, EDIT, VIEW}), ("Editor", {EDIT, VIEW}), ("Viewer", {VIEW})],
)
def test_each_role_includes_the_permissions_of_the_lower_role(role, allowed):
    identity = Identity(1, "ada", PERMISSIONS[role], role=role)
    assert {what for what in (ADMIN, EDIT, VIEW) if identity.has_permission(what)} == allowed


@each("permission", ["", "admin", "Admin", "view", "*", "DELETE"])
def test_unknown_permissions_are_denied(permission):
    assert not SYSTEM.has_permission(permission)


def test_an_identity_without_permissions_is_denied_everything():
    identity = Identity(1, "nobody", frozenset())
    assert not any(identity.has_permission(what) for what in (ADMIN, EDIT, VIEW))


def test_an_identity_can_not_be_changed():
    identity = Identity(1, "ada", PERMISSIONS["Viewer"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        identity.permissions = PERMISSIONS["Admin"]
    assert not hasattr(identity.permissions, "add")


def test_the_pseudo_users_are_the_ones_that_tools_know():
    from sigservice.services.identity import ADMIN_TOKEN_ID, SYSTEM_ID

    assert (ADMIN_TOKEN_ID, SYSTEM_ID) == (-42, -1337)
    assert (SYSTEM.user_id, SYSTEM.username) == (-1337, "system")


def test_every_role_of_the_database_has_permissions(service):
    from sigservice.repository.access import users

    with service.context.database.autocommit() as conn:
        assert {row["name"] for row in users.list_roles(conn)} == set(PERMISSIONS)


@pytest.mark.parametrize(("name", "role"), [("ada", "Admin"), ("ed", "Editor"), ("vera", "Viewer")])
def test_a_session_has_the_permissions_of_its_role(cast, name, role):
    answer = cast.signed_in(name).get("/api/admin/user").json
    assert {item["permission"] for item in answer["permissions"]} == PERMISSIONS[role]
    assert answer["user"]["isAPI"] is False
    assert answer["csrfToken"]
