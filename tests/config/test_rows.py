"""Every option, by the table in rows.py: default, environment, code, and what is refused."""

from __future__ import annotations

import functools

import pytest

from sigservice.config import load_config
from sigservice.config.load import read_config
from sigservice.config.options import OPTIONS
from tests.config.kit import NOTHING, nest, problems, refusal
from tests.config.rows import ROWS
from tests.table_tests import each

each_row = functools.partial(each, "row", name=lambda row: row.path)
IN_ENV = [row for row in ROWS if row.env]
IN_CODE = [row for row in ROWS if row.code is not NOTHING]
IN_BOTH = [row for row in IN_ENV if row.code is not NOTHING]


def test_every_option_has_a_row_and_every_row_is_an_option():
    assert {(o.path, o.env) for o in OPTIONS} == {(row.path, row.env) for row in ROWS}


def test_an_option_is_in_code_where_its_row_says_so():
    assert {o.path for o in OPTIONS if o.in_code} == {row.path for row in IN_CODE}


def test_an_option_is_secret_where_its_row_says_so():
    assert {o.path for o in OPTIONS if o.secret} == {row.path for row in ROWS if row.secret}


def test_no_two_rows_share_a_path_or_a_variable():
    for names in ([row.path for row in ROWS], [row.env for row in IN_ENV]):
        assert len(names) == len(set(names))


@each_row(ROWS)
def test_without_settings_an_option_has_its_default(row):
    loaded = load_config(None, {})
    assert row.find(loaded.config) == row.default
    assert type(row.find(loaded.config)) is type(row.default)
    assert loaded.sources[row.path] == "default"


@each_row(IN_ENV)
def test_the_environment_sets_an_option(row):
    loaded = load_config(None, row.environ())
    assert row.find(loaded.config) == row.value
    assert type(row.find(loaded.config)) is type(row.value)
    assert loaded.sources[row.path] == row.env


@each_row(IN_ENV)
@pytest.mark.parametrize("blank", ["", "   ", "\t\n"])
def test_a_blank_variable_equals_an_unset_one(row, blank):
    assert load_config(None, {row.env: blank}).config == load_config(None, {}).config


@each_row(IN_CODE)
def test_code_sets_an_option(row):
    loaded = load_config(row.options(), row.required)
    expected = row.code if row.from_code is NOTHING else row.from_code
    assert row.find(loaded.config) == expected
    assert loaded.sources[row.path] == "in code"


@each_row(IN_BOTH)
def test_code_beats_the_environment(row):
    loaded = load_config(row.options(), row.environ())
    expected = row.code if row.from_code is NOTHING else row.from_code
    assert row.find(loaded.config) == expected
    assert expected != row.value
    assert loaded.sources[row.path] == "in code"


@each_row([row for row in IN_BOTH if isinstance(row.code, bool)])
def test_code_switches_both_ways(row):
    for expected, other in ((True, "false"), (False, "true")):
        config = load_config(row.options(expected), {**row.required, row.env: other}).config
        assert row.find(config) is expected


@each_row(IN_BOTH)
def test_none_in_code_leaves_an_option_to_the_environment(row):
    loaded = load_config(row.options(None), row.environ())
    assert row.find(loaded.config) == row.value
    assert loaded.sources[row.path] == row.env


@each_row([row for row in IN_CODE if row.path != "authentication.initialAdminUser"])
def test_none_in_code_means_not_given(row):
    assert row.find(load_config(row.options(None), {}).config) == row.default


@each_row([row for row in IN_ENV if row.bad is not None])
def test_a_wrong_variable_is_a_start_error_that_never_shows_the_value(row):
    line, *more = problems(None, row.environ(row.bad))
    assert not more
    assert refusal(line, row.env, row.says)
    assert "wr0ng" not in line


@each_row([row for row in IN_CODE if row.bad_code is not NOTHING])
def test_a_wrong_value_in_code_is_a_start_error_that_never_shows_the_value(row):
    line, *more = problems(row.options(row.bad_code), row.required)
    assert not more
    assert refusal(line, f"{row.path} (in code)", row.says)
    assert "wr0ng" not in line
    assert "4711" not in line


@each_row([row for row in IN_BOTH if row.bad is not None])
def test_a_wrong_variable_does_not_matter_where_code_decides(row):
    expected = row.code if row.from_code is NOTHING else row.from_code
    assert row.find(load_config(row.options(), row.environ(row.bad)).config) == expected


@each_row([row for row in ROWS if row.beyond])
def test_a_number_outside_its_bounds_is_a_start_error(row):
    for beyond in row.beyond:
        assert row.says in problems(None, {row.env: str(beyond)})[0]
        assert row.says in problems(row.options(beyond), {})[0]


@each_row([row for row in ROWS if row.beyond])
def test_in_code_a_number_is_no_boolean_and_no_fraction(row):
    for invalid in (True, False, 1.5, "12"):
        assert row.says in problems(row.options(invalid), {})[0]


@each_row([row for row in IN_ENV if row.bad is not None and "readable" not in row.says])
def test_the_example_in_a_refusal_is_accepted(row):
    line = problems(None, row.environ(row.bad))[0]
    example = line.partition(", for example ")[2].removesuffix(".")
    assert load_config(None, row.environ(example)).sources[row.path] == row.env


@each_row([row for row in ROWS if row.code is NOTHING])
def test_an_option_of_the_environment_alone_is_refused_in_code(row):
    assert problems(nest(row.path, "anything"), {})[0].startswith(row.path)


def test_everything_wrong_is_reported_at_once():
    invalid = {row.env: row.bad for row in IN_ENV if row.bad is not None}
    lines = problems(None, invalid)
    for name in invalid:
        assert len([line for line in lines if line.startswith(f"{name}: ")]) == 1
    assert "wr0ng" not in "\n".join(lines)


NASTY = [
    "{}", "{}\r\nx", "\n{}", "{}\udcff", "{}\u2028", "'{}'", '"{}"', "[{}]", "[[{}", '{{"{}": 1}}',
    '{{"ca": "{}"}}', "http://{}:99999", "http://[{}", "https://{}@x:y", "postgres://{}:{}@a,b/c",
    "postgres://[{}", "host={} port=x", "host='{}", "postgres://a/b?{}=1", "postgres://a/b?sslmode={}",
    "postgres://a/b?sslmode=require&sslkey={}", "-{}", "+{}", "1e{}", "\u0661{}", "*:{}", "{}:*.x",
    "{}," * 3, ",", "/{}/..", "//{}?", "%00{}", "{}%zz", "10.0.0.0/{}", "::{}", "{}" * 5000,
]  # fmt: skip


@each("nasty", NASTY)
def test_whatever_a_variable_holds_a_refusal_is_one_line_without_it(nasty):
    text = nasty.replace("{{", "{").replace("}}", "}").replace("{}", "wr0ng")
    loaded = read_config(None, {row.env: text for row in IN_ENV})
    assert loaded.problems
    for problem in loaded.problems:
        assert refusal(str(problem), problem.variable, "")
        assert "wr0ng" not in str(problem)
    assert "wr0ng" not in "".join(loaded.warnings)
    loaded = read_config({"databaseUrl": 1} | {row.path: text for row in IN_CODE}, {})
    assert "wr0ng" not in "".join(map(str, loaded.problems))


def test_wrong_values_of_code_and_environment_are_reported_together():
    lines = problems({"session": {"ttlHours": "wr0ng"}}, {"HTTP_PORT": "wr0ng"})
    assert {line.partition(" ")[0] for line in lines} == {"session.ttlHours", "HTTP_PORT:"}
