"""The database: found by URL, file, parts or code; who is heard first; what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.server.process import Process, until
from tests.spec.database_fixtures import (
    CODE,
    PARTS,
    open_site,
    run_old_server,
    run_standby,
    start_together,
    write_files,
)
from tests.spec.kit import Case, Row

# The columns of pg_stat_activity that tell a part.
COLUMNS = {
    "usename": "DATABASE_USERNAME",
    "datname": "DATABASE_NAME",
    "application_name": "DATABASE_APPLICATION_NAME",
}
PASSWORD = {"DATABASE_PASSWORD": "hunter2"}


def read_error(process: Process, code: int = 1) -> str:
    """The last line of a service that ends with this exit code; it contains no secret."""
    assert process.wait() == code, process.stderr
    assert "hunter2" not in process.stderr
    line = process.stderr.strip().splitlines()[-1]
    assert process.stderr.count("sigservice: ") == line.count("sigservice: ")
    return line


def check_part(case: Case) -> None:
    """What the sessions of the service say about themselves; the password is the role's."""
    site = case.services.open_once(open_site)
    assert case.request("GET", "/ready", service=site.service("environment")).status == 200
    variables = {case.row.variable, "DATABASE_USERNAME"}
    column = next(name for name in reversed(COLUMNS) if COLUMNS[name] in variables)
    others = {name: PARTS[variable] for name, variable in COLUMNS.items() if name != column}
    assert set(site.list_sessions(column, **others)) == {PARTS[COLUMNS[column]]}


def check_host(case: Case) -> None:
    """A folder by its socket."""
    site = case.services.open_once(open_site)
    assert f"PostgreSQL at {site.server.folder}:" in site.service("environment").stdout
    user = PARTS["DATABASE_USERNAME"]
    assert set(site.list_sessions("host(client_addr)", usename=user)) == {None}


def check_port(case: Case) -> None:
    site = case.services.open_once(open_site)
    assert f":{site.server.port}, " in site.service("environment").stdout


def check_schema(case: Case) -> None:
    site = case.services.open_once(open_site)
    site.service("environment")
    rows = site.server.ask(
        "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^(pg_|information_)'",
        database=PARTS["DATABASE_NAME"],
    )
    assert rows == [(PARTS["DATABASE_SCHEMA"],)]


def check_in_code_object(case: Case) -> None:
    """In code it beats the file, the URL and the parts, all four of them there."""
    site = case.services.open_once(open_site)
    with write_files(url=site.make_url("parts") + "\n") as paths:
        options = {
            "databaseUrl": site.make_url("parts"),
            "databaseUrlFile": paths["url"],
            "db": {"database": "app", "applicationName": "above all"},
        }
        environ = PASSWORD | {"DATABASE_NAME": "service"}
        service = site.start_service(environ, options).wait_for_address()
    assert set(site.list_sessions("datname", application_name="above all")) == {"app"}
    service.close()


def check_url(case: Case) -> None:
    """A URL beats the parts, which give what it lacks: here the password."""
    site = case.services.open_once(open_site)
    name = site.create_database("by url")
    url = site.make_url(name.replace(" ", "%20"), application_name="by%20url")
    environ = PASSWORD | {"DATABASE_NAME": "service", "DATABASE_URL": url}
    service = site.start_service(environ).wait_for_address()
    assert set(site.list_sessions("datname", application_name="by url")) == {name}
    service.close()


def check_url_file(case: Case) -> None:
    """A file beats the URL; an editor's last newline is no part of it."""
    site = case.services.open_once(open_site)
    name = site.create_database("by_file")
    with write_files(url=site.make_url(name, application_name="by%20file") + "\n") as paths:
        environ = PASSWORD | {"DATABASE_URL": site.make_url("service")}
        environ["DATABASE_URL_FILE"] = paths["url"]
        service = site.start_service(environ).wait_for_address()
    assert set(site.list_sessions("datname", application_name="by file")) == {name}
    service.close()


def check_in_code_precedence(case: Case) -> None:
    """Each value of the code's service has a variable beside it that says something else."""
    site = case.services.open_once(open_site)
    assert case.request("GET", "/ready", service=site.service("code")).status == 200
    assert set(site.list_sessions("datname", usename=CODE["user"])) == {CODE["database"]}
    assert CODE["database"] != PARTS["DATABASE_NAME"]


