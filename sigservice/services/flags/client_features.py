"""Builds the document that SDKs poll from the JSON texts of one statement."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.repository.flags import client_features


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


def build_document(conn: Connection, query: Query) -> tuple[int, bytes]:
    """The revision, and {version, features, query, segments, meta}; without `segments` when they
    are inlined."""
    rows = client_features.list_documents(
        conn,
        query.environment,
        inline=query.inline,
        projects=None if query.projects is None else list(query.projects),
        prefix=query.prefix or None,
        tags=[f"{type}:{value}" for type, value in query.tags] or None,
    )
    features = ",".join(_join_feature(row) for row in rows if row["item_type"] == "flag")
    segments = ",".join(row["body"] for row in rows if row["item_type"] == "segment")
    revision = next(int(row["body"]) for row in rows if row["item_type"] == "revision")
    meta = {"revisionId": revision, "etag": build_etag(query, revision), "queryHash": query.hash}
    parts = [
        '{"version":2,"features":[',
        features,
        '],"query":',
        msgspec.json.encode(query.to_json()).decode(),
        "" if query.inline else f',"segments":[{segments}]',
        ',"meta":',
        msgspec.json.encode(meta).decode(),
        "}",
    ]
    return revision, "".join(parts).encode()


def list_texts(conn: Connection, environment: str) -> tuple[dict[str, str], dict[int, str]]:
    """The JSON texts of all flags by name and of their segments by ID, each in one line."""
    flags, segments = {}, {}
    for row in client_features.list_documents(conn, environment):
        if row["item_type"] == "flag":
            flags[row["name"]] = _join_feature(row).replace("\n", "")
        elif row["item_type"] == "segment":
            segments[int(row["name"])] = row["body"].replace("\n", "")
    return flags, segments


def build_flag(conn: Connection, query: Query, name: str) -> bytes | None:
    """One flag; None when the query has no such flag."""
    rows = client_features.list_documents(
        conn,
        query.environment,
        inline=query.inline,
        name=name,
        projects=None if query.projects is None else list(query.projects),
    )
    for row in rows:
        if row["item_type"] == "flag":
            return _join_feature(row).encode()
    return None


def _join_feature(row: dict[str, Any]) -> str:
    body: str = row["body"]
    if row["dependencies"]:
        return f'{body[:-1]},"dependencies":{row["dependencies"]}}}'
    return body
