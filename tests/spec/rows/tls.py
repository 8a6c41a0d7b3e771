"""TLS to the database, in each form that says so; the server itself tells whether it is used."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.spec.database_fixtures import start_together
from tests.spec.kit import Case, Row
from tests.spec.rows.database import read_error
from tests.spec.tls_server import TlsServer, run_tls_server

NONE, TLS, CERTAIN = (False, None), (True, None), (True, "certain")
REFUSALS = ("StartError: Can't use the database: ", "ConfigError: DATABASE_SSL_")
UNVERIFIED = "certificate is not verified"


def check_connections(
    server: TlsServer,
    accepted: Mapping[str, tuple[tuple[bool, str | None], dict[str, str]]],
    rejected: Mapping[str, dict[str, str]],
) -> None:
    """A service for each name must have sessions of this sort, with a warning without verification;
    the refused ones end at once with one line that has these words."""
    cases: dict[str, tuple[dict[str, str], dict[str, str]]] = {
        name: (environ | {"DATABASE_APPLICATION_NAME": name}, {})
        for name, (_, environ) in accepted.items()
    }
    cases |= {message: (environ, {}) for message, environ in rejected.items()}
    with start_together(cases, TMPDIR=server.temporary) as messages:
        for name, (expected, _) in accepted.items():
            assert server.list_sessions(name) == [expected], (name, messages[name])
            assert (UNVERIFIED in messages[name]) == name.startswith("unverified"), name
        for message in rejected:
            assert messages[message].startswith(REFUSALS)
            assert message.rstrip("0123456789") in messages[message]
            assert "\n" not in messages[message]


def check_json(case: Case) -> None:
    server = case.services.open_once(run_tls_server)
    verified = {"rejectUnauthorized": True, "ca": server.ca}
    whole = json.dumps(verified)
    shells = json.dumps(verified | {"ca": server.ca.replace("\n", "\\n")})
    untrusted = json.dumps(verified | {"ca": server.other_ca})
    unchecked = json.dumps({"rejectUnauthorized": False, "ca": server.other_ca})
    check_connections(
        server,
        {
            "verified": (TLS, server.environ("secure", DATABASE_SSL=whole)),
            "by a name": (TLS, server.environ(host="localhost", DATABASE_SSL=whole)),
            "by a shell": (TLS, server.environ(DATABASE_SSL=shells)),
            "unverified": (TLS, server.environ(DATABASE_SSL=unchecked)),
            "unverified name": (TLS, server.environ(host="127.0.0.2", DATABASE_SSL=unchecked)),
            "off": (NONE, server.environ(DATABASE_SSL="false")),
            "none": (NONE, server.environ()),
        },
        {
            "certificate verify failed": server.environ(DATABASE_SSL=untrusted),
            'does not match host name "127.0.0.2"': server.environ(
                host="127.0.0.2", DATABASE_SSL=whole
            ),
            "no encryption (it may require TLS, see DATABASE_SSL": server.environ("secure"),
        },
    )
    systems = server.environ(DATABASE_SSL="true", SSL_CERT_FILE=server.files["ca"])
    systems["DATABASE_APPLICATION_NAME"] = "the system's"
    trusting = server.start_service(systems)
    line = read_error(server.start_service(server.environ(DATABASE_SSL="{}")))
    assert "certificate verify failed (its CA is not trusted: set ca" in line
    trusting.wait_for_address()
    assert server.list_sessions("the system's") == [TLS]
    trusting.close()


def check_client_certificate(case: Case) -> None:
    """The four keys, as JSON or as a file that holds it; DATABASE_SSL beats them."""
    server = case.services.open_once(run_tls_server)
    both = json.dumps({"ca": server.ca, **server.clients["both"]})
    inline = server.environ("certain", DATABASE_SSL_CA_CONFIG=server.config)
    foreign = json.dumps({"ca": server.ca, **server.foreign_client})
    half = json.dumps({"ca": server.ca, "cert": server.foreign_client["cert"]})
    mixed = json.dumps(json.loads(server.config) | {"key": server.foreign_client["key"]})
    locked = json.dumps(json.loads(server.config) | {"key": server.locked_key})
    names = {
        "requires a valid client certificate (set cert and key": json.dumps({"ca": server.ca}),
        "unknown ca": foreign,
        "cert and key must be set together": half,
        "doesn't match or has a passphrase": mixed,
        "doesn't match or has a passphrase2": locked,
        "common name must be the user": both,
    }
    check_connections(
        server,
        {
            "inline": (CERTAIN, inline),
            "a file": (
                CERTAIN,
                server.environ("certain", DATABASE_SSL_CA_CONFIG=server.files["config"]),
            ),
            "with a password": (
                (True, "both"),
                server.environ("both", DATABASE_SSL_CA_CONFIG=both),
            ),
            "above it": (NONE, server.environ(DATABASE_SSL_CA_CONFIG=both, DATABASE_SSL="false")),
        },
        {
            message: server.environ("certain", DATABASE_SSL_CA_CONFIG=text)
            for message, text in names.items()
        },
    )


def check_single_files(case: Case) -> None:
    """All three verify; fewer don't, unless it is demanded; what is demanded or waived counts."""
    server = case.services.open_once(run_tls_server)
    cert = {"DATABASE_SSL_CERT_FILE": server.files["cert"]}
    pair = cert | {"DATABASE_SSL_KEY_FILE": server.files["key"]}
    right = {"DATABASE_SSL_CA_FILE": server.files["ca"]}
    untrusted = {"DATABASE_SSL_CA_FILE": server.files["other"]}
    required = {"DATABASE_SSL_REJECT_UNAUTHORIZED": "true"}
    not_required = {"DATABASE_SSL_REJECT_UNAUTHORIZED": "false"}
    accepted, rejected = {
        "DATABASE_SSL_CA_FILE": (
            {"demanded": (TLS, right | required), "unverified one": (TLS, untrusted)},
            {"certificate verify failed": untrusted | required},
        ),
        "DATABASE_SSL_CERT_FILE": (
            {"unverified two": (CERTAIN, pair)},
            {"must be set with DATABASE_SSL_CERT_FILE": cert},
        ),
        "DATABASE_SSL_KEY_FILE": (
            {"three": (CERTAIN, right | pair)},
            {"certificate verify failed": untrusted | pair},
        ),
        "DATABASE_SSL_REJECT_UNAUTHORIZED": (
            {
                "unverified": (TLS, not_required),
                "unverified three": (CERTAIN, untrusted | pair | not_required),
            },
            {"certificate verify failed": required},
        ),
    }[case.row.variable]
    users = {TLS: "app", CERTAIN: "certain"}
    check_connections(
        server,
        {
            name: (expected, server.environ(users[expected], **environ))
            for name, (expected, environ) in accepted.items()
        },
        {message: server.environ("certain", **environ) for message, environ in rejected.items()},
    )


