"""Rotation of the key: all signing secrets are encrypted with the new one, and none is missed."""

from __future__ import annotations

import threading

import pytest

from sigservice.crypto.encryption import Encryption, EncryptionError, KeyFile
from sigservice.repository.signals import signal_endpoints
from sigservice.services.signals import signal_endpoint_tokens
from tests.repository.kit import run
from tests.waiting import until

INSERT = (
    "INSERT INTO signal_endpoint_tokens (signal_endpoint_id, name, secret_prefix, "
    "created_by_user_id, type, signature, encrypted_secret, previous_encrypted_secret) "
    "VALUES (%s, %s, '', 1, 'signature', '{}', %s, %s)"
)
WAITING = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
READ = (
    "SELECT encrypted_secret, previous_encrypted_secret FROM signal_endpoint_tokens "
    "WHERE type = 'signature' ORDER BY id"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "encryption.key"


@pytest.fixture
def encryption(path):
    return Encryption(file=KeyFile(path, is_own=True))


@pytest.fixture
def pool(service):
    return service.context.database


@pytest.fixture
def read(rows, path):
    """The stored secrets, as a process that starts now decrypts them."""

    def decrypt():
        fresh = Encryption(file=KeyFile(path, is_own=True))
        return [[data and fresh.decrypt(bytes(data)) for data in pair] for pair in rows(READ)]

    return decrypt


def rotate(pool, encryption):
    with encryption.rotate_keys(), pool.transaction() as conn:
        return signal_endpoint_tokens.rotate_secrets(conn, encryption)


def test_all_secrets_are_encrypted_with_the_new_key(make, rows, pool, encryption, path, read):
    endpoint = make.endpoint()
    make.token(endpoint)  # a bearer token has none
    rows(INSERT, endpoint["id"], "one", encryption.encrypt("a"), encryption.encrypt("b"))
    rows(INSERT, endpoint["id"], "two", encryption.encrypt("c"), None)
    rows(INSERT, endpoint["id"], "certificate", None, None)
    ((version,),) = rows("SELECT version FROM signal_endpoints")
    old = path.read_text()
    assert rotate(pool, encryption) == 3
    assert read() == [["a", "b"], ["c", None], [None, None]]
    assert old not in path.read_text()
    assert rows("SELECT version FROM signal_endpoints")[0][0] > version  # caches read it again


def test_without_secrets_nothing_happens(pool, encryption, path):
    assert rotate(pool, encryption) == 0
    assert not path.exists()


def test_a_secret_of_an_unknown_key_stops_the_rotation(make, rows, pool, encryption, read):
    endpoint = make.endpoint()
    rows(INSERT, endpoint["id"], "one", encryption.encrypt("a"), None)
    lost = Encryption(["hunter2hunter2hunter2hunter2hunter2hunter2A="]).encrypt("b")
    rows(INSERT, endpoint["id"], "two", lost, None)
    before = [bytes(secret) for secret, _ in rows(READ)]
    with pytest.raises(EncryptionError, match=r"1 signal token \(ID \d+\)"):
        rotate(pool, encryption)
    assert [bytes(secret) for secret, _ in rows(READ)] == before
    rows("DELETE FROM signal_endpoint_tokens WHERE name = 'two'")
    assert rotate(pool, encryption) == 1
    assert read() == [["a", None]]


def test_a_previous_secret_whose_grace_period_is_over_does_not_stop_it(
    make, rows, pool, encryption, read
):
    lost = Encryption(["hunter2hunter2hunter2hunter2hunter2hunter2A="]).encrypt("b")
    rows(INSERT, make.endpoint()["id"], "one", encryption.encrypt("a"), lost)
    rows("UPDATE signal_endpoint_tokens SET previous_expires_at = now()")
    assert rotate(pool, encryption) == 1
    assert read() == [["a", None]]


def interrupt(pool, encryption, moment):
    with encryption.rotate_keys():
        if moment == "before the transaction":
            raise KeyboardInterrupt
        with pool.transaction() as conn:
            signal_endpoint_tokens.rotate_secrets(conn, encryption)
            if moment == "before the commit":
                raise KeyboardInterrupt
        raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["before the transaction", "before the commit", "after it"])
def test_a_process_killed_at_any_moment_loses_nothing(make, rows, pool, encryption, read, moment):
    rows(INSERT, make.endpoint()["id"], "one", encryption.encrypt("a"), None)
    with pytest.raises(KeyboardInterrupt):
        interrupt(pool, encryption, moment)
    assert read() == [["a", None]]
    assert rotate(pool, encryption) == 1
    assert read() == [["a", None]]


def test_a_rotation_waits_for_a_secret_that_is_being_stored(make, rows, pool, encryption, read):
    endpoint = make.endpoint()
    encryption.encrypt("creates the key")
    with pool.transaction() as conn:
        signal_endpoints.lock(conn, endpoint["id"])
        data = encryption.encrypt("a")  # with the old key
        thread = threading.Thread(target=rotate, args=(pool, encryption))
        thread.start()
        until(lambda: rows(WAITING), "the rotation waits for the lock")
        run(conn, INSERT, endpoint["id"], "one", data, None)
    thread.join()
    assert read() == [["a", None]]
