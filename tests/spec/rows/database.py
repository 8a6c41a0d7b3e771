"""The database: found by URL, file, parts or code; who is heard first; what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.server.process import Process, until
from tests.spec.database_site import CODE, PARTS, files, old_server, site, standby, together
from tests.spec.kit import Asked, Row

COLUMNS = {"db.user": "usename", "db.database": "datname", "db.applicationName": "application_name"}
PASSWORD = {"DATABASE_PASSWORD": "hunter2"}


def refusal(process: Process, code: int = 1) -> str:
    """The last line of one that ends by itself with this exit code, and says no secret."""
    assert process.wait() == code, process.stderr
    assert "hunter2" not in process.stderr
    line = process.stderr.strip().splitlines()[-1]
    assert process.stderr.count("sigservice: ") == line.count("sigservice: ")
    return line


def part(asked: Asked) -> None:
    """What the sessions of the way's service say about themselves; the password is each role's."""
    place = asked.services.once(site)
    assert asked.ask("GET", "/ready", service=place.service(asked.way)).status == 200
    expected = {column: _row(asked, name).expected(asked.way) for name, column in COLUMNS.items()}
    column = COLUMNS.get(asked.row.name, "usename")
    others = {name: text for name, text in expected.items() if name != column}
    assert set(place.sessions(column, **others)) == {expected[column]}


def host(asked: Asked) -> None:
    """The name of the default by TCP, a folder by its socket."""
    place = asked.services.once(site)
    service = place.service(asked.way)
    name = str(place.server.folder) if asked.way == "environment" else asked.value
    assert f"PostgreSQL at {name}:" in service.stdout
    user = _row(asked, "db.user").expected(asked.way)
    address = None if asked.way == "environment" else "127.0.0.1"
    assert set(place.sessions("host(client_addr)", usename=user)) == {address}


def port(asked: Asked) -> None:
    place = asked.services.once(site)
    if asked.way == "default":  # a socket's name has the port
        environ = asked.services.basis()
        del environ["DATABASE_PORT"]
        assert ":5432, " in place.starting(environ).await_address().stdout
    else:  # in code it stands above a wrong variable
        assert f":{place.server.port}, " in place.service(asked.way).stdout


def schema(asked: Asked) -> None:
    place = asked.services.once(site)
    place.service(asked.way)
    database = _row(asked, "db.database").expected(asked.way)
    found = place.server.ask(
        "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^(pg_|information_)'",
        database=database,
    )
    assert found == [(asked.value,)]


def the_object(asked: Asked) -> None:
    """In code it beats the file, the URL and the parts, all four of them there."""
    place = asked.services.once(site)
    with files(url=place.by_url("parts") + "\n") as paths:
        options = {
            "databaseUrl": place.by_url("parts"),
            "databaseUrlFile": paths["url"],
            "db": {"database": "app", "applicationName": "above all"},
        }
        environ = PASSWORD | {"DATABASE_NAME": "service"}
        service = place.starting(environ, options).await_address()
    assert set(place.sessions("datname", application_name="above all")) == {"app"}
    service.close()


def url(asked: Asked) -> None:
    """A URL beats the parts, which give what it lacks: here the password."""
    place = asked.services.once(site)
    name = place.new_database(f"url {asked.way}")
    right = place.by_url(name.replace(" ", "%20"), application_name="by%20url")
    environ = PASSWORD | {"DATABASE_NAME": "service", "DATABASE_URL": right}
    options = {}
    if asked.way == "code":
        environ["DATABASE_URL"], options = place.by_url("service"), {"databaseUrl": right}
    service = place.starting(environ, options).await_address()
    assert set(place.sessions("datname", application_name="by url")) == {name}
    service.close()


def url_file(asked: Asked) -> None:
    """A file beats the URL; an editor's last newline is no part of it."""
    place = asked.services.once(site)
    name = place.new_database(f"file_{asked.way}")
    right = place.by_url(name, application_name="by%20file") + "\n"
    with files(right=right, wrong=place.by_url("service")) as paths:
        environ = PASSWORD | {"DATABASE_URL": place.by_url("service")}
        options = {}
        if asked.way == "code":
            environ["DATABASE_URL_FILE"] = paths["wrong"]
            options = {"databaseUrlFile": paths["right"], "databaseUrl": place.by_url("service")}
        else:
            environ["DATABASE_URL_FILE"] = paths["right"]
        service = place.starting(environ, options).await_address()
    assert set(place.sessions("datname", application_name="by file")) == {name}
    service.close()


