"""The database options: merges URL, URL file, single options and TLS, and maps them to libpq.

Precedence: in-code `db` > URL file > URL > single options > defaults. A part that the URL lacks
comes from its own option.
"""

import os
import re
from collections.abc import Callable
from ssl import get_default_verify_paths
from typing import Any
from urllib.parse import unquote

from sigservice.config import tls
from sigservice.config.addresses import DATABASE_HOST, parse_port, split_database_hosts
from sigservice.config.parse import InvalidValue, check_storable, text_type
from sigservice.late import psycopg2, psycopg2_extensions

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
# libpq always reads these variables: a set of arguments, and settings of the session. db/pool.py
# resets what valid ones change; with invalid ones libpq refuses to connect.
LIBPQ_VARIABLES = ("PGSERVICE", "PGTZ", "PGDATESTYLE", "PGGEQO")
# All methods, or PGREQUIREAUTH would restrict them; an empty list would allow none.
_ANY_METHOD = "password,md5,gss,sspi,scram-sha-256,none"
_EXTRA = {"connect_timeout", "keepalives", "keepalives_idle", "tcp_user_timeout", "hostaddr"}


def parse_url(url: str) -> dict[str, Any]:
    """The options in a connection string; raises InvalidValue, without secrets."""
    ssl = ""
    if url.startswith(("postgres://", "postgresql://")):
        # `ssl` is no libpq parameter, but some tools generate it. The rest stays unchanged.
        base, mark, query = url.partition("?")
        pairs = query.split("&")
        ssl = "".join(unquote(pair[4:]) for pair in pairs if pair.startswith("ssl="))
        remainder = "&".join(pair for pair in pairs if not pair.startswith("ssl="))
        url = base + (mark + remainder if remainder else "")
    try:
        parameters = psycopg2_extensions.parse_dsn(url)
    except psycopg2.Error:
        raise InvalidValue("it is not a libpq connection string") from None
    if any(
        re.search(r"[\x00-\x1f\x7f]", parameters[key]) for key in set(parameters) - {"password"}
    ):
        raise InvalidValue("it contains a line break or another control character")
    mode = parameters.pop("sslmode", "") or _SSL_WORDS.get(ssl.lower(), ssl)
    if mode and mode not in _SSL_MODES:
        value = f"={mode}" if mode in ("prefer", "allow") else ""
        raise InvalidValue(
            f"sslmode{value} is not supported: choose whether TLS is required "
            "(disable, no-verify, require, verify-ca or verify-full)"
        )
    if mode == "verify-ca" and parameters.get("sslrootcert", "system") == "system":
        raise InvalidValue("sslmode=verify-ca needs an sslrootcert file")
    files = [key for key in ("sslrootcert", "sslcert", "sslkey") if parameters.get(key)]
    if files and not mode:
        raise InvalidValue(f"{files[0]} needs an sslmode")
    attribute = parameters.pop("target_session_attrs", "")
    if attribute not in ("", "read-write", "primary"):
        raise InvalidValue("target_session_attrs must be read-write: the service writes")
    settings: dict[str, Any] = {
        key: parameters[libpq_key] for libpq_key, key in _PARTS.items() if parameters.get(libpq_key)
    }
    settings |= _read_hosts(parameters, has_attribute=bool(attribute))
    if parameters.get("application_name"):
        settings["applicationName"] = parameters["application_name"]
    if mode:
        settings["ssl"] = _with_files(_SSL_MODES[mode], parameters)
    extra = {key: parameters[key] for key in _EXTRA if parameters.get(key)}
    supported = {*_PARTS, *_EXTRA, "port", "application_name", "sslrootcert", "sslcert", "sslkey"}
    unsupported = sorted(set(parameters) - supported)
    if unsupported:
        raise InvalidValue("these parameters are not supported: " + ", ".join(unsupported))
    if extra:
        settings["extra"] = extra
    return settings


def _connection_string(text: str) -> str:
    text = check_storable(text).rstrip("\r\n")
    parse_url(text)
    return text


CONNECTION_STRING = text_type(
    "a libpq connection string",
    "postgresql://user:password@db.example.com:5432/flags",
    _connection_string,
)


