"""Reads the flags that SDKs get, as JSON texts: all of an environment, or those that changed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import msgspec

from sigservice.services.late import client_feature_rows
from sigservice.services.revisions import Revisions, build_revisions

if TYPE_CHECKING:
    from sigservice.db import Connection, Row


@dataclass(frozen=True)
class Query:
    """What an SDK requests and its token allows. `projects` is None for all projects."""

    environment: str
    projects: tuple[str, ...] | None = None
    tags: tuple[tuple[str, str], ...] = ()
    prefix: str = ""
    inline: bool = False

    def to_json(self) -> dict[str, Any]:
        """The query as the document repeats it, without absent filters."""
        query: dict[str, Any] = {}
        if self.tags:
            query["tag"] = [list(tag) for tag in self.tags]
        if self.projects is not None:
            query["project"] = list(self.projects)
        if self.prefix:
            query["namePrefix"] = self.prefix
        return query | {"environment": self.environment, "inlineSegmentConstraints": self.inline}

    @cached_property
    def hash(self) -> str:
        """8 hexadecimal digits."""
        return hashlib.sha256(msgspec.json.encode(self.to_json())).hexdigest()[:8]


def build_etag(query: Query, revision: int) -> str:
    return f'"{query.hash}:{revision}:v1"'


@dataclass(frozen=True, slots=True)
class Flag:
    """`text` is the flag's JSON in the client API, in one line; `tags` are `type:value`."""

    name: str
    text: bytes
    project: str
    segment_ids: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class FlagReading:
    """All flags of an environment with their segments, or only the flags that changes touched:
    `touched` has their names, `flags` those that still exist. Everything was read in one snapshot,
    at these `revisions`."""

    revisions: Revisions
    flags: Mapping[str, Flag]
    segments: Mapping[int, bytes]
    touched: frozenset[str] | None = None


class _Change(msgspec.Struct):
    revision: int
    previous: int
    environments: list[str] | None
    flags: list[str] | None


def read_all(conn: Connection, environment: str, *, digests: bool = False) -> FlagReading:
    """The flags of an environment. With `digests`, texts are replaced by their MD5."""
    return _build_reading(
        client_feature_rows.list_items(conn, environment, since=None, digests=digests)
    )


def read_changes(conn: Connection, environment: str, since: Revisions) -> FlagReading:
    """The flags that changed after `since`; all flags if the changes aren't recorded."""
    rows = client_feature_rows.list_items(conn, environment, since=since.generation)
    reading = _build_reading(rows)
    changes = sorted(
        (
            msgspec.json.decode(row["body"], type=_Change)
            for row in rows
            if row["item_type"] == "change"
        ),
        key=lambda change: change.revision,
    )
    touched = _find_touched(environment, since, reading.revisions, changes)
    if touched is None:
        return read_all(conn, environment)
    return replace(reading, touched=touched)


def _find_touched(
    environment: str, since: Revisions, current: Revisions, changes: Sequence[_Change]
) -> frozenset[str] | None:
    """The flags that the changes touched. None if these may be any flags, or if there is a gap
    between `since` and `current`: a version that records nothing runs beside this one, the records
    are deleted, or the database went back."""
    generation = since.generation
    names: set[str] = set()
    for change in changes:
        if change.previous != generation:
            return None
        generation = change.revision
        if change.environments is None or environment in change.environments:
            if change.flags is None:
                return None
            names.update(change.flags)
    is_complete = generation == current.generation and since.history == current.history
    return frozenset(names) if is_complete else None


def _build_reading(rows: Sequence[Row]) -> FlagReading:
    flags, segments, numbers = {}, {}, {}
    for row in sorted(rows, key=itemgetter("name")):
        if row["item_type"] == "flag":
            flags[row["name"]] = Flag(
                row["name"],
                row["body"].encode(),
                sys.intern(row["project"]),
                tuple(sorted(set(row["segment_ids"] or ()))),
                tuple(row["tags"] or ()),
            )
        elif row["item_type"] == "segment":
            segments[int(row["name"])] = row["body"].encode()
        elif row["item_type"] == "revision":
            numbers[row["name"]] = msgspec.json.decode(row["body"], type=tuple[int, int])
    return FlagReading(build_revisions(numbers), flags, dict(sorted(segments.items())))
