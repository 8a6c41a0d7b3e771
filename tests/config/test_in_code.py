"""The options object: groups, unknown names, removed ones, and that it is never changed."""

from __future__ import annotations

import copy
from types import MappingProxyType

import pytest

from sigservice.config import load_config
from tests.config.kit import NOTHING, nest, problems, refusal
from tests.config.rows import ROWS
from tests.table_tests import each

IN_CODE = [row for row in ROWS if row.code is not NOTHING]


def test_no_options_equal_empty_options():
    assert load_config(None, {}) == load_config({}, {})


def test_none_for_a_whole_group_means_not_given():
    groups = {row.path.partition(".")[0] for row in ROWS if "." in row.path}
    assert load_config(dict.fromkeys(groups), {}).config == load_config(None, {}).config


@pytest.mark.parametrize("value", ["text", 5, [], True])
def test_a_group_that_is_no_object_is_refused(value):
    for group in ("server", "db", "session", "authentication"):
        (line,) = problems({group: value}, {})
        assert line.startswith(f"{group} (in code): expected an object")


def test_an_unknown_option_is_refused_with_the_nearest_name():
    (line,) = problems({"session": {"ttlHour": 5}}, {})
    assert line.startswith("session.ttlHour (in code): ")
    assert "session.ttlHours" in line
    (line,) = problems({"logLevl": "debug"}, {})
    assert "logLevel" in line


def test_an_unknown_option_is_refused_without_its_value():
    (line,) = problems({"zzz": "wr0ng"}, {})
    assert line.startswith("zzz (in code): ")
    assert "wr0ng" not in line


def test_everything_wrong_in_code_is_named_at_once():
    options: dict = {"logLevl": "wr0ng", "server": 5}
    for row in IN_CODE:
        if row.bad_code is not NOTHING and not row.path.startswith("server."):
            group = options
            *groups, last = row.path.split(".")
            for name in groups:
                group = group.setdefault(name, {})
            group[last] = row.bad_code
    lines = problems(options, {})
    invalid = [r.path for r in IN_CODE if r.bad_code is not NOTHING and r.path[:7] != "server."]
    assert sorted(line.partition(" (in code): ")[0] for line in lines) == sorted(
        [*invalid, "logLevl", "server"]
    )
    assert "wr0ng" not in "".join(lines)
    assert "4711" not in "".join(lines)


@each("options", [["wr0ng"], "wr0ng", 5, {5: "wr0ng"}, {"a\nb": "wr0ng"}])
def test_options_of_another_shape_are_one_line(options):
    (line,) = problems(options, {})
    assert " (in code): " in line
    assert ", for example " in line
    assert "\n" not in line
    assert "wr0ng" not in line


@pytest.mark.parametrize("value", [{"slogn": "x"}, {"slogan": 5}, {"environment": "a\nb"}, []])
def test_ui_has_two_texts(value):
    assert refusal(problems({"ui": value}, {})[0], "ui (in code)", "environment and slogan")


def test_a_token_has_no_other_keys():
    token = {"type": "client", "secret": "p:e.wr0ng", "environment": "e", "project": "p"}
    (line,) = problems({"authentication": {"initApiTokens": [token | {"projct": "wr0ng"}]}}, {})
    assert refusal(line, "authentication.initApiTokens (in code)", "a list of {type")
    assert "token 1: its keys must be among " in line
    assert "wr0ng" not in line


def test_the_example_in_code_is_python():
    assert problems({"secureHeaders": "yes"}, {})[0].endswith(", for example True")
    line = problems({"environmentEnableOverrides": "a"}, {})[0]
    assert line.endswith("expected a list, for example ['development', 'production']")


def test_the_removed_event_hook_is_ignored_with_a_warning():
    loaded = load_config({"eventHook": print}, {})
    assert loaded.config == load_config(None, {}).config
    assert len([line for line in loaded.warnings if "eventHook" in line]) == 1


def test_the_public_address_has_a_second_name_in_code():
    config = load_config({"server": {"serverUrl": "https://a.example"}}, {}).config
    assert config["server"]["unleashUrl"] == "https://a.example"
    assert "serverUrl" not in config["server"]


def test_any_mapping_will_do():
    options = MappingProxyType({"server": MappingProxyType({"port": 7})})
    assert load_config(options, {}).config["server"]["port"] == 7


