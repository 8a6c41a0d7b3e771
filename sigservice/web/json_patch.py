"""JSON Patch (RFC 6902) on what is stored, checked like a body that was sent whole."""

from __future__ import annotations

import copy
from typing import Any, Literal, TypeVar

import jsonpatch
import msgspec

from sigservice.errors import BadDataError
from sigservice.web.body import to_struct

Struct = TypeVar("Struct")


class Step(msgspec.Struct, rename={"source": "from"}, omit_defaults=True):
    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: str
    value: Any = msgspec.UNSET
    source: str | msgspec.UnsetType = msgspec.UNSET


Patch = list[Step]


def apply(patch: Patch, document: dict[str, Any], kind: type[Struct]) -> Struct:
    """The document after the patch, as `kind`. Raises BadDataError; nothing is half done."""
    try:
        changed = jsonpatch.JsonPatch(msgspec.to_builtins(patch)).apply(copy.deepcopy(document))
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError) as error:
        raise BadDataError(f"The patch can't be applied: {str(error)[:200]}.") from error
    return to_struct(changed, kind)
