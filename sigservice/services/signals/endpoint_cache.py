"""The settings of signal endpoints and their tokens, kept in memory.

They may be out of date: the statement that stores a signal compares `version` and checks the token,
and a call that they refuse is authenticated again with settings that were read after it arrived.
"""

import ipaddress
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import msgspec

from sigservice.concurrency.shared import READ_WAIT_SECONDS, Shared
from sigservice.crypto.encryption import Encryption, EncryptionError
from sigservice.db import Database, Row
from sigservice.repository.signals import signal_endpoints
from sigservice.services.signals.endpoint_options import EndpointOptions, parse_options
from sigservice.services.signals.signature_schemes import SignatureSettings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class TokenSettings(msgspec.Struct, frozen=True, dict=True):
    """A token as the database has it; hashes are hexadecimal. `signature` is None for a bearer
    token."""

    id: int
    secretHash: str | None
    previousSecretHash: str | None
    signature: SignatureSettings | None
    encryptedSecret: str | None
    previousEncryptedSecret: str | None
    previousExpiresAt: datetime | None
    expiresAt: datetime | None
    allowedAddresses: tuple[str, ...]

    @cached_property
    def networks(self) -> tuple[Network, ...]:
        return tuple(ipaddress.ip_network(text) for text in self.allowedAddresses)


class SigningSecret(NamedTuple):
    """`valid_until` is None for the current secret."""

    secret: str
    valid_until: datetime | None


@dataclass(frozen=True)
class EndpointSettings:
    id: int
    name: str
    enabled: bool
    version: int
    options: EndpointOptions
    awaits_signals: bool
    tokens: tuple[TokenSettings, ...]
    encryption: Encryption
    _signing_secrets: dict[int, list[SigningSecret]] = field(default_factory=dict)

    def find_signing_secrets(self, token: TokenSettings) -> Sequence[SigningSecret]:
        """The secrets of a signature token that the keys decrypt. A lost key makes only its own
        secrets unusable. Raises EncryptionError if the keys decrypt none."""
        if token.id in self._signing_secrets:
            return self._signing_secrets[token.id]
        signing_secrets: list[SigningSecret] = []
        error: EncryptionError | None = None
        for text, valid_until in (
            (token.encryptedSecret, None),
            (token.previousEncryptedSecret, token.previousExpiresAt),
        ):
            if text:
                try:
                    secret = self.encryption.decrypt(text.encode())
                except EncryptionError as failure:
                    error = failure
                else:
                    signing_secrets.append(SigningSecret(secret, valid_until))
        if error is None:
            self._signing_secrets[token.id] = signing_secrets
        elif not signing_secrets:
            raise error
        return signing_secrets

    @cached_property
    def tokens_by_hash(self) -> Mapping[str, TokenSettings]:
        """Bearer tokens by the hashes of their current and previous secrets."""
        return {
            digest: token
            for token in self.tokens
            for digest in (token.previousSecretHash, token.secretHash)
            if digest
        }


class EndpointCache:
    """`get_cached(name)` needs no database; `read_current()` returns the stored settings."""

    def __init__(self, database: Database, encryption: Encryption) -> None:
        self._database, self._encryption = database, encryption
        self._state: object = None
        self._endpoints: Mapping[str, EndpointSettings] = {}
        self._shared = Shared[str, Mapping[str, EndpointSettings]]()

    def get_cached(self, name: str) -> EndpointSettings | None:
        return self._endpoints.get(name)

    def read_current(self) -> Mapping[str, EndpointSettings]:
        """All endpoints by name, from a read that began after this call. Concurrent callers share
        one read. Raises UnavailableError."""
        return self._shared.get(
            "", self._read_endpoints, not_before=time.monotonic(), wait=READ_WAIT_SECONDS
        )

    def _read_endpoints(self) -> Mapping[str, EndpointSettings]:
        with self._database.autocommit() as conn:
            state = signal_endpoints.find_state(conn)
            if state != self._state:
                rows = signal_endpoints.list_settings(conn)
                self._endpoints = {
                    row["name"]: _make_settings(row, self._encryption) for row in rows
                }
                self._state = state
        return self._endpoints


def _make_settings(row: Row, encryption: Encryption) -> EndpointSettings:
    settings = row | {"encryption": encryption}
    settings["options"] = parse_options(row["options"])
    settings["tokens"] = msgspec.json.decode(row["tokens"], type=tuple[TokenSettings, ...])
    return EndpointSettings(**settings)
