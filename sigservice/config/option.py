"""What an option is, and the rows of one section of the table in options.py."""

from dataclasses import dataclass
from typing import Any

from sigservice.config.parse import ValueType


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
