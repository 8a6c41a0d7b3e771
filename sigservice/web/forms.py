"""Forms of pages: their controls, which `templates/partials/form_field.tpl` prints, and the texts
in them. A control has the name of the member of the JSON API that it shows, with numbered rows:
`options.rateLimit.burst`, `constraints.0.operator`. So `read` makes the struct of the API of a
submitted form, `to_form` makes the texts of a struct, and problems have the names of controls.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, inspect

from sigservice.errors import AppError, BadDataError
from sigservice.web.body import to_struct

Form = dict[str, str]  # the texts of the controls by name: submitted or stored values
ProblemDetails = Sequence[Mapping[str, Any]]


class Entry(NamedTuple):
    """A form that is shown again after it was submitted, with the error if there is one."""

    form: Form
    error: AppError | None = None


NO_ENTRY = Entry({})
Default = TypeVar("Default")
Struct = TypeVar("Struct", bound=msgspec.Struct)
_INDEX = re.compile(r"\[(\d+)\]")
_NUMBER = re.compile(r"[-+.,0-9eE]+")  # float takes underscores and digits of other scripts too
_THOUSANDS = re.compile(r"-?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?")


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
    id: str = ""  # for several fields of a page with one name
    is_more: bool = False  # folded, below the other fields

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
        """The `attributes`, and the ones that this type always has."""
        if self.type == "checkbox":
            checked = {"checked": "checked"} if self.value else {}
            return {"type": self.type, "value": "on", **checked, **self.attributes}
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


def list_folded(fields: Iterable[Field]) -> list[Field]:
    return [one for one in fields if one.is_more]


def fill(fields: Iterable[Field], form: Form, at: str = "") -> list[Field]:
    """The fields with the texts of the form, except passwords; `at` is the beginning of the names
    of a row."""
    return [
        replace(
            one,
            name=at + one.name,
            value="" if one.type == "password" else form.get(at + one.name, ""),
        )
        for one in fields
    ]


def read(form: Form, struct: type[Struct], at: str = "", **members: Any) -> Struct:
    """The struct of the API that a submitted form contains. A boolean is a checkbox, a list has one
    item for each line, row or checkbox. A member without a control has its default, and the tag
    chooses the struct of a union. A number that can't be read becomes one that no check accepts.
    `members` replace values of the form. Raises BadDataError."""
    try:
        return to_struct(_read_members(form, struct, at) | members, struct)
    except BadDataError as error:
        for detail in error.details:
            detail["path"] = at + detail.get("path", "")
        raise


def to_form(value: Any, at: str = "") -> Form:
    """The texts of the controls that show a struct or decoded JSON; `read` makes the struct of
    them."""
    if isinstance(value, msgspec.Struct):
        texts = to_form(msgspec.structs.asdict(value), at)
        for name, type in _list_members(value.__class__):
            if isinstance(type, inspect.ListType) and isinstance(
                type.item_type, inspect.LiteralType
            ):
                member = f"{at}.{name}" if at else name
                texts |= {f"{member}.{choice}": "on" for choice in getattr(value, name)}
        return texts
    if isinstance(value, Mapping):
        return _join(to_form(item, f"{at}.{name}" if at else name) for name, item in value.items())
    if isinstance(value, bool):
        return {at: "on"} if value else {}
    if value is None or value is UNSET:
        return {}
    if not isinstance(value, Sequence) or isinstance(value, str):
        return {at: str(value).removesuffix(".0")}
    if value and not isinstance(value[0], Mapping | msgspec.Struct):
        return {at: "\n".join(map(str, value))}
    return _join(to_form(item, f"{at}.{number}") for number, item in enumerate(value))


def find_rows(form: Mapping[str, str], name: str) -> list[str]:
    """`name.0`, `name.1` … of the rows in the form, in order."""
    pattern = re.compile(rf"{re.escape(name)}\.([0-9]{{1,4}})\.")
    numbers = {int(match[1]) for key in form if (match := pattern.match(key))}
    return [f"{name}.{number}" for number in sorted(numbers)]


def split_lines(text: str) -> list[str]:
    """The lines that aren't empty, without surrounding blanks."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def read_pairs(form: Form, name: str) -> dict[str, str]:
    """The names and values of the lines `name: value`. Raises BadDataError."""
    pairs = {}
    for line in split_lines(form.get(name, "")):
        key, colon, value = line.partition(": " if ": " in line else ":")
        if not colon or not key.strip():
            raise BadDataError(f"Write {line[:100]} as name: value.", path=name)
        pairs[key.strip()] = value.strip()
    return pairs


def format_pairs(pairs: Mapping[str, str]) -> str:
    """The pairs as the lines that `read_pairs` reads."""
    return "\n".join(f"{name}: {value}" for name, value in pairs.items())


def locate_problems(problems: ProblemDetails, form: Form) -> list[dict[str, Any]]:
    """The problems of the API with the names of the controls. An item of a list is a line of its
    textarea, and both `value` and `values` are the control `values`. Each rule that a password
    breaks is a problem."""
    return [
        _locate_problem({**problem, "message": message}, form)
        for problem in problems
        for message in problem.get("validationErrors") or [problem["message"]]
    ]


