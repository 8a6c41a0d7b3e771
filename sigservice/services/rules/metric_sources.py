"""Metric sources: servers with the API of Prometheus. Their secrets are encrypted and never
returned."""

import re
from typing import Any, ClassVar, Literal

import msgspec

from sigservice.crypto.encryption import Encryption
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError, require_found
from sigservice.outgoing import post
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.repository.rules import metric_sources
from sigservice.repository.signals import signal_endpoints
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.problems import Problems, build_duplicate_error, build_limit_error
from sigservice.services.system import events

MAX_SOURCES, MAX_HEADERS, MAX_TEXT = 10, 20, 2000
MASK = "…"
MAX_USES = 10  # that an error lists
_HEADER = re.compile(r"[A-Za-z0-9-]{1,100}")
_RESERVED = {
    "authorization", "host", "content-length", "content-type", "transfer-encoding", "connection",
}  # fmt: skip


class SourceAuth(msgspec.Struct):
    """`username` and `password` are for `basic`, `token` is for `bearer`."""

    read_only: ClassVar = ("hasSecret",)

    type: Literal["none", "basic", "bearer"] = "none"
    username: str | None = None
    password: str | None = None
    token: str | None = None

    @property
    def secret(self) -> str | None:
        return {"basic": self.password, "bearer": self.token}.get(self.type)


class MetricSource(msgspec.Struct):
    """The body of the admin API. A PUT needs no name and, without a secret, keeps the stored
    one."""

    read_only: ClassVar = ()

    url: str
    name: str = ""
    auth: SourceAuth = msgspec.field(default_factory=SourceAuth)
    headers: dict[str, str] = {}
    timeoutSeconds: int = 5


def get(conn: Connection, name: str) -> Row:
    """Raises NotFoundError."""
    return require_found(metric_sources.find(conn, name), f"Metric source {name[:100]} not found.")


def create(
    conn: Connection,
    new: MetricSource,
    by: Identity,
    encryption: Encryption,
    policy: AddressPolicy,
    *,
    is_import: bool = False,
) -> Row:
    """An import has no secrets. Raises BadDataError, NameExistsError, ExceedsLimitError,
    EncryptionError."""
    _check(new, policy, has_secret=is_import)
    signal_endpoints.lock_all(conn)
    sources = metric_sources.list_all(conn)
    if any(row["name"] == new.name for row in sources):
        raise build_duplicate_error(new.name)
    if len(sources) >= MAX_SOURCES:
        raise build_limit_error(MAX_SOURCES, "metric source", "metricSources")
    row = _put(conn, new, encryption.encrypt(new.auth.secret) if new.auth.secret else None)
    events.record(conn, "metric-source-created", by, data=_mask(row))
    return row


def update(
    conn: Connection,
    name: str,
    new: MetricSource,
    by: Identity,
    encryption: Encryption,
    policy: AddressPolicy,
    *,
    is_import: bool = False,
) -> Row:
    """A secret is only sent to the server that it was entered for. Raises NotFoundError,
    BadDataError, EncryptionError."""
    signal_endpoints.lock_all(conn)
    before = get(conn, name)
    new.name, secret = name, None
    if msgspec.json.decode(before["auth"])["type"] == new.auth.type:
        secret = before["encrypted_secret"]
    if secret is not None and not new.auth.secret and post.moves_elsewhere(before["url"], new.url):
        secret, entry = None, "password" if new.auth.type == "basic" else "token"
        if not is_import:
            message = f"The URL changes: enter the {entry} again."
            raise BadDataError(message, path=f"auth.{entry}")
    _check(new, policy, has_secret=is_import or secret is not None)
    if new.auth.secret:
        secret = encryption.encrypt(new.auth.secret)
    row = _put(conn, new, secret)
    events.record(conn, "metric-source-updated", by, data=_mask(row), pre_data=_mask(before))
    return row


def delete(conn: Connection, name: str, by: Identity) -> None:
    """Raises NotFoundError, ConflictError."""
    before = get(conn, name)
    metric_sources.delete(conn, name)  # first: it waits for rules that are being created
    if uses := list_uses(conn, name):
        raise ConflictError(f"The metric source {name} is used by {', '.join(uses[:MAX_USES])}.")
    events.record(conn, "metric-source-deleted", by, pre_data=_mask(before))


