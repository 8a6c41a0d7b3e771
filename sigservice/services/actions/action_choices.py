"""Descriptions of the kinds of actions for forms and tools, with the choices of a project."""

from collections.abc import Callable
from functools import cache
from typing import Any

from sigservice.db import Connection
from sigservice.repository.flags import feature_tags, features
from sigservice.repository.flags.features import FeatureFilter
from sigservice.repository.projects import environments
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_sets import check_project

Choices = list[str]


def describe_kinds(conn: Connection, project: str) -> dict[str, Any]:
    """{label, description, category, permissions, parameters} of each kind, by its name. Raises
    NotFoundError."""
    check_project(conn, project)
    list_choices = cache(lambda name: _LISTS[name](conn, project))
    return {
        name: {
            "label": kind.label,
            "description": kind.description,
            "category": kind.category,
            "permissions": [kind.permission],
            "parameters": [
                {"name": p.name, "label": p.label, "type": p.type, "optional": p.optional}
                | ({"options": list_choices(p.choices_list_name)} if p.choices_list_name else {})
                for p in kind.parameters
            ],
        }
        for name, kind in KINDS.items()
    }


def _list_environments(conn: Connection, project: str) -> Choices:
    rows = environments.list_by_project(conn, project)
    return [row["name"] for row in rows if row["visible"] and row["enabled"]]


def _list_features(conn: Connection, project: str) -> Choices:
    return [row["name"] for row in features.search(conn, FeatureFilter(projects=[project]))]


def _list_tags(conn: Connection, project: str) -> Choices:
    names = _list_features(conn, project)
    rows = feature_tags.list_by_features(conn, names)
    return sorted({f"{row['type']}:{row['value']}" for row in rows})


_LISTS: dict[str, Callable[[Connection, str], Choices]] = {
    "environments": _list_environments,
    "features": _list_features,
    "tags": _list_tags,
}
