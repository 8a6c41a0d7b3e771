"""Random secrets and their hashes, and the hashing of passwords.

Generated secrets have 256 bits, so their plain SHA-256 is stored (OWASP ASVS 5, 7.2.3). Passwords
are hashed by Argon2id with OWASP's parameters (19 MiB, t=2, p=1).
"""

import base64
import hashlib
import hmac
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import argon2

from sigservice.errors import UnavailableError

MAX_HASHING, MAX_WAITING = 2, 1
_CODE_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's, without look-alikes
_LOOK_ALIKES = str.maketrans("OIL", "011", " -")


def generate_secret() -> str:
    """43 url-safe characters, 256 bits."""
    return secrets.token_urlsafe(32)


def generate_hex_secret() -> str:
    """56 hexadecimal digits, 224 bits, as Unleash tokens end in."""
    return secrets.token_hex(28)


def generate_code() -> str:
    """Eight characters in two groups, 40 bits, for a user to type."""
    return normalize_code("".join(secrets.choice(_CODE_ALPHABET) for _ in range(8)))


def normalize_code(text: str) -> str:
    """The code that a user typed, as `generate_code` writes it."""
    code = text.upper().translate(_LOOK_ALIKES)
    return f"{code[:4]}-{code[4:]}"


def sha256(secret: str) -> bytes:
    """The 32 bytes that are stored for a secret. Accepts any text that a header can have."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def hash_in_scope(secret: str, authentication_scope: str) -> bytes:
    """The hash of a secret that is valid in one authentication scope alone; "" is the scope of
    passwords."""
    return sha256(f"{authentication_scope} {secret}" if authentication_scope else secret)


def derive(secret: str, purpose: str) -> str:
    """A value computed from `secret` that doesn't reveal it, such as a session's CSRF token."""
    digest = hmac.new(secret.encode("utf-8", "surrogatepass"), purpose.encode(), "sha256").digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def is_equal(first: str, second: str) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(
        first.encode("utf-8", "surrogatepass"), second.encode("utf-8", "surrogatepass")
    )


class Passwords:
    """Hashes and checks passwords, at 19 MiB and some 20 ms each.

    Two threads hash at the same time and a third waits. A fourth is rejected, so that a flood of
    sign-ins leaves the other workers free.
    """

    def __init__(self, *, time_cost: int = 2, memory_kib: int = 19 * 1024) -> None:
        self._hasher = argon2.PasswordHasher(
            time_cost=time_cost, memory_cost=memory_kib, parallelism=1
        )
        self._running = threading.BoundedSemaphore(MAX_HASHING)
        self._admission = threading.BoundedSemaphore(MAX_HASHING + MAX_WAITING)
        self._thread = threading.local()
        self._dummy = ""

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Admits the calling thread for all hashes of one operation, so that it is rejected at
        the start or not at all. Raises UnavailableError if it is rejected.
        """
        if getattr(self._thread, "is_admitted", False):
            yield
            return
        if not self._admission.acquire(blocking=False):
            raise UnavailableError("Too many sign-ins at the moment. Try again.")
        self._thread.is_admitted = True
        try:
            yield
        finally:
            self._thread.is_admitted = False
            self._admission.release()

    def hash(self, password: str) -> str:
        """Raises UnavailableError."""
        with self.admit(), self._running:
            return self._hash(password)

    def _hash(self, password: str) -> str:
        return self._hasher.hash(password)

    def is_outdated(self, password_hash: str) -> bool:
        """Whether the hash has other parameters than the current ones."""
        return self._hasher.check_needs_rehash(password_hash)

    def matches(self, password_hash: str | None, password: str) -> bool:
        """False for a wrong password, and for no hash, which takes as long, so that callers can't
        find out which users exist. Raises UnavailableError."""
        with self.admit():
            if not self._dummy:
                self._dummy = self.hash(generate_secret())
            with self._running:
                is_match = self._verify(password_hash or self._dummy, password)
                return is_match and password_hash is not None

    def _verify(self, password_hash: str, password: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False
