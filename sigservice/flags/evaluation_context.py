"""The context that flags are evaluated for, made of what a page sends: the field's own mapping.

What is no root field becomes a property, explicit properties win over those. Numbers and booleans
become text, null counts as not given, as does an empty root field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sigservice.errors import BadDataError
from sigservice.flags.context_dependency import ROOT_FIELDS
from sigservice.services.problems import Problems

LONGEST = 10_000  # the engine reads the context anew for each flag
_PROPERTY = re.compile(r"properties\[([^\[\]]+)\]")


def from_query(query: Mapping[str, str]) -> dict[str, Any]:
    """`properties[region]=eu` as `{"properties": {"region": "eu"}}`. Raises BadDataError."""
    given: dict[str, Any] = {}
    properties: dict[str, str] = {}
    for name, text in query.items():
        match = _PROPERTY.fullmatch(name)
        if match:
            properties[match[1]] = text
        elif name.startswith("properties["):
            raise BadDataError("A property looks like properties[name]=value.", path=name[:200])
        else:
            given[name] = text
    return given if "properties" in given else given | {"properties": properties}


def make_context(
    given: Mapping[str, Any], *, environment: str, remote_address: str, path: str = ""
) -> dict[str, Any]:
    """`environment` and `remote_address` are what those fields say unless they are given. Raises
    BadDataError with all that is wrong; `path` is where `given` stood."""
    problems = Problems()
    explicit = given.get("properties")
    if explicit is not None and not isinstance(explicit, dict):
        problems.add(f"{path}properties", "properties must be an object.")
        explicit = None
    texts = _texts({k: v for k, v in given.items() if k != "properties"}, path, problems)
    properties = {name: text for name, text in texts.items() if name not in ROOT_FIELDS}
    properties |= _texts(explicit or {}, f"{path}properties.", problems)
    context: dict[str, Any] = {"environment": environment, "remoteAddress": remote_address}
    context |= {name: texts[name] for name in ROOT_FIELDS if texts.get(name)}
    if "currentTime" in context:
        context["currentTime"] = _moment(context["currentTime"])
        if not context["currentTime"]:
            problems.add(f"{path}currentTime", "currentTime must be an ISO 8601 date.")
    problems.raise_if_any()
    return context | {"properties": properties}


def _texts(given: Mapping[str, Any], path: str, problems: Problems) -> dict[str, str]:
    texts = {}
    for name, value in given.items():
        if isinstance(value, dict | list):
            problems.add(path + name[:200], "A value must be text, a number or a boolean.")
        elif value is not None:
            texts[name] = _text(value)
            if len(texts[name]) > LONGEST or len(name) > LONGEST:
                problems.add(path + name[:200], f"It has at most {LONGEST} characters.")
    return texts


def _text(value: str | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return str(value)


def _moment(text: str) -> str:
    """As the engine reads it, "" for what is no date; what lacks a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
