"""Compares the provider's metadata with the configuration and the clock."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from sigservice.config.oidc import has_groups
from sigservice.outgoing.provider import ProviderClient, ProviderError
from sigservice.services.access.oidc import id_token, metadata

MAX_SECONDS = 20.0


def find_problems(settings: Mapping[str, Any], client: ProviderClient) -> list[str]:
    """The problems, one sentence each, with the variable that solves it. `settings` is
    `authentication.oidc`."""
    try:
        return list(_ask(settings, client))
    except ProviderError as error:
        return [f"{error} (SERVICE_OIDC_ISSUER, SERVICE_OIDC_CA_FILE, HTTPS_PROXY)"]


def _ask(settings: Mapping[str, Any], client: ProviderClient) -> Iterator[str]:
    """Raises ProviderError."""
    deadline = time.monotonic() + MAX_SECONDS
    url = metadata.make_discovery_url(settings["issuer"])
    answer = client.fetch("discovery", url, deadline)
    details = metadata.parse(answer.content, settings["issuer"])
    yield from _compare_clocks(answer.date)
    key_set = client.fetch("jwks", details.endpoints["jwks_uri"], deadline)
    if not id_token.import_keys(key_set.content):
        yield "The provider has no usable key: choose a signing key (RSA of 2048 bits or EC) there."
    yield from _compare_lists(settings, answer.content)


def _compare_clocks(date: str) -> Iterator[str]:
    try:
        difference = abs((parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return
    if difference > id_token.SKEW_SECONDS:
        yield f"The clocks of service and provider differ by {difference:.0f} s: synchronize them."


def _compare_lists(settings: Mapping[str, Any], content: dict[str, Any]) -> Iterator[str]:
    """The lists in the metadata are optional, so a missing one is no problem."""
    algorithms = content.get("id_token_signing_alg_values_supported")
    if isinstance(algorithms, list) and not set(map(str, algorithms)) & set(id_token.ALGORITHMS):
        yield "The provider announces no supported algorithm: choose a signing key there."
    scopes = content.get("scopes_supported")
    for scope in settings["scopes"]:
        if isinstance(scopes, list) and scope not in scopes:
            yield f"The provider doesn't announce the scope {scope} (SERVICE_OIDC_SCOPES)."
    claims, claim = content.get("claims_supported"), settings["groupsClaim"]
    names = (claim, claim.lstrip("/").partition("/")[0].partition(".")[0])
    if has_groups(settings) and isinstance(claims, list) and not set(names) & set(map(str, claims)):
        yield f"The provider doesn't announce the claim {claim} (SERVICE_OIDC_GROUPS_CLAIM)."
