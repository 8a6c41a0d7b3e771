"""Risks of single sign-on, for `check-config`."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from sigservice.config.oidc import BLOCK, has_groups, is_enabled
from sigservice.config.risk import Config, Risk, Sources

# Issuers at which anyone can register.
_PUBLIC_ISSUERS = (
    "https://accounts.google.com",
    "https://gitlab.com",
    "https://login.microsoftonline.com/consumers",
    "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad",
)
MAX_SESSION_HOURS = 24


def find_oidc_risks(config: Config, sources: Sources) -> Iterator[Risk]:
    """The risks of `authentication.oidc` and of passwords that are off."""
    block = config["authentication"]["oidc"]
    if not is_enabled(config):
        return
    yield from _find_risks_of_users(config)
    if urlsplit(config["server"]["unleashUrl"] or "").scheme == "http":
        text = "SERVICE_URL is http: codes of the provider are sent unencrypted."
        yield Risk("warning", f"{BLOCK}.issuer", text)
    if has_groups(block) and config["session"]["ttlHours"] > MAX_SESSION_HOURS:
        text = "Groups change a role at the next sign-in only: set SESSION_TTL_HOURS to 24 or less."
        yield Risk("warning", "session.ttlHours", text)
    yield from _find_risks_without_passwords(config)


def find_unused_settings(config: Config) -> list[Risk]:
    """A note of each start if the authentication type has no single sign-on."""
    block = config["authentication"]
    if not block["oidc"]["issuer"] or is_enabled(config):
        return []
    text = "SERVICE_OIDC_* and SERVICE_PASSWORD_SIGN_IN have no effect with AUTH_TYPE="
    return [Risk("note", f"{BLOCK}.issuer", f"{text}{block['type']}.")]


def _find_risks_of_users(config: Config) -> Iterator[Risk]:
    block = config["authentication"]["oidc"]
    is_public = block["issuer"].removesuffix("/v2.0").lower() in _PUBLIC_ISSUERS
    is_restricted = block["emailDomains"] or block["requiredClaims"]
    if is_public and block["createUsers"] and not is_restricted and block["defaultRole"] != "none":
        yield Risk(
            "danger",
            f"{BLOCK}.createUsers",
            "Anyone can register at this provider and gets a user here: set "
            "SERVICE_OIDC_EMAIL_DOMAINS or SERVICE_OIDC_REQUIRED_CLAIMS.",
        )
    if is_public and block["trustEmail"]:
        text = "Anyone can register at this provider, with an address that it may not verify."
        yield Risk("warning", f"{BLOCK}.trustEmail", text)
    if block["emailClaim"] != "email" and not block["trustEmail"]:
        text = "Without SERVICE_OIDC_TRUST_EMAIL nobody can be connected or created by this claim."
        yield Risk("warning", f"{BLOCK}.emailClaim", text)


def _find_risks_without_passwords(config: Config) -> Iterator[Risk]:
    authentication, path = config["authentication"], "authentication.passwordSignIn"
    if authentication["passwordSignIn"] or authentication["breakGlassUsers"]:
        return
    if not authentication["oidc"]["adminGroups"]:
        text = (
            "Passwords are off, and neither SERVICE_OIDC_ADMIN_GROUPS nor "
            "SERVICE_BREAK_GLASS_USERS is set: there may be no admin."
        )
        yield Risk("danger", path, text)
    text = "Passwords are off, and without SERVICE_BREAK_GLASS_USERS nobody can sign in while the "
    yield Risk("warning", path, f"{text}provider is down.")
