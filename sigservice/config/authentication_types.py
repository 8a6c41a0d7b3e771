"""What each authentication type is, as data: the one place that compares their names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AuthenticationType:
    """`api_name` and `path` tell programs, in the body of a 401, how people sign in; `form` is the
    sign-in page's template.

    `users` may come in, as the start's lines tell it. `note` stands where passwords would be set,
    `banner` on each page.
    """

    name: str
    api_name: str = ""
    path: str = ""
    form: str = ""
    users: str = ""
    note: str = ""
    banner: str = ""
    has_passwords: bool = False
    takes_email: bool = False
    is_open: bool = False


TYPES = {
    kind.name: kind
    for kind in (
        AuthenticationType(
            "open-source",
            api_name="password",
            path="/auth/simple/login",
            form="access/sign_in/form",
            users="the users in the database",
            has_passwords=True,
        ),
        AuthenticationType(
            "demo",
            api_name="demo",
            path="/auth/demo/login",
            form="access/sign_in/demo",
            users="whoever types an e-mail address",
            note="Signing in takes an e-mail address alone; passwords are not asked for.",
            takes_email=True,
        ),
        AuthenticationType(
            "custom",
            api_name="custom",
            path="/sign-in",
            form="access/sign_in/custom",
            users="whom customAuthHandler vouches for",
            note="People sign in elsewhere; passwords are not asked for here.",
        ),
        AuthenticationType(
            "none",
            users="nobody has to: authentication is off",
            note="Nobody signs in; passwords are not asked for.",
            banner="Authentication is off: whoever reaches this address can change everything.",
            is_open=True,
        ),
    )
}


NO_HANDLER = (
    "The authentication type is custom, but there is no handler: give customAuthHandler in code."
)
