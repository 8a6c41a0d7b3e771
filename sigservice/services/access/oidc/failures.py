"""Why a sign-in with the provider fails: the codes that pages show, and what users can do.

`{name}` is the provider's name, `{url}` the URL of the service, `{address}` the user's address.
"""

from typing import NamedTuple

from sigservice.db import Row
from sigservice.errors import AppError

RETRY_SECONDS = "5"


class Failure(NamedTuple):
    """`operator` names the setting or the step at the provider."""

    status: int
    user: str
    operator: str


_INVALID = "The answer of {name} is invalid."
_REFUSED = "{name} refused the sign-in, or you cancelled it."
_EXISTS = ("A user with the address {address} exists. Sign in with your password and connect {name}"
           " on your profile page.")  # fmt: skip
_LOG = "The log of the service has the reason."
# The formatter would break up the table.
# fmt: off
FAILURES = {code: Failure(status, user, operator) for code, status, user, operator in (
    ("oidc-state", 403, "This sign-in has expired, or was started in another browser or at another "
     "address. Open {url} and try again.",
     "The sign-in must end in the browser and at the address (SERVICE_URL) where it began."),
    ("oidc-issuer", 403, _INVALID, "The answer names another issuer (RFC 9207)."),
    ("oidc-invalid-token", 403, _INVALID, _LOG),
    ("oidc-response", 403, _INVALID, _LOG),
    ("oidc-denied", 403, _REFUSED, "The provider answered access_denied."),
    ("oidc-error", 403, _REFUSED, _LOG),
    ("oidc-request", 400, "The address is incomplete. Try again.",
     "The provider sent no usable code."),
    ("oidc-code", 403, "This sign-in has expired or was used already. Try again.", _LOG),
    ("oidc-client", 503, "{name} doesn't accept this service.",
     "Check SERVICE_OIDC_CLIENT_ID and SERVICE_OIDC_CLIENT_SECRET."),
    ("oidc-unreachable", 503, "{name} can't be reached at the moment. Try again later.",
     "Run `sigservice check-oidc` on the machine of the service."),
    ("oidc-unverified-email", 403, "{name} doesn't confirm that {address} is yours.",
     "The claim email_verified must be true; see SERVICE_OIDC_TRUST_EMAIL."),
    ("oidc-no-email", 403, "{name} sends no valid email address of yours.",
     "Add the scope email (SERVICE_OIDC_SCOPES) or name the claim (SERVICE_OIDC_EMAIL_CLAIM)."),
    ("oidc-similar-email", 403, "The address {address} looks like another user's.",
     "It differs from a user's address only in characters that look alike."),
    ("oidc-email-domain", 403, "Addresses of your domain can't sign in here.",
     "SERVICE_OIDC_EMAIL_DOMAINS lists the domains."),
    ("oidc-required-claim", 403, "Your account of {name} may not use this service.",
     "A claim of SERVICE_OIDC_REQUIRED_CLAIMS is missing or has another value."),
    ("oidc-no-user", 403, "There is no user with the address {address}. Ask an admin to create "
     "one.", "SERVICE_OIDC_CREATE_USERS=true creates users at their first sign-in."),
    ("oidc-admin-account", 403, _EXISTS, "Admins are never connected by their address."),
    ("oidc-account-exists", 403, _EXISTS, "SERVICE_OIDC_LINK_BY_EMAIL is false."),
    ("oidc-account-linked", 403, "That user is connected to another account of {name}. An admin "
     "can disconnect it.", "Disconnect it on the user's page."),
    ("oidc-identity-taken", 403, "This account of {name} is connected to another user.",
     "Disconnect it on that user's page."),
    ("oidc-link", 403, "The link has expired, or you signed in as another user meanwhile. Start "
     "again on your profile page.", "The link belongs to one session of one user."),
    ("oidc-break-glass", 403, "This user signs in with a password only.",
     "SERVICE_BREAK_GLASS_USERS lists it."),
    ("oidc-no-role", 403, "You are in no group that may use this service.",
     "See SERVICE_OIDC_GROUPS_CLAIM, the groups' options and SERVICE_OIDC_DEFAULT_ROLE."),
    ("oidc-too-many-groups", 403, "You are in more groups than {name} can send.",
     "Send only the groups that are assigned to the application, or application roles."),
)}
# fmt: on


class OidcError(AppError):
    """`reason` is for the log: the check that failed, without values. `subject` and `address` are
    set after a valid ID token, `user` if the failure concerns a known one."""

    name = "OidcError"

    def __init__(
        self,
        code: str,
        reason: str = "",
        *,
        subject: str = "",
        address: str = "",
        user: Row | None = None,
    ) -> None:
        failure = FAILURES[code]
        super().__init__(failure.user)
        self.status, self.code, self.reason = failure.status, code, reason
        self.subject, self.address, self.user = subject, address, user
        if failure.status == 503:
            self.headers["Retry-After"] = RETRY_SECONDS

    def describe(self, name: str, url: str) -> Failure:
        """The texts of the page."""
        values = {"name": name, "url": url, "address": self.address}
        failure = FAILURES[self.code]
        operator = self.reason if self.code == "oidc-invalid-token" else ""
        return Failure(failure.status, failure.user.format(**values), operator or failure.operator)
