"""The fields of a flag's forms and of the filter of the flag list."""

from collections.abc import Sequence
from dataclasses import replace

from sigservice.db import Row
from sigservice.errors import BadDataError
from sigservice.services.flags.feature_tags import Tag
from sigservice.web.forms import Field

NAME_HINT = "Used in code; can't be changed later. Letters, numbers, - . _ ~"
DESCRIPTION_HINT = "Optional. What it controls and when to remove it."
TAGS_HINT = "Optional. One type:value per line, e.g. simple:checkout"
CLONE_HINT = "Copies all strategies; disabled in every environment."
IMPRESSION_FIELD = Field(
    "impressionData", "Impression data: SDKs emit an event for every evaluation", type="checkbox"
)
STATES = [("on", "Enabled"), ("off", "Disabled")]
CLONE_FIELD = Field("name", "Name of the clone", hint=CLONE_HINT, is_required=True)
TAG_FIELD = Field("tag", "New tag", hint="type:value, e.g. simple:checkout", is_required=True)
BULK_TAG_FIELD = Field("tag", "Tag", id="bulk-tag", attributes={"placeholder": "type:value"})
PARENT_FIELDS = [
    Field(
        "feature",
        "Parent flag",
        hint="A flag in this project without a parent.",
        is_required=True,
        attributes={"list": "parents"},
    ),
    Field("state", "Required parent state", type="select", choices=STATES),
    Field(
        "variants",
        "Required variants",
        type="textarea",
        hint="Optional. Variants of the parent flag, one per line.",
    ),
]


def parse_tag(text: str) -> Tag:
    """Raises BadDataError."""
    type, colon, value = text.strip().partition(":")
    if not colon:
        raise BadDataError(f'"{text}" must be in the form type:value.', path="tag")
    return Tag(type.strip(), value.strip())


def make_new_fields(projects: Sequence[Row], types: Sequence[Row]) -> list[Field]:
    """The project is offered if there are several."""
    project = Field("project", "Project", type="select", choices=_name_rows(projects))
    return [
        Field("name", "Name", hint=NAME_HINT, is_required=True),
        _make_type_field(types),
        replace(project, type="select" if len(projects) > 1 else "hidden"),
        *(
            replace(field, is_more=True)
            for field in (
                Field("description", "Description", type="textarea", hint=DESCRIPTION_HINT),
                Field("tags", "Tags", type="textarea", hint=TAGS_HINT),
                IMPRESSION_FIELD,
            )
        ),
    ]


def make_edit_fields(types: Sequence[Row]) -> list[Field]:
    return [
        _make_type_field(types),
        Field("description", "Description", type="textarea"),
        IMPRESSION_FIELD,
        Field("stale", "Stale: ready to be removed from code", type="checkbox"),
        Field("permanent", "Permanent: never ready to be removed", type="checkbox"),
    ]


def _make_type_field(types: Sequence[Row]) -> Field:
    hints = {row["id"]: row["description"] for row in types}
    for row in types:
        if row["lifetime_days"]:
            hints[row["id"]] += f" Expected lifetime: {row['lifetime_days']} days."
    return Field("type", "Type", type="radio", choices=_name_rows(types), choice_hints=hints)


def _name_rows(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row["id"], row["name"]) for row in rows]
