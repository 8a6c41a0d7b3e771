"""TLS to the database, in each form that says so; the server itself tells whether it is used."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.spec.kit import ADMIN_SECRET, Asked, Row
from tests.spec.rows.database import refusal
from tests.spec.tls_server import TlsServer, tls_server

NONE, TLS, CERTAIN = (False, None), (True, None), (True, "certain")
UNVERIFIED = "certificate is not verified"


def connect(
    place: TlsServer,
    cases: Mapping[str, tuple[tuple[bool, str | None], dict[str, str]]],
    options: Mapping[str, Any] | None = None,
) -> None:
    """Starts a service for each name, all at once: it must have sessions of this sort. Who does not
    verify is told so."""
    started = {
        name: place.starting(environ | {"DATABASE_APPLICATION_NAME": name}, options)
        for name, (_, environ) in cases.items()
    }
    for name, (expected, _) in cases.items():
        started[name].await_address()
        assert place.sessions(name) == [expected], name
        assert (UNVERIFIED in started[name].stdout) == name.startswith("unverified"), name
    for process in started.values():
        process.close()


def refuse(place: TlsServer, cases: Mapping[str, dict[str, str]]) -> None:
    """Each ends at once with one line that has these words."""
    started = {says: place.starting(environ) for says, environ in cases.items()}
    for says, process in started.items():
        assert says.rstrip("0123456789") in refusal(process), process.stderr
        assert len(process.stderr.splitlines()) == 1


def as_json(asked: Asked) -> None:
    """Nothing: no TLS. In code it beats the variable."""
    place = asked.services.once(tls_server)
    verified = {"rejectUnauthorized": True, "ca": place.ca}
    if asked.way == "default":
        connect(place, {"none": (NONE, place.environ())})
        refuse(place, {"no encryption (perhaps it demands TLS": place.environ("secure")})
    elif asked.way == "code":
        environ = place.environ(DATABASE_SSL="false")
        connect(place, {"in code": (TLS, environ)}, {"db": {"ssl": verified}})
        connect(
            place,
            {"none in code": (NONE, place.environ(DATABASE_SSL=json.dumps(verified)))},
            {"db": {"ssl": False}},
        )
    else:
        _json_of_the_variable(place, verified)


def _json_of_the_variable(place: TlsServer, verified: dict[str, Any]) -> None:
    whole = json.dumps(verified)
    shells = json.dumps(verified | {"ca": place.ca.replace("\n", "\\n")})
    wrong = json.dumps(verified | {"ca": place.other_ca})
    unchecked = json.dumps({"rejectUnauthorized": False, "ca": place.other_ca})
    systems = {"SSL_CERT_FILE": place.files["ca"]}
    connect(
        place,
        {
            "verified": (TLS, place.environ("secure", DATABASE_SSL=whole)),
            "by a name": (TLS, place.environ(host="localhost", DATABASE_SSL=whole)),
            "by a shell": (TLS, place.environ(DATABASE_SSL=shells)),
            "the systems": (TLS, place.environ(DATABASE_SSL="true") | systems),
            "unverified": (TLS, place.environ(DATABASE_SSL=unchecked)),
            "unverified name": (TLS, place.environ(host="127.0.0.2", DATABASE_SSL=unchecked)),
            "off": (NONE, place.environ(DATABASE_SSL="false")),
        },
    )
    refuse(
        place,
        {
            "certificate verify failed": place.environ(DATABASE_SSL=wrong),
            "certificate verify failed2": place.environ(DATABASE_SSL="{}"),
            'does not match host name "127.0.0.2"': place.environ(
                host="127.0.0.2", DATABASE_SSL=whole
            ),
            "no encryption": place.environ("secure", DATABASE_SSL="false"),
        },
    )


def client_certificate(asked: Asked) -> None:
    """The four keys, as JSON or as a file that holds it; DATABASE_SSL beats them."""
    place = asked.services.once(tls_server)
    both = json.dumps({"ca": place.ca, **place.clients["both"]})
    inline = place.environ("certain", DATABASE_SSL_CA_CONFIG=place.config)
    connect(
        place,
        {
            "inline": (CERTAIN, inline),
            "a file": (
                CERTAIN,
                place.environ("certain", DATABASE_SSL_CA_CONFIG=place.files["config"]),
            ),
            "with a password": (
                (True, "both"),
                place.environ("both", DATABASE_SSL_CA_CONFIG=both),
            ),
            "above it": (NONE, place.environ(DATABASE_SSL_CA_CONFIG=both, DATABASE_SSL="false")),
        },
    )
    strange = json.dumps({"ca": place.ca, **place.stranger})
    half = json.dumps({"ca": place.ca, "cert": place.stranger["cert"]})
    mixed = json.dumps(json.loads(place.config) | {"key": place.stranger["key"]})
    locked = json.dumps(json.loads(place.config) | {"key": place.locked_key})
    names = {
        "requires a valid client certificate (give cert and key": json.dumps({"ca": place.ca}),
        "unknown ca": strange,
        "has a cert without its key": half,
        "does not fit or has a passphrase": mixed,
        "does not fit or has a passphrase2": locked,
        "common name must be the user": both,
    }
    refuse(
        place,
        {
            says: place.environ("certain", DATABASE_SSL_CA_CONFIG=text)
            for says, text in names.items()
        },
    )


def single_files(asked: Asked) -> None:
    """All three verify; fewer don't, unless it is demanded; what is demanded or waived counts."""
    place = asked.services.once(tls_server)
    cert = {"DATABASE_SSL_CERT_FILE": place.files["cert"]}
    pair = cert | {"DATABASE_SSL_KEY_FILE": place.files["key"]}
    right = {"DATABASE_SSL_CA_FILE": place.files["ca"]}
    wrong = {"DATABASE_SSL_CA_FILE": place.files["other"]}
    demanded = {"DATABASE_SSL_REJECT_UNAUTHORIZED": "true"}
    waived = {"DATABASE_SSL_REJECT_UNAUTHORIZED": "false"}
    connected, refused = {
        "DATABASE_SSL_CA_FILE": (
            {"demanded": (TLS, right | demanded), "unverified one": (TLS, wrong)},
            {"certificate verify failed": wrong | demanded},
        ),
        "DATABASE_SSL_CERT_FILE": (
            {"unverified two": (CERTAIN, pair)},
            {"has a cert without its key": cert},
        ),
        "DATABASE_SSL_KEY_FILE": (
            {"three": (CERTAIN, right | pair)},
            {"certificate verify failed": wrong | pair},
        ),
        "DATABASE_SSL_REJECT_UNAUTHORIZED": (
            {"unverified": (TLS, waived), "unverified three": (CERTAIN, wrong | pair | waived)},
            {"certificate verify failed": demanded},
        ),
    }[asked.row.variable]
    users = {TLS: "app", CERTAIN: "certain"}
    connect(
        place,
        {
            name: (expected, place.environ(users[expected], **environ))
            for name, (expected, environ) in connected.items()
        },
    )
    refuse(place, {says: place.environ("certain", **environ) for says, environ in refused.items()})


