"""Merges options and environment into one nested dict.

In-code value > environment value > default. All problems are reported at once.
"""

import copy
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sigservice.config import database, names, oidc, risks, tls, tokens
from sigservice.config.option import Option, example, example_in_code
from sigservice.config.options import ALIASES, OPTIONS, REMOVED
from sigservice.config.parse import InvalidValue
from sigservice.config.risk import Risk
from sigservice.errors import AppError, ConfigError, Problem


@dataclass(frozen=True)
class Loaded:
    """`config` has the structure of the in-code options.

    `sources` maps an option's path to "in code", "default" or the variable's name. Each start logs
    the `start_risks`.
    """

    config: dict[str, Any]
    sources: dict[str, str]
    problems: list[Problem]
    start_risks: list[Risk]

    @property
    def warnings(self) -> list[str]:
        return [risk.message for risk in self.start_risks]


def load_config(options: Mapping[str, Any] | None, environ: Mapping[str, str]) -> Loaded:
    """Raises ConfigError with one line for each invalid value, without the value itself."""
    loaded = read_config(options, environ)
    if loaded.problems:
        raise ConfigError(loaded.problems)
    return loaded


def read_config(options: Mapping[str, Any] | None, environ: Mapping[str, str]) -> Loaded:
    """The configuration with all problems, and with defaults in the place of invalid values."""
    problems: list[Problem] = []
    in_code_values, start_risks = _flatten({} if options is None else options, problems)
    lowercase_names = _find_lowercase_names(environ)
    config: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for option in OPTIONS:
        variable = lowercase_names.get(option.env, option.env)
        value, source = _read_value(option, variable, in_code_values, environ, problems)
        sources[option.path] = source
        _set_value(config, option.path, copy.deepcopy(value) if source == "default" else value)
    _merge_initial_admin(config, sources, problems)
    _merge_tokens(config, sources, problems)
    db_in_code = isinstance(options, Mapping) and options.get("db") is not None
    _merge_database(config, sources, db_in_code, environ, problems)
    _check_pool(config, sources, problems)
    _check_oidc(config, problems)
    _name_cookie(config, sources)
    start_risks += names.find_unknown(environ) + risks.find_start_warnings(config, sources, environ)
    return Loaded(config, sources, problems, start_risks)


def _name_cookie(config: dict[str, Any], sources: dict[str, str]) -> None:
    """Under https the built-in name gets the prefix that prevents other hosts of the domain from
    setting this cookie. A configured name is used as it is."""
    url = urlsplit(config["server"]["unleashUrl"] or "")
    if sources["session.cookieName"] == "default" and url.scheme == "https":
        has_path = url.path.strip("/") or config["server"]["baseUriPath"]
        config["session"]["cookieName"] = ("__Secure-" if has_path else "__Host-") + config[
            "session"
        ]["cookieName"]


def _find_lowercase_names(environ: Mapping[str, str]) -> dict[str, str]:
    """Lowercase names of the proxy variables that are set. They override the uppercase ones."""
    family = [option.env for option in OPTIONS if option.section == "Outgoing connections"]
    return {name: name.lower() for name in family if environ.get(name.lower(), "").strip()}


def _flatten(options: Any, problems: list[Problem]) -> tuple[dict[str, Any], list[Risk]]:
    """In-code options by path. None means not set, except for initialAdminUser."""
    paths = {option.path for option in OPTIONS if option.in_code}
    groups = {path.rsplit(".", n)[0] for path in paths for n in range(1, path.count(".") + 1)}
    values: dict[str, Any] = {}
    start_risks: list[Risk] = []

    def walk(prefix: str, block: Mapping[Any, Any]) -> None:
        for key, value in block.items():
            path = ALIASES.get(f"{prefix}{key}", f"{prefix}{key}")
            if path in REMOVED:
                start_risks.append(Risk("warning", path, REMOVED[path]))
            elif path == "authentication.initialAdminUser" or (path in paths and value is not None):
                values[path] = value
            elif path in groups and isinstance(value, Mapping):
                walk(path + ".", value)
            elif path in groups and value is not None:
                first = next(option for option in OPTIONS if option.path.startswith(path + "."))
                inner = first.path.removeprefix(path + ".").partition(".")[0]
                example_text = f'{{"{inner}": …}}'
                problems.append(Problem(f"{path} (in code)", "an object", example_text))
            elif path not in paths and path not in groups:
                near = difflib.get_close_matches(path, paths | groups, 1) or ["server.port"]
                example_text = path if path.isprintable() else ascii(path)
                problems.append(
                    Problem(
                        f"{example_text} (in code)",
                        "an option's name",
                        near[0],
                        "unknown option",
                    )
                )

    if isinstance(options, Mapping):
        walk("", options)
    else:
        problems.append(Problem("options (in code)", "an object", '{"server": {"port": 4242}}'))
    return values, start_risks


def _read_value(
    option: Option,
    variable: str,
    in_code_values: Mapping[str, Any],
    environ: Mapping[str, str],
    problems: list[Problem],
) -> tuple[Any, str]:
    text = environ.get(variable, "") if variable else ""
    try:
        if option.in_code and option.path in in_code_values:
            source = "in code"
            return option.type.check(in_code_values[option.path]), source
        if text.strip():
            source = variable
            return option.type.parse(text), source
        source = "default"
    except (ValueError, TypeError) as error:
        problems.append(
            _describe_problem(option, source, str(error) if isinstance(error, InvalidValue) else "")
        )
    default = option.default
    return list(default) if isinstance(default, tuple) else default, source


