"""The kinds of actions as forms and tools are told of them, with what a project offers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sigservice.db.pool import Connection
from sigservice.repository.actions import action_sets
from sigservice.repository.flags import feature_tags, features
from sigservice.repository.flags.features import FeatureFilter
from sigservice.repository.projects import environments
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_sets import check_project

Choices = list[str]


def definitions(conn: Connection, project: str) -> dict[str, Any]:
    """By the kind's name: {label, description, category, permissions, parameters}. Raises
    NotFoundError."""
    check_project(conn, project)
    offered: dict[str, Choices] = {}

    def of(choices: str) -> Choices:
        if choices not in offered:
            offered[choices] = _READ[choices](conn, project)
        return offered[choices]

    return {
        name: {
            "label": kind.label,
            "description": kind.description,
            "category": kind.category,
            "permissions": [kind.permission],
            "parameters": [
                {"name": p.name, "label": p.label, "type": p.type, "optional": p.optional}
                | ({"options": of(p.choices)} if p.choices else {})
                for p in kind.parameters
            ],
        }
        for name, kind in KINDS.items()
    }


def _environments(conn: Connection, project: str) -> Choices:
    rows = environments.list_by_project(conn, project)
    return [row["name"] for row in rows if row["visible"] and row["enabled"]]


def _features(conn: Connection, project: str) -> Choices:
    return [row["name"] for row in features.search(conn, FeatureFilter(projects=[project]))]


def _tags(conn: Connection, project: str) -> Choices:
    names = _features(conn, project)
    rows = feature_tags.list_by_features(conn, names)
    return sorted({f"{row['type']}:{row['value']}" for row in rows})


def _action_sets(conn: Connection, project: str) -> Choices:
    return [str(row["id"]) for row in action_sets.list_of_project(conn, project)]


_READ: dict[str, Callable[[Connection, str], Choices]] = {
    "environments": _environments,
    "features": _features,
    "tags": _tags,
    "actionSets": _action_sets,
}
