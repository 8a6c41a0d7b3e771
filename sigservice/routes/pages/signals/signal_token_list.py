"""What the page of an endpoint shows of its tokens."""

from datetime import datetime, timedelta

from sigservice.db.statements import Row
from sigservice.routes.pages.signals.signal_token_form import KINDS, find_kind
from sigservice.wording import plural

UNUSED_DAYS = 30
EXPIRES_SOON = timedelta(days=30)


def describe_token(token: Row, last_received: datetime | None, now: datetime) -> Row:
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
