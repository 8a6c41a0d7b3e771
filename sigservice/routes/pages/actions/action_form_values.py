"""The texts of the form of an action set, from and to a stored set.

Filters and actions are numbered rows, like the constraints of strategies. The
filters of an OR group have the same letter.
"""

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import msgspec

from sigservice import payload, senders
from sigservice.db import Row
from sigservice.errors import BadDataError
from sigservice.routes.pages.actions.schedule_fields import (
    find_trigger,
    make_schedule_form,
    read_schedule_form,
)
from sigservice.services.actions.action_filters import LIST_OPERATORS, Filter
from sigservice.services.actions.action_kinds.table import KINDS
from sigservice.services.actions.action_set_options import ActionSetOptions
from sigservice.services.actions.action_sets import Action, ActionSetFields
from sigservice.services.actions.automation_sentences import name_field
from sigservice.services.actions.schedules import NO_ENDPOINT
from sigservice.services.signals.payload_paths import to_text
from sigservice.web.forms import Form, locate_problems, read, read_id, split_lines, to_form
from sigservice.web.growing_forms import list_rows, replace_rows

AT = "options."
RESOLVED = f"{AT}restoreWhenResolved."
COOLDOWN = f"{AT}cooldownSeconds"
REVERT_AFTER = f"{AT}restoreAfterMinutes"
BACK = "back"  # whether the end of the alert undoes it
BLANK_FILTER = {"operator": "IN"}
BLANK_ACTION = {"action": "TOGGLE_FEATURE_OFF"}
PARAMS = "executionParams."
GROUP_CHOICES = 3
_GROUP_PATH = re.compile(r"groups\.(\w*)\.any\.(\d+)(.*)")
_ROW = re.compile(rf"(?:{re.escape(AT)})?(filter|action)s\.(\d+)\.")
_EMPTY_MESSAGES = {
    "match.sourceId": "Choose a signal endpoint.",
    "actorId": "Choose a service account.",
}


def is_complete(form: Form) -> bool:
    """Whether to save the form. Not for buttons that change rows, nor after a change of the trigger
    or of the kind of an action, whose fields the user has not seen yet."""
    has_trigger = form.get("shown_trigger", "endpoint") == find_trigger(form)
    has_kinds = all(row.get("shown") == row.get("action") for row in list_rows(form, "actions"))
    return not form.get("do") and has_trigger and has_kinds


def apply_button(form: Form) -> Form:
    """The form after a button that applies a template or adds a filter for a field."""
    kind, _, argument = form.get("do", "").partition(":")
    if kind == "template":
        return apply_template(form, argument or form.get("recipe", ""))
    if kind == "filter":
        return _add_filter(form, argument)
    return form


def make_filter_button(path: str, text: str) -> str:
    """The button that adds a filter for a field of a payload and its text."""
    return f"filter:{msgspec.json.encode([path, text]).decode()}"


def _add_filter(form: Form, argument: str) -> Form:
    try:
        path, text = msgspec.convert(payload.parse_field(argument, "do"), tuple[str, str])
    except (BadDataError, msgspec.ValidationError):
        return form
    rows = [row for row in list_rows(form, "filters") if not _is_blank(row)]
    return replace_rows(form, "filters", [*rows, BLANK_FILTER | {"path": path, "values": text}])


def apply_template(form: Form, name: str) -> Form:
    """The form for the alerts of a sender, whose filters and end of an alert aren't in its rows."""
    return form | {"recipe": name if name in senders.SENDERS else ""}


def resolve_words(form: Form, paths: Sequence[str]) -> Form:
    """The form with the paths that the labels of the sending system stand for. `paths` are those of
    its newest payload, or of the sample of its sender."""
    rows = [
        row | {"path": _find_path(row.get("path", "").strip(), paths)}
        for row in list_rows(form | {"do": ""}, "filters")
    ]
    return replace_rows(form, "filters", rows)


def name_paths(form: Form, paths: Sequence[str]) -> Form:
    """The form with labels instead of the paths that they stand for."""
    rows = []
    for row in list_rows(form | {"do": ""}, "filters"):
        path = row.get("path", "")
        word = name_field(path)
        rows.append(row | {"path": word if _find_path(word, paths) == path else path})
    return replace_rows(form, "filters", rows)


