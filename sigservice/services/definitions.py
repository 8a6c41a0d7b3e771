"""The common parts of the kinds of definitions: one struct for body, rules, row and file, and the
functions that create and change a definition with its event.

All writes hold the lock of revisions, so a name that is free stays free.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, Protocol, TypeVar, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields, replace

from sigservice.db import Connection, Row
from sigservice.errors import require_found
from sigservice.services import revisions
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.system import events

MAX_SORT_ORDER = 2**31 - 1
Definition = TypeVar("Definition", bound=msgspec.Struct)


class Table(Protocol):
    """A repository module of definitions."""

    def list_all(self, conn: Connection) -> list[Row]: ...

    def find(self, conn: Connection, key: str, /) -> Row | None: ...

    def put(self, conn: Connection, items: Sequence[Any]) -> None: ...


@cache
def _list_fields(struct: type[msgspec.Struct]) -> tuple[FieldInfo, ...]:
    return fields(struct)


def read_row(struct: type[Definition], row: Row) -> Definition:
    """The struct with the columns of its name; columns of lists are JSON text."""
    values = {
        field.name: msgspec.json.decode(row[field.name], type=field.type)
        if get_origin(field.type) is list
        else row[field.name]
        for field in _list_fields(struct)
    }
    return struct(**values)


def merge(existing: Definition, changes: msgspec.Struct) -> Definition:
    """`existing` with the members of `changes` that `existing` has too and that aren't their
    defaults."""
    names = existing.__struct_fields__
    values = {
        field.name: value
        for field in _list_fields(type(changes))
        if field.name in names and (value := getattr(changes, field.name)) is not field.default
    }
    return replace(existing, **values)


def clean_text(text: str | None) -> str | None:
    """The text without surrounding blanks; None for an empty one."""
    return (text or "").strip() or None


def check_sort_order(order: int, problems: Problems, path: str = "") -> None:
    if not -(2**31) <= order <= MAX_SORT_ORDER:
        problems.add(f"{path}sortOrder", "The sort order must be a 32-bit integer.")


@dataclass(frozen=True)
class DefinitionKind(Generic[Definition]):
    """`check` returns a definition in the form in which it is stored; `key` is its name in URLs;
    `event` is the beginning of the types of its events, and `event_scope` the column of events
    that has its key."""

    label: str
    event: str
    struct: type[Definition]
    table: Table
    check: Callable[..., Definition]
    to_json: Callable[[Row], Any] | None = None  # for events; by default the struct
    key: str = "name"
    key_length: tuple[int, int] = (1, 100)
    event_scope: str | None = None

    def build_event_data(self, row: Row) -> Any:
        """The data of a definition in its events."""
        return self.to_json(row) if self.to_json else msgspec.to_builtins(self.read_row(row))

    def read_row(self, row: Row) -> Definition:
        return read_row(self.struct, row)

    def read_all(self, conn: Connection) -> list[Definition]:
        return [self.read_row(row) for row in self.table.list_all(conn)]

    def get(self, conn: Connection, key: str) -> Row:
        """Raises NotFoundError."""
        return require_found(self.table.find(conn, key), f"{self.label} {key} not found.")

    def check_key(self, key: str, problems: Problems, path: str = "") -> None:
        shortest, longest = self.key_length
        problems.check_name(key, f"{path}{self.key}", min_length=shortest, max_length=longest)

    def check_imported(self, item: Definition, path: str, problems: Problems) -> Any:
        """The definition in the form in which it is stored; `path` is its place in the file."""
        self.check_key(getattr(item, self.key), problems, f"{path}.")
        return self.check(item, problems, f"{path}.")

    def check_key_available(self, conn: Connection, key: str) -> None:
        """Raises BadDataError for an invalid key, NameExistsError for an existing one."""
        problems = Problems()
        self.check_key(key, problems)
        problems.raise_if_any()
        if self.table.find(conn, key):
            raise build_duplicate_error(key, self.key)

    def check_new(self, conn: Connection, new: Definition) -> Definition:
        """The definition in the form in which it is stored. Raises BadDataError,
        NameExistsError."""
        problems, key = Problems(), getattr(new, self.key)
        self.check_key(key, problems)
        new = self.check(new, problems)
        problems.raise_if_any()
        if self.table.find(conn, key):
            raise build_duplicate_error(key, self.key)
        return new

    def create(self, conn: Connection, new: Definition, by: Identity) -> Row:
        """Raises BadDataError, NameExistsError."""
        revisions.lock(conn)
        self.table.put(conn, [self.check_new(conn, new)])
        row = self.get(conn, getattr(new, self.key))
        self._record(conn, "created", by, row, data=self.build_event_data(row))
        return row

    def update(self, conn: Connection, key: str, changes: msgspec.Struct, by: Identity) -> Row:
        """Changes only the members of `changes` that aren't their defaults. Raises NotFoundError,
        BadDataError."""
        revisions.lock(conn)
        before = self.get(conn, key)
        return self.save(conn, before, merge(self.read_row(before), changes), by)

    def save(
        self, conn: Connection, before: Row, new: Definition, by: Identity, change: str = "updated"
    ) -> Row:
        """Replaces the row `before`, under the lock of revisions. Raises BadDataError."""
        problems = Problems()
        new = self.check(new, problems)
        problems.raise_if_any()
        if new == self.read_row(before):
            return before
        self.table.put(conn, [new])
        row = self.get(conn, before[self.key])
        data, pre_data = self.build_event_data(row), self.build_event_data(before)
        self._record(conn, change, by, row, data=data, pre_data=pre_data)
        return row

    def record_deletion(self, conn: Connection, before: Row, by: Identity) -> None:
        self._record(conn, "deleted", by, before, pre_data=self.build_event_data(before))

    def _record(self, conn: Connection, change: str, by: Identity, row: Row, **data: Any) -> None:
        scope = {self.event_scope: row[self.key]} if self.event_scope else {}
        events.record(conn, f"{self.event}-{change}", by, **data, **scope)
