"""Templates of releases: steps and watch time under a name. Two are built in."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

import msgspec

from sigservice.clock import format_iso
from sigservice.db import Connection, Row
from sigservice.errors import BadDataError, ConflictError, ExceedsLimitError, NotFoundError
from sigservice.repository.releases import release_templates
from sigservice.services.identity import Identity
from sigservice.services.problems import Problems, build_duplicate_error
from sigservice.services.projects.resource_limits import MAX_RELEASE_TEMPLATES
from sigservice.services.releases.plans import DEFAULT_WATCH_MINUTES, Step, check_steps
from sigservice.services.system import events


class Template(msgspec.Struct):
    """A template without its name: the body of a PUT."""

    read_only: ClassVar = ("name", "builtIn", "createdAt")

    steps: list[Step]
    watchMinutes: int = DEFAULT_WATCH_MINUTES
    description: str | None = None


class NewTemplate(Template, kw_only=True):
    name: str


BUILT_IN: Mapping[str, NewTemplate] = MappingProxyType(
    {
        "careful": NewTemplate(
            [Step(1, 10), Step(10, 60), Step(50, 240), Step(100)],
            description="A few users first, then most of them within half a day.",
            name="careful",
        ),
        "quarters": NewTemplate(
            [Step(25, 60), Step(50, 60), Step(75, 60), Step(100)],
            description="A quarter of the users each hour.",
            name="quarters",
        ),
    }
)


def list_all(conn: Connection) -> list[dict[str, Any]]:
    """The JSON of all templates, built-in ones first."""
    rows = release_templates.list_all(conn)
    return [_to_json(item, None) for item in BUILT_IN.values()] + [
        _to_json(_read(row), row) for row in rows
    ]


def get(conn: Connection, name: str) -> dict[str, Any]:
    """Raises NotFoundError."""
    for template in list_all(conn):
        if template["name"] == name:
            return template
    raise NotFoundError("Release template not found.")


def find(conn: Connection, name: str) -> NewTemplate:
    """Raises BadDataError for an unknown name."""
    for template in (*BUILT_IN.values(), *read_all(conn)):
        if template.name == name:
            return template
    raise BadDataError(f"There is no release template {name[:100]}.", path="template")


def read_all(conn: Connection) -> list[NewTemplate]:
    """The templates that users created, by name."""
    return [_read(row) for row in release_templates.list_all(conn)]


def put_many(conn: Connection, templates: Sequence[NewTemplate], by: Identity) -> None:
    """Inserts or replaces valid templates."""
    release_templates.put_many(conn, templates, by.user_id)


def check(new: NewTemplate, path: str, problems: Problems) -> NewTemplate:
    """Adds to `problems`, with paths that begin with `path`."""
    own = Problems().check_name(new.name)
    if new.name in BUILT_IN:
        own.add("name", f"{new.name} is built in and can't be changed.")
    own.check_text(new.description, "description", max_length=1000)
    check_steps(new.steps, new.watchMinutes, own)
    for detail in own.details:
        problems.add(f"{path}.{detail['path']}", detail["message"])
    return new


def create(conn: Connection, new: NewTemplate, by: Identity) -> dict[str, Any]:
    """Raises BadDataError, NameExistsError, ExceedsLimitError."""
    problems = Problems().check_name(new.name)
    _check(new, problems)
    release_templates.lock(conn)
    existing = list_all(conn)
    if any(template["name"] == new.name for template in existing):
        raise build_duplicate_error(new.name)
    if len(existing) - len(BUILT_IN) >= MAX_RELEASE_TEMPLATES:
        raise ExceedsLimitError(
            f"There can't be more than {MAX_RELEASE_TEMPLATES} release templates.",
            resource="releaseTemplates",
            limit=MAX_RELEASE_TEMPLATES,
        )
    return _put(conn, new.name, new, by, "release-template-created")


def replace(conn: Connection, name: str, new: Template, by: Identity) -> dict[str, Any]:
    """Releases that were created from it stay as they are. Raises NotFoundError, BadDataError,
    ConflictError for a built-in one."""
    _check_changeable(name)
    _check(new, Problems())
    release_templates.lock(conn)
    before = get(conn, name)
    return _put(conn, name, new, by, "release-template-updated", before)


def delete(conn: Connection, name: str, by: Identity) -> None:
    """Raises NotFoundError, ConflictError for a built-in one."""
    _check_changeable(name)
    release_templates.lock(conn)
    before = get(conn, name)
    release_templates.delete(conn, name)
    events.record(conn, "release-template-deleted", by, pre_data=before)


def _check_changeable(name: str) -> None:
    if name in BUILT_IN:
        raise ConflictError(f"{name} is built in and can't be changed.")


def _check(new: Template, problems: Problems) -> None:
    problems.check_text(new.description, "description", max_length=1000)
    check_steps(new.steps, new.watchMinutes, problems)
    problems.raise_if_any()


def _put(
    conn: Connection,
    name: str,
    new: Template,
    by: Identity,
    event: str,
    before: dict[str, Any] | None = None,
) -> dict[str, Any]:
    put_many(conn, [NewTemplate(new.steps, new.watchMinutes, new.description, name=name)], by)
    after = get(conn, name)
    events.record(conn, event, by, data=after, pre_data=before)
    return after


def _read(row: Row) -> NewTemplate:
    steps = msgspec.json.decode(row["steps"], type=list[Step])
    return NewTemplate(steps, row["watch_minutes"], row["description"], name=row["name"])


def _to_json(template: NewTemplate, row: Row | None) -> dict[str, Any]:
    return {
        "name": template.name,
        "description": template.description,
        "steps": msgspec.to_builtins(template.steps),
        "watchMinutes": template.watchMinutes,
        "builtIn": row is None,
        "createdAt": format_iso(row["created_at"]) if row else None,
    }