def list_uses(conn: Connection, name: str) -> list[str]:
    """The rules and releases that query the source."""
    return [row["text"] for row in metric_sources.list_uses(conn) if row["source"] == name]


def rotate(conn: Connection, encryption: Encryption) -> int:
    """Encrypts all secrets with the first key, under lock_signal_endpoints. Returns their number.
    Raises EncryptionError."""
    rows = [row for row in metric_sources.list_all(conn) if row["encrypted_secret"] is not None]
    for row in rows:
        _put(conn, read(row), encryption.rotate(bytes(row["encrypted_secret"])))
    return len(rows)


def read(row: Row) -> MetricSource:
    """The source without its secret."""
    return MetricSource(
        row["url"],
        row["name"],
        msgspec.json.decode(row["auth"], type=SourceAuth),
        msgspec.json.decode(row["headers"]),
        row["timeout_seconds"],
    )


def to_json(row: Row) -> dict[str, Any]:
    source = read(row)
    auth: dict[str, Any] = {"type": source.auth.type}
    if source.auth.type == "basic":
        auth |= {"username": source.auth.username, "password": None}
    if source.auth.type == "bearer":
        auth["token"] = None
    return {
        "name": source.name,
        "url": source.url,
        "auth": auth | {"hasSecret": row["encrypted_secret"] is not None},
        "headers": source.headers,
        "timeoutSeconds": source.timeoutSeconds,
    }


def describe_for(reader: Identity, row: Row) -> dict[str, Any]:
    """The JSON for a reader. Only admins get the values of headers, which can be keys."""
    return to_json(row) if reader.has_permission(ADMIN) else _mask(row)


def _mask(row: Row) -> dict[str, Any]:
    """The JSON for events, which integrations and the audit log send to others, and for readers."""
    source = to_json(row)
    return source | {"headers": dict.fromkeys(source["headers"], MASK)}


def _put(conn: Connection, new: MetricSource, encrypted_secret: bytes | None) -> Row:
    auth = SourceAuth(new.auth.type, new.auth.username if new.auth.type == "basic" else None)
    metric_sources.put(
        conn,
        new.name,
        url=new.url,
        auth=auth,
        headers=new.headers,
        timeout_seconds=new.timeoutSeconds,
        encrypted_secret=encrypted_secret,
    )
    return get(conn, new.name)


def _check(new: MetricSource, policy: AddressPolicy, *, has_secret: bool) -> None:
    """With `has_secret`, `new` needs no secret."""
    problems = Problems()
    problems.check_name(new.name)
    problems.check_text(new.url, "url", min_length=1, max_length=MAX_TEXT)
    if (new.url and "?" in new.url) or "#" in new.url:
        problems.add("url", "The URL must not have a query or fragment.")
    else:
        try:
            post.parse_target(new.url, policy)
        except DestinationError as error:
            problems.add("url", str(error))
    if not 1 <= new.timeoutSeconds <= 30:
        problems.add("timeoutSeconds", "Must be 1 to 30.")
    if new.auth.type == "basic" and not new.auth.username:
        problems.add("auth.username", "The username is required.")
    if new.auth.type == "bearer" and not (new.auth.token or has_secret):
        problems.add("auth.token", "The token is required.")
    for name in ("username", "password", "token"):
        text = getattr(new.auth, name) or ""
        if len(text) > MAX_TEXT or not (text.isascii() and text.isprintable()):
            problems.add(f"auth.{name}", f"Must have at most {MAX_TEXT} printable characters.")
    if new.auth.username and ":" in new.auth.username:
        problems.add("auth.username", "The username can't contain a colon.")
    if len(new.headers) > MAX_HEADERS:
        problems.add("headers", f"There can't be more than {MAX_HEADERS} headers.")
    for header, value in new.headers.items():
        if not _HEADER.fullmatch(header) or header.lower() in _RESERVED:
            problems.add("headers", f"{header[:100]} can't be the name of a header.")
        elif not 1 <= len(value) <= MAX_TEXT or not (value.isascii() and value.isprintable()):
            problems.add("headers", f"{header} must have 1 to {MAX_TEXT} printable characters.")
    problems.raise_if_any()
