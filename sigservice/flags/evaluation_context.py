"""Makes the evaluation context from what a frontend SDK sends.

A field that isn't a root field becomes a property; explicit properties take precedence. Numbers
and booleans become text; null and an empty root field count as absent.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sigservice.errors import BadDataError
from sigservice.flags.context_dependency import ROOT_FIELDS
from sigservice.services.problems import Problems

MAX_LENGTH = 10_000  # the engine parses the context for each flag
_PROPERTY = re.compile(r"properties\[([^\[\]]+)\]")


def parse_query(query: Mapping[str, str]) -> dict[str, Any]:
    """`properties[region]=eu` as `{"properties": {"region": "eu"}}`. Raises BadDataError."""
    fields: dict[str, Any] = {}
    properties: dict[str, str] = {}
    for name, text in query.items():
        match = _PROPERTY.fullmatch(name)
        if match:
            properties[match[1]] = text
        elif name.startswith("properties["):
            raise BadDataError(
                "A property must have the form properties[name]=value.", path=name[:200]
            )
        else:
            fields[name] = text
    return fields if "properties" in fields else fields | {"properties": properties}


def make_context(
    fields: Mapping[str, Any], *, environment: str, remote_address: str, path: str = ""
) -> dict[str, Any]:
    """`environment` and `remote_address` are the defaults of those fields. Raises BadDataError with
    all problems; `path` is the path of `fields` in the body."""
    problems = Problems()
    explicit = fields.get("properties")
    if explicit is not None and not isinstance(explicit, dict):
        problems.add(f"{path}properties", "properties must be an object.")
        explicit = None
    texts = _to_texts({k: v for k, v in fields.items() if k != "properties"}, path, problems)
    properties = {name: text for name, text in texts.items() if name not in ROOT_FIELDS}
    properties |= _to_texts(explicit or {}, f"{path}properties.", problems)
    context: dict[str, Any] = {"environment": environment, "remoteAddress": remote_address}
    context |= {name: texts[name] for name in ROOT_FIELDS if texts.get(name)}
    if "currentTime" in context:
        context["currentTime"] = _normalize_time(context["currentTime"])
        if not context["currentTime"]:
            problems.add(f"{path}currentTime", "currentTime must be an ISO 8601 date.")
    problems.raise_if_any()
    return context | {"properties": properties}


def _to_texts(fields: Mapping[str, Any], path: str, problems: Problems) -> dict[str, str]:
    texts = {}
    for name, value in fields.items():
        if isinstance(value, dict | list):
            problems.add(path + name[:200], "A value must be a string, number or boolean.")
        elif value is not None:
            texts[name] = _to_text(value)
            if len(texts[name]) > MAX_LENGTH or len(name) > MAX_LENGTH:
                problems.add(path + name[:200], f"Use at most {MAX_LENGTH} characters.")
    return texts


def _to_text(value: str | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return str(value)


def _normalize_time(text: str) -> str:
    """In the engine's format; "" for an invalid date. A time without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
