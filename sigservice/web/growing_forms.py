"""Forms that grow without JavaScript: rows with numbered names (`constraints.0.operator`), and
buttons named `do` that send the form to itself to add a row or to remove one.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sigservice.web.forms import Field, ProblemDetails

FormRow = dict[str, Any]
# Options of a route. 30 constraints, 100 variants and the 1000 values of a segment fit.
GROWING_FORM: dict[str, Any] = {"form_fields": 1000, "form_limit": 1_000_000}


@dataclass(frozen=True)
class FieldRow:
    """The fields of one row, which a button removes. A row with a `summary` is folded to one line:
    the summary and `chips`."""

    fields: Sequence[Field]
    checkboxes: Sequence[Field] = ()
    summary: str = ""
    chips: Sequence[str] = ()

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


def find_rows(form: Mapping[str, str], name: str) -> list[str]:
    """`name.0`, `name.1` … of the rows in the form, in order."""
    pattern = re.compile(rf"{name}\.([0-9]{{1,4}})\.")
    numbers = {int(match[1]) for key in form if (match := pattern.match(key))}
    return [f"{name}.{number}" for number in sorted(numbers)]


def change_rows(rows: Sequence[FormRow], name: str, blank: FormRow, button: str) -> list[FormRow]:
    """The rows after the button `add-<name>` or `remove-<name>.<number>`."""
    if button == f"add-{name}":
        return [*rows, dict(blank)]
    return [row for number, row in enumerate(rows) if button != f"remove-{name}.{number}"]


def split_lines(text: str) -> list[str]:
    """The lines that aren't empty, without surrounding blanks."""
    return [line.strip() for line in text.splitlines() if line.strip()]