def _describe_problem(option: Option, source: str, reason: str) -> Problem:
    """The problem of an option whose value comes from `source`, a variable or the code."""
    if source == "in code":
        expected, example_text = option.type.expected_in_code, example_in_code(option)
        return Problem(f"{option.path} (in code)", expected, example_text, reason)
    return Problem(source, option.type.expected, example(option), reason)


def _describe_missing(variable: str, other: str) -> Problem:
    return _describe_problem(_find_option(variable), variable, f"must be set with {other}")


def _find_option(name: str) -> Option:
    return next(option for option in OPTIONS if name in (option.path, option.env))


def _set_value(config: dict[str, Any], path: str, value: Any) -> None:
    *groups, last = path.split(".")
    for group in groups:
        config = config.setdefault(group, {})
    config[last] = value


def _merge_initial_admin(
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
        missing, other = pair if password else pair[::-1]
        problems.append(_describe_missing(missing, other))


def _join_sources(sources: dict[str, str], path: str, parts: list[str]) -> None:
    """Sets the source of an option to all variables that its value is merged from."""
    variables = [sources[part] for part in (path, *parts) if sources[part] != "default"]
    sources[path] = ", ".join(variables) or "default"


def _merge_tokens(config: dict[str, Any], sources: dict[str, str], problems: list[Problem]) -> None:
    block = config["authentication"]
    lists = {
        "INIT_ADMIN_API_TOKENS": block.pop("initAdminApiTokens"),
        "INIT_CLIENT_API_TOKENS": block.pop("initClientApiTokens"),
        "INIT_FRONTEND_API_TOKENS": block.pop("initFrontendApiTokens"),
    }
    paths = [f"authentication.init{kind}ApiTokens" for kind in ("Admin", "Client", "Frontend")]
    _join_sources(sources, "authentication.initApiTokens", paths)
    try:
        labels_and_tokens = tokens.collect_tokens(block["initApiTokens"], lists)
        block["initApiTokens"] = [token for _, token in labels_and_tokens]
        block["initApiTokenOrigins"] = [label for label, _ in labels_and_tokens]
    except AppError as error:
        for item in error.details:
            source = "in code" if item["path"] == "authentication.initApiTokens" else item["path"]
            problems.append(_describe_problem(_find_option(item["path"]), source, item["message"]))


def _merge_database(
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
        has_object = sources["db.sslCaConfig"] != "default"
        source_names = ["sslCaConfig"] if has_object else list(parts)
        _join_sources(sources, "db.ssl", [f"db.{name}" for name in source_names])
        ssl = parts["sslCaConfig"] if has_object else database.merge_ssl_options(parts)
        pair = ("DATABASE_SSL_CERT_FILE", "DATABASE_SSL_KEY_FILE")
        if not has_object and bool(parts["sslCertFile"]) != bool(parts["sslKeyFile"]):
            missing, other = pair if parts["sslKeyFile"] else pair[::-1]
            if not any(problem.variable == missing for problem in problems):
                problems.append(_describe_missing(missing, other))
        db["ssl"] = ssl if ssl is not None else False
    url, path = _find_url(config, sources, problems)
    if not url:
        return
    try:
        overrides = database.parse_url(url)
    except InvalidValue as error:
        problems.append(_describe_problem(_find_option(path), sources[path], str(error)))
        return
    for key, value in overrides.items():
        if sources.get(f"db.{key}") != "in code":
            db[key] = value
            sources[f"db.{key}"] = sources[path]


def _find_url(
    config: dict[str, Any], sources: dict[str, str], problems: list[Problem]
) -> tuple[str, str]:
    """The connection string and the path of its option."""
    path = config["databaseUrlFile"]
    in_code = sources["databaseUrl"] == "in code"
    if not path or (in_code and sources["databaseUrlFile"] != "in code"):
        return config["databaseUrl"] or "", "databaseUrl"
    try:
        return tls.read_text(path).rstrip("\r\n"), "databaseUrlFile"
    except InvalidValue as error:
        source = sources["databaseUrlFile"]
        problems.append(_describe_problem(_find_option("databaseUrlFile"), source, str(error)))
        return "", "databaseUrlFile"


def _check_oidc(config: dict[str, Any], problems: list[Problem]) -> None:
    invalid = {problem.variable for problem in problems}
    for variable, other in oidc.list_missing(config):
        if not {variable, f"{_find_option(variable).path} (in code)"} & invalid:
            problems.append(_describe_missing(variable, other))


def _check_pool(config: dict[str, Any], sources: dict[str, str], problems: list[Problem]) -> None:
    pool, source = config["db"]["pool"], sources["db.pool.min"]
    max_is_wrong = any(
        p.variable in ("DATABASE_POOL_MAX", "db.pool.max (in code)") for p in problems
    )
    if pool["min"] > pool["max"] and not max_is_wrong:
        name = "db.pool.min (in code)" if source == "in code" else source
        problems.append(Problem(name, "no more than DATABASE_POOL_MAX (db.pool.max)", "0"))
