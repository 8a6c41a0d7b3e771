"""API tokens in the configuration: all or nothing, named by position, never shown."""

from __future__ import annotations

import pytest

from sigservice.config import load_config
from tests.config.kit import problems
from tests.table_tests import each

LISTS = ("INIT_ADMIN_API_TOKENS", "INIT_CLIENT_API_TOKENS", "INIT_FRONTEND_API_TOKENS")
ADMIN = {"type": "ADMIN", "secret": "*:*.code", "environment": "*", "project": "*"}
CLIENT = {
    "type": "CLIENT",
    "secret": "default:dev.code",
    "environment": "dev",
    "project": "default",
    "username": "ada",
}


def tokens(in_code=None, **environ):
    options = {"authentication": {"initApiTokens": in_code}}
    return load_config(options, environ).config["authentication"]["initApiTokens"]


def refused(token):
    """The one line that refuses this in-code token."""
    (line,) = problems({"authentication": {"initApiTokens": [token]}}, {})
    return line


def calls(token):
    return token["type"], token["secret"], token["environment"], token["projects"]


def test_a_comma_separated_list_makes_admin_tokens():
    assert [calls(token) for token in tokens(INIT_ADMIN_API_TOKENS="*:*.aaa, *:*.bbb,")] == [
        ("admin", "*:*.aaa", "*", ["*"]),
        ("admin", "*:*.bbb", "*", ["*"]),
    ]


def test_a_client_token_names_its_project_and_environment():
    assert [calls(token) for token in tokens(INIT_CLIENT_API_TOKENS="default:development.c")] == [
        ("client", "default:development.c", "development", ["default"])
    ]


def test_a_frontend_token_may_have_all_projects():
    assert [calls(token) for token in tokens(INIT_FRONTEND_API_TOKENS="*:production.c")] == [
        ("frontend", "*:production.c", "production", ["*"])
    ]


def test_what_follows_the_first_dot_is_free():
    (token,) = tokens(INIT_CLIENT_API_TOKENS="default:dev.a.b:c.v2_d")
    assert calls(token) == ("client", "default:dev.a.b:c.v2_d", "dev", ["default"])


def test_a_token_of_the_environment_gets_an_owner_label_by_itself():
    for name, secret in zip(LISTS, ("*:*.a", "p:e.b", "p:e.c"), strict=True):
        (token,) = tokens(**{name: secret})
        assert isinstance(token["username"], str)
        assert token["username"]


def test_a_token_in_code_keeps_its_owner_label():
    assert tokens([CLIENT])[0]["username"] == "ada"


@pytest.mark.parametrize(
    ("word", "kind"),
    [("CLIENT", "client"), ("client", "client"), ("Frontend", "frontend"), ("backend", "client")],
)
def test_a_type_is_read_in_any_case(word, kind):
    assert tokens([CLIENT | {"type": word}])[0]["type"] == kind


def test_an_admin_token_in_code_targets_everything():
    assert [calls(token) for token in tokens([ADMIN])] == [("admin", "*:*.code", "*", ["*"])]


def test_code_comes_first_and_the_lists_follow():
    result = tokens(
        [CLIENT],
        INIT_FRONTEND_API_TOKENS="p:e.front",
        INIT_CLIENT_API_TOKENS="p:e.client",
        INIT_ADMIN_API_TOKENS="*:*.admin",
    )
    assert [token["secret"] for token in result] == [
        "default:dev.code",
        "*:*.admin",
        "p:e.client",
        "p:e.front",
    ]


def test_one_token_is_made_for_each_secret_and_code_wins():
    (token,) = tokens([CLIENT], INIT_CLIENT_API_TOKENS="default:dev.code,default:dev.code")
    assert token["username"] == "ada"


def test_an_empty_list_in_code_leaves_the_variables_tokens():
    assert len(tokens([], INIT_ADMIN_API_TOKENS="*:*.a")) == 1


WRONG = [
    "hunter2",
    "hunter2:dev",
    "hunter2.dev",
    ":dev.hunter2",
    "hunter2:.dev",
    "hunter2:dev.",
    "p:dev.hunter2 blank",
    "p:dev.hunter2ü",
    "p:dev." + "hunter2" * 200,
]


