"""What a connection string means: its forms, its TLS words, what is refused and what is kept."""

from __future__ import annotations

import pytest

from sigservice.config import load_config
from sigservice.config.database import parse_url
from tests.config.kit import PEM, PEM_FILE, problems
from tests.table_tests import each

UNVERIFIED = {"rejectUnauthorized": False}


def line_for(url):
    """The one line that refuses this connection string."""
    (line,) = problems({"databaseUrl": url}, {})
    assert line.startswith("databaseUrl")
    (line,) = problems(None, {"DATABASE_URL": url})
    assert line.startswith("DATABASE_URL: ")
    return line


@each(
    "url",
    [
        "postgres://ada:pass@db.example:6432/flags",
        "postgresql://ada:pass@db.example:6432/flags",
        "postgresql://db.example:6432/flags?user=ada&password=pass",
        "host=db.example port=6432 user=ada password=pass dbname=flags",
        "host = db.example port='6432' user=ada password='pass' dbname=flags",
    ],
)
def test_these_forms_of_a_connection_string_mean_the_same(url):
    assert parse_url(url) == {
        "user": "ada",
        "password": "pass",
        "host": "db.example",
        "port": 6432,
        "database": "flags",
    }


def test_what_is_absent_or_empty_is_not_named():
    assert parse_url("postgres://db.example") == {"host": "db.example"}
    assert parse_url("postgres://:@db.example:/") == {"host": "db.example"}


@each(
    "url key value",
    [
        ("postgres://ada:p%40ss%2Fw%3A%3F%23@h/d", "password", "p@ss/w:?#"),
        ("postgres://ada:p+w@h/d", "password", "p+w"),
        ("postgres://ada:50%25@h/d", "password", "50%"),
        ("postgres://ada:p\uff1aw@h/d", "password", "p\uff1aw"),
        ("postgres://ada:p\u2100w@h/d", "password", "p\u2100w"),
        ("postgres://ada:p?w@h/d", "password", "p?w"),
        ("postgres://a%20da:p@h/d", "user", "a da"),
        ("postgres://a:p@h/my%20flags", "database", "my flags"),
        ("postgres://a:p@[::1]:77/d", "host", "::1"),
        ("postgres://a:p@%2Frun%2Fpg/d", "host", "/run/pg"),
        ("postgres:///d?host=/run/pg", "host", "/run/pg"),
        ("postgres:///flags", "database", "flags"),
        ("postgres://h/d?application_name=flags", "applicationName", "flags"),
        ("postgres://h/d?application_name=my%20flags", "applicationName", "my flags"),
        ("postgres://h/d?application_name=a%2Bb", "applicationName", "a+b"),
        ("postgres://h/d?sslmode=disable&application_name=%C3%BC", "applicationName", "ü"),
        ("host=h password='a://b?c=d e' dbname=d", "password", "a://b?c=d e"),
    ],
)
def test_every_part_is_read_as_libpq_reads_it(url, key, value):
    assert parse_url(url)[key] == value


@each(
    "query ssl",
    [
        ("sslmode=disable", False),
        ("sslmode=no-verify", UNVERIFIED),
        ("sslmode=require", UNVERIFIED),
        ("sslmode=verify-full", {"rejectUnauthorized": True}),
        ("ssl=true", UNVERIFIED),
        ("ssl=1", UNVERIFIED),
        ("ssl=false", False),
        ("ssl=0", False),
        ("ssl=true&sslmode=verify-full", {"rejectUnauthorized": True}),
    ],
)
def test_the_url_says_whether_tls_is_needed(query, ssl):
    assert parse_url(f"postgres://h/d?{query}")["ssl"] == ssl
    assert load_config(None, {"DATABASE_URL": f"postgres://h/d?{query}"}).config["db"]["ssl"] == ssl


@pytest.mark.parametrize("mode", ["disable", "no-verify", "require", "verify-full"])
def test_both_forms_of_a_connection_string_know_the_same_modes(mode):
    assert (
        parse_url(f"host=h sslmode={mode}")["ssl"]
        == parse_url(f"postgres://h?sslmode={mode}")["ssl"]
    )


def test_verify_full_checks_the_chain_and_the_host_by_the_file():
    ssl = parse_url(f"postgres://h/d?sslmode=verify-full&sslrootcert={PEM_FILE}")["ssl"]
    assert ssl["rejectUnauthorized"] is True
    assert ssl["ca"] == PEM
    assert ssl.get("checkHost", True) is True


def test_verify_ca_checks_the_chain_and_not_the_host():
    ssl = parse_url(f"postgres://h/d?sslmode=verify-ca&sslrootcert={PEM_FILE}")["ssl"]
    assert ssl["rejectUnauthorized"] is True
    assert ssl["ca"] == PEM
    assert ssl["checkHost"] is False


@pytest.mark.parametrize("root", ["", "&sslrootcert=system"])
def test_verify_ca_needs_a_ca_for_libpq_refuses_it_without(root):
    assert "verify-ca" in line_for(f"postgres://h/d?sslmode=verify-ca{root}")


def test_the_files_of_the_url_are_read():
    files = f"sslrootcert={PEM_FILE}&sslcert={PEM_FILE}&sslkey={PEM_FILE}"
    ssl = parse_url(f"postgres://h/d?sslmode=verify-full&{files}")["ssl"]
    assert ssl == {"rejectUnauthorized": True, "ca": PEM, "cert": PEM, "key": PEM}


def test_the_systems_certificates_are_no_file():
    ssl = parse_url("postgres://h/d?sslmode=verify-full&sslrootcert=system")["ssl"]
    assert ssl == {"rejectUnauthorized": True}


