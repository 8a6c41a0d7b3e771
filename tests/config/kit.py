"""What a row of the options' table is, and how rows of one kind are made: see rows.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from sigservice.config import load_config
from sigservice.errors import ConfigError

SAMPLES = Path(__file__).with_name("samples")
PEM_FILE = str(SAMPLES / "key.pem")
PEM = (SAMPLES / "key.pem").read_text(encoding="utf-8")
URL_FILE = str(SAMPLES / "url.txt")
NOTHING: Any = object()
ADMIN = {"username": "admin", "password": "unleash4all"}  # built in


@dataclass(frozen=True)
class Row:
    """What one option means; NOTHING and "" stand for what an option does not have."""

    path: str
    env: str  # "": code only
    default: Any
    text: str = ""  # environment text …
    value: Any = NOTHING  # … and what it means
    code: Any = NOTHING  # in-code value; NOTHING: environment only …
    from_code: Any = NOTHING  # … and what it means; NOTHING: itself
    bad: str | None = None  # environment text that is refused; None: anything goes
    bad_code: Any = NOTHING
    says: str = ""  # what the refusal calls for
    beyond: tuple[int, ...] = ()  # numbers just outside
    at: str = ""  # where the value stands in the config; "": at the path
    required: dict[str, str] = field(default_factory=dict)  # variables that it can't be without
    secret: bool = False

    def find(self, config: Mapping[str, Any]) -> Any:
        value: Any = config
        for part in (self.at or self.path).split("."):
            value = value[part]
        return value

    def environ(self, text: str | None = None) -> dict[str, str]:
        return {self.env: self.text if text is None else text, **self.required}

    def options(self, value: Any = NOTHING) -> dict[str, Any]:
        return nest(self.path, self.code if value is NOTHING else value)


def refusal(line: str, name: str, says: str) -> bool:
    """Whether the line has the shape of every refusal: name, perhaps a reason, kind, example."""
    if name.endswith("(in code)"):
        says = says.replace("a comma-separated list", "a list")
    shape = rf"{re.escape(name)}: ([^\n]*; )?expected [^\n]*{re.escape(says)}[^\n]*, for example .+"
    return re.fullmatch(shape, line) is not None


def nest(path: str, value: Any) -> dict[str, Any]:
    for part in reversed(path.split(".")):
        value = {part: value}
    return value


def problems(options: Mapping[str, Any] | None, environ: Mapping[str, str]) -> list[str]:
    """The lines of the ConfigError that these settings must cause."""
    with pytest.raises(ConfigError) as caught:
        load_config(options, environ)
    assert caught.value.problems
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def boolean(path: str, env: str, default: bool) -> Row:
    text = "false" if default else "true"
    says = "true or false"
    if not env:
        return Row(path, "", default, code=not default, bad_code="wr0ng", says=says)
    return Row(path, env, default, text, not default, default, NOTHING, "wr0ng", "wr0ng", says)


def number(
    path: str, env: str, default: Any, beyond: tuple[int, ...], *, code: int = 7, value: int = 1234
) -> Row:
    says = "a whole number from"
    return Row(path, env, default, str(value), value, code, NOTHING, "wr0ng", "wr0ng", says, beyond)


def string(path: str, env: str, default: Any, *, code: str = "in-code.example") -> Row:
    text = "environment.example"
    return Row(path, env, default, text, text, code, NOTHING, "wr0ng\nline", 4711, "text on one")


def secret(path: str, env: str, default: Any) -> Row:
    text = "hunter2, from the environment"
    code = "hunter2, from code"
    row = Row(path, env, default, text, text, code, bad="wr0ng\udcff", bad_code=4711, secret=True)
    return replace(row, says="text")


def proxy(path: str, env: str) -> Row:
    """Its address may hold a password."""
    text, code = "http://ada:hunter2@env.example:3128", "https://ada:hunter2@code.example"
    row = Row(path, env, None, text, text, code, bad="gopher://wr0ng:1", bad_code=4711, secret=True)
    return replace(row, says="a proxy URL")


def path(path: str, env: str, default: Any, text: str, code: str) -> Row:
    bad = "/wr0ng\r\n"
    return Row(path, env, default, text, text, code, bad=bad, bad_code=4711, says="a path")


def function(path: str) -> Row:
    return Row(path, "", None, code=print, bad_code="wr0ng", says="a callable")


def choice(path: str, env: str, default: str, text: str, code: str, says: str) -> Row:
    return Row(path, env, default, text, text, code, NOTHING, "wr0ng", "wr0ng", says)


def csp(name: str) -> Row:
    row = Row(f"additionalCspAllowedDomains.{name}Src", f"CSP_ALLOWED_{name.upper()}", [])
    text, value = "a.example, https://b.example,", ["a.example", "https://b.example"]
    row = replace(row, text=text, value=value, code=["c.example"], bad="wr0ng.example;script-src")
    return replace(row, bad_code=["wr0ng.example x"], says="a comma-separated list of CSP sources")


def tokens(env: str, kind: str, secret: str, environment: str, project: str) -> Row:
    """A variable of token secrets: no in-code twin, joined to authentication.initApiTokens."""
    name = "init" + kind.capitalize() + "ApiTokens"
    token = {"type": kind, "secret": secret, "environment": environment, "projects": [project]}
    row = Row(f"authentication.{name}", env, [], secret, [token | {"username": kind}], secret=True)
    says = "a comma-separated list of secrets"
    return replace(row, at="authentication.initApiTokens", bad=f"{secret},wr0ng\n", says=says)


def first_admin(part: str, text: str, bad: str, says: str) -> Row:
    """One of two variables that only go together: the username and the password."""
    both = {"SERVICE_DEFAULT_ADMIN_USERNAME": "ada", "SERVICE_DEFAULT_ADMIN_PASSWORD": "hunter2 x"}
    env = f"SERVICE_DEFAULT_ADMIN_{part.upper()}"
    required = {name: other for name, other in both.items() if name != env}
    value = {"username": "ada", "password": "hunter2 x"}
    row = Row(f"authentication.initialAdmin{part}", env, ADMIN, text, value, bad=bad, says=says)
    row = replace(row, at="authentication.initialAdminUser", required=required)
    return replace(row, secret=part == "Password")


def tls_file(part: str, required: str = "") -> Row:
    """`required` is the part that it can't be without."""
    parts = [name for name in (part, required) if name]
    value = {"rejectUnauthorized": False, **dict.fromkeys(parts, PEM)}
    variables = {name: f"DATABASE_SSL_{name.upper()}_FILE" for name in parts}
    path, env = f"db.ssl{part.capitalize()}File", variables.pop(part)
    row = Row(path, env, False, PEM_FILE, value, at="db.ssl", secret=True)
    row = replace(row, required=dict.fromkeys(variables.values(), PEM_FILE))
    return replace(row, bad="/nonexistent/wr0ng", says="a readable PEM file")


def minute(path: str, env: str, default: int) -> Row:
    return number(path, env, default, (-1,), code=0)
