"""What each authentication type is, as data: the one place that compares their names."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AuthenticationType:
    """`wire` and `path` tell programs, in the body of a 401, how people sign in; `form` is the
    sign-in page's template.

    `who` may come in, as the start's lines tell it. `note` stands where passwords would be set,
    `banner` on each page.
    """

    name: str
    wire: str = ""
    path: str = ""
    form: str = ""
    who: str = ""
    note: str = ""
    banner: str = ""
    has_passwords: bool = False
    takes_address: bool = False
    is_open: bool = False


TYPES = {
    kind.name: kind
    for kind in (
        AuthenticationType(
            "open-source",
            wire="password",
            path="/auth/simple/login",
            form="sign_in/form",
            who="the users in the database",
            has_passwords=True,
        ),
        AuthenticationType(
            "demo",
            wire="demo",
            path="/auth/demo/login",
            form="sign_in/demo",
            who="whoever types an e-mail address",
            note="Signing in takes an e-mail address alone; passwords are not asked for.",
            takes_address=True,
        ),
        AuthenticationType(
            "custom",
            wire="custom",
            path="/sign-in",
            form="sign_in/custom",
            who="whom customAuthHandler vouches for",
            note="People sign in elsewhere; passwords are not asked for here.",
        ),
        AuthenticationType(
            "none",
            who="nobody has to: authentication is off",
            note="Nobody signs in; passwords are not asked for.",
            banner="Authentication is off: whoever reaches this address can change everything.",
            is_open=True,
        ),
    )
}


def risks(config: dict[str, Any]) -> list[str]:
    """What the configured type leaves open, a line each."""
    block, lines = config["authentication"], []
    kind, handler = block["type"], block["customAuthHandler"]
    if kind == "demo":
        lines.append(
            "AUTH_TYPE=demo is not for production: whoever types an e-mail address is let in"
            + (", and `admin` makes an admin." if block["demoAllowAdminLogin"] else ".")
        )
    if kind == "none":
        lines.append("AUTH_TYPE=none is deprecated: nobody signs in and everybody is an admin.")
        if not _is_loopback(config["server"]):
            lines.append(
                "AUTH_TYPE=none on more than this machine: set HTTP_HOST=127.0.0.1 unless "
                "something else keeps strangers away."
            )
    if kind == "custom" and handler is None:
        lines.append(f"{NO_HANDLER} Until then only API tokens are let in.")
    if kind != "custom" and handler is not None:
        lines.append("authentication.customAuthHandler is only used with AUTH_TYPE=custom.")
    if kind != "demo" and block["demoAllowAdminLogin"]:
        lines.append("AUTH_DEMO_ALLOW_ADMIN_LOGIN is only used with AUTH_TYPE=demo.")
    return lines


NO_HANDLER = (
    "The authentication type is custom, but there is no handler: give customAuthHandler in code."
)


def _is_loopback(server: dict[str, Any]) -> bool:
    host = server["host"] or ""
    if server["pipe"] or host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