@each("name", LISTS)
@each("secret", WRONG)
def test_a_secret_of_another_shape_is_named_by_its_position_alone(name, secret):
    good = "*:*.good" if "ADMIN" in name else "p:e.good"
    (line,) = problems(None, {name: f"{good},{secret},{good}2"})
    assert line.startswith(f"{name}: ")
    assert "token 2" in line
    assert "hunter2" not in line


def test_every_wrong_token_has_its_own_line():
    environ = {
        "INIT_ADMIN_API_TOKENS": "hunter2,*:*.good,default:dev.hunter2",
        "INIT_FRONTEND_API_TOKENS": "*:*.hunter2",
    }
    options = {"authentication": {"initApiTokens": [ADMIN, CLIENT | {"type": "hunter2"}]}}
    lines = problems(options, environ)
    starts = [
        ("authentication.initApiTokens (in code)", "token 2"),
        ("INIT_ADMIN_API_TOKENS", "token 1"),
        ("INIT_ADMIN_API_TOKENS", "token 3"),
        ("INIT_FRONTEND_API_TOKENS", "token 1"),
    ]
    assert len(lines) == len(starts)
    for line, (name, position) in zip(lines, starts, strict=True):
        assert line.startswith(f"{name}: ")
        assert position in line
        assert "hunter2" not in line


@pytest.mark.parametrize("secret", ["default:*.x", "*:dev.x", "default:dev.x", "[]:*.x"])
def test_an_admin_secret_starts_with_two_stars(secret):
    (line,) = problems(None, {"INIT_ADMIN_API_TOKENS": secret})
    assert "*:*." in line


@each(
    "change",
    [
        {"secret": "x"},
        {"secret": "default:dev.x"},
        {"secret": "*:*"},
        {"environment": "dev"},
        {"project": "default"},
        {"environment": None},
        {"project": None},
    ],
)
def test_an_admin_token_targets_all_environments_and_all_projects(change):
    assert refused(ADMIN | change).startswith("authentication.initApiTokens (in code): token 1: ")


@pytest.mark.parametrize("name", ["INIT_CLIENT_API_TOKENS", "INIT_FRONTEND_API_TOKENS"])
def test_a_client_or_frontend_token_names_one_environment(name):
    for secret in ("default:*.x", "*:*.x"):
        assert "environment" in problems(None, {name: secret})[0]


@pytest.mark.parametrize("kind", ["client", "frontend"])
def test_in_code_too_a_client_or_frontend_token_names_one_environment(kind):
    for environment in ("*", "", None):
        line = refused(CLIENT | {"type": kind, "environment": environment})
        assert "environment" in line


@each(
    "change",
    [
        {"type": None},
        {"type": ["client"]},
        {"type": "signal"},
        {"secret": None},
        {"secret": ""},
        {"secret": b"hunter2"},
        {"secret": "hunter2\n"},
        {"environment": 5},
        {"environment": ["dev"]},
        {"project": None},
        {"project": ""},
        {"project": 5},
        {"projects": [None]},
        {"projects": ["*", "default"]},
        {"projects": 5},
        {"projects": {"default": 1}},
    ],
)
def test_a_token_of_another_shape_is_refused_with_its_position(change):
    line = refused(CLIENT | change)
    assert line.startswith("authentication.initApiTokens (in code): token 1: ")
    assert "hunter2" not in line


def test_a_projects_text_is_not_read_letter_by_letter():
    token = {key: value for key, value in CLIENT.items() if key != "project"}
    assert refused(token | {"projects": "default"})


@each("value", [{"type": "admin"}, "hunter2", [1], ["hunter2"], [None]])
def test_tokens_in_code_are_a_list_of_objects(value):
    (line,) = problems({"authentication": {"initApiTokens": value}}, {})
    assert line.startswith("authentication.initApiTokens (in code): expected a list")
    assert "hunter2" not in line


def test_a_wrong_token_does_not_hide_other_problems():
    lines = problems(None, {"INIT_ADMIN_API_TOKENS": "hunter2", "HTTP_PORT": "wr0ng"})
    assert sorted(line.partition(":")[0] for line in lines) == [
        "HTTP_PORT",
        "INIT_ADMIN_API_TOKENS",
    ]
