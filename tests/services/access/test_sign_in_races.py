"""A sign-in, a change of the password, a reset and a deletion at the same time, in both orders.

The order is that of real locks: one transaction holds the user's row, the other one waits for it.
"""

from __future__ import annotations

import contextlib
import threading
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from sigservice.errors import AppError, InvalidTokenError, NotFoundError, PasswordMismatch
from sigservice.repository.access import users as repository
from sigservice.services.access import reset_tokens, sessions, users
from sigservice.services.access.failed_sign_ins import SignInError
from sigservice.services.identity import SYSTEM
from tests.repository.kit import run
from tests.server.process import until
from tests.services.flags.test_feature_switches import locks_waited_for

OLD, NEW, THIRD = "Correct-Horse-7", "Better-Horse-8", "Third-Horse-9"
NOW = datetime.now(UTC)


@pytest.fixture
def ada(service):
    with service.context.database.autocommit() as conn:
        return repository.find_by_login(conn, "ada")


@contextmanager
def meanwhile(database, work):
    """`work` in a thread, which waits for a lock of the block's transaction when the block ends.
    Yields what it returned or raised, when it has ended."""
    outcome = []

    def keep():
        try:
            outcome.append(work())
        except AppError as error:
            outcome.append(error)

    thread = threading.Thread(target=keep)
    yield thread, outcome
    thread.join(30)
    assert not thread.is_alive()


def start_and_wait(database, thread):
    """Returns when the thread waits for a lock."""
    thread.start()
    with contextlib.closing(database.connect()) as other:
        until(lambda: locks_waited_for(other), "the thread waits for the lock")


def open_for(conn, user):
    return sessions.open_session(
        conn,
        user,
        now=NOW,
        ttl_hours=1,
        replaces=None,
        authentication_scope="",
        ip="",
        user_agent="",
        origin=sessions.SessionOrigin("password"),
        verified_hash=user["password_hash"],
    )


def sign_in(service, password=OLD, open=open_for):
    context = service.context
    return sessions.sign_in(context.database, context.passwords, "ada", password, open)


def change(service, conn, id, password, **more):
    users.set_password(conn, id, service.context.passwords.hash(password), SYSTEM, **more)


def count_sessions(service):
    with service.context.database.autocommit() as conn:
        return run(conn, "SELECT count(*) FROM sessions")[0][0]


def test_sign_in_with_the_old_password_waits_for_the_change_and_is_refused(service, database, ada):
    with meanwhile(database, lambda: sign_in(service)) as (thread, outcome):
        with service.context.database.transaction() as conn:
            change(service, conn, ada["id"], NEW)
            start_and_wait(database, thread)
    assert isinstance(outcome[0], SignInError)
    assert count_sessions(service) == 0


def test_change_waits_for_the_sign_in_and_ends_its_session(service, database, ada):
    def change_it():
        with service.context.database.transaction() as conn:
            change(service, conn, ada["id"], NEW)

    with meanwhile(database, change_it) as (thread, outcome):
        with service.context.database.transaction() as conn:
            assert open_for(conn, ada)
            start_and_wait(database, thread)
    assert outcome == [None]
    assert count_sessions(service) == 0


def test_change_between_the_hash_and_the_session_is_noticed(service, ada):
    calls = []

    def change_first(conn, user):
        calls.append(user)
        with service.context.database.transaction() as other:
            change(service, other, ada["id"], NEW)
        return open_for(conn, user)

    with pytest.raises(SignInError):
        sign_in(service, open=change_first)
    assert len(calls) == 1  # the second look sees that the password is wrong
    assert count_sessions(service) == 0


def test_another_hash_of_the_same_password_is_no_change(service, ada):
    calls = []

    def rehash_first(conn, user):
        calls.append(user)
        if len(calls) == 1:
            new_hash = service.context.passwords.hash(OLD)
            old_hash = user["password_hash"]
            with service.context.database.autocommit() as other:
                repository.replace_hash(other, user["id"], old_hash=old_hash, new_hash=new_hash)
        return open_for(conn, user)

    _, session_id = sign_in(service, open=rehash_first)
    assert session_id
    assert len(calls) == 2
    assert count_sessions(service) == 1


