"""The database: found by URL, file, parts or code; who is heard first; what is refused."""

from __future__ import annotations

from collections.abc import Callable

from tests.server.process import Process, until
from tests.spec.database_site import CODE, PARTS, files, old_server, site, standby
from tests.spec.kit import Asked, Row

COLUMNS = {"db.user": "usename", "db.database": "datname", "db.applicationName": "application_name"}
PASSWORD = {"DATABASE_PASSWORD": "hunter2"}


def refusal(process: Process, code: int = 1) -> str:
    """The last line of one that ends by itself with this exit code, and says no secret."""
    assert process.wait(20) == code, process.stderr
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
    _refused_by_name(asked, "?sslmode=prefer", "sslmode=prefer is not supported")
    _refused_by_name(asked, "?sslmode=allow", "sslmode=allow is not supported")
    place = asked.services.once(site)
    started = [
        place.starting({"DATABASE_SSL": text, "DATABASE_HOST": "127.0.0.1"})
        for text in ("prefer", '{"sslmode": "prefer"}')
    ]
    for process in started:
        assert refusal(process, 2).startswith("sigservice: DATABASE_SSL: expected false, true or")


def several_hosts(asked: Asked) -> None:
    _refused_by_name(asked, ",127.0.0.2/app", "several hosts are not supported")
    place = asked.services.once(site)
    by_parts = place.starting(PASSWORD | {"DATABASE_HOST": "127.0.0.1,127.0.0.2"})
    in_code = place.starting(PASSWORD, {"db": {"host": "127.0.0.1,127.0.0.2"}})
    assert "DATABASE_HOST: expected one host" in refusal(by_parts, 2)
    assert "db.host (in code): expected one host" in refusal(in_code, 1)  # of the program


def _refused_by_name(asked: Asked, end: str, says: str) -> None:
    """In the URL and the file, in the form of a URL and in that of keys and values."""
    place = asked.services.once(site)
    wrong = f"postgres://app:hunter2@127.0.0.1{end}"
    keys = {"?": f"host=127.0.0.1 {end[1:]}", ",": "host=127.0.0.1,127.0.0.2"}[end[0]]
    with files(url=wrong + "\n") as paths:
        started = {
            "DATABASE_URL": [place.starting({"DATABASE_URL": text}) for text in (wrong, keys)],
            "DATABASE_URL_FILE": [place.starting({"DATABASE_URL_FILE": paths["url"]})],
        }
        for name, processes in started.items():
            for process in processes:
                line = refusal(process, 2)
                assert line.startswith(f"sigservice: {name}: ")
                assert says in line


def wrong_password(asked: Asked) -> None:
    """At once: time does not mend it."""
    place = asked.services.once(site)
    parts = PARTS | {"DATABASE_HOST": "127.0.0.1", "DATABASE_PORT": str(place.server.port)}
    by_parts = place.starting(parts | PASSWORD)
    by_url = place.starting({"DATABASE_URL": place.by_url("app").replace("@", ":hunter2x@")})
    for process in (by_parts, by_url):
        assert "password authentication failed" in refusal(process)
        assert len(process.stderr.splitlines()) == 1


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
    started = {says: place.starting(PASSWORD | environ) for says, environ in environs.items()}
    with old_server(place.server) as old_port:
        old = place.by_url("app").replace(str(place.server.port), str(old_port))
        started["is PostgreSQL 13; 14 or newer is needed"] = place.starting(
            PASSWORD | {"DATABASE_URL": old}
        )
        for says, process in started.items():
            assert says in refusal(process), process.stderr
            assert len(process.stderr.splitlines()) == 1


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
    until(lambda: not lonely.is_running(), "the end of the service without a database", 35)
    assert "The database is not reached after 30 s: connection to server at" in refusal(lonely)
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
