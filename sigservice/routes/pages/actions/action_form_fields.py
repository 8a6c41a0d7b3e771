"""The fields of the form of an action set, made from its values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sigservice import senders
from sigservice.routes.pages.actions.action_form_values import FormValues, list_groups
from sigservice.services.actions.action_set_options import EVENTS
from sigservice.services.actions.action_summaries import OPERATORS
from sigservice.web.forms import Field
from sigservice.web.growing_forms import FieldRow, FormRow, GrowingSection

Choices = list[tuple[str, str]]
MAX_SELECT_CHOICES = 100  # above, a text field with suggestions
FILTERS_HINT = (
    "All filters must match (max {}). No filters = every signal. If the path is missing the filter "
    "never matches, even negated. Use EXISTS instead."
)
VALUES_HINT = (
    "One value per line (a single value for number, date, semver and regex operators). "
    "Not needed for EXISTS."
)
OPERATOR_CHOICES = [(name, f"{texts[0]} ({name})") for name, texts in OPERATORS.items()]
CHANNEL_CHOICES = [("apprise", "Chat, email or pager (Apprise)"), ("webhook", "Webhook")]
EVENT_LABELS = {"success": "succeeded", "failed": "failed", "suppressed": "was skipped"}
SUGGESTED_PATHS = {"list": "suggested"}
_OPTION_LABELS = {
    "dryRun": "Dry run: record what would change",
    "latch": "Run once, then wait until re-enabled",
    "continueOnFailure": "Continue on failure",
}
_NUMBER_FIELDS = (
    ("cooldownSeconds", "Cooldown (seconds)", "Matching signals are skipped.", 0, 604_800),
    ("maxRunsPerHour", "Max runs per hour", "Empty = unlimited", 1, 10_000),
    (
        "restoreAfterMinutes",
        "Auto-revert after (minutes)",
        "Reverts the run's changes unless cancelled. Empty = never.",
        1,
        43_200,
    ),
)


@dataclass(frozen=True)
class ActionRow:
    """One action: its kind, which a button changes, and the parameters of that kind."""

    kind: Field
    parameters: Sequence[Field]
    suggestions: Mapping[str, Sequence[str]]  # by the ID of a datalist


LOADS = {"data-press": "load-signal"}


def list_tiles(values: FormValues) -> list[dict[str, Any]]:
    """{name, title, is_selected} of each template."""
    return [
        {"name": name, "title": item.title, "is_selected": name == values.recipe}
        for name, item in senders.SENDERS.items()
    ]


def has_options(values: FormValues) -> bool:
    """Whether the options and notifications aren't those of a blank form."""
    return bool(values.enabled_options or any(values.options.values()) or values.notifications)


def make_general_fields(values: FormValues) -> list[Field]:
    hint = "e.g. Disable checkout on payment errors"
    return [
        Field("name", "Name", values.name, hint=hint, is_required=True),
        Field("description", "Description", values.description),
        Field("enabled", "Enabled", values.enabled, "checkbox"),
    ]


def make_source_field(values: FormValues, endpoints: Choices) -> Field:
    choices = _add_blank(endpoints, values.source, "(deleted endpoint)")
    return Field(
        "source", "Signal endpoint", values.source, "select", choices=choices, attributes=LOADS
    )


def make_actor_field(values: FormValues, accounts: Choices) -> Field:
    hint = "Shown in the audit log. Needs the role Editor or Admin."
    choices = _add_blank(accounts, values.actor, "(deleted account)")
    return Field("actor", "Run as", values.actor, "select", hint, choices=choices)


def make_filter_section(values: FormValues, max_filters: int) -> GrowingSection:
    groups = [("", "Required"), *((letter, f"OR group {letter}") for letter in list_groups(values))]
    return GrowingSection(
        "filters",
        "Filters",
        "filter",
        FILTERS_HINT.format(max_filters),
        [_make_filter_row(f"filters.{n}", row, groups) for n, row in enumerate(values.filters)],
        max_rows=max_filters,
    )


def make_action_rows(
    values: FormValues, kinds: Mapping[str, Any], set_names: Mapping[str, str]
) -> list[ActionRow]:
    return [
        _make_action_row(f"actions.{n}", row, kinds, set_names)
        for n, row in enumerate(values.actions)
    ]


def make_option_checkboxes(values: FormValues) -> list[Field]:
    return [
        Field(name, label, name in values.enabled_options, "checkbox")
        for name, label in _OPTION_LABELS.items()
    ]


def make_option_numbers(values: FormValues) -> list[Field]:
    return [
        Field(
            name,
            label,
            values.options.get(name, ""),
            "number",
            hint,
            attributes={"min": minimum, "max": maximum, "step": 1},
        )
        for name, label, hint, minimum, maximum in _NUMBER_FIELDS
    ]


