"""TLS to the database, in each form that says so; the server itself tells whether it is used."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.spec.database_site import together
from tests.spec.kit import Asked, Row
from tests.spec.rows.database import refusal
from tests.spec.tls_server import TlsServer, tls_server

NONE, TLS, CERTAIN = (False, None), (True, None), (True, "certain")
REFUSALS = ("StartError: Can't use the database: ", "ConfigError: DATABASE_SSL_")
UNVERIFIED = "certificate is not verified"


def connect(
    place: TlsServer,
    connected: Mapping[str, tuple[tuple[bool, str | None], dict[str, str]]],
    refused: Mapping[str, dict[str, str]] | None = None,
    options: Mapping[str, Any] | None = None,
) -> None:
    """A service for each name must have sessions of this sort, and who does not verify is told so;
    the refused ones end at once with one line that has these words."""
    cases = {
        name: (environ | {"DATABASE_APPLICATION_NAME": name}, options or {})
        for name, (_, environ) in connected.items()
    }
    cases |= {says: (environ, options or {}) for says, environ in (refused or {}).items()}
    with together(cases, TMPDIR=place.temporary) as said:
        for name, (expected, _) in connected.items():
            assert place.sessions(name) == [expected], (name, said[name])
            assert (UNVERIFIED in said[name]) == name.startswith("unverified"), name
        for says in refused or {}:
            assert said[says].startswith(REFUSALS)
            assert says.rstrip("0123456789") in said[says]
            assert "\n" not in said[says]


def as_json(asked: Asked) -> None:
    """Nothing: no TLS. In code it beats the variable."""
    place = asked.services.once(tls_server)
    verified = {"rejectUnauthorized": True, "ca": place.ca}
    if asked.way == "default":
        connect(place, {"none": (NONE, place.environ())})
        line = refusal(place.starting(place.environ("secure")))
        assert "no encryption (perhaps it demands TLS, see DATABASE_SSL" in line
    elif asked.way == "code":
        environ = place.environ(DATABASE_SSL="false")
        connect(place, {"in code": (TLS, environ)}, options={"db": {"ssl": verified}})
        connect(
            place,
            {"none in code": (NONE, place.environ(DATABASE_SSL=json.dumps(verified)))},
            options={"db": {"ssl": False}},
        )
    else:
        _json_of_the_variable(place, verified)


def _json_of_the_variable(place: TlsServer, verified: dict[str, Any]) -> None:
    whole = json.dumps(verified)
    shells = json.dumps(verified | {"ca": place.ca.replace("\n", "\\n")})
    wrong = json.dumps(verified | {"ca": place.other_ca})
    unchecked = json.dumps({"rejectUnauthorized": False, "ca": place.other_ca})
    connect(
        place,
        {
            "verified": (TLS, place.environ("secure", DATABASE_SSL=whole)),
            "by a name": (TLS, place.environ(host="localhost", DATABASE_SSL=whole)),
            "by a shell": (TLS, place.environ(DATABASE_SSL=shells)),
            "unverified": (TLS, place.environ(DATABASE_SSL=unchecked)),
            "unverified name": (TLS, place.environ(host="127.0.0.2", DATABASE_SSL=unchecked)),
            "off": (NONE, place.environ(DATABASE_SSL="false")),
        },
        {
            "certificate verify failed": place.environ(DATABASE_SSL=wrong),
            'does not match host name "127.0.0.2"': place.environ(
                host="127.0.0.2", DATABASE_SSL=whole
            ),
            "no encryption": place.environ("secure", DATABASE_SSL="false"),
        },
    )
    systems = place.environ(DATABASE_SSL="true", SSL_CERT_FILE=place.files["ca"])
    systems["DATABASE_APPLICATION_NAME"] = "the system's"
    trusting = place.starting(systems)
    line = refusal(place.starting(place.environ(DATABASE_SSL="{}")))
    assert "certificate verify failed (no trusted CA has signed it: give its ca" in line
    trusting.await_address()
    assert place.sessions("the system's") == [TLS]
    trusting.close()


def client_certificate(asked: Asked) -> None:
    """The four keys, as JSON or as a file that holds it; DATABASE_SSL beats them."""
    place = asked.services.once(tls_server)
    both = json.dumps({"ca": place.ca, **place.clients["both"]})
    inline = place.environ("certain", DATABASE_SSL_CA_CONFIG=place.config)
    strange = json.dumps({"ca": place.ca, **place.stranger})
    half = json.dumps({"ca": place.ca, "cert": place.stranger["cert"]})
    mixed = json.dumps(json.loads(place.config) | {"key": place.stranger["key"]})
    locked = json.dumps(json.loads(place.config) | {"key": place.locked_key})
    names = {
        "requires a valid client certificate (give cert and key": json.dumps({"ca": place.ca}),
        "unknown ca": strange,
        "cert and key must be set together": half,
        "does not fit or has a passphrase": mixed,
        "does not fit or has a passphrase2": locked,
        "common name must be the user": both,
    }
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
            {"DATABASE_SSL_CERT_FILE goes with it": cert},
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
        {says: place.environ("certain", **environ) for says, environ in refused.items()},
    )


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
    wrong = f"app:hunter2{reached}app?sslmode=verify-full&sslrootcert={place.files['other']}"
    ssl = {"DATABASE_SSL": json.dumps({"ca": place.ca})}
    connect(
        place,
        {
            name: (expected, ssl | {"DATABASE_URL": f"postgres://{url}"})
            for name, (expected, url) in urls.items()
        },
        {"certificate verify failed": ssl | {"DATABASE_URL": f"postgres://{wrong}"}},
    )


def self_signed(asked: Asked) -> None:
    """The recipe of the specification connects; with rejectUnauthorized true it is verified."""
    place = asked.services.once(tls_server)
    with place.self_signed() as certificate:
        recipe = {"rejectUnauthorized": False, "ca": certificate}
        ca = json.dumps({"ca": place.ca})
        better = {"rejectUnauthorized": True, "ca": certificate}
        connect(
            place,
            {
                "unverified recipe": (TLS, place.environ(DATABASE_SSL=json.dumps(recipe))),
                "better": (TLS, place.environ(DATABASE_SSL=json.dumps(better))),
            },
            {"certificate verify failed": place.environ(DATABASE_SSL=ca)},
        )


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
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'both'"
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
