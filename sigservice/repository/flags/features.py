"""Flags: one function for each SQL statement."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sigservice.db import (
    Connection,
    Row,
    build_like_pattern,
    execute,
    execute_batches,
    fetch_all,
    fetch_one,
    fetch_value,
    queries,
)

_SQL = queries.load("flags/features")


SORTS = ("name", "createdAt", "lastSeenAt", "state")


@dataclass(frozen=True)
class FeatureFilter:
    """Filters of a list of flags; None doesn't filter. `tags` are `type:value`; each word of `text`
    must be in the name, the description, the name of the creator or a tag. `sort` is one of
    `SORTS`; `state` sorts by the state in `sort_environment`. The favorites of the user
    `favorites_of` come first."""

    archived: bool = False
    projects: list[str] | None = None
    types: list[str] | None = None
    stale: bool | None = None
    names: list[str] | None = None
    prefix: str | None = None
    tags: list[str] | None = None
    text: str | None = None
    environment: str | None = None
    enabled: bool = True
    sort: str = "name"
    sort_environment: str | None = None
    favorites_of: int | None = None
    descending: bool = False
    limit: int | None = None
    offset: int = 0


def put(
    conn: Connection, items: Sequence[Any], *, created_by: str, created_by_user_id: int
) -> None:
    """Inserts flags, or changes their metadata; they are encoded as JSON. Project, creator and
    creation time of an existing flag don't change."""
    author = {"created_by": created_by, "created_by_user_id": created_by_user_id}
    execute_batches(conn, _SQL["put_features"], items, **author)


def count(conn: Connection) -> int:
    """The number of flags that aren't archived."""
    return int(fetch_value(conn, _SQL["count_features"]))


def find(conn: Connection, name: str) -> Row | None:
    return fetch_one(conn, _SQL["list_features_by_name"], names=[name])


def list_by_name(conn: Connection, names: list[str]) -> list[Row]:
    return fetch_all(conn, _SQL["list_features_by_name"], names=names)


def search(conn: Connection, filter: FeatureFilter) -> list[Row]:
    """A page, in the filter's order."""
    return fetch_all(conn, _SQL["search_features"], **_to_parameters(filter))


def count_matches(conn: Connection, filter: FeatureFilter) -> int:
    """The number of flags on all pages."""
    return int(fetch_value(conn, _SQL["count_matching_features"], **_to_parameters(filter)))


def _to_parameters(filter: FeatureFilter) -> dict[str, Any]:
    words = [build_like_pattern(word) for word in (filter.text or "").split()]
    return vars(filter) | {"words": words or None}


def list_active_names(conn: Connection, names: Iterable[str], project: str | None) -> set[str]:
    """The flags among `names` that aren't archived, in this project or in all."""
    rows = fetch_all(conn, _SQL["list_active_names"], names=[*names], project=project)
    return {row["name"] for row in rows}


def list_old(conn: Connection, days: int, project: str | None) -> list[Row]:
    """The flags, of a project or of all, that may have a reason to be removed."""
    return fetch_all(conn, _SQL["list_old_features"], days=days, project=project)


def list_removable(conn: Connection, days: int, names: Sequence[str]) -> list[Row]:
    """The flags among these that have a reason to be removed; see the statement."""
    return fetch_all(conn, _SQL["list_removable_features"], names=[*names], days=days)


def set_stale(conn: Connection, names: list[str], stale: bool) -> None:
    execute(conn, _SQL["set_stale"], names=names, stale=stale)


def mark_permanent(conn: Connection, names: list[str]) -> None:
    """Also clears `stale`."""
    execute(conn, _SQL["mark_permanent"], names=names)


def archive(conn: Connection, names: list[str]) -> None:
    execute(conn, _SQL["archive_features"], names=names)


def revive(conn: Connection, names: list[str]) -> None:
    execute(conn, _SQL["revive_features"], names=names)


def delete(conn: Connection, names: list[str]) -> None:
    """Deletes only archived flags."""
    execute(conn, _SQL["delete_features"], names=names)


def list_types(conn: Connection) -> list[Row]:
    return fetch_all(conn, _SQL["list_feature_types"])


def fill_created_by(conn: Connection, *, system_id: int, token_id: int) -> int:
    """Fills one batch of at most 100 and returns its size."""
    return execute(conn, _SQL["fill_feature_created_by"], system_id=system_id, token_id=token_id)
