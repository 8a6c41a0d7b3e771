"""`check-config` and the warnings: every value with its source, no secret, what looks wrong."""

from __future__ import annotations

import json

import pytest

from sigservice.config import check, load_config
from sigservice.errors import ConfigError
from tests.config.kit import NOTHING, PEM_FILE, URL_FILE
from tests.config.rows import ROWS

SECRETS = [
    *(row.environ() for row in ROWS if row.secret and row.env),
    {"DATABASE_URL_FILE": URL_FILE},
    {"DATABASE_URL": f"postgres://h/d?sslmode=verify-full&sslkey={PEM_FILE}"},
    {"DATABASE_URL": "host=h password=hunter2"},
    {"DATABASE_SSL_KEY_FILE": PEM_FILE, "DATABASE_SSL_REJECT_UNAUTHORIZED": "true"},
    {"DATABASE_PASSWRD": "hunter2", "SERVICE_METRIC_TOKEN": "hunter2"},
]


@pytest.fixture
def printed(capsys):
    """What `check-config` prints for these variables."""

    def run(environ=None, form="text"):
        assert check.main(environ or {}, form) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def rows(printed):
    """The report's rows by option."""

    def run(environ=None):
        found = json.loads(printed(environ, "json"))["options"]
        assert len({row["option"] for row in found}) == len(found)
        return {row["option"]: row for row in found}

    return run


def reported(options, path):
    (row,) = [row for row in check.report(load_config(options, {})) if row["option"] == path]
    return row


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("environ", SECRETS, ids=lambda environ: "+".join(environ))
def test_no_secret_is_printed(printed, environ, form):
    assert "hunter2" not in printed(environ, form)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_built_in_passwords_are_not_printed(printed, form):
    output = printed({}, form)
    assert "unleash4all" not in output
    assert "service_password" not in output


@pytest.mark.parametrize(
    "row",
    [row for row in ROWS if row.secret and row.code is not NOTHING],
    ids=lambda row: row.path,
)
def test_no_secret_of_the_code_is_reported(row):
    report = json.dumps(check.report(load_config(row.options(), {})))
    assert "hunter2" not in report


def test_a_masked_secret_is_still_seen_to_be_set(rows):
    shown = rows({"SERVICE_METRICS_TOKEN": "hunter2"})["server.metricsToken"]
    assert shown["value"]
    assert shown["source"] == "SERVICE_METRICS_TOKEN"
    assert rows()["server.metricsToken"]["value"] is None


def test_every_option_is_reported_with_its_variable(rows):
    found = rows()
    assert {path: row["variable"] for path, row in found.items()} == {
        row.path: row.env for row in ROWS if row.code is not NOTHING
    }


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.env and not row.secret and not row.at], ids=lambda r: r.path
)
def test_a_value_is_reported_with_its_source(rows, row):
    assert rows()[row.path]["source"] == "default"
    assert rows()[row.path]["value"] == row.default
    shown = rows(row.environ())[row.path]
    assert shown["value"] == row.value
    assert shown["source"] == row.env


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({"INIT_ADMIN_API_TOKENS": "*:*.a"}, "authentication.initApiTokens"),
        ({"INIT_FRONTEND_API_TOKENS": "p:e.a"}, "authentication.initApiTokens"),
        ({"DATABASE_SSL_CA_CONFIG": "{}"}, "db.ssl"),
        ({"DATABASE_SSL_CA_FILE": PEM_FILE}, "db.ssl"),
        ({"DATABASE_SSL_REJECT_UNAUTHORIZED": "true"}, "db.ssl"),
        ({"DATABASE_URL": "postgres://db.example/flags"}, "db.host"),
        ({"DATABASE_URL_FILE": URL_FILE}, "db.password"),
        (
            {"SERVICE_DEFAULT_ADMIN_USERNAME": "a", "SERVICE_DEFAULT_ADMIN_PASSWORD": "b"},
            "authentication.initialAdminUser",
        ),
    ],
    ids=str,
)
def test_the_source_is_the_variable_that_decided(rows, environ, path):
    assert next(iter(environ)) in rows(environ)[path]["source"]


def test_a_value_of_the_code_has_the_code_as_its_source():
    shown = reported({"server": {"port": 7}}, "server.port")
    assert (shown["value"], shown["source"]) == (7, "in code")


def test_a_function_is_reported_without_its_address():
    for path in ("preHook", "preRouterHook", "getLogger"):
        value = reported({path: print}, path)["value"]
        assert isinstance(value, str)
        assert "0x" not in value