@contextmanager
def report_at(name: str, *other_names: str) -> Iterator[None]:
    """Problems that the block raises get the path `name`, unless their path is in `other_names`."""
    try:
        yield
    except AppError as error:
        for detail in error.details:
            detail["path"] = path if (path := detail.get("path")) in other_names else name
        raise


def _locate_problem(problem: Mapping[str, Any], form: Form) -> dict[str, Any]:
    path, line = _INDEX.sub(r".\1", problem.get("path") or ""), ""
    name = f"{path}s" if path.endswith(".value") and f"{path}s" in form else path
    while name and not any(key == name or key.startswith(f"{name}.") for key in form):
        name, _, part = name.rpartition(".")
        line = f"Line {int(part) + 1}: " if part.isdigit() else line
    if not name:
        return {**problem, "path": path} if path else dict(problem)
    return {**problem, "path": name, "message": line + problem["message"]}


def _read_members(form: Form, struct: type[msgspec.Struct], at: str) -> dict[str, Any]:
    values = {name: _read_value(form, at + name, type) for name, type in _list_members(struct)}
    return {name: value for name, value in values.items() if value is not UNSET}


@cache
def _list_members(struct: type[msgspec.Struct]) -> list[tuple[str, inspect.Type]]:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return [(member.encode_name, member.type) for member in info.fields]


def _read_value(form: Form, name: str, type: inspect.Type) -> Any:
    """The value of a member; UNSET if the form has no control for it."""
    types = list(type.types) if isinstance(type, inspect.UnionType) else [type]
    is_nullable = any(isinstance(one, inspect.NoneType) for one in types)
    kinds = [one for one in types if not isinstance(one, inspect.NoneType)]
    kind = kinds[0] if len(kinds) == 1 else inspect.AnyType()
    if len(structs := _list_structs(type)) > 1:
        return _read_tagged(form, structs, f"{name}.")
    if isinstance(kind, inspect.BoolType):
        return name in form
    if isinstance(kind, inspect.ListType):
        is_absent = is_nullable and _list_structs(kind.item_type) and not find_rows(form, name)
        return UNSET if is_absent else _read_list(form, name, kind.item_type)
    if isinstance(kind, inspect.StructType):
        has_controls = any(key.startswith(f"{name}.") for key in form)
        return _read_members(form, kind.cls, f"{name}.") if has_controls else UNSET
    if name not in form:
        return UNSET
    text = form[name].replace("\r\n", "\n").strip()
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        empty = None if is_nullable else UNSET
        is_whole = isinstance(kind, inspect.IntType)
        return read_whole_number(text, empty) if is_whole else _read_number(text, empty)
    if isinstance(kind, inspect.LiteralType) and isinstance(kind.values[0], int):
        return read_whole_number(text, UNSET)
    return text or (None if is_nullable else "")


def _list_structs(type: inspect.Type) -> list[inspect.StructType]:
    """The struct, or the structs of a union that a tag tells apart."""
    types = type.types if isinstance(type, inspect.UnionType) else [type]
    return [one for one in types if isinstance(one, inspect.StructType)]


def _read_tagged(form: Form, structs: Sequence[inspect.StructType], at: str) -> dict[str, Any]:
    """The members of the struct whose tag the form has, by default of the first struct."""
    field = structs[0].tag_field or ""
    tag = form.get(at + field, "")
    struct = next((one for one in structs if one.tag == tag), structs[0])
    return {field: tag} | _read_members(form, struct.cls, at)


def _read_list(form: Form, name: str, item: inspect.Type) -> Any:
    if structs := _list_structs(item):
        if len(structs) > 1:
            return [_read_tagged(form, structs, f"{row}.") for row in find_rows(form, name)]
        return [_read_members(form, structs[0].cls, f"{row}.") for row in find_rows(form, name)]
    if isinstance(item, inspect.LiteralType):
        choices = {f"{name}.{choice}": choice for choice in item.values}
        return [choices[key] for key in form if key in choices]
    return split_lines(form[name]) if name in form else UNSET


def _read_number(text: str, empty: Any) -> Any:
    """A comma is a decimal comma unless it separates thousands, as pages print them."""
    if not text:
        return empty
    separator = "" if _THOUSANDS.fullmatch(text) else "."
    try:
        return float(text.replace(",", separator)) if _NUMBER.fullmatch(text) else math.nan
    except ValueError:
        return math.nan


def _join(forms: Iterable[Form]) -> Form:
    return {name: text for form in forms for name, text in form.items()}


def find_errors(problems: ProblemDetails, path: str) -> str:
    """The messages of the problems of one field (or of a group of fields), "" for none."""
    return " ".join(problem["message"] for problem in problems if problem.get("path") == path)


def read_whole_number(text: str, default: Default) -> int | Default:
    """The number in a field; `default` for an empty one. Anything else becomes -1, which the check
    of the field rejects."""
    text = text.strip()
    if not text:
        return default
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def read_id(text: str) -> int:
    """The ID of a row; 0, which no row has, if the text isn't an ID."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def make_choices(values: Iterable[str], *first: tuple[str, str]) -> list[tuple[str, str]]:
    """The choices of a select whose values are their own texts, after the choices `first`."""
    return [*first, *((value, value) for value in values)]
