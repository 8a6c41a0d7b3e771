"""Pages that are the result of a form and are shown once, such as that of a new token: a reload
must not send the form again, and no URL may show a secret again.

The POST stores the page and redirects to it; reading it deletes it. What encrypts it is derived
from the cookie of the session and isn't stored, so it needs no key of the service, and another
session can't read it.
"""

from urllib.parse import quote

from sigservice.context import Context
from sigservice.crypto import secrets
from sigservice.crypto.encryption import Encryption
from sigservice.repository.system import once_pages
from sigservice.services.identity import Identity

PATH = "/once"


def store(context: Context, identity: Identity, page: bytes, back: str) -> str:
    """The path at which this session reads the page, once and within ten minutes. Later it leads to
    the path `back`."""
    name = secrets.generate_secret()
    encrypted = _make_encryption(identity, name).encrypt(page.decode())
    with context.database.autocommit() as conn:
        once_pages.insert(conn, _derive_id(identity, name), encrypted)
    return f"{PATH}/{name}?next={quote(back, safe='/')}"


def take(context: Context, identity: Identity, name: str) -> bytes | None:
    """The page, which is deleted; None if it was read before or is too old."""
    with context.database.autocommit() as conn:
        encrypted = once_pages.take(conn, _derive_id(identity, name))
    if encrypted is None:
        return None
    return _make_encryption(identity, name).decrypt(encrypted).encode()


def _derive_id(identity: Identity, name: str) -> str:
    return secrets.derive(identity.csrf, f"id of once page {name}")


def _make_encryption(identity: Identity, name: str) -> Encryption:
    key = secrets.derive(identity.csrf, f"key of once page {name}")
    return Encryption([f"{key}="])  # with the padding that a key has
