"""Options and environment put together into one plain nested dict.

In-code value > environment value > default. Everything wrong is reported at once.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sigservice.config import database, tokens
from sigservice.config.options import ALIASES, OPTIONS, REMOVED, Option
from sigservice.errors import AppError, ConfigError


@dataclass(frozen=True)
class Loaded:
    """`config` is what the house reads, shaped like the in-code options object.

    `sources` maps an option's path to "in code", "default" or the variable's name.
    """

    config: dict[str, Any]
    sources: dict[str, str]
    warnings: list[str]


def load_config(options: Mapping[str, Any] | None, environ: Mapping[str, str]) -> Loaded:
    """Raises ConfigError with one line for each wrong value; a line never shows the value."""
    given, problems, warnings = _flatten(options or {})
    environ = _with_proxies(environ)
    config: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for option in OPTIONS:
        value, source = _value(option, given, environ, problems)
        sources[option.path] = source
        _put(config, option.path, copy.deepcopy(value) if source == "default" else value)
    _initial_admin(config, sources, problems)
    _tokens(config, sources, problems)
    db_in_code = (options or {}).get("db") is not None
    _database(config, sources, db_in_code, environ, problems)
    if config["db"]["pool"]["min"] > config["db"]["pool"]["max"]:
        problems.append("DATABASE_POOL_MIN must not be larger than DATABASE_POOL_MAX.")
    warnings += _unknown_variables(environ) + _hints(config, sources)
    if problems:
        raise ConfigError(problems)
    return Loaded(config, sources, warnings)


def _with_proxies(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The one family of variables that most programs know in small letters."""
    names = [option.env for option in OPTIONS if option.section == "Outgoing connections"]
    small = {name: environ.get(name.lower(), "") for name in names}
    return {**environ, **{name: text for name, text in small.items() if text.strip()}}


