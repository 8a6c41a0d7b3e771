"""Variables that are none of ours but look like it, and the crossed pair."""

from __future__ import annotations

import pytest

from sigservice.config import load_config
from tests.config.rows import ROWS
from tests.table_tests import each


@each(
    "name near",
    [
        ("SERVICE_URI", "SERVICE_URL"),
        ("SERVICE_SEGMENT_VALUE_LIMIT", "SERVICE_SEGMENT_VALUES_LIMIT"),
        ("DATABASE_PASWORD", "DATABASE_PASSWORD"),
        ("DATABASE_POOL_MAXIMUM", "DATABASE_POOL_MAX"),
        ("DATABASE_HOSTNAME", "DATABASE_HOST"),
        ("DATABASE_PORTNUMBER", "DATABASE_PORT"),
        ("SERVICE_URl", "SERVICE_URL"),
        ("http_port", "HTTP_PORT"),
        ("HTTP_PROT", "HTTP_PORT"),
        ("AUTH_TYP", "AUTH_TYPE"),
        ("SESSION_TTL", "SESSION_TTL_HOURS"),
        ("EMAIL_PASSWD", "EMAIL_PASSWORD"),
        ("CSP_ALLOWED_IMAGE", "CSP_ALLOWED_IMG"),
        ("INIT_ADMIN_API_TOKEN", "INIT_ADMIN_API_TOKENS"),
        ("SIGNAL_ENDPOINT_RATE_LIMIT_PER_SEC", "SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND"),
        ("ENABLED_ENVIRONMENT", "ENABLED_ENVIRONMENTS"),
        ("UNLEASH_URL", "SERVICE_URL"),
        ("UNLEASH_DEFAULT_ADMIN_PASSWORD", "SERVICE_DEFAULT_ADMIN_PASSWORD"),
        ("INIT_BACKEND_API_TOKENS", "INIT_CLIENT_API_TOKENS"),
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
    others = (
        "AUTH_TOKEN CLIENT_ID CLIENT_SECRET FTP_PROXY ftp_proxy HTTP_COOKIE HTTP_USER_AGENT "
        "LOGNAME NO_COLOR SERVER_NAME SERVER_SOFTWARE SESSION_MANAGER SESSION_SECRET EMAIL "
        "LOG_FILE HTTP_PROXY_REQUEST_FULLURI CLIENT_IP CHECK_URL SIGNAL HTTPS XDG_SESSION_TYPE"
    )
    assert load_config(None, dict.fromkeys(others.split(), "x")).warnings == []


CROSSED = ("REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE", "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE")


@each("row", [row for row in ROWS if row.env and row.env not in CROSSED])
def test_a_known_variable_is_no_unknown_one(row):
    warnings = load_config(None, row.environ()).warnings
    assert not [line for line in warnings if line.startswith(f"{row.env} is not")]


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
