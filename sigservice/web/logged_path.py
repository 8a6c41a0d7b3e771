"""Paths as the log may show them: the admin API takes API tokens by their secret there."""

from __future__ import annotations

import re

# An ID instead of a secret may be shown; the end of a token that we made is hidden anywhere.
_SECRETS = re.compile(r"(/api/.*?/api-tokens/)(?!/*[0-9]{1,19}/*$).+|[0-9a-fA-F]{56}", re.DOTALL)


def logged_path(path: str) -> str:
    """`path` with (hidden) instead of secrets."""
    return _SECRETS.sub(r"\1(hidden)", path)
