"""`check-config` and the warnings: every value with its source, no secret, what looks wrong."""

from __future__ import annotations

import json

import pytest

from sigservice.config import check, load_config
from sigservice.config.options import OPTIONS
from tests.config.kit import NOTHING, PEM_FILE, URL_FILE
from tests.config.rows import ROWS
from tests.config.test_risks import CAREFUL, MAIL
from tests.table_tests import each

SECRETS = [
    *(row.environ() for row in ROWS if row.secret and row.env),
    {"DATABASE_URL_FILE": URL_FILE},
    {"DATABASE_URL": f"postgres://h/d?sslmode=verify-full&sslkey={PEM_FILE}"},
    {"DATABASE_URL": "host=h password=hunter2"},
    {"DATABASE_PASSWRD": "hunter2", "SERVICE_METRIC_TOKEN": "hunter2"},
]


@pytest.fixture
def printed(capsys):
    """What `check-config` prints for these variables."""

    def run(environ=None, form="text", **options):
        assert check.main(environ or {}, form, **options) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def rows(printed):
    """The report's rows by option."""

    def run(environ=None):
        result = json.loads(printed(environ, "json"))["options"]
        assert len({row["option"] for row in result}) == len(result)
        return {row["option"]: row for row in result}

    return run


def reported(options, path):
    (row,) = [row for row in check.list_options(load_config(options, {})) if row["option"] == path]
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


@each("row", [row for row in ROWS if row.secret and row.code is not NOTHING])
def test_no_secret_of_the_code_is_reported(row):
    report = json.dumps(check.list_options(load_config(row.options(), row.required)))
    assert "hunter2" not in report


def test_a_masked_secret_is_still_seen_to_be_set(rows):
    displayed = rows({"SERVICE_METRICS_TOKEN": "hunter2"})["server.metricsToken"]
    assert displayed["value"]
    assert displayed["source"] == "SERVICE_METRICS_TOKEN"
    assert rows()["server.metricsToken"]["value"] is None


def test_every_option_is_reported_with_its_variable(rows):
    result = rows()
    assert {path: row["variable"] for path, row in result.items()} == {
        row.path: row.env for row in ROWS if row.code is not NOTHING
    }


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row.env and not row.secret and not row.at], ids=lambda r: r.path
)
def test_a_value_is_reported_with_its_source(rows, row):
    if row.path not in ("signals.burst", "email.secure"):
        assert rows()[row.path]["source"] == "default"
        assert rows()[row.path]["value"] == row.default
    displayed = rows(row.environ())[row.path]
    assert displayed["value"] == row.value
    assert displayed["source"] == row.env


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
    displayed = reported({"server": {"port": 7}}, "server.port")
    assert (displayed["value"], displayed["source"]) == (7, "in code")


def test_a_function_is_reported_without_its_address():
    for path in ("preHook", "preRouterHook", "getLogger"):
        value = reported({path: print}, path)["value"]
        assert isinstance(value, str)
        assert "0x" not in value


def test_the_text_names_each_option_once_with_value_source_and_meaning(printed):
    environ = {"HTTP_PORT": "4242", "DATABASE_URL_FILE": URL_FILE, **LONG}
    output = printed(environ, has_defaults=True)
    lines = output.splitlines()
    starts = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    for row in ROWS:
        assert starts.count(row.path) == (row.code is not NOTHING)
    first, second = displayed(lines, "server.port")
    assert first.split() == ["server.port", "4242"]
    assert second.startswith("      variable HTTP_PORT: TCP port.")
    assert "file DATABASE_URL_FILE: " in displayed(lines, "db.host")[1]
    assert "derived from signals.maxPerSecond: " in displayed(lines, "signals.burst")[1]
    assert "default (code only): " in displayed(lines, "server.pipe")[1]
    assert max(map(len, lines)) <= 100
    sections = list(dict.fromkeys(option.section for option in OPTIONS))
    assert [line for line in lines if line in sections] == sections


def test_the_text_begins_with_the_risks_and_has_the_options_that_are_set(printed):
    lines = printed({"HTTP_PORT": "4242", "CSP_ALLOWED_IMG": "https://a.example"}).splitlines()
    assert lines[0].startswith("Risks (dangers: ")
    starts = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    count = sum(start in ("danger", "warning", "note") for start in starts)
    assert count == 2
    assert starts[count:] == ["server.port", "additionalCspAllowedDomains.imgSrc"]
    assert lines[-1] == f"Options with their defaults: {len(IN_CODE) - 2}; --all prints them too."


