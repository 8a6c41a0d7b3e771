"""Security headers. Pages carry no inline script or style, so the policy allows none."""

from __future__ import annotations

from typing import Any

_DIRECTIVES = {
    "default": "'self'",
    "font": "'self'",
    "style": "'self'",
    "script": "'self'",
    "img": "'self' data:",
    "connect": "'self'",
    "frame": "'self'",
    "media": "'self'",
    "object": "'none'",
}
_FIXED = "base-uri 'none';form-action 'self';frame-ancestors 'none'"
_HSTS = ("Strict-Transport-Security", "max-age=63072000; includeSubDomains; preload")
_COMMON = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Frame-Options", "DENY"),
    ("X-Permitted-Cross-Domain-Policies", "none"),
]


def content_security_policy(config: dict[str, Any]) -> str:
    """The policy of pages, with the configured sources added; 'none' gives way to them."""
    parts = []
    for name, built_in in _DIRECTIVES.items():
        extra = " ".join(config["additionalCspAllowedDomains"][f"{name}Src"])
        if extra:
            sources = extra if built_in == "'none'" else f"{built_in} {extra}"
        else:
            sources = built_in
        parts.append(f"{name}-src {sources}")
    parts.append(_FIXED)
    if config["secureHeaders"]:
        parts.append("upgrade-insecure-requests")
    return ";".join(parts)


def header_sets(config: dict[str, Any]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """(for JSON, for pages)."""
    common = _COMMON + ([_HSTS] if config["secureHeaders"] else [])
    api = [*common, ("Content-Security-Policy", "default-src 'none';frame-ancestors 'none'")]
    pages = [
        *common,
        ("Content-Security-Policy", content_security_policy(config)),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return api, pages
