"""Risks that only the database knows: each start logs them, and `check-config` asks for them."""

from collections.abc import Iterator, Sequence
from typing import Any

from sigservice.config.risk import Risk
from sigservice.crypto import secrets
from sigservice.db import Connection
from sigservice.repository.access import api_tokens, users
from sigservice.repository.actions import action_sets
from sigservice.services.access.users import ADMIN_ROLE

MIN_BURST = 10  # of an endpoint that triggers action sets: alerts that fire together
MAX_NAMES = 5


def find_start_risks(conn: Connection, config: dict[str, Any]) -> list[Risk]:
    """Configured tokens that have no effect, rate limits that lose alerts, and break-glass accounts
    that can't help."""
    authentication, limits = config["authentication"], config["signals"]
    return [
        *_find_ignored_tokens(
            conn, authentication["initApiTokens"], authentication["initApiTokenOrigins"]
        ),
        *_find_tight_limits(conn, limits["maxPerSecond"], limits["burst"]),
        *_find_break_glass_risks(conn, authentication),
    ]


def _find_break_glass_risks(conn: Connection, authentication: dict[str, Any]) -> Iterator[Risk]:
    logins = authentication["breakGlassUsers"] if authentication["oidc"]["issuer"] else []
    rows = users.list_by_logins(conn, [login.lower() for login in logins]) if logins else []
    names = {name.lower() for row in rows for name in (row["username"], row["email"]) if name}
    problems = [f"{login} doesn't exist" for login in logins if login.lower() not in names]
    for row in rows:
        login = row["username"] or row["email"]
        problems += [] if row["has_password"] else [f"{login} has no password"]
        problems += [] if row["role_id"] == ADMIN_ROLE else [f"{login} is not an admin"]
    for problem in problems:
        text = f"The break-glass account {problem}."
        yield Risk("warning", "authentication.breakGlassUsers", text)


def find_password_risks(conn: Connection, config: dict[str, Any]) -> list[Risk]:
    """Whether the public default password is in use, or will be after the first start."""
    path = "authentication.initialAdminUser"
    if users.exists_default_password(conn):
        text = (
            "A user has the public default password: change it in the profile, or run "
            "`sigservice reset-password USERNAME`."
        )
        return [Risk("danger", path, text)]
    if config["authentication"]["initialAdminIsBuiltIn"] and users.count(conn) == 0:
        text = (
            "The database has no users, so the first admin gets the public default password. "
            "Set SERVICE_DEFAULT_ADMIN_USERNAME and SERVICE_DEFAULT_ADMIN_PASSWORD."
        )
        return [Risk("danger", path, text)]
    return []


def _find_ignored_tokens(
    conn: Connection, tokens: Sequence[dict[str, Any]], origins: Sequence[str]
) -> list[Risk]:
    if not tokens or api_tokens.count(conn) == 0:
        return []
    hashes = [secrets.sha256(token["secret"]) for token in tokens]
    existing_hashes = api_tokens.find_existing(conn, hashes)
    ignored = [
        origin
        for origin, secret_hash in zip(origins, hashes, strict=True)
        if secret_hash not in existing_hashes
    ]
    if not ignored:
        return []
    text = (
        f"{_join(ignored)}: ignored, because the database already has API tokens. Create tokens on "
        "the page API tokens or with POST /api/admin/api-tokens."
    )
    return [Risk("warning", "authentication.initApiTokens", text)]


def _find_tight_limits(conn: Connection, rate: float, burst: float | None) -> list[Risk]:
    """Rate limits that lose alerts. An endpoint that answers 503 above the limit loses none: its
    senders repeat the signal."""
    names = action_sets.list_limited_triggers(
        conn, default_burst=rate if burst is None else burst, min_burst=MIN_BURST
    )
    if not names:
        return []
    text = (
        f"Endpoints with action sets accept fewer than {MIN_BURST} signals at once: "
        f"{_join(names)}. Of alerts that fire together some are lost, because most senders don't "
        "repeat after a 429: set a burst in the options of the endpoint, or "
        "SIGNAL_ENDPOINT_RATE_LIMIT_BURST."
    )
    return [Risk("warning", "signals.burst", text)]


def _join(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(names[:MAX_NAMES]) + more