def test_the_text_of_a_configuration_without_risks_says_so(printed):
    everything = printed(CAREFUL | MAIL, has_defaults=True)
    assert everything.startswith("No risks.\n\n")
    assert "--all" not in everything


IN_CODE = [row for row in ROWS if row.code is not NOTHING]
LONG = {"CSP_ALLOWED_IMG": ",".join(f"https://image-{n}.example.com" for n in range(9))}


def displayed(lines, path):
    (at,) = [n for n, line in enumerate(lines) if line.startswith(f"  {path} ")]
    return lines[at : at + 2]


def test_the_json_has_the_documented_shape(rows):
    for row in rows({"HTTP_PORT": "4242"}).values():
        assert set(row) == {
            "option",
            "variable",
            "section",
            "value",
            "source",
            "origin",
            "valid",
            "expected",
            "meaning",
        }
        assert row["origin"] in ("default", "variable", "file", "code", "derived")
        assert row["valid"] is True
        assert row["meaning"]


def test_a_derived_value_is_shown_as_what_it_is(rows):
    result = rows({"SIGNAL_ENDPOINT_RATE_LIMIT_PER_SECOND": "7"})["signals.burst"]
    assert (result["value"], result["origin"], result["source"]) == (
        7,
        "derived",
        "signals.maxPerSecond",
    )
    assert rows({"EMAIL_PORT": "587"})["email.secure"]["value"] is False
    assert rows({"EMAIL_PORT": "587", "EMAIL_SECURE": "true"})["email.secure"]["value"] is True


@pytest.mark.parametrize("arguments", ["USERNAME", "PASSWORD"])
def test_half_of_the_first_admin_is_reported(capsys, arguments):
    assert check.main({f"SERVICE_DEFAULT_ADMIN_{arguments}": "x"}, "json") == 2
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["variable"].startswith("SERVICE_DEFAULT_ADMIN_")
    assert arguments not in problem["variable"]


def test_wrong_values_are_still_reported(capsys):
    bad_value = {
        "HTTP_PORT": "wr0ng",
        "SESSION_TTL_HOURS": "wr0ng",
        "INIT_ADMIN_API_TOKENS": "wr0ng",
    }
    assert (
        check.main(bad_value | {"DATABASE_SSL_CA_FILE": "/wr0ng", "LOG_LEVEL": "warn"}, "json") == 2
    )
    output, errors = capsys.readouterr()
    assert "wr0ng" not in output
    assert errors == ""
    result = json.loads(output)
    assert set(result) == {"ok", "options", "provider", "risks", "problems"}
    assert result["ok"] is False
    assert result["problems"][0] == {
        "variable": "HTTP_PORT",
        "message": "HTTP_PORT: expected a whole number from 0 to 65535, for example 4242",
        "expected": "a whole number from 0 to 65535",
        "example": "4242",
    }
    by_path = {row["option"]: row for row in result["options"]}
    invalid = {path for path, row in by_path.items() if not row["valid"]}
    assert invalid == {
        "server.port",
        "session.ttlHours",
        "authentication.initApiTokens",
        "db.ssl",
    }
    assert all(by_path[path]["value"] is None for path in invalid)
    assert by_path["logLevel"]["value"] == "warn"
    assert "server.port" not in {risk["option"] for risk in result["risks"]}


def test_wrong_values_are_reported_as_text_with_the_lines_of_the_start(capsys):
    assert check.main({"HTTP_PORT": "wr0ng", "SERVICE_URL": "wr0ng"}) == 2
    output, errors = capsys.readouterr()
    assert "wr0ng" not in output + errors
    assert displayed(output.splitlines(), "server.port")[0].split() == ["server.port", "(invalid)"]
    assert [line.split(":")[1].strip() for line in errors.splitlines()] == [
        "HTTP_PORT",
        "SERVICE_URL",
    ]


def test_warnings_are_among_the_risks(printed):
    assert "DATABASE_HOSTNAME" in printed({"DATABASE_HOSTNAME": "x"})
    assert "DATABASE_HOSTNAME" in printed({"DATABASE_HOSTNAME": "x"}, "json")
