"""Removes secrets from logged paths: some paths of the admin API contain API tokens."""

import re

# An ID may be logged; the random end of a generated token is hidden in any path.
_SECRETS = re.compile(r"(/api/.*?/api-tokens/)(?!/*[0-9]{1,19}/*$).+|[0-9a-fA-F]{56}", re.DOTALL)


def logged_path(path: str) -> str:
    """`path` with `(hidden)` in the place of secrets."""
    return _SECRETS.sub(r"\1(hidden)", path)
