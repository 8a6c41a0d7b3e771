"""The values of the form of an action set, from and to a stored set.

Filters, actions and notifications are numbered rows, like the constraints of strategies. The
filters of an OR group have the same letter.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_uppercase
from typing import Any

import msgspec

from sigservice import payload, senders
from sigservice.db.statements import Row
from sigservice.errors import BadDataError
from sigservice.senders import Sender
from sigservice.services.actions.action_filters import LIST_OPERATORS, Filter
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import (
    EVENTS,
    ActionSetOptions,
    ResolvedCondition,
    RunChannel,
)
from sigservice.services.actions.action_sets import Action, ActionSetFields
from sigservice.services.channels import mask_channel
from sigservice.services.signals.payload_paths import to_text
from sigservice.web.forms import read_id, read_whole_number
from sigservice.web.growing_forms import FormRow, change_rows, find_rows, split_lines

BLANK_FILTER: FormRow = {
    "path": "",
    "operator": "IN",
    "values": "",
    "group": "",
    "inverted": False,
    "caseInsensitive": False,
}
BLANK_ACTION: FormRow = {"action": "TOGGLE_FEATURE_OFF", "params": {}}
BLANK_CHANNEL: FormRow = {"type": "apprise", "url": "", "secret": "", "on": {"failed", "success"}}
GROUP_CHOICES = 3
_CHECKBOXES = ("latch", "dryRun", "continueOnFailure")
_NUMBERS = ("cooldownSeconds", "maxRunsPerHour", "restoreAfterMinutes")
_INDEX = re.compile(r"\[(\d+)\]")
_FILTER = re.compile(r"match\.filters\[(\d+)\](?:\.any\[(\d+)\])?(?:\.(\w+))?(?:\[(\d+)\])?")
_ROW = re.compile(r"(filter|action|notification)s\.(\d+)\.")
_EMPTY_MESSAGES = {"source": "Choose a signal endpoint.", "actor": "Choose a service account."}


@dataclass(frozen=True)
class FormValues:
    """The values of the form. `options` are the texts of numbers and of "Revert when resolved",
    `enabled_options` the names of the options that are on."""

    name: str = ""
    description: str = ""
    enabled: bool = True
    source: str = ""
    actor: str = ""
    recipe: str = ""
    filters: Sequence[FormRow] = ()
    actions: Sequence[FormRow] = (BLANK_ACTION,)
    options: Mapping[str, str] = field(default_factory=dict)
    enabled_options: frozenset[str] = frozenset()
    notifications: Sequence[FormRow] = ()


def read_form(form: dict[str, str]) -> FormValues:
    def text(name: str) -> str:
        return form.get(name, "").replace("\r\n", "\n").strip()

    return FormValues(
        name=text("name"),
        description=text("description"),
        enabled="enabled" in form,
        source=text("source"),
        actor=text("actor"),
        recipe=text("recipe"),
        filters=[
            {
                "path": text(f"{at}.path"),
                "operator": text(f"{at}.operator"),
                "values": text(f"{at}.values"),
                "group": text(f"{at}.group"),
                "inverted": f"{at}.inverted" in form,
                "caseInsensitive": f"{at}.caseInsensitive" in form,
            }
            for at in find_rows(form, "filters")
        ],
        actions=[
            {
                "action": text(f"{at}.action"),
                "params": {
                    key.removeprefix(f"{at}.params."): value.strip()
                    for key, value in form.items()
                    if key.startswith(f"{at}.params.")
                },
            }
            for at in find_rows(form, "actions")
        ],
        options={
            name: text(name)
            for name in (*_NUMBERS, "resolved.path", "resolved.values", "resolved.key")
        },
        enabled_options=frozenset(name for name in _CHECKBOXES if name in form),
        notifications=[
            {
                "type": text(f"{at}.type"),
                "url": text(f"{at}.url"),
                "secret": text(f"{at}.secret"),
                "on": {event for event in EVENTS if f"{at}.on.{event}" in form},
            }
            for at in find_rows(form, "notifications")
        ],
    )


def is_complete(form: dict[str, str]) -> bool:
    """Whether to save the form. Not for buttons that change rows, nor after a change of the kind of
    an action, whose parameters the user has not seen yet."""
    return not form.get("do") and all(
        form.get(f"{at}.shown") == form.get(f"{at}.action") for at in find_rows(form, "actions")
    )


def change_form(values: FormValues, button: str) -> FormValues:
    """The values after a button that applies a template, or adds, removes or moves a row."""
    kind, _, argument = button.partition(":")
    if kind == "template":
        sender = senders.SENDERS.get(argument or values.recipe)
        return apply_template(values, sender) if sender else values
    if kind == "filter":
        return _add_filter(values, argument)
    return replace(
        values,
        filters=change_rows(values.filters, "filters", BLANK_FILTER, button),
        actions=_move_up(change_rows(values.actions, "actions", BLANK_ACTION, button), button),
        notifications=change_rows(values.notifications, "notifications", BLANK_CHANNEL, button),
    )


def make_filter_button(path: str, text: str) -> str:
    """The button that adds a filter for a field of a payload and its text."""
    return f"filter:{msgspec.json.encode([path, text]).decode()}"


def _add_filter(values: FormValues, argument: str) -> FormValues:
    try:
        path, text = msgspec.convert(payload.parse_field(argument, "do"), tuple[str, str])
    except (BadDataError, msgspec.ValidationError):
        return values
    return replace(values, filters=[*values.filters, BLANK_FILTER | {"path": path, "values": text}])


def apply_template(values: FormValues, sender: Sender) -> FormValues:
    """The values with the filters and options that fit the sender."""
    options, enabled_options, notifications = _to_option_values(sender.action_set_options)
    return replace(
        values,
        recipe=sender.name,
        filters=_to_filter_rows(sender.filters),
        options=options,
        enabled_options=enabled_options,
        notifications=notifications,
    )


def to_values(row: Row) -> FormValues:
    """The values of a stored set."""
    options, enabled_options, notifications = _to_option_values(
        msgspec.json.decode(row["settings"], type=ActionSetOptions)
    )
    return FormValues(
        name=row["name"],
        description=row["description"] or "",
        enabled=row["enabled"],
        source=str(row["source_id"]),
        actor=str(row["actor_id"]),
        filters=_to_filter_rows(msgspec.json.decode(row["filters"], type=list[Filter])),
        actions=[
            {
                "action": item["action"],
                "params": {
                    name: str(value)
                    for name, value in item["executionParams"].items()
                    if name != "project"
                },
            }
            for item in msgspec.json.decode(row["actions"])
        ],
        options=options,
        enabled_options=enabled_options,
        notifications=notifications,
    )


def to_fields(values: FormValues, project: str) -> ActionSetFields:
    """Invalid numbers become -1, which the service rejects."""
    return ActionSetFields(
        values.name,
        values.description or None,
        values.enabled,
        read_id(values.actor),
        read_id(values.source),
        [
            rows[0] if group is None else Filter(any=rows)
            for group, rows, _ in _group_filters(values)
        ],
        [
            Action(row["action"], n, _list_known_params(row) | {"project": project})
            for n, row in enumerate(values.actions, 1)
        ],
        _to_options(values),
    )


def to_form_problems(values: FormValues, details: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The problems with the names of form fields and the numbers of rows."""
    row_numbers = [numbers for _, _, numbers in _group_filters(values)]
    problems = []
    for detail in details:
        path, message = detail.get("path", ""), detail["message"]
        if match := _FILTER.fullmatch(path):
            index, inner_index, name, line = match.groups()
            row = row_numbers[int(index)][int(inner_index or 0)]
            path = f"filters.{row}.{'values' if name == 'value' else name or 'path'}"
            message = f"Line {int(line) + 1}: {message}" if line else message
        else:
            path = _to_form_path(path)
        if path in _EMPTY_MESSAGES and not getattr(values, path):
            message = _EMPTY_MESSAGES[path]
        if row_of := _ROW.match(path):
            message = f"{row_of[1].capitalize()} {int(row_of[2]) + 1}: {message}"
        problems.append({"message": message, "path": path} if path else {"message": message})
    return problems