def _find_path(word: str, paths: Sequence[str]) -> str:
    """The path of a label; the word itself if there is none."""
    labels = [path for path in paths if name_field(path) == word != path]
    first = min(labels, key=lambda path: ("[" in path, len(path)), default="")
    return re.sub(r"\[\d+\]", "[*]", first) or word


def _is_blank(row: Form) -> bool:
    return not row.get("path", "").strip() and not row.get("values", "").strip()


def make_form(row: Row, template: str | None) -> Form:
    """The texts of a stored set. `template` is the sender of its endpoint."""
    actions = [
        {"action": item["action"], PARAMS.rstrip("."): item["executionParams"]}
        for item in msgspec.json.decode(row["actions"])
    ]
    form = to_form({name: row[name] for name in ("name", "description", "enabled")})
    form |= {"match.sourceId": str(row["endpoint_id"]), "actorId": str(row["actor_id"])}
    form |= make_schedule_form(row)
    form |= to_form(actions, "actions")
    options = msgspec.json.decode(row["settings"], type=ActionSetOptions)
    form |= _make_option_texts(options)
    filters = msgspec.json.decode(row["filters"], type=list[Filter])
    sender = senders.SENDERS.get(template or "")
    if sender and sender.filters and all(filter in filters for filter in sender.filters):
        filters = [filter for filter in filters if filter not in sender.filters]
        form |= {"recipe": sender.name}
        if options.restoreWhenResolved == sender.action_set_options.restoreWhenResolved:
            form = {name: text for name, text in form.items() if not name.startswith(RESOLVED)}
    form |= {BACK: "on"} if options.restoreWhenResolved else {}
    return replace_rows(form, "filters", [_join_not(row) for row in make_filter_rows(filters)])


def read_fields(form: Form, project: str) -> ActionSetFields:
    """Invalid numbers become -1, which the service rejects. Raises BadDataError."""
    schedule = read_schedule_form(form)
    has_end = any(form.get(f"{RESOLVED}{name}", "").strip() for name in ("path", "values", "key"))
    is_back, sender = BACK in form, senders.SENDERS.get(form.get("recipe", ""))
    members: dict[str, Any] = {}
    if not (is_back and has_end and schedule is None):
        default = sender.action_set_options.restoreWhenResolved if sender else None
        members["restoreWhenResolved"] = default if is_back and schedule is None else None
    if schedule is None:
        members["skipIfLateMinutes"] = None
    else:
        form = replace_rows(form, "filters", []) | {"match.sourceId": str(NO_ENDPOINT)}
    rows = list_rows(form, "filters")
    rows = rows[:-1] if rows and _is_blank(rows[-1]) else rows
    groups, own = _group_filters(rows), sender.filters if sender and schedule is None else []
    return ActionSetFields(
        form.get("name", "").strip(),
        form.get("description", "").strip() or None,
        "enabled" in form,
        read_id(form.get("actorId", "")),
        read_id(form.get("match.sourceId", "")),
        [*own, *read_filters(rows)],
        [
            Action(row.get("action", ""), number, _read_params(row) | {"project": project})
            for number, row in enumerate(list_rows(form, "actions"), 1)
        ],
        read(form, ActionSetOptions, AT, **members),
        [
            *("filters" for _ in own),
            *(
                f"groups.{letter}" if letter else f"filters.{items[0][0]}"
                for letter, items in groups
            ),
        ],
        schedule,
    )


def read_fields_if_valid(form: Form, project: str) -> ActionSetFields | None:
    """None if a field can't be read."""
    try:
        return read_fields(form, project)
    except BadDataError:
        return None


