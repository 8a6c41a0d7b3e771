"""The authentication type that the configuration selects, and the scopes that follow from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sigservice.config.authentication_types import TYPES, AuthenticationType

Identify = Callable[[dict[str, Any]], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Custom:
    """The result of a customAuthHandler.

    `identify(environ)` returns the user of a request, or None. `path` is a route of the handler,
    below the base path, where sign-in begins; the sign-in page links to it with the text `label`.
    """

    identify: Identify | None = None
    path: str = ""
    label: str = ""


class AuthenticationScheme:
    """`custom` is the result of the handler; None before the call and without a handler."""

    def __init__(self, block: Mapping[str, Any]) -> None:
        self.type: AuthenticationType = TYPES[block["type"]]
        self.custom: Custom | None = None
        has_oidc = self.type.has_passwords and bool(block["oidc"]["issuer"])
        self.oidc: dict[str, Any] | None = block["oidc"] if has_oidc else None
        self.has_passwords = self.type.has_passwords and (not has_oidc or block["passwordSignIn"])
        self._break_glass_logins = set(map(_fold, block["breakGlassUsers"])) if has_oidc else set()

    @property
    def lacks_handler(self) -> bool:
        return self.type.name == "custom" and self.custom is None

    @property
    def has_password_form(self) -> bool:
        """Whether at least some users sign in with a password."""
        return self.has_passwords or bool(self._break_glass_logins)

    @property
    def note(self) -> str:
        """The text on pages in place of a password form; "" if users have passwords."""
        if self.oidc and not self.has_passwords:
            return f"Users sign in with {self.oidc['name']}, without a password here."
        return self.type.note

    def is_break_glass(self, user: Mapping[str, Any]) -> bool:
        """Whether the user, with `username` and `email`, may use a password in any case."""
        logins = (user["username"], user["email"])
        return any(login and _fold(login) in self._break_glass_logins for login in logins)

    def may_use_password(self, user: Mapping[str, Any]) -> bool:
        return self.has_passwords or self.is_break_glass(user)

    def accepts_session(self, user: Mapping[str, Any]) -> bool:
        """Whether a session is still valid. `user` has `username`, `email` and `issuer`, the
        provider that opened the session, None if no provider did."""
        issuer = user["issuer"]
        if issuer is None:
            return not self.type.has_passwords or self.may_use_password(user)
        return self.oidc is not None and issuer.removesuffix("/") == self.oidc["issuer"]

    @property
    def session_scope(self) -> str:
        """The authentication scope of sessions; "" for passwords."""
        return "" if self.type.has_passwords else self.type.name

    @property
    def token_scope(self) -> str:
        """The authentication scope of personal tokens; "" if passwords or a handler authenticate
        their owners."""
        return self.type.name if self.type.takes_email else ""


def _fold(login: str) -> bytes:
    """The same for logins that differ only in the case of ASCII letters."""
    return login.encode().lower()