def list_groups(values: FormValues) -> list[str]:
    """The letters of OR groups that a filter can join."""
    groups = {row["group"] for row in values.filters}
    return sorted({*ascii_uppercase[:GROUP_CHOICES], *groups} - {""})


def _to_form_path(path: str) -> str:
    path = _INDEX.sub(r".\1", path)
    for prefix, form_prefix in (
        ("match.filters", "filters"),
        ("match.sourceId", "source"),
        ("actorId", "actor"),
        ("options.restoreWhenResolved.", "resolved."),
        ("options.", ""),
    ):
        if path.startswith(prefix):
            path = form_prefix + path.removeprefix(prefix)
            break
    path = re.sub(r"^(actions\.\d+)\.executionParams\.", r"\1.params.", path)
    return re.sub(r"^(notifications\.\d+\.on)\..*", r"\1", path)


def _group_filters(values: FormValues) -> list[tuple[str | None, list[Filter], list[int]]]:
    """(letter or None, filters, row numbers); a group is at the position of its first filter."""
    items: list[tuple[str | None, list[Filter], list[int]]] = []
    groups: dict[str, tuple[str | None, list[Filter], list[int]]] = {}
    for n, row in enumerate(values.filters):
        letter = row["group"]
        if letter and letter in groups:
            groups[letter][1].append(_to_filter(row))
            groups[letter][2].append(n)
            continue
        item = (letter or None, [_to_filter(row)], [n])
        items.append(item)
        if letter:
            groups[letter] = item
    return items


