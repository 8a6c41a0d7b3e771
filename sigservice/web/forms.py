"""The controls of a form, as `templates/partials/form_field.tpl` prints them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

Form = dict[str, str]  # what was submitted, by name
ProblemDetails = Sequence[Mapping[str, Any]]
Default = TypeVar("Default")


@dataclass(frozen=True)
class Field:
    """One control. `type` is an input type of HTML, `select`, `textarea`, `checkbox` or `radio`;
    `attributes` are further attributes of the element (`min`, `rows`, `list`, `autocomplete`)."""

    name: str
    label: str
    value: Any = ""
    type: str = "text"
    hint: str = ""
    is_required: bool = False
    choices: Sequence[tuple[str, str]] = ()
    choice_hints: Mapping[str, str] = field(default_factory=dict)  # of a radio group
    attributes: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""  # where several fields of a page have one name

    @property
    def element_id(self) -> str:
        return self.id or self.name

    @property
    def is_percentage(self) -> bool:
        """Whether static/app.js shows a slider beside the number."""
        return self.type == "number" and self.attributes.get("max") == 100

    @property
    def element(self) -> str:
        return self.type if self.type in ("select", "textarea") else "input"

    @property
    def html_attributes(self) -> Mapping[str, Any]:
        """What `attributes` says, and what this type always has."""
        if self.type == "checkbox":
            return {"value": "on", **self.attributes}
        if self.type == "select":
            return self.attributes
        if self.type == "textarea":
            return {"rows": 3, "spellcheck": "false", **self.attributes}
        return {"type": self.type, "value": self.value, "autocomplete": "off", **self.attributes}

    def find_errors(self, problems: ProblemDetails) -> str:
        return find_errors(problems, self.element_id)

    def describe(self, problems: ProblemDetails) -> str:
        """The value of `aria-describedby`: the ids of the hint and of the error that are shown."""
        texts = {"hint": self.hint, "problem": self.find_errors(problems)}
        return " ".join(f"{self.element_id}-{part}" for part, text in texts.items() if text)


def find_errors(problems: ProblemDetails, path: str) -> str:
    """The messages of the problems of one field (or of a group of fields), "" for none."""
    return " ".join(problem["message"] for problem in problems if problem.get("path") == path)


def read_whole_number(text: str, default: Default) -> int | Default:
    """The number that a field has; `default` for an empty one. Anything else becomes -1, which the
    check of the field rejects."""
    text = text.strip()
    if not text:
        return default
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def read_id(text: str) -> int:
    """The ID of a row, 0 (which no row has) if the text is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def make_choices(values: Iterable[str], *first: tuple[str, str]) -> list[tuple[str, str]]:
    """The choices of a select whose values are their own texts, after those of `first`."""
    return [*first, *((value, value) for value in values)]