def in_code_first(asked: Asked) -> None:
    """Each value of the code's service has a variable beside it that says something else."""
    place = asked.services.once(site)
    assert asked.ask("GET", "/ready", service=place.service("code")).status == 200
    assert set(place.sessions("datname", usename=CODE["user"])) == {CODE["database"]}
    assert CODE["database"] != PARTS["DATABASE_NAME"]
    both = {row.name for row in asked.rows if {"environment", "code"} <= set(row.ways)}
    assert len(both) > 10  # each of them is proven in code with its variable set


def preferring(asked: Asked) -> None:
    place = asked.services.once(site)
    process = place.starting({"DATABASE_URL": "postgres://app:hunter2@127.0.0.1?sslmode=prefer"})
    line = refusal(process, 2)
    assert line.startswith("sigservice: DATABASE_URL: sslmode=prefer is not supported")
    with files(url="postgres://app:hunter2@127.0.0.1?sslmode=prefer\n") as paths:
        _refused(
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


def several_hosts(asked: Asked) -> None:
    with files(url="postgres://127.0.0.1:1,127.0.0.2:2/app\n") as paths:
        _refused(
            {
                "DATABASE_URL: several hosts": {
                    "DATABASE_URL": "postgres://app:hunter2@127.0.0.1,127.0.0.2/app"
                },
                "DATABASE_URL: several hosts are": {"DATABASE_URL": "host=127.0.0.1,127.0.0.2"},
                "DATABASE_URL_FILE: several hosts": {"DATABASE_URL_FILE": paths["url"]},
                "DATABASE_HOST: several hosts": {"DATABASE_HOST": "127.0.0.1,127.0.0.2"},
                "db.host (in code): several hosts": {"db": {"host": "127.0.0.1,127.0.0.2"}},
                "databaseUrl (in code): several hosts": {"databaseUrl": "postgres://a,b/app"},
            }
        )


def _refused(cases: Mapping[str, Mapping[str, Any]]) -> None:
    """By a line that begins so; a name in capitals is a variable's."""
    given = {
        says: (case, {}) if next(iter(case)).isupper() else ({}, case)
        for says, case in cases.items()
    }
    with together(given) as said:
        for says in cases:
            assert said[says].startswith(f"ConfigError: {says}")
            assert "\n" not in said[says]


def wrong_password(asked: Asked) -> None:
    """At once: time does not mend it."""
    place = asked.services.once(site)
    parts = PARTS | {"DATABASE_HOST": "127.0.0.1", "DATABASE_PORT": str(place.server.port)}
    by_url = {"DATABASE_URL": place.by_url("app").replace("@", ":hunter2x@")}
    with together({"by parts": (parts | PASSWORD, {}), "by url": (by_url, {})}) as said:
        for line in said.values():
            assert "password authentication failed" in line
            assert "\n" not in line


def not_usable(asked: Asked) -> None:
    """Read-only, a standby, without the right to create, too old: a line each, at once."""
    place = asked.services.once(site)
    second = asked.services.once(standby, place.server)
    empty = {"DATABASE_URL": place.by_url(place.new_database("empty"), "may not")}
    on_standby = place.by_url("app").replace(str(place.server.port), str(second.port))
    environs = {
        "read-only": {"DATABASE_URL": place.by_url("app", "reads")},
        "a standby?": {"DATABASE_URL": on_standby},
        "permission denied for database": empty | {"DATABASE_SCHEMA": "elsewhere"},
        "permission denied for schema public": empty,
    }
    with old_server(place.server) as old_port:
        old = place.by_url("app").replace(str(place.server.port), str(old_port))
        environs["is PostgreSQL 13; 14 or newer is needed"] = {"DATABASE_URL": old}
        cases = {says: (PASSWORD | environ, {}) for says, environ in environs.items()}
        with together(cases) as said:
            for says in cases:
                assert said[says].startswith("StartError: The database ")
                assert says in said[says]
                assert "\n" not in said[says]


def two_schemas(asked: Asked) -> None:
    """Two services in one database know nothing of each other, their signals least of all."""
    place = asked.services.once(site)
    name = place.new_database("pair")
    environ = PASSWORD | {"DATABASE_URL": place.by_url(name)}
    started = [
        place.starting(environ | {"DATABASE_SCHEMA": text}) for text in ("one two", 'say "hi"')
    ]
    one, other = (process.await_address() for process in started)
    endpoint = asked.admin("POST", "/api/admin/signal-endpoints", {"name": "a"}, service=one)
    assert asked.admin("GET", "/api/admin/signal-endpoints", service=other) == {
        "signalEndpoints": []
    }
    again = asked.admin("POST", "/api/admin/signal-endpoints", {"name": "a"}, service=other)
    path = f"/api/admin/signal-endpoints/{endpoint['id']}/tokens"
    token = asked.admin("POST", path, {"name": "ci"}, service=one)["token"]
    signal = ("POST", "/api/signal-endpoint/a", {"of": "one"})
    assert asked.ask(*signal, token=f"Bearer {token}", service=one).status == 200
    assert asked.ask(*signal, token=f"Bearer {token}", service=other).status == 401
    schemas = [("one two", 1), ('say "hi"', 0)]
    for schema_name, count in schemas:
        quoted = schema_name.replace('"', '""')
        found = place.server.ask(f'SELECT count(*) FROM "{quoted}".signals', database=name)
        assert found == [(count,)]
    assert again["name"] == "a"
    for process in (one, other):
        process.close()


def at_once(asked: Asked) -> None:
    """Several services, one empty database: it is migrated and filled once."""
    place = asked.services.once(site)
    name = place.new_database("at_once")
    environ = PASSWORD | {"DATABASE_URL": place.by_url(name)}
    started = [place.starting(environ) for _ in range(3)]
    for process in started:
        process.await_address()
        assert asked.ask("GET", "/ready", service=process).status == 200
    ((users, tokens),) = place.server.ask(
        "SELECT (SELECT count(*) FROM users WHERE username = 'admin'),"
        " (SELECT count(*) FROM api_tokens)",
        database=name,
    )
    assert (users, tokens) == (1, 1)
    for process in started:
        process.close()


def never_there(asked: Asked) -> None:
    """Tried for 30 s, from the site's first moment on."""
    lonely = asked.services.once(site).lonely
    until(lambda: not lonely.is_running(), "the end of the service without a database")
    assert "Can't reach the database within 30 s: connection to server at" in refusal(lonely)
    assert len(lonely.stderr.splitlines()) == 2
    assert "waiting for the database: connection to" in lonely.stderr


def _row(asked: Asked, name: str) -> Row:
    return next(row for row in asked.rows if row.name == name and row.check is part)


def _part(name: str, check: Callable[[Asked], None], default: str, key: str) -> Row:
    variable = {"user": "USERNAME", "database": "NAME", "applicationName": "APPLICATION_NAME"}
    variable_name = "DATABASE_" + variable.get(key, key.upper())
    text = PARTS.get(variable_name, "(its folder)")
    return Row(name, check, variable_name, default, text, code=CODE[key], alone=True)


ROWS = (
    _part("db.user", part, "service_user", "user"),
    _part("db.password", part, "service_password", "password"),
    _part("db.database", part, "service", "database"),
    _part("db.applicationName", part, "service", "applicationName"),
    _part("db.host", host, "localhost", "host"),
    _part("db.schema", schema, "public", "schema"),
    Row("db.port", port, "DATABASE_PORT", 5432, "(the server's)", code="(the same)", alone=True),
    Row("db", the_object, code=CODE, alone=True),
    Row("databaseUrl", url, "DATABASE_URL", text="(made)", code="(made)", alone=True),
    Row("databaseUrlFile", url_file, "DATABASE_URL_FILE", text="(made)", code="(made)", alone=True),
    Row("options: in-code values take precedence over the environment", in_code_first, alone=True),
    Row("database: sslmode=prefer is refused", preferring, alone=True),
    Row("database: several hosts are refused", several_hosts, alone=True),
    Row("db.password", wrong_password, alone=True),
    Row("db", not_usable, alone=True),
    Row("db.schema", two_schemas, alone=True),
    Row("db", at_once, alone=True),
)
LAST = (Row("db.host", never_there, alone=True),)  # waits while the others are asked
