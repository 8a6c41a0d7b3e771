"""Forms: the structs that they hold, the texts that show a struct, and where problems are shown."""

from __future__ import annotations

from typing import Literal

import msgspec
import pytest
from msgspec import UNSET, UnsetType

from sigservice.errors import BadDataError
from sigservice.web.forms import Field, fill, locate_problems, read, report_at, to_form
from sigservice.web.growing_forms import list_rows, make_section
from tests.table_tests import each


class Channel(msgspec.Struct):
    url: str
    on: list[Literal["success", "failed"]] = []


class Limit(msgspec.Struct):
    rate: float | None = None
    burst: int | None = None
    status: Literal[429, 503] = 429


class Body(msgspec.Struct):
    name: str
    description: str | UnsetType | None = UNSET
    enabled: bool = True
    hours: int = 24
    paths: list[str] = []
    limit: Limit = msgspec.field(default_factory=Limit)
    channels: list[Channel] = []


class Limited(msgspec.Struct):
    status: Literal[429, 503]


FORM = {
    "name": " checkout ",
    "description": "",
    "enabled": "on",
    "hours": "12",
    "paths": "a.b\r\n\r\nc",
    "limit.rate": "0,5",
    "limit.burst": "",
    "limit.status": "503",
    "channels.3.url": "json://x",
    "channels.3.on.failed": "on",
    "channels.7.url": "json://y",
}
BODY = Body(
    "checkout",
    None,
    True,
    12,
    ["a.b", "c"],
    Limit(0.5, None, 503),
    [Channel("json://x", ["failed"]), Channel("json://y")],
)


def test_a_form_becomes_the_struct_of_the_api():
    assert read(FORM, Body) == BODY


def test_the_texts_of_a_struct_become_the_same_struct():
    assert read(to_form(BODY), Body) == msgspec.structs.replace(BODY, description=UNSET)
    channel = Channel("json://x", ["failed"])
    assert read(to_form(channel), Channel) == channel


def test_a_checkbox_that_was_not_submitted_is_off():
    assert read({"name": "x"}, Body).enabled is False


def test_a_member_without_a_control_has_its_default():
    body = read({"name": "x"}, Body)
    assert (body.description, body.hours, body.paths, body.limit) == (UNSET, 24, [], Limit())


@each("text", ["x", "-1", "1.5", "9" * 30, "²"])
def test_a_number_that_cannot_be_read_becomes_one_that_checks_reject(text):
    assert read({"name": "x", "hours": text}, Body).hours == -1


def test_a_text_that_is_no_choice_is_a_problem_of_its_control():
    with pytest.raises(BadDataError) as raised:
        read({"name": "x", "limit.status": "500"}, Body)
    assert raised.value.details[0]["path"] == "limit.status"


def test_a_problem_of_a_part_of_a_form_has_the_name_of_the_control():
    with pytest.raises(BadDataError) as raised:
        read({"options.status": "500"}, Limited, "options.")
    assert raised.value.details[0]["path"] == "options.status"


def test_a_control_that_is_missing_but_required_is_a_problem():
    with pytest.raises(BadDataError) as raised:
        read({}, Body)
    assert raised.value.details[0]["path"] == "name"


def test_fields_show_the_texts_but_no_password():
    fields = [Field("name", "Name"), Field("secret", "Secret", type="password")]
    texts = {"name": "ci", "secret": "hunter2"}
    assert [field.value for field in fill(fields, texts)] == ["ci", ""]


@each(
    "path expected",
    [
        ("name", ("name", "wrong")),
        ("enabled", ("enabled", "wrong")),
        ("paths[2]", ("paths", "Line 3: wrong")),
        ("rows[0].values[1]", ("rows.0.values", "Line 2: wrong")),
        ("rows[0].value", ("rows.0.values", "wrong")),
        ("rows[0].on", ("rows.0", "wrong")),
        ("rows", ("rows", "wrong")),
        ("", (None, "wrong")),
    ],
)
def test_a_problem_is_shown_at_its_control(path, expected):
    form = {"name": "", "paths": "a\nb\nc", "rows.0.values": "a\nb"}
    problem = {"message": "wrong"} | ({"path": path} if path else {})
    (located,) = locate_problems([problem], form)
    assert (located.get("path"), located["message"]) == expected


def test_each_rule_that_a_password_breaks_is_a_problem():
    problem = {"message": "weak", "path": "password", "validationErrors": ["short", "no digit"]}
    located = locate_problems([problem], {"password": "x"})
    assert [item["message"] for item in located] == ["short", "no digit"]


def test_problems_of_a_block_are_at_the_control_of_the_form():
    details = [{"message": "a", "path": "type"}, {"message": "b", "path": "other"}]
    error = BadDataError("a", details=details)
    with pytest.raises(BadDataError), report_at("tag", "other"):
        raise error
    assert [detail["path"] for detail in error.details] == ["tag", "other"]


@each(
    "button expected",
    [
        ("", ["a", "b"]),
        ("add-rows", ["a", "b", "new"]),
        ("remove-rows.0", ["b"]),
        ("up-rows.1", ["b", "a"]),
        ("up-rows.0", ["a", "b"]),
        ("remove-rows.9", ["a", "b"]),
        ("remove-others.0", ["a", "b"]),
    ],
)
def test_a_button_changes_the_rows(button, expected):
    form = {"rows.2.name": "a", "rows.5.name": "b", "do": button}
    assert [row["name"] for row in list_rows(form, "rows", {"name": "new"})] == expected


def test_rows_are_numbered_from_0_and_have_their_checkboxes_below():
    form = {"rows.4.name": "a", "rows.4.inverted": "on"}
    fields = [Field("inverted", "Negate", type="checkbox"), Field("name", "Name")]
    (row,) = make_section(form, "rows", "Rows", "row", "", fields).rows
    assert [(field.name, field.value) for field in row.fields] == [("rows.0.name", "a")]
    assert [(field.name, field.value) for field in row.checkboxes] == [("rows.0.inverted", "on")]
