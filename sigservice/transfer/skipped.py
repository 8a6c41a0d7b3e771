"""What a server has beside flags, which nobody can carry: counted, so that nothing is missed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sigservice.transfer.remote_client import Source
from sigservice.transfer.remote_snapshot import Note

# Path, member with the list, name, what to do. A server that has no such path has none of it.
PEOPLE = (
    (("user-admin",), "users", "users", "create them here"),
    (("service-account",), "serviceAccounts", "service accounts", "create them here"),
    (("api-tokens",), "tokens", "API tokens", "secrets can't be read: create new ones here"),
)
OTHERS = (
    (("groups",), "groups", "groups", "there are none here"),
    (("addons",), "addons", "integrations", "there are none here"),
    (("release-plan-templates",), "", "templates of release plans", "there are none here"),
)


def count_people(source: Source) -> list[Note]:
    """Users and tokens: expected to stay behind."""
    return [note for row in PEOPLE for note in _count(source, *row)]


def count_others(source: Source) -> list[Note]:
    """What somebody may miss."""
    notes = [note for row in OTHERS for note in _count(source, *row)]
    roles = _list(source.find("roles"), "roles")
    custom = [r for r in roles if isinstance(r, Mapping) and "custom" in str(r.get("type"))]
    if custom:
        notes.append(Note(f"{len(custom)} custom roles", "roles here are Admin, Editor, Viewer"))
    return notes


def _count(source: Source, path: tuple[str, ...], member: str, what: str, why: str) -> list[Note]:
    found = _list(source.find(*path), member)
    return [Note(f"{len(found)} {what}", why)] if found else []


def _list(value: Any, member: str) -> list[Any]:
    if isinstance(value, Mapping):
        value = value.get(member)
    return value if isinstance(value, list) else []
