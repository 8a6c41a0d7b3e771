"""The fields of a flag's forms and of the filter of the flag list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sigservice.db.statements import Row
from sigservice.services.flags.features import Metadata
from sigservice.web.forms import Field

IMPRESSION_DATA = "Impression data: SDKs emit an event for every evaluation"
LIFECYCLES = [("", "Active"), ("stale", "Stale"), ("archived", "Archived")]


def make_new_fields(
    values: Mapping[str, str], projects: Sequence[Row], types: Sequence[Row]
) -> list[Field]:
    return [
        Field(
            "name",
            "Name",
            values["name"],
            hint="Used in code; can't be changed later. Letters, numbers, - . _ ~",
            is_required=True,
        ),
        Field(
            "project",
            "Project",
            values["project"],
            type="select",
            choices=[(row["id"], row["name"]) for row in projects],
        ),
        _make_type_field(values["type"], types),
        Field(
            "description",
            "Description",
            values["description"],
            type="textarea",
            hint="Optional. What it controls and when to remove it.",
        ),
        Field(
            "tags",
            "Tags",
            values["tags"],
            type="textarea",
            hint="Optional. One type:value per line, e.g. simple:checkout",
            attributes={"rows": 2},
        ),
        Field("impression_data", IMPRESSION_DATA, values["impression_data"], type="checkbox"),
    ]


def make_edit_fields(metadata: Metadata, types: Sequence[Row]) -> list[Field]:
    return [
        _make_type_field(metadata.type, types),
        Field("description", "Description", metadata.description or "", type="textarea"),
        Field("impression_data", IMPRESSION_DATA, metadata.impression_data, type="checkbox"),
        Field("stale", "Stale: ready to be removed from code", metadata.stale, type="checkbox"),
    ]


def make_clone_field(name: str) -> Field:
    hint = "Copies all strategies; disabled in every environment."
    return Field("clone_name", "Name of the clone", name, hint=hint, is_required=True)


def make_tag_field(tag: str) -> Field:
    return Field("tag", "New tag", tag, hint="type:value, e.g. simple:checkout", is_required=True)


def make_parent_fields(values: Mapping[str, str]) -> list[Field]:
    return [
        Field(
            "parent",
            "Parent flag",
            values["parent"],
            hint="A flag in this project without a parent.",
            is_required=True,
            attributes={"list": "parents"},
        ),
        Field(
            "state",
            "Required parent state",
            values["state"],
            type="select",
            choices=[("on", "Enabled"), ("off", "Disabled")],
        ),
        Field(
            "parent_variants",
            "Required variants",
            values["parent_variants"],
            type="textarea",
            hint="Optional. Variants of the parent flag, one per line.",
            attributes={"rows": 2},
        ),
    ]


def make_filter_fields(
    filters: Mapping[str, str],
    projects: Sequence[Row],
    types: Sequence[Row],
    environments: Sequence[str],
) -> list[Field]:
    """The project is offered if there are several, or if the list is filtered by one."""
    project = _make_filter("project", "Project", filters, [(r["id"], r["name"]) for r in projects])
    states = [
        (f"{state}:{environment}", f"{label} in {environment}")
        for environment in environments
        for state, label in (("on", "Enabled"), ("off", "Disabled"))
    ]
    return [
        Field("query", "Search", filters["query"], type="search"),
        *([project] if len(projects) > 1 or filters["project"] else []),
        _make_filter("state", "Status", filters, states),
        _make_filter("type", "Type", filters, [(row["id"], row["name"]) for row in types]),
        Field("tag", "Tag", filters["tag"], attributes={"placeholder": "type:value", "size": 14}),
        Field("life", "Lifecycle", filters["life"], type="select", choices=LIFECYCLES),
    ]


def _make_filter(
    name: str, label: str, filters: Mapping[str, str], choices: Sequence[tuple[str, str]]
) -> Field:
    return Field(name, label, filters[name], type="select", choices=[("", "Any"), *choices])


def _make_type_field(value: str, types: Sequence[Row]) -> Field:
    hints = {row["id"]: row["description"] for row in types}
    for row in types:
        if row["lifetime_days"]:
            hints[row["id"]] += f" Expected lifetime: {row['lifetime_days']} days."
    choices = [(row["id"], row["name"]) for row in types]
    return Field("type", "Type", value, type="radio", choices=choices, choice_hints=hints)