def check_sslmode_prefer(case: Case) -> None:
    site = case.services.open_once(open_site)
    process = site.start_service(
        {"DATABASE_URL": "postgres://app:hunter2@127.0.0.1?sslmode=prefer"}
    )
    line = read_error(process, 2)
    assert line.startswith("sigservice: DATABASE_URL: sslmode=prefer is not supported")
    with write_files(url="postgres://app:hunter2@127.0.0.1?sslmode=prefer\n") as paths:
        _check_config_errors(
            {
                "DATABASE_URL: sslmode=prefer is": {"DATABASE_URL": "host=a sslmode=prefer"},
                "DATABASE_URL: sslmode=allow is": {"DATABASE_URL": "postgres://a?sslmode=allow"},
                "DATABASE_URL_FILE: sslmode=prefer is": {"DATABASE_URL_FILE": paths["url"]},
                "DATABASE_SSL: it is not valid JSON; expected false, true": {
                    "DATABASE_SSL": "prefer"
                },
                "DATABASE_SSL: it has an unknown key; expected": {
                    "DATABASE_SSL": '{"sslmode": "prefer"}'
                },
                "databaseUrl (in code): sslmode=prefer is": {
                    "databaseUrl": "postgres://a?sslmode=prefer"
                },
            }
        )


def check_several_hosts(case: Case) -> None:
    with write_files(url="postgres://127.0.0.1:1,127.0.0.2:2/app\n") as paths:
        _check_config_errors(
            {
                "DATABASE_URL: several hosts": {
                    "DATABASE_URL": "postgres://app:hunter2@127.0.0.1,127.0.0.2/app"
                },
                "DATABASE_URL: several hosts are": {"DATABASE_URL": "host=127.0.0.1,127.0.0.2"},
                "DATABASE_URL_FILE: several hosts": {"DATABASE_URL_FILE": paths["url"]},
                "databaseUrl (in code): several hosts": {"databaseUrl": "postgres://a,b/app"},
            }
        )


def _check_config_errors(cases: Mapping[str, Mapping[str, Any]]) -> None:
    """By a line that begins so; a name in capitals is a variable's."""
    named_cases = {
        message: (case, {}) if next(iter(case)).isupper() else ({}, case)
        for message, case in cases.items()
    }
    with start_together(named_cases) as messages:
        for message in cases:
            assert messages[message].startswith(f"ConfigError: {message}")
            assert "\n" not in messages[message]


def check_wrong_password(case: Case) -> None:
    """At once: time does not mend it."""
    site = case.services.open_once(open_site)
    parts = PARTS | {"DATABASE_HOST": "127.0.0.1", "DATABASE_PORT": str(site.server.port)}
    by_url = {"DATABASE_URL": site.make_url("app").replace("@", ":hunter2x@")}
    with start_together({"by parts": (parts | PASSWORD, {}), "by url": (by_url, {})}) as messages:
        for line in messages.values():
            assert "password authentication failed" in line
            assert "\n" not in line


def check_unusable_servers(case: Case) -> None:
    """Read-only, a standby, without the right to create, too old: a line each, at once."""
    site = case.services.open_once(open_site)
    second = case.services.open_once(run_standby, site.server)
    empty = {"DATABASE_URL": site.make_url(site.create_database("empty"), "may not")}
    on_standby = site.make_url("app").replace(str(site.server.port), str(second.port))
    environs = {
        "read-only": {"DATABASE_URL": site.make_url("app", "reads")},
        "a standby?": {"DATABASE_URL": on_standby},
        "permission denied for database": empty | {"DATABASE_SCHEMA": "elsewhere"},
        "permission denied for schema public": empty,
    }
    with run_old_server(site.server) as old_port:
        old = site.make_url("app").replace(str(site.server.port), str(old_port))
        environs["is PostgreSQL 13, but must be 14 or newer"] = {"DATABASE_URL": old}
        cases = {message: (PASSWORD | environ, {}) for message, environ in environs.items()}
        with start_together(cases) as messages:
            for message in cases:
                assert messages[message].startswith("StartError: ")
                assert message in messages[message]
                assert "\n" not in messages[message]


