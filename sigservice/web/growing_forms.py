"""Forms that grow without JavaScript: rows with numbered names (`constraints.0.operator`), and
buttons named `do` that send the form to itself to add a row or to remove one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sigservice.web.forms import Field, Form, ProblemDetails, fill, find_rows

# Options of a route. 30 constraints, 100 variants and the 1000 values of a segment fit.
GROWING_FORM: dict[str, Any] = {"form_fields": 1000, "form_limit": 1_000_000}


@dataclass(frozen=True)
class FieldRow:
    """The fields of one row, which a button removes. A row with a `summary` is collapsed to one
    line: the summary and `chips`. `title` follows the number of the row, and `sections` are growing
    sections of the row."""

    fields: Sequence[Field]
    checkboxes: Sequence[Field] = ()
    summary: str = ""
    chips: Sequence[str] = ()
    title: str = ""
    sections: Sequence["GrowingSection"] = ()

    def has_errors(self, problems: ProblemDetails) -> bool:
        return any(field.find_errors(problems) for field in (*self.fields, *self.checkboxes))


@dataclass(frozen=True)
class GrowingSection:
    """The rows of one `name` and a button that adds an `item`, as
    `templates/partials/growing_section.tpl` prints them; `fields` follow the rows."""

    name: str
    legend: str
    item: str
    hint: str
    rows: Sequence[FieldRow]
    fields: Sequence[Field] = ()
    max_rows: int | None = None
    template: str = ""  # printed after the rows, with `values`
    values: Any = None

    @property
    def can_grow(self) -> bool:
        return self.max_rows is None or len(self.rows) < self.max_rows


def make_section(
    form: Form,
    name: str,
    legend: str,
    item: str,
    hint: str,
    fields: Sequence[Field] | Callable[[Form], Sequence[Field]],
    *,
    blank: Form | None = None,
    summarize: Callable[[Form], tuple[str, Sequence[str]]] = lambda _row: ("", ()),
    fields_below: Sequence[Field] = (),
    **more: Any,
) -> GrowingSection:
    """The section with the rows of the form, after the effect of the button that submitted it.
    `fields` are the fields of a row, `blank` the texts of a new row, and `summarize` returns the
    summary and the chips of a row."""
    rows = []
    for number, row in enumerate(list_rows(form, name, blank)):
        templates = fields(row) if callable(fields) else fields
        row_fields = fill(
            templates, {f"{name}.{number}.{key}": row[key] for key in row}, f"{name}.{number}."
        )
        boxes = [one for one in row_fields if one.type == "checkbox"]
        rows.append(
            FieldRow([one for one in row_fields if one not in boxes], boxes, *summarize(row))
        )
    return GrowingSection(name, legend, item, hint, rows, fields_below, **more)


def list_rows(form: Form, name: str, blank: Form | None = None) -> list[Form]:
    """The rows after the button `add-<name>`, `remove-<name>.<number>` or `up-<name>.<number>`,
    which counts from 0. The names of the texts don't include the name of the row."""
    rows = [_cut(form, f"{row}.") for row in find_rows(form, name)]
    action, _, target = form.get("do", "").partition(f"-{name}")
    if action == "add" and not target:
        return [*rows, blank or {}]
    number = next((n for n in range(len(rows)) if target == f".{n}"), -1)
    if action == "remove" and number >= 0:
        del rows[number]
    if action == "up" and number > 0:
        rows[number - 1 : number + 1] = rows[number], rows[number - 1]
    return rows


def replace_rows(form: Form, name: str, rows: Sequence[Form]) -> Form:
    """The form with these rows."""
    others = {key: text for key, text in form.items() if not key.startswith(f"{name}.")}
    return others | {
        f"{name}.{number}.{key}": text
        for number, row in enumerate(rows)
        for key, text in row.items()
    }


def _cut(form: Form, start: str) -> Form:
    return {key.removeprefix(start): text for key, text in form.items() if key.startswith(start)}
