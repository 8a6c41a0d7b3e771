"""Where a started service takes the encryption key from."""

from __future__ import annotations

import pytest

from sigservice.crypto.encryption import Encryption, EncryptionError

KEY = "hunter2hunter2hunter2hunter2hunter2hunter2A="


def test_beside_the_data_also_with_a_configured_database(make_service, tmp_path):
    encryption = make_service({"dataDir": str(tmp_path / "data")}).context.encryption
    assert not (tmp_path / "data").exists()  # until the first secret
    encryption.encrypt("secret")
    assert (tmp_path / "data" / "encryption.key").exists()


def test_from_the_configuration(make_service, tmp_path):
    (tmp_path / "keys").write_text(KEY)
    data = Encryption([KEY]).encrypt("secret")
    for environ in (
        {"SERVICE_ENCRYPTION_KEY": KEY, "SERVICE_ENCRYPTION_KEY_FILE": str(tmp_path / "keys")},
        {"SERVICE_ENCRYPTION_KEY_FILE": str(tmp_path / "keys")},
    ):
        assert make_service(None, environ).context.encryption.decrypt(data) == "secret"


def test_without_a_place_for_a_key_the_service_starts_and_encrypts_nothing(make_service):
    for home, message in ((":temporary:", "data directory"), ("/proc/data", "/proc/data")):
        encryption = make_service({"dataDir": home}).context.encryption
        with pytest.raises(EncryptionError, match=message) as caught:
            encryption.encrypt("secret")
        assert caught.value.status == 422
        assert "SERVICE_ENCRYPTION_KEY" in str(caught.value)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660])
def test_the_start_takes_its_own_key_away_from_others_and_warns(make_service, tmp_path, mode):
    (tmp_path / "encryption.key").write_text(KEY)
    (tmp_path / "encryption.key").chmod(mode)
    service = make_service({"dataDir": str(tmp_path)})
    assert any("Other accounts could read" in line for line in service.warnings)
    assert (tmp_path / "encryption.key").stat().st_mode & 0o777 == 0o600


def test_the_start_warns_of_a_configured_key_that_others_can_read(make_service, tmp_path):
    (tmp_path / "keys").write_text(KEY)
    (tmp_path / "keys").chmod(0o644)
    service = make_service(None, {"SERVICE_ENCRYPTION_KEY_FILE": str(tmp_path / "keys")})
    assert any("Other accounts can read" in line for line in service.warnings)
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o644
