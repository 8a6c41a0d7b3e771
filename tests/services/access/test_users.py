"""Users' rules: what a profile may hold, what is taken, and that one admin stays."""

from __future__ import annotations

import pytest

from sigservice.errors import BadDataError, ConflictError, ForbiddenError, NotFoundError
from sigservice.repository.access import users as repository
from sigservice.repository.system import events
from sigservice.services.access import users
from sigservice.services.identity import SYSTEM
from tests.table_tests import each

NONE = {"username": None, "email": None, "name": None, "root_role": 1}


def profile(**values):
    return users.check_profile(**NONE | values)


def wrong_fields(**values):
    with pytest.raises(BadDataError) as caught:
        profile(**values)
    assert caught.value.message == caught.value.details[0]["message"]
    return [detail["path"] for detail in caught.value.details]


@each("username", ["a", "ada.l", "x" * 200, "ädä", "\U0001f600", "<b>", "'--", "0", "%00"])
def test_a_username_is_kept(username):
    assert profile(username=username) == users.Profile(username, None, None, 1)


@each("username", ["a b", "a\tb", "a\nb", "a\u00a0b", "a\u2003b", "a@b", "@", "x" * 201])
def test_a_username_with_blanks_or_at_or_too_long_is_refused(username):
    assert wrong_fields(username=username) == ["username"]


@each("email", ["a@b", "Ada@Example.org", "x" * 318 + "@b", "é@ü.de", "a+b@c.d"])
def test_an_address_is_kept(email):
    assert profile(email=email).email == email


@each("email", ["x", "@", "a@", "@b", "a@b@c", "a b@c", "a@b c", "a@\nb", "x" * 319 + "@b"])
def test_what_is_no_address_is_refused(email):
    assert wrong_fields(email=email) == ["email"]


def test_surrounding_blanks_are_removed_and_empty_values_are_none():
    row = profile(username=" ada\n", email="\ta@b ", name="  ")
    assert row == users.Profile("ada", "a@b", None, 1)
    assert profile(username="ada", email="  ").email is None


@pytest.mark.parametrize("empty", [None, "", " ", "\n\u2003"])
def test_a_name_or_an_address_is_needed(empty):
    assert wrong_fields(username=empty, email=empty, name="Ada") == ["username"]
    assert profile(username="ada", email=empty)
    assert profile(username=empty, email="a@b")


def test_the_full_name_has_at_most_200_characters():
    assert profile(username="a", name="é" * 200).name == "é" * 200
    assert profile(username="a", name=" " * 300 + "x").name == "x"
    assert wrong_fields(username="a", name="x" * 201) == ["name"]


@each(
    "role id",
    [(1, 1), (2, 2), (3, 3), ("Admin", 1), ("EDITOR", 2), ("viewer", 3), (" Viewer\n", 3)],
)
def test_a_role_is_an_id_or_a_name(role, id):
    assert profile(username="a", root_role=role).role_id == id


@each("role", [0, -1, 4, 10**30, "", " ", "1", "root", "Admin, Editor"])
def test_another_role_is_refused(role):
    assert wrong_fields(username="a", root_role=role) == ["rootRole"]


def test_all_problems_are_reported_at_once():
    fields = wrong_fields(username="a b", email="x", name="x" * 201, root_role="root")
    assert fields == ["username", "email", "name", "rootRole"]


@pytest.fixture
def conn(service):
    """One transaction of a service that has Ada."""
    with service.context.database.transaction() as conn:
        yield conn
        conn.rollback()


def create(conn, **values):
    return users.create(conn, profile(**values), "hash", SYSTEM)


def ada(conn):
    return repository.find_by_login(conn, "ada")["id"]


TAKEN = [({"username": "EVE"}, "username"), ({"username": "x", "email": "EVE@B"}, "email")]


@pytest.mark.parametrize(("values", "path"), TAKEN)
def test_a_duplicate_of_a_new_user_is_reported_at_the_field(conn, values, path):
    create(conn, username="eve", email="eve@b")
    with pytest.raises(BadDataError) as caught:
        create(conn, **values)
    assert [detail["path"] for detail in caught.value.details] == [path]


@pytest.mark.parametrize(("values", "path"), TAKEN)
def test_a_duplicate_of_a_changed_user_is_reported_at_the_field(conn, values, path):
    create(conn, username="eve", email="eve@b")
    with pytest.raises(BadDataError) as caught:
        users.update(conn, ada(conn), values, SYSTEM)
    assert [detail["path"] for detail in caught.value.details] == [path]


def test_the_own_username_is_not_a_duplicate(conn):
    row = users.update(conn, ada(conn), {"username": "ADA", "email": "a@b"}, SYSTEM)
    assert (row["username"], row["email"]) == ("ADA", "a@b")


def test_the_last_admin_stays_an_admin_and_stays(conn):
    id = ada(conn)
    with pytest.raises(ConflictError):
        users.delete(conn, id, SYSTEM)
    with pytest.raises(ConflictError):
        users.update(conn, id, {"username": "ada", "root_role": "Editor"}, SYSTEM)
    users.update(conn, id, {"username": "ada", "name": "Ada"}, SYSTEM)
    eve = create(conn, username="eve")["id"]
    users.delete(conn, id, SYSTEM)
    with pytest.raises(ConflictError):
        users.delete(conn, eve, SYSTEM)


def test_a_service_account_is_not_a_user(conn):
    with conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO users (account_type, username, role_id) VALUES ('service', 'robot', 1) "
            "RETURNING id"
        )
        (robot,) = cursor.fetchone()
    for what in (
        lambda: users.get(conn, robot),
        lambda: users.delete(conn, robot, SYSTEM),
        lambda: users.update(conn, robot, {"username": "r"}, SYSTEM),
        lambda: users.set_password(conn, robot, "hash", SYSTEM),
    ):
        with pytest.raises(NotFoundError):
            what()
    with pytest.raises(ConflictError):
        users.delete(conn, ada(conn), SYSTEM)


def test_every_change_is_in_the_log_without_the_password(conn):
    id = create(conn, username="eve", root_role="Viewer")["id"]
    users.update(conn, id, {"username": "eva", "root_role": "Viewer"}, SYSTEM)
    users.set_password(conn, id, "secret-hash", SYSTEM)
    users.delete(conn, id, SYSTEM)
    rows = events.list_newest(conn, events.EventFilter(), limit=4)
    assert [row["type"] for row in rows] == [
        "user-deleted", "user-updated", "user-updated", "user-created",
    ]  # fmt: skip
    assert all(row["created_by_user_id"] == SYSTEM.user_id for row in rows)
    assert "hash" not in str(rows)
    assert '"eve"' in rows[2]["pre_data"]
    assert '"eva"' in rows[2]["data"]


def test_new_password_of_a_user_without_a_username_is_recorded_with_the_email(conn):
    id = create(conn, username=None, email="eve@x.example", root_role="Viewer")["id"]
    users.set_password(conn, id, "secret-hash", SYSTEM)
    (row,) = events.list_newest(conn, events.EventFilter(), limit=1)
    assert '"eve@x.example"' in row["data"]


def test_a_token_has_no_password_to_change(service):
    context = service.context
    with pytest.raises(ForbiddenError):
        users.change_own_password(context.database, context.passwords, SYSTEM, "x", "y")