def _list_known_params(row: FormRow) -> dict[str, Any]:
    """The parameters that the kind has."""
    kind = KINDS.get(row["action"])
    names = {parameter.name for parameter in kind.parameters} if kind else set()
    return {name: value for name, value in row["params"].items() if name in names}


def _to_filter(row: FormRow) -> Filter:
    several = row["operator"] in LIST_OPERATORS
    single = not several and row["operator"] != "EXISTS"
    return Filter(
        path=row["path"],
        operator=row["operator"],
        values=[*split_lines(row["values"])] if several else None,
        value=row["values"] if single else None,
        inverted=row["inverted"],
        caseInsensitive=row["caseInsensitive"],
    )


def _to_filter_rows(filters: Sequence[Filter]) -> list[FormRow]:
    rows, groups = [], 0
    for one in filters:
        letter = ""
        if one.any is not None:
            letter, groups = ascii_uppercase[groups % 26], groups + 1
        for leaf in one.any or [one]:
            texts = [leaf.value] if leaf.value is not None else leaf.values or []
            rows.append(
                {
                    "path": leaf.path,
                    "operator": leaf.operator,
                    "values": "\n".join(to_text(value) for value in texts),
                    "group": letter,
                    "inverted": leaf.inverted,
                    "caseInsensitive": leaf.caseInsensitive,
                }
            )
    return rows


def _to_options(values: FormValues) -> ActionSetOptions:
    options = values.options
    number = {name: read_whole_number(options.get(name, ""), None) for name in _NUMBERS}
    path, key = options.get("resolved.path", ""), options.get("resolved.key", "")
    texts = split_lines(options.get("resolved.values", ""))
    return ActionSetOptions(
        cooldownSeconds=number["cooldownSeconds"] or 0,
        maxRunsPerHour=number["maxRunsPerHour"],
        restoreAfterMinutes=number["restoreAfterMinutes"],
        latch="latch" in values.enabled_options,
        dryRun="dryRun" in values.enabled_options,
        continueOnFailure="continueOnFailure" in values.enabled_options,
        restoreWhenResolved=ResolvedCondition(path, texts, key) if path or key or texts else None,
        notifications=[
            RunChannel(
                type="webhook" if row["type"] == "webhook" else "apprise",
                url=row["url"],
                on=[event for event in ("success", "failed", "suppressed") if event in row["on"]],
                secret=row["secret"],
            )
            for row in values.notifications
        ],
    )


def _to_option_values(
    options: ActionSetOptions,
) -> tuple[dict[str, str], frozenset[str], list[FormRow]]:
    resolved = options.restoreWhenResolved
    texts = {name: _format_number(getattr(options, name)) for name in _NUMBERS}
    texts |= {
        "resolved.path": resolved.path if resolved else "",
        "resolved.values": "\n".join(resolved.values) if resolved else "",
        "resolved.key": resolved.key if resolved else "",
    }
    rows: list[FormRow] = []
    for channel in options.notifications:
        masked = mask_channel(msgspec.to_builtins(channel))
        rows.append({"type": channel.type, "on": {*channel.on}, "secret": "", **masked})
    return texts, frozenset(name for name in _CHECKBOXES if getattr(options, name)), rows


def _format_number(number: int | None) -> str:
    return str(number) if number else ""


def _move_up(rows: list[FormRow], button: str) -> list[FormRow]:
    """The rows after a button that moves one up."""
    number = button.removeprefix("up-actions.")
    if number != button and number in {str(n) for n in range(1, len(rows))}:
        n = int(number)
        rows[n - 1], rows[n] = rows[n], rows[n - 1]
    return rows