def make_resolved_fields(values: FormValues) -> list[Field]:
    path, texts, key = (
        values.options.get(f"resolved.{name}", "") for name in ("path", "values", "key")
    )
    key_hint = "Same for the firing and the resolved alert, e.g. groupKey or fingerprint"
    return [
        Field(
            "resolved.path", "Status field", path, hint="e.g. status", attributes=SUGGESTED_PATHS
        ),
        Field(
            "resolved.values",
            "Resolved values",
            texts,
            "textarea",
            "One per line, e.g. resolved",
            attributes={"rows": 2},
        ),
        Field("resolved.key", "Correlation field", key, hint=key_hint, attributes=SUGGESTED_PATHS),
    ]


def make_notification_rows(values: FormValues) -> list[FieldRow]:
    return [
        _make_notification_row(f"notifications.{n}", row)
        for n, row in enumerate(values.notifications)
    ]


def _make_filter_row(name: str, row: FormRow, groups: Choices) -> FieldRow:
    path_hint = "e.g. status, data.key or alerts[*].labels.severity; * matches any item"
    size = {"rows": min(10, max(2, row["values"].count("\n") + 2))}
    return FieldRow(
        [
            Field(
                f"{name}.path",
                "Path",
                row["path"],
                hint=path_hint,
                is_required=True,
                attributes=SUGGESTED_PATHS,
            ),
            Field(
                f"{name}.operator", "Operator", row["operator"], "select", choices=OPERATOR_CHOICES
            ),
            Field(
                f"{name}.values", "Values", row["values"], "textarea", VALUES_HINT, attributes=size
            ),
            Field(
                f"{name}.group",
                "Role",
                row["group"],
                "select",
                "At least one filter of an OR group must match.",
                choices=groups,
            ),
        ],
        [
            Field(f"{name}.inverted", "Negate (NOT)", row["inverted"], "checkbox"),
            Field(
                f"{name}.caseInsensitive", "Case-insensitive", row["caseInsensitive"], "checkbox"
            ),
        ],
    )


def _make_action_row(
    name: str, row: FormRow, kinds: Mapping[str, Any], set_names: Mapping[str, str]
) -> ActionRow:
    kind = kinds.get(row["action"], {"description": "", "parameters": []})
    parameters = [item for item in kind["parameters"] if item["type"] != "hidden"]
    fields, suggestions = [], {}
    for parameter in parameters:
        choices = parameter.get("options", [])
        field_name = f"{name}.params.{parameter['name']}"
        value = row["params"].get(parameter["name"], "")
        if len(choices) > MAX_SELECT_CHOICES:
            suggestions[f"{field_name}.all"] = choices
        texts = set_names if parameter["name"] == "actionSet" else {}
        fields.append(_make_parameter_field(field_name, parameter, value, choices, texts))
    kind_choices = [(kind_name, item["label"]) for kind_name, item in kinds.items()]
    return ActionRow(
        Field(
            f"{name}.action",
            "Action",
            row["action"],
            "select",
            kind["description"],
            choices=kind_choices,
            attributes={"data-press": f"change-{name}"},
        ),
        fields,
        suggestions,
    )


def _make_parameter_field(
    name: str, parameter: Any, value: str, choices: Sequence[str], texts: Mapping[str, str]
) -> Field:
    label = parameter["label"]
    if parameter["type"] == "number":
        return Field(name, label, value, "number", attributes={"min": 0, "step": 1})
    if len(choices) > MAX_SELECT_CHOICES:
        hint = f"Type to search {len(choices)} choices."
        return Field(name, label, value, hint=hint, attributes={"list": f"{name}.all"})
    labels = [(choice, texts.get(choice, choice)) for choice in choices]
    hint = "" if choices else "Nothing to choose in this project yet."
    options = _add_blank(labels, value, f"{value} (deleted)")
    return Field(name, label, value, "select", hint, choices=options)


def _make_notification_row(name: str, row: FormRow) -> FieldRow:
    url_hint = "e.g. slack://token/…, mailto://… or https://example.com/hook"
    return FieldRow(
        [
            Field(f"{name}.type", "Channel", row["type"], "select", choices=CHANNEL_CHOICES),
            Field(f"{name}.url", "URL", row["url"], hint=url_hint, is_required=True),
            Field(
                f"{name}.secret",
                "Signing secret",
                row["secret"],
                hint="Webhooks only (Standard Webhooks).",
            ),
        ],
        [
            Field(
                f"{name}.on.{event}", f"Run {EVENT_LABELS[event]}", event in row["on"], "checkbox"
            )
            for event in EVENTS
        ],
    )


def _add_blank(choices: Iterable[tuple[str, str]], value: str, deleted_label: str) -> Choices:
    """The choices after a blank one, with the current value even if it was deleted."""
    current = [*choices]
    deleted = [(value, deleted_label)] if value and value not in dict(current) else []
    return [("", "Choose …"), *current, *deleted]
