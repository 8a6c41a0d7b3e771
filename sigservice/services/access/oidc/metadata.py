"""The provider's metadata (OpenID Connect Discovery 1.0)."""

from typing import Any, NamedTuple

from sigservice.config.oidc import DISCOVERY
from sigservice.outgoing.provider import ProviderError, find_origin

REQUIRED = ("authorization_endpoint", "token_endpoint", "jwks_uri")
OPTIONAL = ("userinfo_endpoint", "end_session_endpoint")


class Metadata(NamedTuple):
    """`issuer` has the provider's spelling; a missing optional endpoint is ""."""

    issuer: str
    endpoints: dict[str, str]
    posts_secret: bool  # in the form instead of the header
    names_issuer: bool  # in the answer to the authorization request (RFC 9207)


def make_discovery_url(issuer: str) -> str:
    return issuer.rstrip("/") + DISCOVERY


def parse(content: dict[str, Any], issuer: str) -> Metadata:
    """`issuer` is the configured one. Raises ProviderError."""
    name = content.get("issuer")
    if not isinstance(name, str) or name.removesuffix("/") != issuer.removesuffix("/"):
        is_template = isinstance(name, str) and "{" in name
        hint = " Use the issuer of your tenant." if is_template else ""
        raise ProviderError(f"The metadata is of another issuer than SERVICE_OIDC_ISSUER.{hint}")
    endpoints = {key: content.get(key) or "" for key in OPTIONAL}
    endpoints |= {key: content.get(key) for key in REQUIRED}
    for key, url in endpoints.items():
        if (url or key in REQUIRED) and not _is_allowed(url, issuer):
            raise ProviderError(f"The metadata has no valid {key}; it must be an https URL.")
    methods = content.get("token_endpoint_auth_methods_supported")
    methods = methods if isinstance(methods, list) else []
    return Metadata(
        name,
        endpoints,
        "client_secret_post" in methods and "client_secret_basic" not in methods,
        content.get("authorization_response_iss_parameter_supported") is True,
    )


def _is_allowed(url: Any, issuer: str) -> bool:
    """Whether it is an https URL, or has the scheme, host and port of the issuer."""
    if not isinstance(url, str) or not (url.isascii() and url.isprintable()) or " " in url:
        return False
    try:
        scheme, host, _ = origin = find_origin(url)
        has_user = "@" in url.split("//", 1)[-1].split("/", 1)[0]
        return not has_user and bool(host) and (scheme == "https" or origin == find_origin(issuer))
    except ValueError:
        return False
