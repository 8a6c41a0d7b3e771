"""The database block: URL, URL file, parts and TLS put together, and mapped onto libpq.

Precedence: in-code `db` > URL file > URL > parts > defaults. Within the URL an absent part
leaves what the variable for that part says.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from ssl import get_default_verify_paths
from typing import Any
from urllib.parse import unquote

import psycopg2.extensions

from sigservice.config import tls
from sigservice.config.parse import Wrong, storable, text_kind

_SSL_MODES: dict[str, Any] = {
    "disable": False,
    "no-verify": {"rejectUnauthorized": False},
    "require": {"rejectUnauthorized": False},
    "verify-ca": {"rejectUnauthorized": True, "checkHost": False},
    "verify-full": {"rejectUnauthorized": True},
}
_SSL_WORDS = {
    **dict.fromkeys(("true", "1", "t", "yes", "on"), "require"),
    **dict.fromkeys(("false", "0", "f", "no", "off"), "disable"),
}
_PARTS = {"user": "user", "password": "password", "host": "host", "dbname": "database"}
# No argument of libpq keeps it from reading these: the name of a set of arguments, and settings of
# the session. db/pool.py mends what good ones change; bad ones make libpq refuse to connect.
LIBPQ_VARIABLES = ("PGSERVICE", "PGTZ", "PGDATESTYLE", "PGGEQO")
# What PGREQUIREAUTH would narrow down; an empty list would allow nothing at all.
_ANY_METHOD = "password,md5,gss,sspi,scram-sha-256,none"
_PASSED_ON = {"connect_timeout", "keepalives", "keepalives_idle", "tcp_user_timeout", "hostaddr"}


def from_url(url: str) -> dict[str, Any]:
    """The parts that a connection string names; Wrong says what is not, without secrets."""
    ssl = ""
    if url.startswith(("postgres://", "postgresql://")):
        # `ssl` is not libpq's, but tools that hand out URLs use it. The rest stays to the letter.
        base, mark, query = url.partition("?")
        pairs = query.split("&")
        ssl = "".join(unquote(pair[4:]) for pair in pairs if pair.startswith("ssl="))
        kept = "&".join(pair for pair in pairs if not pair.startswith("ssl="))
        url = base + (mark + kept if kept else "")
    try:
        given = psycopg2.extensions.parse_dsn(url)
    except psycopg2.Error:
        raise Wrong("it is not a libpq connection string") from None
    if any(re.search(r"[\x00-\x1f\x7f]", given[key]) for key in set(given) - {"password"}):
        raise Wrong("it holds a line break or another control character")
    mode = given.pop("sslmode", "") or _SSL_WORDS.get(ssl.lower(), ssl)
    if mode and mode not in _SSL_MODES:
        named = f"={mode}" if mode in ("prefer", "allow") else ""
        raise Wrong(
            f"sslmode{named} is not supported: say whether TLS is needed "
            "(disable, no-verify, require, verify-ca or verify-full)"
        )
    if mode == "verify-ca" and given.get("sslrootcert", "system") == "system":
        raise Wrong("sslmode=verify-ca needs an sslrootcert file")
    files = [key for key in ("sslrootcert", "sslcert", "sslkey") if given.get(key)]
    if files and not mode:
        raise Wrong(f"{files[0]} is given, but no sslmode")
    for key in ("host", "hostaddr", "port"):
        if "," in given.get(key, ""):
            raise Wrong("several hosts are not supported")
    settings: dict[str, Any] = {
        ours: given[theirs] for theirs, ours in _PARTS.items() if given.get(theirs)
    }
    if given.get("port"):
        settings["port"] = _port(given["port"])
    if given.get("application_name"):
        settings["applicationName"] = given["application_name"]
    if mode:
        settings["ssl"] = _with_files(_SSL_MODES[mode], given)
    passed_on = {key: given[key] for key in _PASSED_ON if given.get(key)}
    known = {*_PARTS, *_PASSED_ON, "port", "application_name", "sslrootcert", "sslcert", "sslkey"}
    unknown = sorted(set(given) - known)
    if unknown:
        raise Wrong("these parameters are not supported: " + ", ".join(unknown))
    if passed_on:
        settings["extra"] = passed_on
    return settings


def _connection_string(text: str) -> str:
    text = storable(text).rstrip("\r\n")
    from_url(text)
    return text


CONNECTION_STRING = text_kind(
    "a libpq connection string with one host",
    "postgresql://user:password@db.example.com:5432/flags",
    _connection_string,
)


def _port(text: str) -> int:
    if not re.fullmatch(r"0*[1-9][0-9]{0,4}", text) or int(text) > 65535:
        raise Wrong("its port is not a number from 1 to 65535")
    return int(text)


def _with_files(ssl: Any, given: dict[str, str]) -> Any:
    if not ssl:
        return ssl
    ssl = dict(ssl)
    for theirs, ours in (("sslrootcert", "ca"), ("sslcert", "cert"), ("sslkey", "key")):
        path = given.get(theirs)
        if path and path != "system":
            try:
                ssl[ours] = tls.pem(tls.read_text(path))
            except Wrong as error:
                raise Wrong(f"its {theirs}: {error}") from None
    return ssl


def ssl_from_parts(given: dict[str, Any]) -> Any:
    """The ssl object from the single variables; `given` has just those that were set."""
    ca, cert, key = given.get("sslCaFile"), given.get("sslCertFile"), given.get("sslKeyFile")
    reject = given.get("sslRejectUnauthorized")
    if reject is None and not (ca or cert or key):
        return None
    if reject is None:
        reject = bool(ca and cert and key)
    named = {"ca": ca, "cert": cert, "key": key}
    return {"rejectUnauthorized": reject, **{name: text for name, text in named.items() if text}}


def libpq_arguments(db: dict[str, Any], write_pem: Callable[[str, str], str]) -> dict[str, Any]:
    """psycopg2.connect's arguments. Every key is explicit, so that no PG* variable, no service that
    PGSERVICE names, and no file below ~/.postgresql has an effect.

    `write_pem(name, text)` puts PEM text into a private file and returns its path.
    """
    arguments: dict[str, Any] = {
        "connect_timeout": 3,
        "user": db["user"],
        "password": db["password"],
        "host": db["host"],
        "port": db["port"],
        "dbname": db["database"],
        "application_name": db["applicationName"],
        "keepalives": 1,
        "keepalives_idle": 30,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
        "gssencmode": "disable",
        "client_encoding": "UTF8",
        "target_session_attrs": "read-write",
        "hostaddr": "",
        "channel_binding": "prefer",
        "requirepeer": "",
        "passfile": "/nonexistent/passfile",
        "krbsrvname": "postgres",
        "sslsni": "1",
        "sslcrl": "/nonexistent/sslcrl",
        "sslcrldir": "",
        "ssl_min_protocol_version": "TLSv1.2",
        "ssl_max_protocol_version": "",
        **_of_newer_libpqs(),
        **db.get("extra", {}),
        "options": "",  # see db/session.py
    }
    return arguments | _tls(db["ssl"], write_pem)


def _of_newer_libpqs() -> dict[str, str]:
    """Keys that older client libraries refuse."""
    version = psycopg2.extensions.libpq_version()
    since_16 = {
        "require_auth": _ANY_METHOD,
        "load_balance_hosts": "disable",
        "sslcertmode": "allow",
    }
    since_17 = {"sslnegotiation": "postgres"}
    return (since_16 if version >= 160000 else {}) | (since_17 if version >= 170000 else {})


def _tls(ssl: Any, write_pem: Callable[[str, str], str]) -> dict[str, Any]:
    """sslmode and its files. `require` with a CA file present would verify the chain all the same,
    so an unverified connection names a file that does not exist (measured; libpq 17)."""
    if not ssl:
        return {"sslmode": "disable"}
    arguments: dict[str, Any] = {"sslcert": "/nonexistent/sslcert", "sslkey": "/nonexistent/sslkey"}
    arguments["sslpassword"] = "none"  # else OpenSSL asks whoever sits at the terminal
    for ours, theirs in (("cert", "sslcert"), ("key", "sslkey")):
        if ssl.get(ours):
            arguments[theirs] = write_pem(ours, ssl[ours])
    if not ssl["rejectUnauthorized"]:
        return arguments | {"sslmode": "require", "sslrootcert": "/nonexistent/sslrootcert"}
    root = write_pem("ca", ssl["ca"]) if ssl.get("ca") else _systems_certificates()
    mode = "verify-full" if ssl.get("checkHost", True) else "verify-ca"
    return arguments | {"sslmode": mode, "sslrootcert": root}


def _systems_certificates() -> str:
    """Where Python finds them: libpq's "system" is the folder where psycopg2's wheel was built."""
    paths = get_default_verify_paths()
    debians = os.path.join(paths.capath or "", "ca-certificates.crt")
    return paths.cafile or (debians if os.path.isfile(debians) else "system")
