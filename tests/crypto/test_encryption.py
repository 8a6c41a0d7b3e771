"""Encryption of secrets that must stay readable, and the file with its keys."""

from __future__ import annotations

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from sigservice.crypto.encryption import Encryption, EncryptionError, KeyFile, describe_exposure

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "data" / "encryption.key"


@pytest.fixture
def encryption(path):
    """With a key file of its own, as at a start without configuration."""
    return Encryption(file=KeyFile(path, is_own=True))


def test_a_secret_can_be_read_again():
    data = Encryption([OLD]).encrypt("wörd")
    assert b"w" not in data[:1]
    assert Encryption([OLD]).decrypt(data) == "wörd"


def test_the_first_key_encrypts_and_all_keys_decrypt():
    data = Encryption([OLD]).encrypt("secret")
    both = Encryption([NEW, OLD])
    assert both.decrypt(data) == "secret"
    for fresh in (both.encrypt("secret"), both.rotate(data)):
        assert Encryption([NEW]).decrypt(fresh) == "secret"
        with pytest.raises(EncryptionError):
            Encryption([OLD]).decrypt(fresh)


@pytest.mark.parametrize("data", [b"", b"gAAAAA", b"\xff" * 100])
def test_data_that_no_key_decrypts_is_an_error_without_details(data):
    for read in (Encryption([OLD]).decrypt, Encryption([OLD]).rotate):
        with pytest.raises(EncryptionError, match="doesn't have"):
            read(data)


def test_without_keys_the_error_says_why():
    with pytest.raises(EncryptionError, match="No folder"):
        Encryption(reason="No folder.").encrypt("secret")


def test_the_first_secret_creates_a_private_key_file(encryption, path):
    assert not path.exists()
    data = encryption.encrypt("secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["encryption.key"]
    assert Encryption(file=KeyFile(path, is_own=True)).decrypt(data) == "secret"


def test_reading_creates_no_key_file(encryption, path):
    with pytest.raises(EncryptionError):
        encryption.decrypt(Encryption([OLD]).encrypt("secret"))
    assert not path.parent.exists()


def test_processes_that_start_at_once_get_the_same_key(path):
    barrier = threading.Barrier(8)

    def encrypt(_):
        encryption = Encryption(file=KeyFile(path, is_own=True))
        barrier.wait()
        return encryption.encrypt("secret")

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(encrypt, range(8)))
    assert len(path.read_text().splitlines()) == 1
    reader = Encryption(file=KeyFile(path, is_own=True))
    assert {reader.decrypt(data) for data in results} == {"secret"}


def test_configured_keys_override_the_file(path):
    Encryption([OLD], file=KeyFile(path, is_own=True)).encrypt("secret")
    assert not path.exists()


def test_a_changed_key_file_is_read_again(tmp_path):
    path = tmp_path / "keys"
    path.write_text(OLD)
    running = Encryption(file=KeyFile(path))
    data = running.encrypt("first")
    path.write_text(f"{NEW}\n{OLD}\n")
    assert Encryption([NEW]).decrypt(running.encrypt("second")) == "second"
    assert running.decrypt(data) == "first"


def test_a_key_file_that_vanishes_is_not_replaced_by_a_new_key(encryption, path):
    encryption.encrypt("secret")
    path.unlink()
    with pytest.raises(EncryptionError, match="missing"):
        encryption.encrypt("secret")
    assert not path.exists()


def test_a_folder_that_can_not_be_written_is_an_error_with_a_way_out():
    encryption = Encryption(file=KeyFile(Path("/proc/data/encryption.key"), is_own=True))
    with pytest.raises(EncryptionError, match="Set SERVICE_ENCRYPTION_KEY"):
        encryption.encrypt("secret")


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "no key"), (b"short", "base64"), (b"\xff", "invalid")]
)
def test_a_damaged_key_file_is_an_error_without_its_content(encryption, path, content, message):
    encryption.encrypt("secret")
    path.write_bytes(content)
    with pytest.raises(EncryptionError, match=message) as caught:
        encryption.encrypt("secret")
    assert "short" not in str(caught.value)


def test_rotation_leaves_the_new_key_alone(encryption, path):
    data = encryption.encrypt("secret")
    (old,) = path.read_text().split()
    running = Encryption(file=KeyFile(path, is_own=True))
    with encryption.rotate_keys() as is_new:
        assert is_new
        assert path.read_text().split()[1:] == [old]
        data = encryption.rotate(data)
        assert running.decrypt(data) == "secret"  # another process reads the file again
    (new,) = path.read_text().split()
    assert new != old
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert running.decrypt(data) == "secret"


def test_an_interrupted_rotation_keeps_all_keys(encryption, path):
    data = encryption.encrypt("secret")
    fresh = []

    def interrupt():
        with encryption.rotate_keys():
            fresh.append(encryption.encrypt("secret"))
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert {encryption.decrypt(secret) for secret in (data, *fresh)} == {"secret"}
    assert len(path.read_text().split()) == 3


def test_rotations_at_once_run_one_after_the_other(encryption, path):
    data = [encryption.encrypt("secret")]
    lock = threading.Lock()

    def rotate(_):
        own = Encryption(file=KeyFile(path, is_own=True))
        with own.rotate_keys(), lock:
            data[0] = own.rotate(data[0])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(rotate, range(4)))
    assert len(path.read_text().split()) == 1
    assert encryption.decrypt(data[0]) == "secret"


@pytest.mark.account
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other accounts")
def test_root_leaves_the_file_to_the_account_of_the_service(encryption, path):
    encryption.encrypt("secret")
    os.chown(path, 4711, 4712)
    with encryption.rotate_keys():
        pass
    status = path.stat()
    assert (status.st_uid, status.st_gid) == (4711, 4712)


def test_configured_keys_are_not_rotated(tmp_path, encryption):
    (tmp_path / "keys").write_text(OLD)
    for other in (Encryption([OLD]), Encryption(file=KeyFile(tmp_path / "keys")), encryption):
        with other.rotate_keys() as is_new:
            assert not is_new
    assert (tmp_path / "keys").read_text() == OLD


def test_a_key_file_that_others_can_read_is_a_risk(encryption, path):
    encryption.encrypt("secret")
    assert encryption.protect_file() == ""
    path.chmod(0o640)
    assert "could read" in encryption.protect_file()
    assert encryption.protect_file() == ""
    path.chmod(0o640)
    assert Encryption(file=KeyFile(path)).protect_file() == describe_exposure(path) != ""
    assert Encryption([OLD]).protect_file() == ""
