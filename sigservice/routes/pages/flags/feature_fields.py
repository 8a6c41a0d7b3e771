"""The fields of a flag's forms and of the filter of the flag list."""

from collections.abc import Mapping, Sequence

from sigservice.db.statements import Row
from sigservice.services.flags.features import Metadata
from sigservice.web.forms import Field

NAME_HINT = "Used in code; can't be changed later. Letters, numbers, - . _ ~"
DESCRIPTION_HINT = "Optional. What it controls and when to remove it."
TAGS_HINT = "Optional. One type:value per line, e.g. simple:checkout"
CLONE_HINT = "Copies all strategies; disabled in every environment."
PARENT_HINT = "A flag in this project without a parent."
VARIANTS_HINT = "Optional. Variants of the parent flag, one per line."
IMPRESSION_DATA = "Impression data: SDKs emit an event for every evaluation"
STALE = "Stale: ready to be removed from code"
STATES = [("on", "Enabled"), ("off", "Disabled")]
LIFECYCLES = [("", "Active"), ("stale", "Stale"), ("archived", "Archived")]


def make_new_fields(
    values: Mapping[str, str], projects: Sequence[Row], types: Sequence[Row]
) -> list[Field]:
    description, has_impressions = values["description"], values["impression_data"]
    return [
        Field("name", "Name", values["name"], hint=NAME_HINT, is_required=True),
        Field("project", "Project", values["project"], "select", choices=_name_rows(projects)),
        _make_type_field(values["type"], types),
        Field("description", "Description", description, "textarea", DESCRIPTION_HINT),
        Field("tags", "Tags", values["tags"], "textarea", TAGS_HINT),
        Field("impression_data", IMPRESSION_DATA, has_impressions, "checkbox"),
    ]


def make_edit_fields(metadata: Metadata, types: Sequence[Row]) -> list[Field]:
    return [
        _make_type_field(metadata.type, types),
        Field("description", "Description", metadata.description or "", "textarea"),
        Field("impression_data", IMPRESSION_DATA, metadata.impression_data, "checkbox"),
        Field("stale", STALE, metadata.stale, "checkbox"),
    ]


def make_clone_field(name: str) -> Field:
    return Field("clone_name", "Name of the clone", name, hint=CLONE_HINT, is_required=True)


def make_tag_field(tag: str) -> Field:
    return Field("tag", "New tag", tag, hint="type:value, e.g. simple:checkout", is_required=True)


def make_parent_fields(values: Mapping[str, str]) -> list[Field]:
    parent, variants = values["parent"], values["parent_variants"]
    candidates = {"list": "parents"}
    return [
        Field("parent", "Parent flag", parent, "text", PARENT_HINT, True, attributes=candidates),
        Field("state", "Required parent state", values["state"], "select", choices=STATES),
        Field("parent_variants", "Required variants", variants, "textarea", VARIANTS_HINT),
    ]


def make_filter_fields(
    filters: Mapping[str, str],
    projects: Sequence[Row],
    types: Sequence[Row],
    environments: Sequence[str],
) -> list[Field]:
    """The project is offered if there are several, or if the list is filtered by one."""
    states = [
        (f"{state}:{environment}", f"{label} in {environment}")
        for environment in environments
        for state, label in STATES
    ]
    choices = {"project": _name_rows(projects), "state": states, "type": _name_rows(types)}
    project, state, type = (
        Field(name, label, filters[name], "select", choices=[("", "Any"), *choices[name]])
        for name, label in (("project", "Project"), ("state", "Status"), ("type", "Type"))
    )
    return [
        Field("query", "Search", filters["query"], "search"),
        *([project] if len(projects) > 1 or filters["project"] else []),
        state,
        type,
        Field("tag", "Tag", filters["tag"], attributes={"placeholder": "type:value", "size": 14}),
        Field("life", "Lifecycle", filters["life"], "select", choices=LIFECYCLES),
    ]


def make_bulk_fields(environments: Sequence[str]) -> list[Field]:
    """What to change of the selected flags, and the tag to add."""
    choices = [("stale", "Mark as stale"), ("active", "Mark as active"), ("archive", "Archive")]
    choices += [
        (f"{state}:{name}", f"{verb} in {name}")
        for name in environments
        for state, verb in (("on", "Enable"), ("off", "Disable"))
    ]
    choices.append(("tag", "Add tag"))
    return [
        Field("change", "Selected flags", "", "select", choices=choices),
        Field("tag", "Tag", id="bulk-tag", attributes={"placeholder": "type:value", "size": 14}),
    ]


def _make_type_field(value: str, types: Sequence[Row]) -> Field:
    hints = {row["id"]: row["description"] for row in types}
    for row in types:
        if row["lifetime_days"]:
            hints[row["id"]] += f" Expected lifetime: {row['lifetime_days']} days."
    return Field("type", "Type", value, "radio", choices=_name_rows(types), choice_hints=hints)


def _name_rows(rows: Sequence[Row]) -> list[tuple[str, str]]:
    return [(row["id"], row["name"]) for row in rows]
