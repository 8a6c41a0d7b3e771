"""What an option is, the rows of one section of the table in options.py, and examples for error
messages and the documentation."""

from dataclasses import dataclass
from typing import Any

from sigservice.config.parse import ValueType

_EXAMPLES = {
    "server.port": "4242",
    "server.pipe": "/run/sigservice.sock",
    "dataDir": "/var/lib/sigservice",
    "postgresBin": "/usr/lib/postgresql/17/bin",
    "db.host": "db.example.com",
    "db.sslCertFile": "/etc/ssl/db/client.pem",
    "db.sslKeyFile": "/etc/ssl/db/client.key",
    "environmentEnableOverrides": "development,production",
    "email.host": "smtp.example.com",
    "email.sender": "flags@example.com",
    "email.smtpuser": "flags",
    "frontendApi.refreshIntervalInMs": "20000",
    "outgoing.noProxy": "localhost,.example.com",
    "versionCheck.url": "https://version.example.com",
}


@dataclass(frozen=True)
class Option:
    """`path` is the in-code name, `env` the variable ("" = code only)."""

    path: str
    env: str
    type: ValueType
    default: Any
    help: str
    section: str
    secret: bool = False
    in_code: bool = True


def build_section(section: str, *rows: tuple[Any, ...]) -> list[Option]:
    """The options of a section: path, variable, type, default and help of each, and "secret" or
    "env only"."""
    options = []
    for path, env, type, default, text, *more in rows:
        options.append(
            Option(
                path,
                env,
                type,
                default,
                text,
                section,
                secret="secret" in more,
                in_code="env only" not in more,
            )
        )
    return options


def example(option: Option) -> str:
    """Valid text for the option's variable: its own example, its default or its type's example."""
    default = option.default
    if option.path in _EXAMPLES:
        return _EXAMPLES[option.path]
    if isinstance(default, int | str) and not isinstance(default, bool) and default:
        return option.type.example if option.secret else str(default)
    return option.type.example


def example_in_code(option: Option) -> str:
    """The same value as Python code."""
    text = example(option)
    try:
        return repr(option.type.parse(text))
    except ValueError:  # a value for code only, or a file
        return text
