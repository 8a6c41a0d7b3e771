"""The authentication type that the configuration selects, and the scopes that follow from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sigservice.config.authentication_types import TYPES, AuthenticationType

Identify = Callable[[dict[str, Any]], Mapping[str, Any] | None]


@dataclass(frozen=True)
class Custom:
    """What a customAuthHandler may return.

    `identify(environ)` returns the user of a request, or None. `path` is a route of the handler,
    below the base path, where sign-in begins; the sign-in page links to it with the text `label`.
    """

    identify: Identify | None = None
    path: str = ""
    label: str = ""


class AuthenticationScheme:
    """`custom` is what the handler returned; None before the call, and without a handler."""

    def __init__(self, block: Mapping[str, Any]) -> None:
        self.type: AuthenticationType = TYPES[block["type"]]
        self.custom: Custom | None = None

    @property
    def lacks_handler(self) -> bool:
        return self.type.name == "custom" and self.custom is None

    @property
    def session_scope(self) -> str:
        """The authentication scope of sessions; "" for passwords."""
        return "" if self.type.has_passwords else self.type.name

    @property
    def token_scope(self) -> str:
        """The authentication scope of personal tokens; "" if passwords or a handler authenticate
        their owners."""
        return self.type.name if self.type.takes_email else ""