def by_url(asked: Asked) -> None:
    """sslmode and its files; one that knows no sslmode leaves it to the variables."""
    place = asked.services.once(tls_server)
    reached = f"@127.0.0.1:{place.server.port}/"
    by_files = "&".join(f"{name}={place.files[key]}" for name, key in URL_FILES.items())
    urls = {
        "full": (CERTAIN, f"certain{reached}certain?sslmode=verify-full&{by_files}"),
        "unverified by url": (TLS, f"secure:hunter2{reached}secure?sslmode=require"),
        "unverified by node": (TLS, f"secure:hunter2{reached}secure?sslmode=no-verify"),
        "by both": (TLS, f"secure:hunter2{reached}secure"),
    }
    ssl = {"DATABASE_SSL": json.dumps({"ca": place.ca})}
    token = {"INIT_ADMIN_API_TOKENS": ADMIN_SECRET}
    connect(
        place,
        {
            name: (expected, token | ssl | {"DATABASE_URL": f"postgres://{url}"})
            for name, (expected, url) in urls.items()
        },
    )
    wrong = f"app:hunter2@127.0.0.1:{place.server.port}/app?sslmode=verify-full&sslrootcert="
    refuse(
        place,
        {
            "certificate verify failed": {
                "DATABASE_URL": f"postgres://{wrong}{place.files['other']}"
            }
        },
    )


def self_signed(asked: Asked) -> None:
    """The recipe of the specification connects; with rejectUnauthorized true it is verified."""
    place = asked.services.once(tls_server)
    with place.self_signed() as certificate:
        recipe = {"rejectUnauthorized": False, "ca": certificate}
        better = {"rejectUnauthorized": True, "ca": certificate}
        connect(
            place,
            {
                "unverified recipe": (TLS, place.environ(DATABASE_SSL=json.dumps(recipe))),
                "better": (TLS, place.environ(DATABASE_SSL=json.dumps(better))),
            },
        )
        ca = json.dumps({"ca": place.ca})
        refuse(place, {"certificate verify failed": place.environ(DATABASE_SSL=ca)})


def private_files(asked: Asked) -> None:
    """The texts are nowhere but in private files, which are there again when something has cleaned
    /tmp, and gone after the stop."""
    place = asked.services.once(tls_server)
    ssl = json.dumps({"ca": place.ca, **place.clients["both"]})
    with tempfile.TemporaryDirectory() as folder:
        environ = place.environ("both", DATABASE_SSL=ssl, TMPDIR=folder)
        environ["DATABASE_APPLICATION_NAME"] = "private"
        service = place.starting(environ).await_address()
        (made,) = Path(folder).iterdir()
        modes = {path.stat().st_mode & 0o777 for path in (made, *made.iterdir())}
        assert modes == {0o700, 0o600}
        shutil.rmtree(made)
        place.server.ask(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'both'"
        )
        asked.admin("GET", "/api/admin/context", service=service)
        assert place.sessions("private") == [(True, "both")]
        service.send(signal.SIGTERM)
        assert service.wait() == 0
        assert list(Path(folder).iterdir()) == []


URL_FILES = {"sslrootcert": "ca", "sslcert": "cert", "sslkey": "key"}
ROWS = (
    Row("db.ssl", as_json, "DATABASE_SSL", None, "(made)", code="(made)", alone=True),
    Row("db.ssl", client_certificate, "DATABASE_SSL_CA_CONFIG", text="(made)", alone=True),
    *(
        Row("db.ssl", single_files, f"DATABASE_SSL_{name}", text="(made)", alone=True)
        for name in ("CA_FILE", "CERT_FILE", "KEY_FILE", "REJECT_UNAUTHORIZED")
    ),
    Row("db.ssl", private_files, alone=True),
    Row("databaseUrl", by_url, alone=True),
    Row(
        "database: a self-signed certificate with rejectUnauthorized false and ca connects",
        self_signed,
        alone=True,
    ),
)
