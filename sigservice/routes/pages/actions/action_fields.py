"""An action set as fields of a form, and back.

Filters, actions and notifications are numbered rows, as constraints of strategies are. Filters of
one group of alternatives bear the same letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_uppercase
from typing import Any

import msgspec

from sigservice.db.statements import Row as Stored
from sigservice.services.actions.action_channels import EVENTS, Channel, mask_channel
from sigservice.services.actions.action_filters import LIST_OPERATORS, Filter, to_text
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import ActionSetOptions, ResolvedCondition
from sigservice.services.actions.action_sets import Action, ActionSetFields
from sigservice.services.actions.action_templates import ActionSetTemplate
from sigservice.web.growing_forms import change_rows, find_rows, split_lines

Row = dict[str, Any]
BLANK_FILTER: Row = {
    "path": "",
    "operator": "IN",
    "values": "",
    "group": "",
    "inverted": False,
    "caseInsensitive": False,
}
BLANK_ACTION: Row = {"action": "TOGGLE_FEATURE_OFF", "params": {}}
BLANK_CHANNEL: Row = {"type": "apprise", "url": "", "secret": "", "on": {"failed", "success"}}
LETTERS = 3
_FLAGS = ("latch", "dryRun", "continueOnFailure")
_NUMBERS = ("cooldownSeconds", "maxRunsPerHour", "restoreAfterMinutes")
_ITEM = re.compile(r"\[(\d+)\]")
_FILTER = re.compile(r"match\.filters\[(\d+)\](?:\.any\[(\d+)\])?(?:\.(\w+))?(?:\[(\d+)\])?")
_ROW = re.compile(r"(filter|action|notification)s\.(\d+)\.")
_SAID = {"source": "Choose what the set listens to.", "actor": "Choose whom the set acts as."}


@dataclass(frozen=True)
class Values:
    """What the form holds. `options` are the texts of numbers and of "restore when resolved",
    `ticked` the names of options that are on."""

    name: str = ""
    description: str = ""
    enabled: bool = True
    source: str = ""
    actor: str = ""
    recipe: str = ""
    filters: Sequence[Row] = ()
    actions: Sequence[Row] = (BLANK_ACTION,)
    options: Mapping[str, str] = field(default_factory=dict)
    ticked: frozenset[str] = frozenset()
    notifications: Sequence[Row] = ()


def read(form: dict[str, str]) -> Values:
    def text(name: str) -> str:
        return form.get(name, "").replace("\r\n", "\n").strip()

    return Values(
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
        ticked=frozenset(name for name in _FLAGS if name in form),
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
    """Not when a button asks for something else, nor when the kind of an action was changed: its
    parameters have not been seen yet."""
    return not form.get("do") and all(
        form.get(f"{at}.shown") == form.get(f"{at}.action") for at in find_rows(form, "actions")
    )


def grown(values: Values, do: str) -> Values:
    """After the buttons that add, remove and move."""
    return replace(
        values,
        filters=change_rows(values.filters, "filters", BLANK_FILTER, do),
        actions=_moved(change_rows(values.actions, "actions", BLANK_ACTION, do), do),
        notifications=change_rows(values.notifications, "notifications", BLANK_CHANNEL, do),
    )


def with_recipe(values: Values, name: str, recipe: ActionSetTemplate) -> Values:
    """Filled with what the recipe knows."""
    options, ticked, notifications = _shown_settings(recipe.options)
    return replace(
        values,
        recipe=name,
        filters=_shown_filters(recipe.filters),
        options=options,
        ticked=ticked,
        notifications=notifications,
    )


def show(stored: Stored) -> Values:
    """A stored set in the form."""
    options, ticked, notifications = _shown_settings(
        msgspec.json.decode(stored["settings"], type=ActionSetOptions)
    )
    return Values(
        name=stored["name"],
        description=stored["description"] or "",
        enabled=stored["enabled"],
        source=str(stored["source_id"]),
        actor=str(stored["actor_id"]),
        filters=_shown_filters(msgspec.json.decode(stored["filters"], type=list[Filter])),
        actions=[
            {
                "action": item["action"],
                "params": {
                    name: str(value)
                    for name, value in item["executionParams"].items()
                    if name != "project"
                },
            }
            for item in msgspec.json.decode(stored["actions"])
        ],
        options=options,
        ticked=ticked,
        notifications=notifications,
    )


def to_fields(values: Values, project: str) -> ActionSetFields:
    """Numbers that are none become -1, which the rules refuse."""
    return ActionSetFields(
        values.name,
        values.description or None,
        values.enabled,
        _id(values.actor),
        _id(values.source),
        [rows[0] if group is None else Filter(any=rows) for group, rows, _ in _grouped(values)],
        [
            Action(row["action"], n, _params(row) | {"project": project})
            for n, row in enumerate(values.actions, 1)
        ],
        _settings(values),
    )


def beside(values: Values, details: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Problems with the names of this form's fields, and which row is meant."""
    places = [numbers for _, _, numbers in _grouped(values)]
    found = []
    for detail in details:
        path, message = detail.get("path", ""), detail["message"]
        if match := _FILTER.fullmatch(path):
            n, k, name, line = match.groups()
            row = places[int(n)][int(k or 0)]
            path = f"filters.{row}.{'values' if name == 'value' else name or 'path'}"
            message = f"Line {int(line) + 1}: {message}" if line else message
        else:
            path = _form_path(path)
        if path in _SAID and not getattr(values, path):
            message = _SAID[path]
        if row_of := _ROW.match(path):
            message = f"{row_of[1].capitalize()} {int(row_of[2]) + 1}: {message}"
        found.append({"message": message, "path": path} if path else {"message": message})
    return found


