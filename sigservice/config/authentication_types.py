"""The authentication types as data. No other code compares their names."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AuthenticationType:
    """`api_name` and `path` are in the body of a 401: how and where users sign in. `form` is the
    template of the sign-in page, `users` the description in the start lines. Pages print `note`
    where a password could be set, and `banner` at their top.
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
            form="access/sign_in/form",
            users="anyone, with any email address",
            note="Users sign in with an email address only, without a password.",
            takes_email=True,
        ),
        AuthenticationType(
            "custom",
            api_name="custom",
            path="/sign-in",
            form="access/sign_in/custom",
            users="users that customAuthHandler authenticates",
            note="Users sign in outside this service, without a password here.",
        ),
        AuthenticationType(
            "none",
            users="not required: authentication is off",
            note="Authentication is off, so there are no passwords.",
            banner="Authentication is off: anyone who can reach this page can change everything.",
            is_open=True,
        ),
    )
}


NO_HANDLER = (
    "The authentication type is custom, but no handler is set: set customAuthHandler in code."
)