def make_problems(form: Form, details: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The problems with the names of the controls and the numbers of rows."""
    numbers = {
        letter: [number for number, _ in rows]
        for letter, rows in _group_filters(list_rows(form, "filters"))
    }
    for detail in details:
        path = re.sub(r"\[(\d+)\]", r".\1", detail.get("path") or "")
        if match := _GROUP_PATH.match(path):
            path = f"filters.{numbers[match[1]][int(match[2])]}{match[3]}"
        detail["path"] = "filters" if path == "match.filters" else path
    problems = locate_problems(details, form)
    for problem in problems:
        path = problem.get("path", "")
        if path in _EMPTY_MESSAGES and not form.get(path):
            problem["message"] = _EMPTY_MESSAGES[path]
        if row := _ROW.match(f"{path}."):
            prefix = f"{row[1].capitalize()} {int(row[2]) + 1}: "
            problem["message"] = prefix + problem["message"]
    return problems


def list_groups(form: Form, name: str = "filters") -> list[str]:
    """The letters of OR groups that a filter can join."""
    groups = {_read_group(row) for row in list_rows(form, name)}
    return sorted({*ascii_uppercase[:GROUP_CHOICES], *groups} - {""})


def _read_group(row: Form) -> str:
    """The letter, "" for none and for what can't be part of a path."""
    group = row.get("group", "")
    return group if re.fullmatch(r"\w*", group) else ""


def _group_filters(rows: Sequence[Form]) -> list[tuple[str, list[tuple[int, Form]]]]:
    """(letter or "", numbered rows); a group is at the position of its first filter."""
    items: list[tuple[str, list[tuple[int, Form]]]] = []
    groups: dict[str, list[tuple[int, Form]]] = {}
    for number, row in enumerate(rows):
        letter = _read_group(row)
        if letter in groups:
            groups[letter].append((number, row))
            continue
        items.append((letter, [(number, row)]))
        if letter:
            groups[letter] = items[-1][1]
    return items


def _read_params(row: Form) -> dict[str, Any]:
    """The parameters that the kind has."""
    kind = KINDS.get(row.get("action", ""))
    names = [parameter.name for parameter in kind.parameters] if kind else []
    return {name: row[PARAMS + name].strip() for name in names if PARAMS + name in row}


def _read_filter(row: Form) -> Filter:
    operator, text = row.get("operator", ""), row.get("values", "").replace("\r\n", "\n")
    is_not, operator = operator.startswith("!"), operator.removeprefix("!")
    has_several = operator in LIST_OPERATORS
    has_one = not has_several and operator != "EXISTS"
    return Filter(
        path=row.get("path", "").strip(),
        operator=operator,
        values=[*split_lines(text)] if has_several else None,
        value=text.strip() if has_one else None,
        inverted=is_not or "inverted" in row,
        caseInsensitive="caseInsensitive" in row,
        alsoWhenResolved="alsoWhenResolved" in row,
    )


def read_filters(rows: Sequence[Form]) -> list[Filter]:
    """Of rows that `make_filter_rows` makes."""
    filters = [
        (letter, [_read_filter(row) for _, row in items]) for letter, items in _group_filters(rows)
    ]
    return [
        Filter(any=group, alsoWhenResolved=any(one.alsoWhenResolved for one in group))
        if letter
        else group[0]
        for letter, group in filters
    ]


def make_filter_rows(filters: Sequence[Filter]) -> list[Form]:
    """The texts of filters, one row for each. The rows of a group have the same letter."""
    rows, groups = [], 0
    for one in filters:
        letter = ""
        if one.any is not None:
            letter, groups = ascii_uppercase[groups % 26], groups + 1
        for leaf in one.any or [one]:
            values = [leaf.value] if leaf.value is not None else leaf.values or []
            texts = {"values": "\n".join(to_text(value) for value in values), "group": letter}
            single = msgspec.structs.replace(
                leaf, value=None, values=None, alsoWhenResolved=one.alsoWhenResolved
            )
            rows.append(to_form(single) | texts)
    return rows


def _join_not(row: Form) -> Form:
    """The row with `is not` as one comparison."""
    if row.get("operator") != "IN" or "inverted" not in row:
        return row
    return {name: text for name, text in row.items() if name != "inverted"} | {"operator": "!IN"}


def _make_option_texts(options: ActionSetOptions) -> Form:
    form = to_form({"options": options})
    return {name: text for name, text in form.items() if (name, text) != (COOLDOWN, "0")}
