"""Encrypts the signing secrets of all tokens again, when the key changes."""

from sigservice.crypto.encryption import Encryption, EncryptionError
from sigservice.db import Connection
from sigservice.repository.signals import signal_endpoint_tokens, signal_endpoints
from sigservice.wording import plural


def rotate(conn: Connection, encryption: Encryption) -> int:
    """Encrypts all secrets with the first key. Returns their number. Raises EncryptionError if one
    can't be decrypted.

    New secrets are encrypted under the lock of their endpoint, so those that this waits for are
    encrypted again, and later ones have the new key.
    """
    signal_endpoints.lock_all(conn)
    signal_endpoints.lock_each(conn)
    signal_endpoint_tokens.delete_expired_previous_secrets(conn)
    rows = signal_endpoint_tokens.list_encrypted(conn)
    secrets, lost_ids = [], []
    for row in rows:
        pair = (row["encrypted_secret"], row["previous_encrypted_secret"])
        try:
            secrets.append([data and encryption.rotate(bytes(data)) for data in pair])
        except EncryptionError:
            lost_ids.append(row["id"])
    if lost_ids:
        ids = ", ".join(map(str, lost_ids[:10])) + (" …" if len(lost_ids) > 10 else "")
        tokens = plural(len(lost_ids), "signal token")
        raise EncryptionError(
            f"The keys don't decrypt the secrets of {tokens} (ID {ids}): "
            "restore their key, or delete these tokens."
        )
    if rows:
        signal_endpoint_tokens.update_encrypted(
            conn,
            [row["id"] for row in rows],
            [secret for secret, _ in secrets],
            [previous for _, previous in secrets],
        )
    return sum(secret is not None for pair in secrets for secret in pair)
