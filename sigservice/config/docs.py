"""docs/configuration.md, made from the options table: `python -m sigservice.config.docs`."""

from __future__ import annotations

import json
import sys

from sigservice.config.examples import example
from sigservice.config.options import OPTIONS, Option

_HEAD = """# Configuration

This page is generated from the options table (`python -m sigservice.config.docs`); do not edit it.

* An in-code value beats the environment, which beats the default. A variable that is set but empty
  counts as not set.
* Every wrong value stops the start (exit code 2). All of them are named at once, a line each: the
  variable, what is expected and an example, never the value.
* A name that is none of these is warned of when it begins with `SERVICE_` or `DATABASE_`, or is
  plainly a misspelling of one; in code it is an error.
* Variables are read once, at the start. Lists are separated by commas. Booleans are `true` or
  `false` (also `1`, `t`, `yes`, `on` and `0`, `f`, `no`, `off`).
* `sigservice check-config` prints each value, where it came from and what is risky, secrets masked;
  see [operations.md](operations.md) for its use in scripts.

## Where the database is

Nothing configured (no `db` option, no `DATABASE_*` variable): an embedded PostgreSQL in
`SERVICE_DATA_DIR`. Anything configured: PostgreSQL 14 or newer with the settings below; in-code
`db` > `DATABASE_URL_FILE` > `DATABASE_URL` > the parts. A database that is not there is waited for
30 s at the start; a wrong password or certificate ends it at once (exit code 1).

`sslmode` in a URL may be `disable`, `no-verify`, `require`, `verify-ca` or `verify-full`; `prefer`
and `allow` are refused, because whether TLS is needed must be known, and so are several hosts.
`DATABASE_SSL` beats `DATABASE_SSL_CA_CONFIG`, which beats the single files; the `sslmode` of a URL
beats them all, and an in-code `db.ssl` beats that. Examples for each case:
[TLS to the database](operations.md#tls-to-the-database).

## In-code options

`sigservice.create(options)` and `sigservice.start(options)` take the names of the first column as
nested dicts: `{"server": {"port": 4242}, "session": {"ttlHours": 8}}`. A name that does not exist
is an error. `None` means not given, except for `authentication.initialAdminUser`, where it means
that no admin is made.

`preHook(app)` is called with the root Bottle before anything is added to it, `preRouterHook(app)`
before the routes are. Either may add bottle hooks or routes to it, and may return a function that
takes a WSGI application and returns one: `preHook`'s wraps everything, `preRouterHook`'s just the
routes, inside of base path, headers and error handling. A route of a hook beats ours with the same
path. What a hook raises stops the start.
"""


def page() -> str:
    """The whole Markdown text."""
    parts = [_HEAD]
    for section in dict.fromkeys(option.section for option in OPTIONS):
        parts.append(f"\n## {section}\n")
        parts.append("| option | variable | default | value | what it does |")
        parts.append("|---|---|---|---|---|")
        parts += [_row(option) for option in OPTIONS if option.section == section]
    return "\n".join(parts) + "\n"


def _row(option: Option) -> str:
    name = f"`{option.path}`" if option.in_code else "(variable only)"
    variable = f"`{option.env}`" if option.env else "(code only)"
    cells = (name, variable, _default(option), _value(option), option.help)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _value(option: Option) -> str:
    """The kind, and an example where neither it nor the default shows one."""
    kind, shown = option.kind, example(option)
    in_words = shown.startswith("a ")  # "a function"
    told = in_words or shown in kind.expected or shown == str(option.default)
    return kind.expected if told else f"{kind.expected}, such as `{shown}`"


def _default(option: Option) -> str:
    if option.default is None or option.default == () or option.default == []:
        return "–"
    if option.default == "":
        return "`/`" if option.path == "server.baseUriPath" else "–"
    if isinstance(option.default, str):
        return f"`{option.default}`"
    return f"`{json.dumps(option.default)}`"


if __name__ == "__main__":
    sys.stdout.write(page())
