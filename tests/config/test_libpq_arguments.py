"""The database block as libpq's arguments; libpq itself is asked whether it takes them."""

from __future__ import annotations

from pathlib import Path

import psycopg2
import pytest

from sigservice.config import load_config
from sigservice.config.database import build_libpq_arguments
from tests.config.kit import PEM, PEM_FILE

NOWHERE = {"DATABASE_HOST": "127.0.0.1", "DATABASE_PORT": "1"}  # nobody listens there


@pytest.fixture
def arguments(tmp_path):
    """libpq's arguments for these variables; PEM text goes to files below tmp_path."""

    def write_pem(name, text):
        path = tmp_path / f"{name}.pem"
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)
        return str(path)

    def make(environ=None, options=None):
        return build_libpq_arguments(load_config(options, environ or {}).config["db"], write_pem)

    return make


def refusal(arguments):
    with pytest.raises(psycopg2.OperationalError) as caught:
        psycopg2.connect(**arguments)
    return str(caught.value)


def test_the_place_and_the_name_are_passed_on(arguments):
    environ = {
        "DATABASE_USERNAME": "ada",
        "DATABASE_PASSWORD": "hunter2",
        "DATABASE_HOST": "db.example",
        "DATABASE_PORT": "6432",
        "DATABASE_NAME": "flags",
        "DATABASE_APPLICATION_NAME": "my flags",
    }
    expected = {
        "user": "ada",
        "password": "hunter2",
        "host": "db.example",
        "port": 6432,
        "dbname": "flags",
        "application_name": "my flags",
    }
    assert expected.items() <= arguments(environ).items()


def test_the_defaults_are_those_of_the_specification(arguments):
    expected = {
        "user": "service_user",
        "host": "localhost",
        "port": 5432,
        "dbname": "service",
        "application_name": "service",
        "sslmode": "disable",
    }
    result = arguments()
    assert expected.items() <= result.items()
    assert result["password"]


def test_without_tls_no_tls_is_tried(arguments):
    for environ in ({}, {"DATABASE_SSL": "false"}, {"DATABASE_URL": "postgres://h?ssl=false"}):
        assert arguments(environ)["sslmode"] == "disable"


@pytest.mark.parametrize(
    "environ",
    [
        {"DATABASE_SSL": '{"rejectUnauthorized": false}'},
        {"DATABASE_SSL_REJECT_UNAUTHORIZED": "false"},
        {"DATABASE_SSL_CA_FILE": PEM_FILE},
        {"DATABASE_SSL_CA_FILE": PEM_FILE, "DATABASE_SSL_REJECT_UNAUTHORIZED": "false"},
        {"DATABASE_URL": "postgres://h?sslmode=require"},
        {"DATABASE_URL": f"postgres://h?sslmode=no-verify&sslrootcert={PEM_FILE}"},
    ],
)
def test_unverified_tls_names_a_ca_file_that_does_not_exist(arguments, environ):
    result = arguments(environ)
    assert result["sslmode"] == "require"
    assert result["sslrootcert"].startswith("/")  # "" would read ~/.postgresql/root.crt
    assert not Path(result["sslrootcert"]).exists()


@pytest.mark.parametrize(
    "environ",
    [
        {"DATABASE_SSL": "true"},
        {"DATABASE_SSL": "{}"},
        {"DATABASE_SSL_REJECT_UNAUTHORIZED": "true"},
        {"DATABASE_URL": "postgres://h?sslmode=verify-full"},
        {"DATABASE_URL": "postgres://h?sslmode=verify-full&sslrootcert=system"},
    ],
)
def test_verified_tls_without_a_ca_trusts_the_systems(arguments, environ, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(PEM_FILE))
    result = arguments(environ)
    assert (result["sslmode"], result["sslrootcert"]) == ("verify-full", str(PEM_FILE))


@pytest.mark.parametrize(
    "environ",
    [
        {"DATABASE_SSL_CA_FILE": PEM_FILE, "DATABASE_SSL_REJECT_UNAUTHORIZED": "true"},
        {"DATABASE_URL": f"postgres://h?sslmode=verify-full&sslrootcert={PEM_FILE}"},
    ],
)
def test_verified_tls_with_a_ca_checks_the_chain_and_the_host(arguments, environ):
    result = arguments(environ)
    assert result["sslmode"] == "verify-full"
    assert Path(result["sslrootcert"]).read_text(encoding="utf-8") == PEM


