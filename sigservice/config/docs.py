"""Generates docs/configuration.md: `python -m sigservice.config.docs`."""

import json
import sys

from sigservice.config.option import Option, example
from sigservice.config.options import OPTIONS

_HEAD = """# Configuration

This page is generated from the options table (`python -m sigservice.config.docs`); do not edit
it.

* An in-code value overrides the environment, which overrides the default. An empty variable
  counts as not set.
* With an invalid value the service doesn't start (exit code 2). It prints one line for each
  invalid value: the variable, what is expected and an example, never the value.
* The start warns about unknown variables that begin with `SERVICE_`, `DATABASE_` or `RELAY_`, or
  resemble one of these names. An unknown in-code option is an error.
* Variables are read once, at the start. Lists are separated by commas. Booleans are `true` or
  `false` (also `1`, `t`, `yes`, `on` and `0`, `f`, `no`, `off`).
* `sigservice check-config` prints the values that are set, with `--all` each value:
  [Check the configuration](run.md#check-the-configuration).

## Database

Without a `db` option and without `DATABASE_*` variables, the service uses an embedded PostgreSQL
in `SERVICE_DATA_DIR`. Otherwise it connects to PostgreSQL 14 or newer with the settings below:
in-code `db` > `DATABASE_URL_FILE` > `DATABASE_URL` > the other variables. How it finds the server
that accepts writes, and what ends a start: [Your own PostgreSQL](run.md#your-own-postgresql).

`sslmode` in a URL may be `disable`, `no-verify`, `require`, `verify-ca` or `verify-full`.
`prefer` and `allow` are rejected because they don't require TLS. `DATABASE_SSL` overrides
`DATABASE_SSL_CA_CONFIG`, which overrides the file variables; the `sslmode` of a URL overrides all
of them, and an in-code `db.ssl` overrides the URL. Examples:
[TLS to the database](run.md#your-own-postgresql).

## In-code options

`sigservice.create(options)` and `sigservice.start(options)` take the names of the first column as
nested dicts: `{"server": {"port": 4242}, "session": {"ttlHours": 8}}`. An unknown name is an
error. `None` means not set, except for `authentication.initialAdminUser`, where it means that no
admin is created.

`preHook(app)` is called with the root Bottle before anything is added to it, `preRouterHook(app)`
before the routes are added. Both may add bottle hooks or routes, and may return a function that
wraps the WSGI application. The wrapper of `preHook` is the outermost. The wrapper of
`preRouterHook` contains only the routes; base path, headers and error handling are outside of it.
A route of a hook overrides a route of the service with the same path. An exception in a hook
stops the start.
"""


def render_page() -> str:
    """The Markdown text."""
    parts = [_HEAD]
    for section in dict.fromkeys(option.section for option in OPTIONS):
        parts.append(f"\n## {section}\n")
        parts.append("| option | variable | default | value | what it does |")
        parts.append("|---|---|---|---|---|")
        parts += [_render_row(option) for option in OPTIONS if option.section == section]
    return "\n".join(parts) + "\n"


def _render_row(option: Option) -> str:
    name = f"`{option.path}`" if option.in_code else "(variable only)"
    variable = f"`{option.env}`" if option.env else "(code only)"
    cells = (name, variable, _describe_default(option), _describe_value(option), option.help)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _describe_value(option: Option) -> str:
    """The type, with an example unless the type or the default contains it."""
    type, text = option.type, example(option)
    in_words = text.startswith("a ")  # "a function"
    is_redundant = in_words or text in type.expected or text == str(option.default)
    return type.expected if is_redundant else f"{type.expected}, such as `{text}`"


def _describe_default(option: Option) -> str:
    if option.default is None or option.default == () or option.default == []:
        return "–"
    if option.default == "":
        return "`/`" if option.path == "server.baseUriPath" else "–"
    if isinstance(option.default, str):
        return f"`{option.default}`"
    return f"`{json.dumps(option.default)}`"


if __name__ == "__main__":
    sys.stdout.write(render_page())
