"""Tag types: rules and events."""

import re

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from sigservice.db import Connection
from sigservice.errors import OperationDeniedError
from sigservice.repository.projects import tag_types
from sigservice.services import revisions
from sigservice.services.definitions import DefinitionKind, clean_text
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems

DEFAULT = "simple"
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")


class TagType(msgspec.Struct):
    name: str
    description: str | None = None
    icon: str | None = None
    color: str | None = None


class TagTypeChanges(msgspec.Struct):
    """Absent members keep their values."""

    description: str | UnsetType | None = UNSET
    icon: str | UnsetType | None = UNSET
    color: str | UnsetType | None = UNSET


def check(item: TagType, problems: Problems, path: str = "") -> TagType:
    """The type in the form in which it is stored; its name is checked elsewhere."""
    description = clean_text(item.description)
    item = replace(item, description=description, icon=item.icon or None, color=item.color or None)
    problems.check_text(item.description, f"{path}description", max_length=1000)
    problems.check_text(item.icon, f"{path}icon", max_length=100)
    if item.color and not _COLOR.fullmatch(item.color):
        problems.add(f"{path}color", "Must be a color such as #1f5fbf.")
    return item


KIND = DefinitionKind("Tag type", "tag-type", TagType, tag_types, check, key_length=(2, 50))
get, create, update = KIND.get, KIND.create, KIND.update  # rows have the form of the API


def delete(conn: Connection, name: str, by: Identity) -> None:
    """Deletes its tags too, also from flags. Raises NotFoundError, OperationDeniedError."""
    revisions.lock(conn)
    before = get(conn, name)
    if name == DEFAULT:
        raise OperationDeniedError(f"The tag type {DEFAULT} can't be deleted.")
    tag_types.delete(conn, name)
    KIND.record_deletion(conn, before, by)
    revisions.bump(conn, flags=None)
