"""The table of tokens on the page of an endpoint."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from operator import itemgetter

from sigservice.db import Row
from sigservice.routes.pages.signals.signal_token_form import KINDS, find_kind
from sigservice.web.tables import Cell, Column, Table, make_table
from sigservice.wording import plural

UNUSED_DAYS = 30
EXPIRES_SOON = timedelta(days=30)


COLUMNS = (
    Column(
        "Name",
        lambda row: Cell(
            row["name"],
            badges=[text for text in (row["expiry"], row["disuse"]) if text],
            hint=row["kind"],
        ),
    ),
    Column(
        "Token",
        lambda row: Cell(
            f"{row['secret_prefix']}…" if row["secret_prefix"] else "",
            template="signals/signal_endpoint_tokens/grace_cell.tpl",
        ),
    ),
    Column("Expires", lambda row: Cell(at=row["expires_at"], missing="never")),
    Column("Addresses", lambda row: Cell(", ".join(row["allowed_addresses"]), missing="any")),
    Column("Last signal", lambda row: Cell(at=row["last_received"], missing="never")),
    Column(
        "Last used", lambda row: Cell(at=row["used_at"], hint=_describe_use(row), missing="never")
    ),
    Column("Created", lambda row: Cell(at=row["created_at"])),
)


def make_token_table(
    tokens: Sequence[Row], last_received: Mapping[int, datetime], now: datetime
) -> Table:
    return make_table(
        "signal-tokens",
        COLUMNS,
        [_describe_token(token, last_received.get(token["id"]), now) for token in tokens],
        _make_links,
        itemgetter("name"),
    )


def _make_links(row: Row) -> list[tuple[str, str]]:
    path = f"/admin/signals/{row['signal_endpoint_id']}/tokens/{row['id']}"
    rotation = [("Replace secret of token", f"{path}/rotate")] if row["has_secret"] else []
    return [("Edit token", path), *rotation, ("Delete token", f"{path}/delete")]


def _describe_use(row: Row) -> str:
    if not row["used_at"]:
        return ""
    address = f"from {row['used_from']}, " if row["used_from"] else ""
    return f"{address}{plural(row['uses'], 'time')} in total"


def _describe_token(token: Row, last_received: datetime | None, now: datetime) -> Row:
    """The token with its kind, its last signal, badges, and the end of its grace period."""
    kind, previous_expires_at = find_kind(token), token["previous_expires_at"]
    is_in_grace = previous_expires_at is not None and previous_expires_at > now
    return token | {
        "kind": KINDS[kind],
        "has_secret": kind != "aws-sns",
        "last_received": last_received,
        "grace_ends_at": previous_expires_at if is_in_grace else None,
        "expiry": _describe_expiry(token["expires_at"], now),
        "disuse": _describe_disuse(token, last_received, now),
    }


def _describe_expiry(expires_at: datetime | None, now: datetime) -> str:
    """ "" if the token doesn't expire soon."""
    if expires_at is None or expires_at - now > EXPIRES_SOON:
        return ""
    if expires_at <= now:
        return "expired"
    hours = int((expires_at - now).total_seconds() // 3600)
    if hours >= 48:
        return f"expires in {hours // 24} days"
    return f"expires in {plural(hours, 'hour')}" if hours else "expires in less than an hour"


def _describe_disuse(token: Row, last_received: datetime | None, now: datetime) -> str:
    """ "" if the token is new or in use."""
    times = [token["created_at"], token["used_at"], last_received]
    days = (now - max(time for time in times if time is not None)).days
    return f"unused for {days} days" if days >= UNUSED_DAYS else ""