def test_sign_in_that_replaces_the_hash_opens_its_session_at_once(service, ada):
    with service.context.database.autocommit() as conn:
        outdated = sessions.secrets.Passwords(time_cost=1, memory_kib=32).hash(OLD)
        run(conn, "UPDATE users SET password_hash = %s WHERE id = %s", outdated, ada["id"])
    calls = []
    sign_in(service, open=lambda conn, user: calls.append(user) or open_for(conn, user))
    assert len(calls) == 1
    assert calls[0]["password_hash"] != outdated


def test_sign_in_of_a_user_who_is_deleted_is_refused(service, database, ada):
    with service.context.database.transaction() as conn:
        other = {"username": "eve", "email": None, "name": None, "root_role": "Admin"}
        users.create(conn, users.check_profile(**other), None, SYSTEM)
    with meanwhile(database, lambda: sign_in(service)) as (thread, outcome):
        with service.context.database.transaction() as conn:
            users.delete(conn, ada["id"], SYSTEM)
            start_and_wait(database, thread)
    assert isinstance(outcome[0], SignInError)


def test_change_of_a_password_that_was_reset_meanwhile_is_refused(service, database, ada):
    verified = ada["password_hash"]

    def change_it():
        with service.context.database.transaction() as conn:
            change(service, conn, ada["id"], THIRD, verified_hash=verified)

    with meanwhile(database, change_it) as (thread, outcome):
        with service.context.database.transaction() as conn:
            change(service, conn, ada["id"], NEW)
            start_and_wait(database, thread)
    assert isinstance(outcome[0], PasswordMismatch)
    sign_in(service, NEW)


def redeem(service, secret, password):
    context = service.context
    with context.database.autocommit() as conn:
        user = reset_tokens.find_link(conn, secret, NOW)
    return reset_tokens.redeem_link(
        context.database, context.passwords, user, secret, password, ip="", now=NOW
    )


def hand_out(service, ada):
    with service.context.database.transaction() as conn:
        return reset_tokens.create_link(conn, ada, SYSTEM, NOW)


def test_link_that_is_used_while_the_password_changes_is_refused(service, database, ada):
    secret = hand_out(service, ada)
    with meanwhile(database, lambda: redeem(service, secret, NEW)) as (thread, outcome):
        with service.context.database.transaction() as conn:
            repository.lock_user(conn, ada["id"])
            start_and_wait(database, thread)
            change(service, conn, ada["id"], THIRD)  # no deadlock: the link locks the user first
    assert isinstance(outcome[0], InvalidTokenError)
    sign_in(service, THIRD)


def test_link_that_is_used_while_the_user_is_deleted_is_refused(service, database, ada):
    secret = hand_out(service, ada)
    with service.context.database.transaction() as conn:
        other = {"username": "eve", "email": None, "name": None, "root_role": "Admin"}
        users.create(conn, users.check_profile(**other), None, SYSTEM)
    with meanwhile(database, lambda: redeem(service, secret, NEW)) as (thread, outcome):
        with service.context.database.transaction() as conn:
            users.delete(conn, ada["id"], SYSTEM)
            start_and_wait(database, thread)
    assert isinstance(outcome[0], InvalidTokenError | NotFoundError)


@pytest.mark.parametrize("is_deletion", [False, True])
def test_user_is_saved_or_deleted_after_a_password_that_is_being_set(
    service, database, ada, is_deletion
):
    with service.context.database.transaction() as conn:
        other = {"username": "eve", "email": None, "name": None, "root_role": "Admin"}
        users.create(conn, users.check_profile(**other), None, SYSTEM)

    def save():
        with service.context.database.transaction() as conn:
            if is_deletion:
                users.delete(conn, ada["id"], SYSTEM)
            else:
                users.update(conn, ada["id"], {"name": "Ada L."}, SYSTEM)

    with meanwhile(database, save) as (thread, outcome):
        with service.context.database.transaction() as conn:
            repository.lock_user(conn, ada["id"])
            start_and_wait(database, thread)
            change(service, conn, ada["id"], NEW)  # no deadlock: both lock the user first
    assert outcome == [None]


def test_two_changes_keep_both_former_passwords(service, database, ada):
    def change_it():
        with service.context.database.transaction() as conn:
            change(service, conn, ada["id"], THIRD)

    with meanwhile(database, change_it) as (thread, _):
        with service.context.database.transaction() as conn:
            change(service, conn, ada["id"], NEW)
            start_and_wait(database, thread)
    context = service.context
    for former in (OLD, NEW, THIRD):
        with pytest.raises(users.PasswordPreviouslyUsedError):
            users.check_former_passwords(context.database, context.passwords, ada["id"], former)
