"""Makes the evaluation context from what a frontend SDK sends.

A root field takes precedence over a property of the same name, and an explicit property over
another field. Numbers and booleans become text; null and an empty root field count as absent.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from sigservice.errors import BadDataError
from sigservice.evaluation.fields import Fields
from sigservice.services.problems import Problems

ROOT_FIELDS = ("environment", "appName", "userId", "sessionId", "remoteAddress", "currentTime")
MAX_LENGTH = 10_000
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
    fields: Mapping[str, Any],
    *,
    environment: str,
    remote_address: str = "",
    path: str = "",
    creates_session: bool = False,
) -> Fields:
    """`environment` and `remote_address` are the defaults of these fields; with `creates_session`
    the default of sessionId is random. `path` is the path of `fields` in the body. Raises
    BadDataError with all problems."""
    problems = Problems()
    explicit = fields.get("properties")
    if explicit is not None and not isinstance(explicit, dict):
        problems.add(f"{path}properties", "properties must be an object.")
        explicit = None
    others = {name: value for name, value in fields.items() if name != "properties"}
    texts = _to_texts(others, path, problems)
    roots = {name: text for name in ROOT_FIELDS if (text := texts.pop(name, ""))}
    properties = _to_texts(explicit or {}, f"{path}properties.", problems)
    properties.pop("currentTime", None)  # dates are compared with the root field
    texts |= properties | {"environment": environment}
    if remote_address:
        texts["remoteAddress"] = remote_address
    texts |= roots
    time = _parse_time(roots["currentTime"]) if "currentTime" in roots else None
    if time is None and "currentTime" in roots:
        problems.add(f"{path}currentTime", "currentTime must be an ISO 8601 date.")
    problems.raise_if_any()
    return Fields(texts, time=time, creates_session=creates_session)


def make_ofrep_context(
    fields: Mapping[str, Any], *, environment: str, remote_address: str, path: str
) -> Fields:
    """The same for OFREP: `targetingKey` is the userId unless there is one, and objects and arrays
    are JSON text, except the object `properties`. Raises BadDataError with all problems."""
    key = fields.get("targetingKey")
    if not isinstance(key, str | None):
        raise BadDataError("targetingKey must be a string.", path=f"{path}targetingKey")
    flat = _flatten(fields)
    properties = fields.get("properties")
    if not isinstance(properties, dict):
        properties = {"properties": properties}
    flat["properties"] = _flatten(properties)
    if flat.get("userId") in (None, ""):
        flat["userId"] = key
    return make_context(
        flat,
        environment=environment,
        remote_address=remote_address,
        path=path,
        creates_session=True,
    )


def _flatten(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: msgspec.json.encode(value, order="sorted").decode()
        if isinstance(value, (dict, list))
        else value
        for name, value in fields.items()
    }


def _to_texts(fields: Mapping[str, Any], path: str, problems: Problems) -> dict[str, str]:
    texts = {}
    for name, value in fields.items():
        if value is None:
            continue
        if isinstance(value, (dict, list)):  # dict | list is slower
            problems.add(path + name[:200], "A value must be a string, number or boolean.")
            continue
        text = texts[name] = value if isinstance(value, str) else _to_text(value)
        if len(text) > MAX_LENGTH or len(name) > MAX_LENGTH:
            problems.add(path + name[:200], f"Use at most {MAX_LENGTH} characters.")
    return texts


def _to_text(value: int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return str(value)


def _parse_time(text: str) -> datetime | None:
    """None for an invalid date. A time without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
