"""Encryption of the secrets that the service must be able to read again, such as signing secrets.

Fernet of `cryptography`: AES-128 in CBC mode with HMAC-SHA-256. There may be several keys: the
first one encrypts, all of them decrypt. They come from the configuration, or from a file beside the
data.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sigservice.errors import DisabledError
from sigservice.late import fernet
from sigservice.paths import make_private, sync_folder

KEY_FILE = "encryption.key"
_WRONG_KEY = (
    "A secret can't be decrypted: it was encrypted with a key that the service doesn't have."
)


class EncryptionError(DisabledError):
    """There is no usable key, or not the one that a secret was encrypted with."""


def parse_keys(text: str) -> tuple[str, ...]:
    """The keys of a comma-separated list, or of a file with one key per line. Raises ValueError
    with a text that contains no key."""
    keys = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if not keys:
        raise ValueError("it contains no key")
    for key in keys:
        try:
            fernet.Fernet(key)
        except ValueError:
            raise ValueError("a key is not 32 bytes in URL-safe base64") from None
    return keys


def describe_exposure(path: Path) -> str:
    """A warning if other accounts can read the key file, else ""."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""
    is_exposed = bool(mode & (stat.S_IRGRP | stat.S_IROTH))
    return f"Other accounts can read the encryption key: chmod 600 {path}" if is_exposed else ""


class KeyFile:
    """A file with one key per line. The first use creates it if `is_own`. Changes are atomic, and
    other processes notice them."""

    def __init__(self, path: Path, *, is_own: bool = False) -> None:
        self.path, self.is_own = path, is_own
        self._cached: tuple[tuple[int, ...], tuple[str, ...]] | None = None

    def read(self) -> tuple[str, ...]:
        """The keys, read again if the file has changed; () if the first use must create it.
        Raises EncryptionError."""
        cached = self._cached
        try:
            status = self.path.stat()
            stamp = (status.st_ino, status.st_mtime_ns, status.st_size)
            if cached is None or cached[0] != stamp:
                self._cached = cached = (stamp, parse_keys(self.path.read_text("utf-8")))
        except FileNotFoundError:
            if self.is_own and cached is None:
                return ()
            raise EncryptionError(f"The encryption key {self.path} is missing.") from None
        except OSError as error:
            raise EncryptionError(
                f"Can't read the encryption key {self.path}: {error.strerror}."
            ) from None
        except ValueError as error:
            raise EncryptionError(f"The encryption key {self.path} is invalid: {error}.") from None
        return cached[1]

    def create(self) -> tuple[str, ...]:
        """Creates the file with a new key, unless another process was first. Returns the keys in
        the file. Raises EncryptionError."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._write_draft([_generate_key()]) as draft, suppress(FileExistsError):
                os.link(draft, self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise EncryptionError(
                f"Can't create the encryption key {self.path}: {error.strerror}. "
                "Set SERVICE_ENCRYPTION_KEY."
            ) from None
        return self.read()

    @contextmanager
    def rotate(self) -> Iterator[None]:
        """Adds a new first key, and removes the old ones after the block, unless it raises. One
        process does so at a time. Raises EncryptionError."""
        with self._lock():
            new_key = _generate_key()
            self._replace([new_key, *self.read()])
            yield
            self._replace([new_key])

    @contextmanager
    def _lock(self) -> Iterator[None]:
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _replace(self, keys: Sequence[str]) -> None:
        try:
            owner = self.path.stat()  # another account's, if root rotates the key
            with self._write_draft(keys) as draft:
                if owner.st_uid != os.geteuid():
                    os.chown(draft, owner.st_uid, owner.st_gid)
                os.replace(draft, self.path)
            sync_folder(self.path.parent)
        except OSError as error:
            raise EncryptionError(
                f"Can't write the encryption key {self.path}: {error.strerror}."
            ) from None

    @contextmanager
    def _write_draft(self, keys: Sequence[str]) -> Iterator[str]:
        """A complete file with the keys in the same folder, with mode 600; removed after the block
        if it is still there."""
        handle, draft = tempfile.mkstemp(dir=self.path.parent, prefix=f"{self.path.name}.")
        try:
            with os.fdopen(handle, "w") as file:
                file.write("".join(f"{key}\n" for key in keys))
                file.flush()
                os.fsync(file.fileno())
            yield draft
        finally:
            with suppress(FileNotFoundError):
                os.unlink(draft)


class Encryption:
    """Thread-safe. Uses `keys`, otherwise the keys in `file`. Without either nothing can be
    encrypted, and `reason` says why."""

    def __init__(
        self, keys: Sequence[str] = (), *, file: KeyFile | None = None, reason: str = ""
    ) -> None:
        self._keys, self._file, self._reason = tuple(keys), None if keys else file, reason
        self._cached: tuple[tuple[str, ...], fernet.MultiFernet] | None = None

    def encrypt(self, text: str) -> bytes:
        """Raises EncryptionError. Call it under `lock_signal_endpoint` or `lock_signal_endpoints`:
        a rotation of the key takes both locks, so it can't miss the result."""
        keys = self._read_keys()
        if not keys and self._file is not None:
            keys = self._file.create()
        return self._load(keys).encrypt(text.encode())

    def decrypt(self, data: bytes) -> str:
        """Raises EncryptionError."""
        try:
            return self._load(self._read_keys()).decrypt(data).decode()
        except fernet.InvalidToken:
            raise EncryptionError(_WRONG_KEY) from None

    def rotate(self, data: bytes) -> bytes:
        """The same secret, encrypted with the first key. Raises EncryptionError."""
        try:
            return self._load(self._read_keys()).rotate(data)
        except fernet.InvalidToken:
            raise EncryptionError(_WRONG_KEY) from None

    @contextmanager
    def rotate_keys(self) -> Iterator[bool]:
        """For the block that encrypts all secrets again. The service's own key file has a new first
        key during the block, and only that one after it, unless it raises. Yields whether there is
        a new key: configured keys don't change. Raises EncryptionError."""
        if self._file is None or not self._file.is_own or not self._file.read():
            yield False
            return
        with self._file.rotate():
            yield True

    def protect_file(self) -> str:
        """Takes the service's own key file away from other accounts. A warning if they can read the
        file, or could until now, else ""."""
        if self._file is None:
            return ""
        path, risk = self._file.path, describe_exposure(self._file.path)
        if risk and self._file.is_own and make_private(path):
            return f"Other accounts could read the encryption key {path} until now."
        return risk

    def _read_keys(self) -> tuple[str, ...]:
        return self._keys if self._file is None else self._file.read()

    def _load(self, keys: tuple[str, ...]) -> fernet.MultiFernet:
        if not keys:
            raise EncryptionError(self._reason or _WRONG_KEY)
        cached = self._cached
        if cached is None or cached[0] != keys:
            self._cached = cached = (keys, fernet.MultiFernet([fernet.Fernet(key) for key in keys]))
        return cached[1]


def _generate_key() -> str:
    return fernet.Fernet.generate_key().decode()
