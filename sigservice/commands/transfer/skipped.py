"""What a remote server has besides flags: counted, so that the report of an import is complete."""

from collections.abc import Mapping
from typing import Any

from sigservice.commands.transfer.remote_client import RemoteClient
from sigservice.commands.transfer.remote_snapshot import SkippedItem, get_list
from sigservice.wording import plural

# Path, member with the list, noun, advice. A server without such a path has none.
ACCOUNTS = (
    (("user-admin",), "users", "user", "create them here"),
    (("service-account",), "serviceAccounts", "service account", "create them here"),
    (("api-tokens",), "tokens", "API token", "secrets aren't readable: create new tokens here"),
)
UNSUPPORTED = (
    (("groups",), "groups", "group", "not supported"),
    (("release-plan-templates",), "", "release plan template", "not supported"),
)


def list_accounts(client: RemoteClient) -> list[SkippedItem]:
    """Users and tokens, which are never imported."""
    return [item for row in ACCOUNTS for item in _count(client, *row)]


def list_unsupported(client: RemoteClient) -> list[SkippedItem]:
    """Features of the remote server that this one lacks."""
    items = [item for row in UNSUPPORTED for item in _count(client, *row)]
    roles = get_list(client.find("roles"), "roles")
    custom = [r for r in roles if isinstance(r, Mapping) and "custom" in str(r.get("type"))]
    if custom:
        reason = "only Admin, Editor and Viewer are supported"
        items.append(SkippedItem(plural(len(custom), "custom role"), reason))
    return items


def _count(
    client: RemoteClient, path: tuple[str, ...], member: str, noun: str, reason: str
) -> list[SkippedItem]:
    values: list[Any] = get_list(client.find(*path), member)
    return [SkippedItem(plural(len(values), noun), reason)] if values else []