@pytest.mark.parametrize("name", ["sslrootcert", "sslcert", "sslkey"])
def test_a_file_that_can_not_be_read_is_a_start_error(name):
    line = line_for(f"postgres://h/d?sslmode=verify-full&{name}=/nonexistent/wr0ng")
    assert name in line
    assert "wr0ng" not in line


def test_certificates_of_a_connection_without_tls_are_no_silent_miss():
    assert line_for(f"postgres://h/d?sslrootcert={PEM_FILE}")


@pytest.mark.parametrize("mode", ["prefer", "allow"])
def test_a_mode_that_may_end_without_tls_is_refused_by_name(mode):
    for url in (f"postgres://a:hunter2@h/d?sslmode={mode}", f"host=h sslmode={mode}"):
        line = line_for(url)
        assert mode in line
        assert "sslmode" in line
        assert "hunter2" not in line


@pytest.mark.parametrize("query", ["sslmode=wr0ng", "sslmode=REQUIRE", "ssl=perhaps"])
def test_a_wrong_word_about_tls_is_refused(query):
    assert line_for(f"postgres://h/d?{query}")


@pytest.mark.parametrize("word", ["no", "off"])
def test_a_no_to_tls_never_means_yes(word):
    try:
        assert parse_url(f"postgres://h/d?ssl={word}")["ssl"] is False
    except ValueError:
        pass  # refused is as good


@each(
    "url",
    [
        "postgres://a:hunter2@h1.example,h2.example/d",
        "postgres://a:hunter2@h1.example:1,h2.example:2/d",
        "postgres://a:hunter2@/d?host=h1,h2",
        "postgres://a:hunter2@h/d?hostaddr=10.0.0.1,10.0.0.2",
        "postgres://a:hunter2@h/d?port=1,2",
        "host=h1,h2 password=hunter2",
        "host=h port=1,2 password=hunter2",
    ],
)
def test_several_hosts_without_the_attribute_are_refused(url):
    line = line_for(url)
    assert "several hosts are supported only with target_session_attrs=read-write" in line
    assert "hunter2" not in line


@each(
    "url expected",
    [
        ("postgres://h1.example,h2.example/d?", {"host": "h1.example,h2.example"}),
        ("postgres://h1:5,h2:5/d?", {"host": "h1,h2", "port": 5}),
        ("postgres://h1:5,h2:6/d?", {"host": "h1:5,h2:6"}),
        ("postgres://h1,h2:6/d?", {"host": "h1:5432,h2:6"}),
        ("postgres://[::1]:5,h2:6/d?", {"host": "[::1]:5,h2:6"}),
        ("postgres:///d?host=h1,h2&port=7&", {"host": "h1,h2", "port": 7}),
        ("postgres://h/d?", {"host": "h"}),
    ],
)
def test_the_attribute_allows_several_hosts(url, expected):
    for attribute in ("read-write", "primary"):
        settings = parse_url(f"{url}target_session_attrs={attribute}")
        assert settings == {"database": "d"} | expected


@each(
    "url reason",
    [
        ("postgres://h1,h2:0/d?target_session_attrs=read-write", "port"),
        ("postgres://h1,h2/d?port=1,2,3&target_session_attrs=read-write", "one port, or one each"),
        ("postgres://h1,/d?target_session_attrs=read-write", "hosts"),
        ("postgres:///d?host=h1,/tmp&target_session_attrs=read-write", "unix socket"),
        ("postgres://h1,h2/d?hostaddr=::1,::2&target_session_attrs=read-write", "hostaddr"),
        ("postgres://h1,h2/d?target_session_attrs=any", "read-write"),
        ("postgres://h1/d?target_session_attrs=standby", "read-write"),
    ],
)
def test_wrong_hosts_are_refused(url, reason):
    assert reason in line_for(url.replace("://", "://ada:hunter2@"))
    assert "hunter2" not in line_for(url.replace("://", "://ada:hunter2@"))


@each("port", ["0", "65536", "-1", "many", "99999999999999999999"])
def test_a_wrong_port_is_refused(port):
    line = line_for(f"host=h password=hunter2 port={port}")
    assert "port" in line
    assert "hunter2" not in line


@each("name", ["options", "gssencmode", "passfile", "service", "sslpassword"])
def test_a_parameter_that_would_be_ignored_is_refused_by_name(name):
    for url in (f"postgres://h/d?{name}=hunter2", f"host=h {name}=hunter2"):
        line = line_for(url)
        assert name in line
        assert "hunter2" not in line


@pytest.mark.parametrize(
    "url", ["postgres://h/d?pgbouncer=true", "postgres://h/d?schema=x", "host=h schema=x"]
)
def test_a_parameter_unknown_to_libpq_is_refused(url):
    assert line_for(url)


@each(
    "url",
    [
        "hunter2",
        "mysql://a:hunter2@h/d",
        "https://a:hunter2@h/d",
        "jdbc:postgresql://h/d?password=hunter2",
        "postgres://a:hunter2@[::1/d",
        "postgres://a:hun%2ter2@h/d",
        "host=h password='hunter2",
        "postgres://a:b@h/d?sslmode=require;password=hunter2",
        "postgres://a:b@h/d?sslmode=hunter2",
    ],
)
def test_what_is_no_connection_string_is_refused_without_being_shown(url):
    assert "hun" not in line_for(url)


def test_connection_settings_of_the_url_are_kept():
    config = load_config(None, {"DATABASE_URL": "postgres://h/d?connect_timeout=9"}).config
    assert config["db"]["extra"] == {"connect_timeout": "9"}