def _read_hosts(parameters: dict[str, str], *, has_attribute: bool) -> dict[str, Any]:
    """`host` and `port`. Different ports of several hosts become a part of the host."""
    host, port = parameters.get("host", ""), parameters.get("port", "")
    if not any("," in parameters.get(key, "") for key in ("host", "hostaddr", "port")):
        return {"port": parse_port(port)} if port else {}
    if not has_attribute:
        raise InvalidValue("several hosts are supported only with target_session_attrs=read-write")
    if parameters.get("hostaddr"):
        raise InvalidValue("several hosts are supported without hostaddr only")
    hosts, ports = host.split(","), port.split(",")
    if len(ports) not in (1, len(hosts)):
        raise InvalidValue("several hosts must have one port, or one each")
    settings: dict[str, Any] = {}
    if len(set(ports)) == 1:
        settings = {"port": parse_port(ports[0])} if ports[0] else {}
    else:
        hosts = [
            f"[{host}]:{port or 5432}" if ":" in host else f"{host}:{port or 5432}"
            for host, port in zip(hosts, ports, strict=True)
        ]
    try:
        return settings | {"host": DATABASE_HOST.parse(",".join(hosts))}
    except InvalidValue as error:
        raise InvalidValue(f"its hosts: {error}") from None
    except ValueError:
        raise InvalidValue("one of its hosts is not a hostname or an address") from None


def _with_files(ssl: Any, parameters: dict[str, str]) -> Any:
    if not ssl:
        return ssl
    ssl = dict(ssl)
    for libpq_key, key in (("sslrootcert", "ca"), ("sslcert", "cert"), ("sslkey", "key")):
        path = parameters.get(libpq_key)
        if path and path != "system":
            try:
                ssl[key] = tls.parse_pem(tls.read_text(path))
            except InvalidValue as error:
                raise InvalidValue(f"its {libpq_key}: {error}") from None
    return ssl


def merge_ssl_options(options: dict[str, Any]) -> Any:
    """The ssl object from the single options, or None if none of them is set."""
    ca, cert, key = (options.get(f"ssl{name}File") for name in ("Ca", "Cert", "Key"))
    reject = options.get("sslRejectUnauthorized")
    if reject is None and not (ca or cert or key):
        return None
    if reject is None:
        reject = bool(ca and cert and key)
    files = {"ca": ca, "cert": cert, "key": key}
    return {"rejectUnauthorized": reject, **{name: text for name, text in files.items() if text}}


def build_libpq_arguments(
    db: dict[str, Any], write_pem: Callable[[str, str], str]
) -> dict[str, Any]:
    """The arguments for psycopg2.connect. Every key is explicit, so that PG* variables, the service
    in PGSERVICE and files in ~/.postgresql have no effect.

    `write_pem(name, text)` writes PEM text to a private file and returns its path.
    """
    hosts = split_database_hosts(db["host"])
    arguments: dict[str, Any] = {
        # For each host. Two seconds are the least that libpq knows.
        "connect_timeout": 3 if len(hosts) == 1 else 2,
        "user": db["user"],
        "password": db["password"],
        "host": ",".join(host for host, _ in hosts),
        "port": ",".join(port or str(db["port"]) for _, port in hosts) if hosts[1:] else db["port"],
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
        **_list_newer_arguments(),
        **db.get("extra", {}),
        "options": "",  # see db/session.py
    }
    return arguments | _tls(db["ssl"], write_pem)


def _list_newer_arguments() -> dict[str, str]:
    """Arguments that older versions of libpq reject."""
    version = psycopg2_extensions.libpq_version()
    since_16 = {
        "require_auth": _ANY_METHOD,
        "load_balance_hosts": "disable",
        "sslcertmode": "allow",
    }
    since_17 = {"sslnegotiation": "postgres"}
    return (since_16 if version >= 160000 else {}) | (since_17 if version >= 170000 else {})


def _tls(ssl: Any, write_pem: Callable[[str, str], str]) -> dict[str, Any]:
    """sslmode and its files. With a CA file libpq 17 verifies the chain even for `require`, so an
    unverified connection gets the path of a file that doesn't exist."""
    if not ssl:
        return {"sslmode": "disable"}
    arguments: dict[str, Any] = {"sslcert": "/nonexistent/sslcert", "sslkey": "/nonexistent/sslkey"}
    arguments["sslpassword"] = "none"  # otherwise OpenSSL asks at the terminal
    for key, libpq_key in (("cert", "sslcert"), ("key", "sslkey")):
        if ssl.get(key):
            arguments[libpq_key] = write_pem(key, ssl[key])
    if not ssl["rejectUnauthorized"]:
        return arguments | {"sslmode": "require", "sslrootcert": "/nonexistent/sslrootcert"}
    root = write_pem("ca", ssl["ca"]) if ssl.get("ca") else _find_system_certificates()
    mode = "verify-full" if ssl.get("checkHost", True) else "verify-ca"
    return arguments | {"sslmode": mode, "sslrootcert": root}


def _find_system_certificates() -> str:
    """Python's path of them: "system" means the build folder of psycopg2's wheel."""
    paths = get_default_verify_paths()
    debian_path = os.path.join(paths.capath or "", "ca-certificates.crt")
    return paths.cafile or (debian_path if os.path.isfile(debian_path) else "system")