def check_url(case: Case) -> None:
    """sslmode and its files; one that knows no sslmode leaves it to the variables."""
    server = case.services.open_once(run_tls_server)
    reached = f"@127.0.0.1:{server.server.port}/"
    by_files = "&".join(f"{name}={server.files[key]}" for name, key in URL_FILES.items())
    urls = {
        "full": (CERTAIN, f"certain{reached}certain?sslmode=verify-full&{by_files}"),
        "unverified by url": (TLS, f"secure:hunter2{reached}secure?sslmode=require"),
        "unverified by node": (TLS, f"secure:hunter2{reached}secure?sslmode=no-verify"),
        "by both": (TLS, f"secure:hunter2{reached}secure"),
    }
    untrusted = f"app:hunter2{reached}app?sslmode=verify-full&sslrootcert={server.files['other']}"
    ssl = {"DATABASE_SSL": json.dumps({"ca": server.ca})}
    check_connections(
        server,
        {
            name: (expected, ssl | {"DATABASE_URL": f"postgres://{url}"})
            for name, (expected, url) in urls.items()
        },
        {"certificate verify failed": ssl | {"DATABASE_URL": f"postgres://{untrusted}"}},
    )


def check_self_signed(case: Case) -> None:
    """The recipe of the specification connects; with rejectUnauthorized true it is verified."""
    server = case.services.open_once(run_tls_server)
    with server.self_signed() as certificate:
        recipe = {"rejectUnauthorized": False, "ca": certificate}
        ca = json.dumps({"ca": server.ca})
        better = {"rejectUnauthorized": True, "ca": certificate}
        check_connections(
            server,
            {
                "unverified recipe": (TLS, server.environ(DATABASE_SSL=json.dumps(recipe))),
                "better": (TLS, server.environ(DATABASE_SSL=json.dumps(better))),
            },
            {"certificate verify failed": server.environ(DATABASE_SSL=ca)},
        )


def check_private_files(case: Case) -> None:
    """The texts are nowhere but in private files, which are there again when something has cleaned
    /tmp, and gone after the stop."""
    server = case.services.open_once(run_tls_server)
    ssl = json.dumps({"ca": server.ca, **server.clients["both"]})
    with tempfile.TemporaryDirectory() as folder:
        environ = server.environ("both", DATABASE_SSL=ssl, TMPDIR=folder)
        environ["DATABASE_APPLICATION_NAME"] = "private"
        service = server.start_service(environ).wait_for_address()
        (directory,) = Path(folder).iterdir()
        modes = {path.stat().st_mode & 0o777 for path in (directory, *directory.iterdir())}
        assert modes == {0o700, 0o600}
        shutil.rmtree(directory)
        server.server.ask(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'both'"
        )
        case.admin("GET", "/api/admin/context", service=service)
        assert server.list_sessions("private") == [(True, "both")]
        service.send(signal.SIGTERM)
        assert service.wait() == 0
        assert list(Path(folder).iterdir()) == []


URL_FILES = {"sslrootcert": "ca", "sslcert": "cert", "sslkey": "key"}
ROWS = (
    Row("db.ssl", check_json, "DATABASE_SSL", alone=True),
    Row("db.ssl", check_client_certificate, "DATABASE_SSL_CA_CONFIG", alone=True),
    *(
        Row("db.ssl", check_single_files, f"DATABASE_SSL_{name}", alone=True)
        for name in ("CA_FILE", "CERT_FILE", "KEY_FILE", "REJECT_UNAUTHORIZED")
    ),
    Row("db.ssl", check_private_files, alone=True),
    Row("databaseUrl", check_url, alone=True),
    Row(
        "database: a self-signed certificate with rejectUnauthorized false and ca connects",
        check_self_signed,
        alone=True,
    ),
)
