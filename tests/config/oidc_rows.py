"""The rows of single sign-on: see rows.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.config.kit import PEM_FILE, SAMPLES, Row, boolean, choice, minute, secret
from tests.receiver import CERTIFICATE

PREFIX, ENV = "authentication.oidc", "SERVICE_OIDC_"
ISSUER = {"SERVICE_OIDC_ISSUER": "https://id.example"}
CLIENT = {"SERVICE_OIDC_CLIENT_ID": "flags"}
URL = {"SERVICE_URL": "https://flags.example"}
URL_FILE = str(SAMPLES / "url.txt")


def items(
    path: str,
    env: str,
    default: list[str],
    text: str,
    value: list[str],
    bad: str,
    says: str = "a comma-separated list",
) -> Row:
    return Row(path, env, default, text, value, ["x=y"], bad=bad, bad_code=[4711], says=says)


def groups(kind: str) -> Row:
    row = items(f"{PREFIX}.{kind}Groups", f"{ENV}{kind.upper()}_GROUPS", [], '["a, b","c"]',
                ["a, b", "c"], "wr0ng\n")  # fmt: skip
    return replace(row, bad='["wr0ng", 5]')


def text_row(name: str, env: str, default: Any, says: str, bad: str = "wr0ng\nline") -> Row:
    return Row(f"{PREFIX}.{name}", f"{ENV}{env}", default, "upn", "upn", "mail", bad=bad,
               bad_code=4711, says=says)  # fmt: skip


OIDC = (
    Row(
        f"{PREFIX}.issuer",
        "SERVICE_OIDC_ISSUER",
        None,
        "https://id.example/realms/a/.well-known/openid-configuration",
        "https://id.example/realms/a",
        "http://localhost:8080/",
        "http://localhost:8080",
        "http://wr0ng.example",
        "https://id.example/?wr0ng",
        "an https URL without query and fragment",
        required=CLIENT | URL,
    ),
    replace(
        text_row("clientId", "CLIENT_ID", None, "text on one line"), required=ISSUER | URL
    ),
    secret(f"{PREFIX}.clientSecret", "SERVICE_OIDC_CLIENT_SECRET", None),
    Row(
        f"{PREFIX}.clientSecretFile",
        "SERVICE_OIDC_CLIENT_SECRET_FILE",
        None,
        URL_FILE,
        URL_FILE,
        PEM_FILE,
        bad="/nonexistent/wr0ng",
        bad_code=4711,
        says="a readable file that contains only the secret",
    ),
    text_row("name", "NAME", "single sign-on", "at most 60 characters", "wr0ng" * 13),
    replace(
        items(f"{PREFIX}.scopes", "SERVICE_OIDC_SCOPES", ["openid", "email", "profile"],
              "email groups,x", ["openid", "email", "groups", "x"], 'wr0ng"',
              "a list separated by commas or spaces"),
        from_code=["openid", "x=y"],
    ),
    boolean(f"{PREFIX}.createUsers", "SERVICE_OIDC_CREATE_USERS", False),
    boolean(f"{PREFIX}.linkByEmail", "SERVICE_OIDC_LINK_BY_EMAIL", True),
    boolean(f"{PREFIX}.trustEmail", "SERVICE_OIDC_TRUST_EMAIL", False),
    text_row("emailClaim", "EMAIL_CLAIM", "email", "the name of a claim"),
    items(f"{PREFIX}.emailDomains", "SERVICE_OIDC_EMAIL_DOMAINS", [], "A.example, b.example",
          ["a.example", "b.example"], "@wr0ng.example"),
    items(f"{PREFIX}.requiredClaims", "SERVICE_OIDC_REQUIRED_CLAIMS", [], "hd=a.example,b=",
          ["hd=a.example", "b="], "wr0ng"),
    text_row("groupsClaim", "GROUPS_CLAIM", "groups", "the name of a claim"),
    groups("admin"),
    groups("editor"),
    groups("viewer"),
    choice(f"{PREFIX}.defaultRole", "SERVICE_OIDC_DEFAULT_ROLE", "viewer", "editor", "none",
           "one of viewer, editor, none"),
    boolean(f"{PREFIX}.autoRedirect", "SERVICE_OIDC_AUTO_REDIRECT", False),
    boolean(f"{PREFIX}.signOut", "SERVICE_OIDC_SIGN_OUT", False),
    items(f"{PREFIX}.authorizationParameters", "SERVICE_OIDC_AUTHORIZATION_PARAMETERS", [],
          "acr_values=mfa,prompt=login", ["acr_values=mfa", "prompt=login"], "state=wr0ng"),
    Row(
        f"{PREFIX}.caFile",
        "SERVICE_OIDC_CA_FILE",
        None,
        PEM_FILE,
        PEM_FILE,
        str(CERTIFICATE),
        bad=URL_FILE,
        bad_code="/nonexistent/wr0ng",
        says="a readable PEM file",
    ),
    replace(
        boolean("authentication.passwordSignIn", "SERVICE_PASSWORD_SIGN_IN", True),
        required=ISSUER | CLIENT | URL,
    ),
    items("authentication.breakGlassUsers", "SERVICE_BREAK_GLASS_USERS", [], "ada, eva@b.example",
          ["ada", "eva@b.example"], "wr0ng\nline"),
    minute("rateLimiting.oidcMaxPerMinute", "SERVICE_OIDC_LIMIT_PER_MINUTE", 60),
)  # fmt: skip
