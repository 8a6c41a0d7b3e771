"""The data of a user at the provider: address, name, groups and required claims."""

from typing import Any, NamedTuple

from sigservice.config.oidc import has_groups
from sigservice.services.access.oidc.failures import OidcError

MAX_NAME = 200
MISSING = object()
_ROLE_GROUPS = (("Admin", "adminGroups"), ("Editor", "editorGroups"), ("Viewer", "viewerGroups"))


class Claims(NamedTuple):
    """The claims of a verified ID token and of userinfo, {} if it wasn't requested."""

    token: dict[str, Any]
    userinfo: dict[str, Any]

    def find(self, path: str) -> Any:
        """The value of a claim; the ID token wins. MISSING if neither has it."""
        value = find_claim(self.token, path)
        return find_claim(self.userinfo, path) if value is MISSING else value


class Person(NamedTuple):
    """`email` is "" without a valid address. `role` is "" if roles are managed here; `failure` is
    the code of the reason why this account may not use the service, or ""."""

    issuer: str
    subject: str
    email: str
    is_verified: bool
    name: str
    role: str
    failure: str


def find_claim(claims: dict[str, Any], path: str) -> Any:
    """The value at a name, a path with dots or a JSON pointer; MISSING if there is none, or null,
    which some providers send instead."""
    if path in claims:
        return MISSING if claims[path] is None else claims[path]
    if path.startswith("/"):
        parts = [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
    else:
        parts = path.split(".")
    value: Any = claims
    for part in parts:
        if not isinstance(value, dict) or part not in value:
            return MISSING
        value = value[part]
    return MISSING if value is None else value


def needs_userinfo(token: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Whether the ID token lacks a claim that userinfo may have."""
    lacks_more = any(find_claim(token, path) is MISSING for path in ("email_verified", "name"))
    return lacks_more or requires_userinfo(token, settings)


def requires_userinfo(token: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Whether the ID token lacks a claim that decides who signs in, and with which role."""
    paths = [settings["emailClaim"], *([] if settings["trustEmail"] else ["email_verified"])]
    paths += [item.partition("=")[0] for item in settings["requiredClaims"]]
    paths += [settings["groupsClaim"]] if has_groups(settings) else []
    return any(find_claim(token, path) is MISSING for path in paths)


def read_person(claims: Claims, settings: dict[str, Any]) -> Person:
    """Raises OidcError for groups that can't be read: nothing may change then."""
    email, is_verified = _find_email(claims, settings)
    role = _find_role(claims, settings)
    if not all(_has_claim(claims, item) for item in settings["requiredClaims"]):
        failure = "oidc-required-claim"
    elif settings["emailDomains"] and _find_domain(email) not in settings["emailDomains"]:
        failure = "oidc-email-domain"
    else:
        failure = "oidc-no-role" if role == "none" else ""
    return Person(
        claims.token["iss"],
        claims.token["sub"],
        email,
        is_verified,
        _find_name(claims),
        role,
        failure,
    )


def _find_email(claims: Claims, settings: dict[str, Any]) -> tuple[str, bool]:
    """The address, and whether it is verified. Both come from the same source."""
    path = settings["emailClaim"]
    sources = [claims.token, claims.userinfo]
    with_address = [source for source in sources if find_claim(source, path) is not MISSING]
    marked = [source for source in with_address if source.get("email_verified") is not None]
    source = next(iter(marked or with_address), {})
    email = find_claim(source, path)
    if not isinstance(email, str) or not email.isprintable():
        return "", False
    mark = source.get("email_verified")  # Cognito sends text
    is_verified = path == "email" and (mark is True or mark == "true")
    return email.strip(), is_verified or settings["trustEmail"]


def _find_domain(email: str) -> str:
    """The domain. Only ASCII letters become lower case: the Kelvin sign is no k."""
    return email.rpartition("@")[2].encode().lower().decode()


def _find_name(claims: Claims) -> str:
    name = claims.find("name")
    if not isinstance(name, str):
        return ""
    return "".join(char for char in name if char.isprintable()).strip()[:MAX_NAME]


def _has_claim(claims: Claims, item: str) -> bool:
    path, _, expected = item.partition("=")
    value = claims.find(path)
    values = value if isinstance(value, list) else [value]
    return any(_to_text(element) == expected for element in values)


def _to_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _find_role(claims: Claims, settings: dict[str, Any]) -> str:
    """The highest role of the groups, or the default role (maybe `none`); "" without configured
    groups."""
    if not has_groups(settings):
        return ""
    groups = find_groups(claims, settings["groupsClaim"])
    for role, option in _ROLE_GROUPS:
        if groups & set(settings[option]):
            return role
    default: str = settings["defaultRole"]
    return default if default == "none" else default.title()


def find_groups(claims: Claims, path: str) -> set[str]:
    """The groups of the claim. Providers omit the claim for users without groups.

    Raises OidcError for a claim that isn't a list of texts, and for a user with too many groups for
    a token, which then only names another source."""
    value = claims.find(path)
    if value is MISSING:
        for source in (claims.token, claims.userinfo):
            names = source.get("_claim_names")
            if "hasgroups" in source or (isinstance(names, dict) and path in names):
                raise OidcError("oidc-too-many-groups", subject=claims.token["sub"])
        return set()
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(name, str) for name in values):
        reason = "The groups are neither a list of texts nor a text."
        raise OidcError("oidc-response", reason, subject=claims.token["sub"])
    return set(values)