def letters(values: Values) -> list[str]:
    """Groups that a filter may be put into."""
    used = {row["group"] for row in values.filters}
    return sorted({*ascii_uppercase[:LETTERS], *used} - {""})


def _form_path(path: str) -> str:
    path = _ITEM.sub(r".\1", path)
    for theirs, ours in (
        ("match.filters", "filters"),
        ("match.sourceId", "source"),
        ("actorId", "actor"),
        ("options.restoreWhenResolved.", "resolved."),
        ("options.", ""),
    ):
        if path.startswith(theirs):
            path = ours + path.removeprefix(theirs)
            break
    path = re.sub(r"^(actions\.\d+)\.executionParams\.", r"\1.params.", path)
    return re.sub(r"^(notifications\.\d+\.on)\..*", r"\1", path)


def _grouped(values: Values) -> list[tuple[str | None, list[Filter], list[int]]]:
    """(letter or None, filters, the numbers of their rows), a group where its first filter is."""
    found: list[tuple[str | None, list[Filter], list[int]]] = []
    groups: dict[str, tuple[str | None, list[Filter], list[int]]] = {}
    for n, row in enumerate(values.filters):
        letter = row["group"]
        if letter and letter in groups:
            groups[letter][1].append(_filter(row))
            groups[letter][2].append(n)
            continue
        item = (letter or None, [_filter(row)], [n])
        found.append(item)
        if letter:
            groups[letter] = item
    return found


def _params(row: Row) -> dict[str, Any]:
    """Those that the kind has."""
    kind = KINDS.get(row["action"])
    known = {parameter.name for parameter in kind.parameters} if kind else set()
    return {name: value for name, value in row["params"].items() if name in known}


def _filter(row: Row) -> Filter:
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


def _shown_filters(filters: Sequence[Filter]) -> list[Row]:
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


def _settings(values: Values) -> ActionSetOptions:
    options = values.options
    number = {name: _number(options.get(name, "")) for name in _NUMBERS}
    path, key = options.get("resolved.path", ""), options.get("resolved.key", "")
    said = split_lines(options.get("resolved.values", ""))
    return ActionSetOptions(
        cooldownSeconds=number["cooldownSeconds"] or 0,
        maxRunsPerHour=number["maxRunsPerHour"],
        restoreAfterMinutes=number["restoreAfterMinutes"],
        latch="latch" in values.ticked,
        dryRun="dryRun" in values.ticked,
        continueOnFailure="continueOnFailure" in values.ticked,
        restoreWhenResolved=ResolvedCondition(path, said, key) if path or key or said else None,
        notifications=[
            Channel(
                "webhook" if row["type"] == "webhook" else "apprise",
                row["url"],
                [event for event in ("success", "failed", "suppressed") if event in row["on"]],
                row["secret"],
            )
            for row in values.notifications
        ],
    )


def _shown_settings(one: ActionSetOptions) -> tuple[dict[str, str], frozenset[str], list[Row]]:
    resolved = one.restoreWhenResolved
    options = {name: _plain(getattr(one, name)) for name in _NUMBERS}
    options |= {
        "resolved.path": resolved.path if resolved else "",
        "resolved.values": "\n".join(resolved.values) if resolved else "",
        "resolved.key": resolved.key if resolved else "",
    }
    rows: list[Row] = []
    for channel in one.notifications:
        shown = mask_channel(msgspec.to_builtins(channel))
        rows.append({"type": channel.type, "on": {*channel.on}, "secret": "", **shown})
    return options, frozenset(name for name in _FLAGS if getattr(one, name)), rows


def _plain(number: int | None) -> str:
    return str(number) if number else ""


def _number(text: str) -> int | None:
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _id(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _moved(rows: list[Row], do: str) -> list[Row]:
    """One step up, so that it is done sooner."""
    place = do.removeprefix("up-actions.")
    if place != do and place in {str(n) for n in range(1, len(rows))}:
        n = int(place)
        rows[n - 1], rows[n] = rows[n], rows[n - 1]
    return rows
