"""Random secrets, their stored hashes, and passwords.

Secrets we make have 256 bits, so a plain SHA-256 is what is stored (OWASP ASVS 5, 7.2.3).
Passwords use Argon2id with OWASP's parameters (19 MiB, t=2, p=1).
"""

from __future__ import annotations

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
_CODE_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's: none looks like another
_LOOK_ALIKES = str.maketrans("OIL", "011", " -")


def generate_secret() -> str:
    """43 url-safe characters, 256 bits."""
    return secrets.token_urlsafe(32)


def generate_hex_secret() -> str:
    """56 hexadecimal digits, 224 bits: what tokens of the field end in."""
    return secrets.token_hex(28)


def generate_code() -> str:
    """Eight characters in two groups, 40 bits, for a person to type."""
    letters = "".join(secrets.choice(_CODE_LETTERS) for _ in range(8))
    return f"{letters[:4]}-{letters[4:]}"


def normalize_code(text: str) -> str:
    """What a person typed as `new_code` writes it."""
    letters = text.upper().translate(_LOOK_ALIKES)
    return f"{letters[:4]}-{letters[4:]}"


def sha256(secret: str) -> bytes:
    """What is stored of a secret: 32 bytes. Takes any text a header can carry."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def hash_in_scope(secret: str, authentication_scope: str) -> bytes:
    """The hash of a secret that is valid in one authentication scope alone; "" is the scope of
    passwords."""
    return sha256(f"{authentication_scope} {secret}" if authentication_scope else secret)


def derive(secret: str, purpose: str) -> str:
    """A value that follows from `secret` but does not reveal it, such as a session's CSRF token."""
    digest = hmac.new(secret.encode("utf-8", "surrogatepass"), purpose.encode(), "sha256").digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def is_equal(left: str, right: str) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(
        left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass")
    )


class Passwords:
    """Hashes and checks passwords, which takes 19 MiB and some 20 ms each.

    Two threads do it at the same time and one more waits. The next one is refused, so that a flood
    of sign-ins leaves the other workers to everybody else.
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
        """Admits the calling thread for all the hashes of one piece of work, so that it is refused
        before it has begun or not at all. Raises UnavailableError at once when it is refused.
        """
        if getattr(self._thread, "is_admitted", False):
            yield
            return
        if not self._admission.acquire(blocking=False):
            raise UnavailableError("Too many passwords are being checked just now. Try again.")
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

    def is_outdated(self, stored: str) -> bool:
        """Whether a hash was made with other parameters than today's."""
        return self._hasher.check_needs_rehash(stored)

    def matches(self, stored: str | None, password: str) -> bool:
        """False for a wrong password; as slow for no stored hash, so names can't be probed.
        Raises UnavailableError."""
        with self.admit():
            if not self._dummy:
                self._dummy = self.hash(generate_secret())
            with self._running:
                return self._verify(stored or self._dummy, password) and stored is not None

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return False
