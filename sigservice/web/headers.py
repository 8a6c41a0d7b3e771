"""Security headers. Pages have no inline scripts or styles, so the policy allows none."""

from typing import Any

Headers = list[tuple[str, str]]

_UPGRADE = "upgrade-insecure-requests"
_DIRECTIVES = {
    "default-src": "'self'",
    "base-uri": "'none'",
    "font-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "img-src": "'self' data:",
    "object-src": "'none'",
    "script-src": "'self'",
    "script-src-attr": "'none'",
    "style-src": "'self'",
    _UPGRADE: "",
    "connect-src": "'self'",
    "worker-src": "'self'",
    "child-src": "'self'",
    "media-src": "'self'",
    "frame-src": "'self'",
}
_COMMON = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Download-Options", "noopen"),
    ("X-Permitted-Cross-Domain-Policies", "none"),
    ("Referrer-Policy", "no-referrer"),
]
_PAGES = [
    ("X-Frame-Options", "SAMEORIGIN"),
    ("X-XSS-Protection", "0"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
]
_ISOLATED = ("Cross-Origin-Embedder-Policy", "credentialless")


def build_content_security_policy(config: dict[str, Any]) -> str:
    """The policy of pages with the configured sources, which replace 'none'."""
    allowed, parts = config["additionalCspAllowedDomains"], []
    for directive, sources in _DIRECTIVES.items():
        if directive == _UPGRADE and not config["secureHeaders"]:
            continue
        extra = allowed.get(directive.removesuffix("-src") + "Src", [])
        own_sources = [] if extra and sources == "'none'" else [sources]
        parts.append(" ".join([directive, *own_sources, *extra]).strip())
    return ";".join(parts)


def build_header_sets(config: dict[str, Any]) -> tuple[Headers, Headers]:
    """The headers for paths below /api, and for all others."""
    common = list(_COMMON)
    if config["secureHeaders"]:
        common.append(("Strict-Transport-Security", config["strictTransportSecurity"]))
    api = [
        *common,
        ("X-Frame-Options", "DENY"),
        ("Content-Security-Policy", "default-src 'none';frame-ancestors 'none'"),
    ]
    pages = [*common, *_PAGES, ("Content-Security-Policy", build_content_security_policy(config))]
    # The header would block the configured frames.
    if not config["additionalCspAllowedDomains"]["frameSrc"]:
        pages.append(_ISOLATED)
    return api, pages


def is_api(path: str) -> bool:
    """Whether `path`, without the base path, belongs to the API."""
    return path in ("/api", "/ofrep") or path.startswith(("/api/", "/ofrep/"))
