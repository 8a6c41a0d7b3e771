"""Options and environment put together into one plain nested dict.

In-code value > environment value > default. Everything wrong is reported at once.
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sigservice.config import database, names, risks, tls, tokens
from sigservice.config.examples import example, example_in_code
from sigservice.config.options import ALIASES, OPTIONS, REMOVED, Option
from sigservice.config.parse import Wrong
from sigservice.config.risks import Risk
from sigservice.errors import AppError, ConfigError, Problem


@dataclass(frozen=True)
class Loaded:
    """`config` is what the house reads, shaped like the in-code options object.

    `sources` maps an option's path to "in code", "default" or the variable's name. `notes` are what
    the start warns of.
    """

    config: dict[str, Any]
    sources: dict[str, str]
    problems: list[Problem]
    notes: list[Risk]

    @property
    def warnings(self) -> list[str]:
        return [note.message for note in self.notes]


def load_config(options: Mapping[str, Any] | None, environ: Mapping[str, str]) -> Loaded:
    """Raises ConfigError with one line for each wrong value; a line never shows the value."""
    loaded = read_config(options, environ)
    if loaded.problems:
        raise ConfigError(loaded.problems)
    return loaded


def read_config(options: Mapping[str, Any] | None, environ: Mapping[str, str]) -> Loaded:
    """The same for whoever reports: where there are problems, defaults stand for what is wrong."""
    problems: list[Problem] = []
    given, notes = _flatten({} if options is None else options, problems)
    spelled = _small_letters(environ)
    config: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for option in OPTIONS:
        variable = spelled.get(option.env, option.env)
        value, source = _value(option, variable, given, environ, problems)
        sources[option.path] = source
        _put(config, option.path, copy.deepcopy(value) if source == "default" else value)
    _initial_admin(config, sources, problems)
    _tokens(config, sources, problems)
    db_in_code = isinstance(options, Mapping) and options.get("db") is not None
    _database(config, sources, db_in_code, environ, problems)
    _pool(config, sources, problems)
    notes += names.unknown(environ) + risks.at_start(config, sources, environ)
    return Loaded(config, sources, problems, notes)


def _small_letters(environ: Mapping[str, str]) -> dict[str, str]:
    """The one family of variables that most programs know in small letters; those win."""
    family = [option.env for option in OPTIONS if option.section == "Outgoing connections"]
    return {name: name.lower() for name in family if environ.get(name.lower(), "").strip()}


def _flatten(options: Any, problems: list[Problem]) -> tuple[dict[str, Any], list[Risk]]:
    """In-code options by path; None means not given, except for initialAdminUser."""
    known = {option.path for option in OPTIONS if option.in_code}
    groups = {path.rsplit(".", n)[0] for path in known for n in range(1, path.count(".") + 1)}
    found: dict[str, Any] = {}
    notes: list[Risk] = []

    def walk(prefix: str, block: Mapping[Any, Any]) -> None:
        for key, value in block.items():
            path = ALIASES.get(f"{prefix}{key}", f"{prefix}{key}")
            if path in REMOVED:
                notes.append(Risk("warning", path, REMOVED[path]))
            elif path == "authentication.initialAdminUser" or (path in known and value is not None):
                found[path] = value
            elif path in groups and isinstance(value, Mapping):
                walk(path + ".", value)
            elif path in groups and value is not None:
                first = next(one for one in OPTIONS if one.path.startswith(path + "."))
                inner = first.path.removeprefix(path + ".").partition(".")[0]
                shown = f'{{"{inner}": …}}'
                problems.append(Problem(f"{path} (in code)", "an object", shown))
            elif path not in known and path not in groups:
                near = difflib.get_close_matches(path, known | groups, 1) or ["server.port"]
                shown = path if path.isprintable() else ascii(path)
                problems.append(
                    Problem(
                        f"{shown} (in code)",
                        "an option's name",
                        near[0],
                        "there is no such option",
                    )
                )

    if isinstance(options, Mapping):
        walk("", options)
    else:
        problems.append(Problem("options (in code)", "an object", '{"server": {"port": 4242}}'))
    return found, notes


def _value(
    option: Option,
    variable: str,
    given: Mapping[str, Any],
    environ: Mapping[str, str],
    problems: list[Problem],
) -> tuple[Any, str]:
    text = environ.get(variable, "") if variable else ""
    try:
        if option.in_code and option.path in given:
            source = "in code"
            return option.kind.check(given[option.path]), source
        if text.strip():
            source = variable
            return option.kind.parse(text), source
        source = "default"
    except (ValueError, TypeError) as error:
        problems.append(_problem(option, source, str(error) if isinstance(error, Wrong) else ""))
    default = option.default
    return list(default) if isinstance(default, tuple) else default, source


def _problem(option: Option, source: str, reason: str) -> Problem:
    """What is wrong with an option that the variable or the code `source` gave."""
    if source == "in code":
        expected, shown = option.kind.expected_in_code, example_in_code(option)
        return Problem(f"{option.path} (in code)", expected, shown, reason)
    return Problem(source, option.kind.expected, example(option), reason)


def _option(name: str) -> Option:
    return next(option for option in OPTIONS if name in (option.path, option.env))


def _put(config: dict[str, Any], path: str, value: Any) -> None:
    *groups, last = path.split(".")
    for group in groups:
        config = config.setdefault(group, {})
    config[last] = value


def _initial_admin(
    config: dict[str, Any], sources: dict[str, str], problems: list[Problem]
) -> None:
    block = config["authentication"]
    username, password = block.pop("initialAdminUsername"), block.pop("initialAdminPassword")
    block["initialAdminIsBuiltIn"] = False
    if sources["authentication.initialAdminUser"] == "in code":
        return
    pair = ("SERVICE_DEFAULT_ADMIN_USERNAME", "SERVICE_DEFAULT_ADMIN_PASSWORD")
    if not (username or password or any(problem.variable in pair for problem in problems)):
        block["initialAdminIsBuiltIn"] = True
        return
    block["initialAdminUser"] = {"username": username, "password": password}
    sources["authentication.initialAdminUser"] = ", ".join(pair)
    if bool(username) != bool(password) and not any(p.variable in pair for p in problems):
        missing, there = pair if password else pair[::-1]
        problems.append(_problem(_option(missing), missing, f"{there} is set and goes with it"))


def _joined(sources: dict[str, str], path: str, parts: list[str]) -> None:
    """Names the variables that a value is put together from, after the code if it has a part."""
    found = [sources[part] for part in (path, *parts) if sources[part] != "default"]
    sources[path] = ", ".join(found) or "default"


def _tokens(config: dict[str, Any], sources: dict[str, str], problems: list[Problem]) -> None:
    block = config["authentication"]
    lists = {
        "INIT_ADMIN_API_TOKENS": block.pop("initAdminApiTokens"),
        "INIT_CLIENT_API_TOKENS": block.pop("initClientApiTokens"),
        "INIT_FRONTEND_API_TOKENS": block.pop("initFrontendApiTokens"),
    }
    paths = [f"authentication.init{kind}ApiTokens" for kind in ("Admin", "Client", "Frontend")]
    _joined(sources, "authentication.initApiTokens", paths)
    try:
        found = tokens.collect(block["initApiTokens"], lists)
        block["initApiTokens"] = [token for _, token in found]
        block["initApiTokenOrigins"] = [origin for origin, _ in found]
    except AppError as error:
        for item in error.details:
            source = "in code" if item["path"] == "authentication.initApiTokens" else item["path"]
            problems.append(_problem(_option(item["path"]), source, item["message"]))


def _database(
    config: dict[str, Any],
    sources: dict[str, str],
    in_code: bool,
    environ: Mapping[str, str],
    problems: list[Problem],
) -> None:
    db = config["db"]
    parts = {name: db.pop(name) for name in list(db) if name.startswith("ssl") and name != "ssl"}
    from_env = any(name.startswith("DATABASE_") and environ[name].strip() for name in environ)
    db["embedded"] = not (in_code or from_env or config["databaseUrl"] or config["databaseUrlFile"])
    if sources["db.ssl"] == "default":
        alone = sources["db.sslCaConfig"] != "default"
        _joined(sources, "db.ssl", ["db.sslCaConfig"] if alone else [f"db.{n}" for n in parts])
        ssl = parts["sslCaConfig"] if alone else database.ssl_from_parts(parts)
        pair = ("DATABASE_SSL_CERT_FILE", "DATABASE_SSL_KEY_FILE")
        if not alone and bool(parts["sslCertFile"]) != bool(parts["sslKeyFile"]):
            missing, there = pair if parts["sslKeyFile"] else pair[::-1]
            if not any(problem.variable == missing for problem in problems):
                problems.append(_problem(_option(missing), missing, f"{there} goes with it"))
        db["ssl"] = ssl if ssl is not None else False
    url, origin = _url(config, sources, problems)
    if not url:
        return
    try:
        overrides = database.from_url(url)
    except Wrong as error:
        problems.append(_problem(_option(origin), sources[origin], str(error)))
        return
    for key, value in overrides.items():
        if sources.get(f"db.{key}") != "in code":
            db[key] = value
            sources[f"db.{key}"] = sources[origin]


def _url(
    config: dict[str, Any], sources: dict[str, str], problems: list[Problem]
) -> tuple[str, str]:
    """The connection string in force and the option that it came from."""
    path = config["databaseUrlFile"]
    in_code = sources["databaseUrl"] == "in code"
    if not path or (in_code and sources["databaseUrlFile"] != "in code"):
        return config["databaseUrl"] or "", "databaseUrl"
    try:
        return tls.read_text(path).rstrip("\r\n"), "databaseUrlFile"
    except Wrong as error:
        source = sources["databaseUrlFile"]
        problems.append(_problem(_option("databaseUrlFile"), source, str(error)))
        return "", "databaseUrlFile"


def _pool(config: dict[str, Any], sources: dict[str, str], problems: list[Problem]) -> None:
    pool, source = config["db"]["pool"], sources["db.pool.min"]
    max_is_wrong = any(
        p.variable in ("DATABASE_POOL_MAX", "db.pool.max (in code)") for p in problems
    )
    if pool["min"] > pool["max"] and not max_is_wrong:
        name = "db.pool.min (in code)" if source == "in code" else source
        problems.append(Problem(name, "no more than DATABASE_POOL_MAX (db.pool.max)", "0"))
