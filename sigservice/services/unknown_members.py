"""Refuses members of a body that its struct doesn't have: a misspelled `dryRun` must not give a
guard that acts. Only structs with `read_only` are checked. `read_only` has the names that responses
add; they are ignored, so that a response can be sent back after a change."""

from collections.abc import Hashable
from functools import cache
from typing import Any

from msgspec import inspect

from sigservice.errors import BadDataError

MAX_LISTED = 20
MAX_NAME = 100  # characters of a name that an error repeats


@cache
def _find_type(struct: Hashable) -> inspect.Type:
    return inspect.type_info(struct)


def refuse_unknown(value: Any, struct: Any) -> None:
    """`value` is a valid `struct`, decoded from JSON. Raises BadDataError with the paths."""
    if not hasattr(struct, "read_only"):
        return
    unknown = list_unknown(value, struct)[:MAX_LISTED]
    if unknown:
        details = [{"message": f"There is no member {path}.", "path": path} for path, _ in unknown]
        raise BadDataError(details[0]["message"], details=details)


def list_unknown(value: Any, struct: Any) -> list[tuple[str, list[str]]]:
    """The path of each unknown member, with the names that are known there."""
    return _list_unknown(value, _find_type(struct), "")


def _list_unknown(value: Any, type: inspect.Type, path: str) -> list[tuple[str, list[str]]]:
    if isinstance(type, inspect.UnionType):
        types = (member for member in type.types if _fits(value, member))
        return next((_list_unknown(value, member, path) for member in types), [])
    if isinstance(type, inspect.ListType) and isinstance(value, list):
        items = [
            _list_unknown(item, type.item_type, f"{path}[{n}]") for n, item in enumerate(value)
        ]
        return [unknown for item in items for unknown in item]
    if not isinstance(type, inspect.StructType) or not isinstance(value, dict):
        return []
    members = {field.encode_name: field.type for field in type.fields}
    ignored = {type.tag_field, *getattr(type.cls, "read_only", ())}
    paths = []
    for name, item in value.items():
        inner = f"{path}.{name[:MAX_NAME]}".removeprefix(".")
        if name in members:
            paths += _list_unknown(item, members[name], inner)
        elif name not in ignored:
            paths.append((inner, list(members)))
    return paths


def _fits(value: Any, type: inspect.Type) -> bool:
    if isinstance(type, inspect.StructType):
        has_tag = isinstance(value, dict) and value.get(type.tag_field) == type.tag
        return has_tag if type.tag_field else isinstance(value, dict)
    return isinstance(type, inspect.ListType) and isinstance(value, list)