def test_verify_ca_leaves_the_host_alone(arguments):
    result = arguments({"DATABASE_URL": f"postgres://h?sslmode=verify-ca&sslrootcert={PEM_FILE}"})
    assert result["sslmode"] == "verify-ca"
    assert Path(result["sslrootcert"]).read_text(encoding="utf-8") == PEM


def test_a_client_certificate_is_sent_whether_the_server_is_verified_or_not(arguments):
    for word in ("true", "false"):
        environ = {
            "DATABASE_SSL_CERT_FILE": PEM_FILE,
            "DATABASE_SSL_KEY_FILE": PEM_FILE,
            "DATABASE_SSL_REJECT_UNAUTHORIZED": word,
        }
        result = arguments(environ)
        for name in ("sslcert", "sslkey"):
            assert Path(result[name]).read_text(encoding="utf-8") == PEM


@pytest.mark.parametrize("text", ["true", '{"rejectUnauthorized": false}'])
def test_without_a_client_certificate_none_is_found_by_chance(arguments, text):
    result = arguments({"DATABASE_SSL": text})
    for name in ("sslcert", "sslkey"):
        assert result[name].startswith("/")  # "" would read ~/.postgresql/postgresql.crt
        assert not Path(result[name]).exists()


TLS = [
    {},
    {"DATABASE_SSL": "true"},
    {"DATABASE_SSL": '{"rejectUnauthorized": false}'},
    {"DATABASE_SSL_CA_FILE": PEM_FILE},
    {"DATABASE_SSL_CA_FILE": PEM_FILE, "DATABASE_SSL_REJECT_UNAUTHORIZED": "true"},
    {"DATABASE_SSL_CERT_FILE": PEM_FILE, "DATABASE_SSL_KEY_FILE": PEM_FILE},
    {"DATABASE_URL": "postgres://127.0.0.1?sslmode=require"},
    {"DATABASE_URL": "postgres://127.0.0.1?sslmode=verify-full"},
    {"DATABASE_URL": f"postgres://127.0.0.1?sslmode=verify-ca&sslrootcert={PEM_FILE}"},
]


@pytest.mark.parametrize("tls", TLS, ids=str)
def test_libpq_takes_the_arguments_and_tries_the_place(arguments, tls):
    assert "Connection refused" in refusal(arguments(NOWHERE | tls))


@pytest.mark.parametrize("tls", [{}, {"DATABASE_SSL": "true"}], ids=["plain", "tls"])
@pytest.mark.parametrize(
    "variable",
    [
        "PGAPPNAME",
        "PGCHANNELBINDING",
        "PGCONNECT_TIMEOUT",
        "PGDATABASE",
        "PGGSSENCMODE",
        "PGHOST",
        "PGHOSTADDR",
        "PGLOADBALANCEHOSTS",
        "PGOPTIONS",
        "PGPASSWORD",
        "PGPORT",
        "PGREQUIREAUTH",
        "PGREQUIREPEER",
        "PGSSLCERTMODE",
        "PGSSLCRL",
        "PGSSLCRLDIR",
        "PGSSLMAXPROTOCOLVERSION",
        "PGSSLMINPROTOCOLVERSION",
        "PGSSLMODE",
        "PGSSLNEGOTIATION",
        "PGSSLROOTCERT",
        "PGSSLSNI",
        "PGTARGETSESSIONATTRS",
        "PGUSER",
    ],
)
def test_libpqs_own_variables_are_not_read(arguments, monkeypatch, variable, tls):
    result = arguments(NOWHERE | tls)
    expected = refusal(result)
    monkeypatch.setenv(variable, "127.0.0.9" if variable == "PGHOSTADDR" else "garbage")
    assert refusal(result) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("connect_timeout", "9"),
        ("hostaddr", "10.0.0.7"),
        ("keepalives", "0"),
        ("keepalives_idle", "77"),
        ("tcp_user_timeout", "4000"),
    ],
)
def test_connection_settings_of_the_url_reach_libpq(arguments, name, value):
    result = arguments({"DATABASE_URL": f"postgres://h/d?{name}={value}"})
    assert str(result[name]) == value


def test_only_a_server_that_takes_writes_is_connected(arguments):
    assert arguments()["target_session_attrs"] == "read-write"
