"""JSON Patch (RFC 6902) on what is stored, checked like a body that was sent whole."""

from __future__ import annotations

import copy
from typing import Any, Literal, TypeVar

import jsonpatch
import msgspec

from sigservice.errors import BadDataError
from sigservice.web.body import JSON_LIMIT, to_struct

Struct = TypeVar("Struct")
MOST_STEPS = 100


class Step(msgspec.Struct, rename={"source": "from"}, omit_defaults=True):
    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: str
    value: Any = msgspec.UNSET
    source: str | msgspec.UnsetType = msgspec.UNSET


Patch = list[Step]


def apply(patch: Patch, document: dict[str, Any], kind: type[Struct]) -> Struct:
    """The document after the patch, as `kind`. Raises BadDataError; nothing is half done."""
    if len(patch) > MOST_STEPS:
        raise BadDataError(f"A patch has at most {MOST_STEPS} steps.")
    changed = copy.deepcopy(document)
    try:
        for step in msgspec.to_builtins(patch):
            changed = jsonpatch.JsonPatch([step]).apply(changed, in_place=True)
            # Each copy may double the document.
            if step["op"] == "copy" and len(msgspec.json.encode(changed)) > JSON_LIMIT:
                raise BadDataError(f"The patch makes more than {JSON_LIMIT} bytes.")
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError) as error:
        raise BadDataError(f"The patch can't be applied: {str(error)[:200]}.") from error
    except RecursionError as error:
        raise BadDataError("The patch nests the document too deeply.") from error
    return to_struct(changed, kind)