def test_the_text_has_a_line_for_each_option(printed):
    lines = printed({"HTTP_PORT": "4242"}).splitlines()
    starts = [line.split()[0] for line in lines]
    for row in ROWS:
        assert starts.count(row.path) == (row.code is not NOTHING)
    (line,) = [line for line in lines if line.startswith("server.port ")]
    assert "4242" in line
    assert "HTTP_PORT" in line


def test_a_wrong_variable_ends_the_check(printed):
    with pytest.raises(ConfigError) as caught:
        printed({"HTTP_PORT": "wr0ng", "SESSION_TTL_HOURS": "wr0ng"})
    assert len(caught.value.problems) == 2


def test_the_risks_name_what_should_be_configured(printed):
    risks = " ".join(json.loads(printed({}, "json"))["risks"])
    assert "SERVICE_URL" in risks
    assert "mail" in risks
    assert "password" in risks


def test_what_is_configured_is_no_risk(printed):
    environ = {
        "SERVICE_URL": "https://flags.example",
        "SERVICE_DEFAULT_ADMIN_USERNAME": "ada",
        "SERVICE_DEFAULT_ADMIN_PASSWORD": "hunter2",
        "SERVICE_METRICS_TOKEN": "hunter2",
    }
    risks = " ".join(json.loads(printed(environ, "json"))["risks"])
    assert "SERVICE_URL" not in risks
    assert "password" not in risks
    assert "METRICS" not in risks


def test_private_webhooks_are_a_risk(printed):
    assert "SERVICE_WEBHOOK_ALLOW_PRIVATE)" in printed({"SERVICE_WEBHOOK_ALLOW_PRIVATE": "true"})
    assert "SERVICE_WEBHOOK_ALLOW_PRIVATE)" not in printed({})


def test_warnings_are_among_the_risks(printed):
    assert "DATABASE_HOSTNAME" in printed({"DATABASE_HOSTNAME": "x"})
    assert "DATABASE_HOSTNAME" in printed({"DATABASE_HOSTNAME": "x"}, "json")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("SERVICE_URI", "SERVICE_URL"),
        ("SERVICE_SEGMENT_VALUE_LIMIT", "SERVICE_SEGMENT_VALUES_LIMIT"),
        ("DATABASE_PASWORD", "DATABASE_PASSWORD"),
        ("DATABASE_POOL_MAXIMUM", "DATABASE_POOL_MAX"),
    ],
)
def test_an_unknown_variable_is_warned_about_with_the_nearest_name(name, near):
    (line,) = load_config(None, {name: "wr0ng"}).warnings
    assert line.startswith(name)
    assert near in line
    assert "wr0ng" not in line


def test_an_unknown_variable_without_a_near_name_is_warned_about_too():
    (line,) = load_config(None, {"SERVICE_ZZ": "x"}).warnings
    assert line.startswith("SERVICE_ZZ")


def test_variables_of_others_are_not_warned_about():
    environ = {"HOME": "/", "HTTP_PROXY": "x", "MY_SERVICE_URL": "x", "service_x": "x", "PORT": "1"}
    assert load_config(None, environ).warnings == []


CROSSED = ("REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE", "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE")


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.env and row.env not in CROSSED], ids=lambda row: row.path
)
def test_a_known_variable_is_no_unknown_one(row):
    warnings = load_config(None, row.environ()).warnings
    assert not [line for line in warnings if line.startswith(row.env)]


@pytest.mark.parametrize("name", CROSSED)
def test_one_of_the_crossed_variables_brings_a_hint(name):
    (line,) = load_config(None, {name: "5"}).warnings
    assert all(other in line for other in CROSSED)
    (line,) = load_config(None, dict.fromkeys(CROSSED, " ") | {name: "5"}).warnings
    assert all(other in line for other in CROSSED)


def test_both_or_none_of_the_crossed_variables_bring_no_hint():
    code = {"clientMetricsMaxPerMinute": 5}
    assert load_config(None, dict.fromkeys(CROSSED, "5")).warnings == []
    assert load_config(None, dict.fromkeys(CROSSED, "")).warnings == []
    assert load_config({"metricsRateLimiting": code}, {}).warnings == []
    assert load_config(None, {}).warnings == []


def test_the_crossed_variables_set_what_the_specification_says():
    config = load_config(None, dict(zip(CROSSED, ("5", "6"), strict=True))).config
    assert config["metricsRateLimiting"]["clientMetricsMaxPerMinute"] == 5
    assert config["metricsRateLimiting"]["clientRegisterMaxPerMinute"] == 6