@each("row", IN_CODE)
def test_the_options_are_left_as_they_were(row):
    options = row.options()
    before = copy.deepcopy(options)
    load_config(options, row.environ())
    assert options == before


def test_loading_twice_gives_two_configurations():
    first, second = load_config(None, {}).config, load_config(None, {}).config
    first["additionalCspAllowedDomains"]["imgSrc"].append("a.example")
    first["authentication"]["initialAdminUser"]["password"] = "changed"
    first["authentication"]["initApiTokens"].append({})
    first["ui"]["slogan"] = "changed"
    first["db"]["pool"]["max"] = 9
    assert second == load_config(None, {}).config
    assert second != first


def test_the_environment_is_the_one_given_and_no_other(monkeypatch):
    monkeypatch.setenv("HTTP_PORT", "4711")
    assert load_config(None, {}).config["server"]["port"] == 0


def test_a_list_in_code_replaces_the_one_of_the_environment():
    options = nest("additionalCspAllowedDomains.imgSrc", ["code.example"])
    environ = {"CSP_ALLOWED_IMG": "env.example", "CSP_ALLOWED_FONT": "font.example"}
    config = load_config(options, environ).config["additionalCspAllowedDomains"]
    assert config["imgSrc"] == ["code.example"]
    assert config["fontSrc"] == ["font.example"]


def test_an_empty_list_in_code_overrides_the_environment():
    options = {"environmentEnableOverrides": []}
    environ = {"ENABLED_ENVIRONMENTS": "production"}
    assert load_config(options, environ).config["environmentEnableOverrides"] == []


def test_one_option_of_a_group_in_code_leaves_the_others_to_the_environment():
    environ = {"HTTP_PORT": "1", "HTTP_HOST": "::1", "GRACEFUL_SHUTDOWN_TIMEOUT": "5"}
    config = load_config({"server": {"port": 2}}, environ).config["server"]
    assert (config["port"], config["host"], config["gracefulShutdownTimeout"]) == (2, "::1", 5)


class TestFirstAdmin:
    """In-code values override the variables, which override the default admin; None: no admin."""

    ENV = {"SERVICE_DEFAULT_ADMIN_USERNAME": "eva", "SERVICE_DEFAULT_ADMIN_PASSWORD": "hunter2"}
    ADA = {"username": "ada", "password": "Correct-Horse-7"}

    def load(self, environ, **block):
        config = load_config({"authentication": block}, environ).config
        return config["authentication"]["initialAdminUser"], config["authentication"]

    def test_the_built_in_admin_is_known_as_such(self):
        admin, block = self.load({})
        assert admin == {"username": "admin", "password": "unleash4all"}
        assert block["initialAdminIsBuiltIn"] is True

    def test_the_variables_override_the_default_admin(self):
        admin, block = self.load(self.ENV)
        assert admin == {"username": "eva", "password": "hunter2"}
        assert block["initialAdminIsBuiltIn"] is False

    def test_the_variables_never_override_code(self):
        admin, block = self.load(self.ENV, initialAdminUser=self.ADA)
        assert admin == self.ADA
        assert block["initialAdminIsBuiltIn"] is False

    def test_none_in_code_makes_no_admin(self):
        for environ in ({}, self.ENV):
            admin, block = self.load(environ, initialAdminUser=None)
            assert admin is None
            assert block["initialAdminIsBuiltIn"] is False

    @pytest.mark.parametrize("name", ENV)
    def test_one_variable_without_the_other_is_a_start_error(self, name):
        (line,) = problems(None, {name: "hunter2"})
        assert all(variable in line for variable in self.ENV)
        assert "hunter2" not in line

    @pytest.mark.parametrize("name", ENV)
    def test_one_variable_does_not_matter_where_code_decides(self, name):
        assert self.load({name: "x"}, initialAdminUser=self.ADA)[0] == self.ADA

    @pytest.mark.parametrize(
        "invalid",
        [
            "wr0ng",
            {},
            {"username": "wr0ng"},
            {"username": "ada", "password": ""},
            {"username": "", "password": "wr0ng"},
            {"username": "ada", "password": 4711},
            {"username": "ada", "password": "wr0ng", "email": "a@b"},
        ],
    )
    def test_an_admin_needs_just_a_name_and_a_password(self, invalid):
        (line,) = problems({"authentication": {"initialAdminUser": invalid}}, {})
        assert line.startswith("authentication.initialAdminUser (in code): expected")
        assert "wr0ng" not in line
        assert "4711" not in line