def _flatten(options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
    """In-code options by path; None means not given, except for initialAdminUser."""
    known = {option.path for option in OPTIONS if option.in_code}
    groups = {path.rsplit(".", n)[0] for path in known for n in range(1, path.count(".") + 1)}
    found: dict[str, Any] = {}
    problems: list[str] = []
    warnings: list[str] = []

    def walk(prefix: str, block: Mapping[str, Any]) -> None:
        for key, value in block.items():
            path = ALIASES.get(f"{prefix}{key}", f"{prefix}{key}")
            if path in REMOVED:
                warnings.append(REMOVED[path])
            elif path == "authentication.initialAdminUser" or (path in known and value is not None):
                found[path] = value
            elif path in groups and isinstance(value, Mapping):
                walk(path + ".", value)
            elif path in groups and value is not None:
                problems.append(f"{path} (in code): expected an object.")
            elif path not in known and path not in groups:
                near = difflib.get_close_matches(path, known | groups, 1)
                hint = f"; did you mean {near[0]}?" if near else "."
                problems.append(f"{path} (in code): there is no such option{hint}")

    walk("", options)
    return found, problems, warnings


def _value(
    option: Option, given: Mapping[str, Any], environ: Mapping[str, str], problems: list[str]
) -> tuple[Any, str]:
    text = environ.get(option.env, "") if option.env else ""
    try:
        if option.in_code and option.path in given:
            name = f"{option.path} (in code)"
            return option.kind.check(given[option.path]), "in code"
        if text.strip():
            name = option.env
            return option.kind.parse(text), option.env
    except (ValueError, TypeError):
        problems.append(
            f"{name}: expected {option.kind.expected}, for example {option.kind.example}"
        )
    default = option.default
    return list(default) if isinstance(default, tuple) else default, "default"


def _put(config: dict[str, Any], path: str, value: Any) -> None:
    *groups, last = path.split(".")
    for group in groups:
        config = config.setdefault(group, {})
    config[last] = value


def _initial_admin(config: dict[str, Any], sources: dict[str, str], problems: list[str]) -> None:
    block = config["authentication"]
    username, password = block.pop("initialAdminUsername"), block.pop("initialAdminPassword")
    block["initialAdminIsBuiltIn"] = False
    if sources["authentication.initialAdminUser"] == "in code":
        return
    if any(line.startswith("SERVICE_DEFAULT_ADMIN_") for line in problems):
        return
    if bool(username) != bool(password):
        problems.append(
            "SERVICE_DEFAULT_ADMIN_USERNAME and SERVICE_DEFAULT_ADMIN_PASSWORD: set both or none."
        )
    elif username:
        block["initialAdminUser"] = {"username": username, "password": password}
        sources["authentication.initialAdminUser"] = "SERVICE_DEFAULT_ADMIN_USERNAME"
    else:
        block["initialAdminIsBuiltIn"] = True


def _joined(sources: dict[str, str], path: str, variables: list[str]) -> None:
    """Names the variables that a value was put together from, after the code if it has a part."""
    first = [] if sources[path] == "default" else [sources[path]]
    sources[path] = ", ".join(first + variables) or "default"


def _tokens(config: dict[str, Any], sources: dict[str, str], problems: list[str]) -> None:
    block = config["authentication"]
    lists = {
        "INIT_ADMIN_API_TOKENS": block.pop("initAdminApiTokens"),
        "INIT_CLIENT_API_TOKENS": block.pop("initClientApiTokens"),
        "INIT_FRONTEND_API_TOKENS": block.pop("initFrontendApiTokens"),
    }
    try:
        block["initApiTokens"] = tokens.collect(block["initApiTokens"], lists)
        _joined(sources, "authentication.initApiTokens", [name for name in lists if lists[name]])
    except AppError as error:
        problems += [item["message"] for item in error.details]


def _database(
    config: dict[str, Any],
    sources: dict[str, str],
    in_code: bool,
    environ: Mapping[str, str],
    problems: list[str],
) -> None:
    db = config["db"]
    parts = {name: db.pop(name) for name in list(db) if name.startswith("ssl") and name != "ssl"}
    from_env = any(name.startswith("DATABASE_") and environ[name].strip() for name in environ)
    db["embedded"] = not (in_code or from_env or config["databaseUrl"] or config["databaseUrlFile"])
    if sources["db.ssl"] == "default":
        ssl = parts["sslCaConfig"]
        named = ["sslCaConfig"] if ssl is not None else [n for n in parts if parts[n] is not None]
        ssl = database.ssl_from_parts(parts) if ssl is None else ssl
        _joined(sources, "db.ssl", [sources[f"db.{name}"] for name in named])
        db["ssl"] = ssl if ssl is not None else False
    url, name = _url(config, sources, problems)
    if not url:
        return
    try:
        overrides = database.from_url(url)
    except ValueError as error:
        problems.append(f"{name}: {error}.")
        return
    for key, value in overrides.items():
        if sources.get(f"db.{key}") != "in code":
            db[key] = value
            sources[f"db.{key}"] = name


def _url(config: dict[str, Any], sources: dict[str, str], problems: list[str]) -> tuple[str, str]:
    """The connection string in force and where it came from."""
    path = config["databaseUrlFile"]
    source = sources["databaseUrl"]
    if not path or (source == "in code" and sources["databaseUrlFile"] != "in code"):
        return config["databaseUrl"] or "", "databaseUrl" if source == "in code" else source
    name = sources["databaseUrlFile"]
    name = "databaseUrlFile" if name == "in code" else name
    try:
        url = Path(path).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError):
        problems.append(f"{name}: the file can't be read.")
        return "", name
    if not url.strip():
        problems.append(f"{name}: the file is empty.")
        return "", name
    return url, name


def _unknown_variables(environ: Mapping[str, str]) -> list[str]:
    known = sorted({option.env for option in OPTIONS if option.env})
    lines = []
    for name in sorted(environ):
        if name.startswith(("SERVICE_", "DATABASE_")) and name not in known:
            near = difflib.get_close_matches(name, known, 1)
            lines.append(
                f"{name} is not a variable of this service"
                + (f"; did you mean {near[0]}?" if near else ".")
            )
    return lines


def _hints(config: dict[str, Any], sources: dict[str, str]) -> list[str]:
    lines = []
    crossed = ("clientMetricsMaxPerMinute", "clientRegisterMaxPerMinute")
    in_env = [
        sources[f"metricsRateLimiting.{name}"] not in ("default", "in code") for name in crossed
    ]
    if any(in_env) and not all(in_env):
        lines.append(
            "REGISTER_CLIENT_RATE_LIMIT_PER_MINUTE limits client metrics and "
            "CLIENT_METRICS_RATE_LIMIT_PER_MINUTE limits client register: the names are crossed."
        )
    ssl = config["db"]["ssl"]
    if ssl and not ssl["rejectUnauthorized"]:
        lines.append(
            "The database's TLS certificate is not verified (rejectUnauthorized is false)."
        )
    return lines
