"""JSON Patch (RFC 6902) on stored documents. The result is checked like a complete body."""

import copy
from typing import Any, Literal, TypeVar

import msgspec

from sigservice.errors import BadDataError
from sigservice.late import jsonpatch
from sigservice.web.body import JSON_LIMIT, to_struct

Struct = TypeVar("Struct")
MAX_STEPS = 100


class PatchStep(msgspec.Struct, rename={"source": "from"}, omit_defaults=True):
    op: Literal["add", "remove", "replace", "move", "copy", "test"]
    path: str
    value: Any = msgspec.UNSET
    source: str | msgspec.UnsetType = msgspec.UNSET


Patch = list[PatchStep]


def apply_patch(patch: Patch, document: Any, kind: type[Struct]) -> Struct:
    """The patched document as `kind`. Raises BadDataError; a patch applies completely or not at
    all."""
    if len(patch) > MAX_STEPS:
        raise BadDataError(f"A patch can have at most {MAX_STEPS} steps.")
    result = copy.deepcopy(document)
    try:
        for step in msgspec.to_builtins(patch):
            result = jsonpatch.JsonPatch([step]).apply(result, in_place=True)
            # Each copy may double the document.
            if step["op"] == "copy" and len(msgspec.json.encode(result)) > JSON_LIMIT:
                raise BadDataError(f"The patched document must not exceed {JSON_LIMIT} bytes.")
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError) as error:
        raise BadDataError(f"The patch can't be applied: {str(error)[:200]}.") from error
    except RecursionError as error:
        raise BadDataError("The patch nests the document too deeply.") from error
    return to_struct(result, kind)