def check_two_schemas(case: Case) -> None:
    """Two services in one database know nothing of each other, their signals least of all."""
    site = case.services.open_once(open_site)
    name = site.create_database("pair")
    environ = PASSWORD | {"DATABASE_URL": site.make_url(name)}
    started = [
        site.start_service(environ | {"DATABASE_SCHEMA": text}) for text in ("one two", 'say "hi"')
    ]
    one, other = (process.wait_for_address() for process in started)
    endpoint = case.admin("POST", "/api/admin/signal-endpoints", {"name": "a"}, service=one)
    assert case.admin("GET", "/api/admin/signal-endpoints", service=other) == {
        "signalEndpoints": []
    }
    other_endpoint = case.admin("POST", "/api/admin/signal-endpoints", {"name": "a"}, service=other)
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
    token = case.admin("POST", path, {"name": "ci"}, service=one)["token"]
    signal = ("POST", "/api/signal-endpoint/a", {"of": "one"})
    assert case.request(*signal, token=f"Bearer {token}", service=one).status == 200
    assert case.request(*signal, token=f"Bearer {token}", service=other).status == 401
    schemas = [("one two", 1), ('say "hi"', 0)]
    for schema_name, count in schemas:
        quoted = schema_name.replace('"', '""')
        rows = site.server.ask(f'SELECT count(*) FROM "{quoted}".signals', database=name)
        assert rows == [(count,)]
    assert other_endpoint["name"] == "a"
    for process in (one, other):
        process.close()


def check_concurrent_starts(case: Case) -> None:
    """Several services, one empty database: it is migrated and filled once."""
    site = case.services.open_once(open_site)
    name = site.create_database("at_once")
    environ = PASSWORD | {"DATABASE_URL": site.make_url(name)}
    started = [site.start_service(environ) for _ in range(3)]
    for process in started:
        process.wait_for_address()
        assert case.request("GET", "/ready", service=process).status == 200
    ((users, tokens),) = site.server.ask(
        "SELECT (SELECT count(*) FROM users WHERE username = 'admin'),"
        " (SELECT count(*) FROM api_tokens)",
        database=name,
    )
    assert (users, tokens) == (1, 1)
    for process in started:
        process.close()


def check_unavailable_database(case: Case) -> None:
    """Tried for 30 s, from the site's first moment on."""
    lonely = case.services.open_once(open_site).lonely
    until(lambda: not lonely.is_running(), "the end of the service without a database")
    assert "Can't reach the database within 30 s: connection to server at" in read_error(lonely)
    assert len(lonely.stderr.splitlines()) == 2
    assert "waiting for the database: connection to" in lonely.stderr


ROWS = (
    *(
        Row(f"db.{name}", check, f"DATABASE_{variable}", alone=True)
        for name, check, variable in (
            ("user", check_part, "USERNAME"),
            ("password", check_part, "PASSWORD"),
            ("database", check_part, "NAME"),
            ("applicationName", check_part, "APPLICATION_NAME"),
            ("host", check_host, "HOST"),
            ("schema", check_schema, "SCHEMA"),
            ("port", check_port, "PORT"),
        )
    ),
    Row("db", check_in_code_object, code=CODE, alone=True),
    Row("databaseUrl", check_url, "DATABASE_URL", alone=True),
    Row("databaseUrlFile", check_url_file, "DATABASE_URL_FILE", alone=True),
    Row(
        "options: in-code values take precedence over the environment",
        check_in_code_precedence,
        alone=True,
    ),
    Row("database: sslmode=prefer is refused", check_sslmode_prefer, alone=True),
    Row("database: several hosts are refused", check_several_hosts, alone=True),
    Row("db.password", check_wrong_password, alone=True),
    Row("db", check_unusable_servers, alone=True),
    Row("db.schema", check_two_schemas, alone=True),
    Row("db", check_concurrent_starts, alone=True),
)
LAST = (Row("db.host", check_unavailable_database, alone=True),)  # waits while the others are asked
