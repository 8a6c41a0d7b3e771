"""`sigservice check-config`: the risks, and the value and source of each option."""

import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sigservice.config.load import Loaded, read_config
from sigservice.config.oidc import list_addresses
from sigservice.config.option import Option
from sigservice.config.options import OPTIONS
from sigservice.config.risk import SEVERITIES, Risk
from sigservice.config.risks import find_risks
from sigservice.errors import Problem

MASKED = "(set, hidden)"
WIDTH = 100
_COLUMN = 52
# Options that get their value from another option when they are not set.
_DERIVED = {"signals.burst": "signals.maxPerSecond", "email.secure": "email.port"}
_FILES = {
    "DATABASE_URL_FILE",
    "DATABASE_SSL_CA_FILE",
    "DATABASE_SSL_CERT_FILE",
    "DATABASE_SSL_KEY_FILE",
}


def list_options(loaded: Loaded) -> list[dict[str, Any]]:
    """A row for each option, as in docs/run.md, with masked secrets."""
    return [_describe_option(loaded, option) for option in OPTIONS if option.in_code]


def _describe_option(loaded: Loaded, option: Option) -> dict[str, Any]:
    value, source = _find(loaded.config, option.path), loaded.sources[option.path]
    source_kind = _find_source_kind(option, source)
    if option.path in _DERIVED and value is None and source == "default":
        source_kind, source = "derived", _DERIVED[option.path]
        value = _find(loaded.config, source)
        value = value == 465 if option.path == "email.secure" else value
    is_invalid = any(
        problem.variable in (*source.split(", "), f"{option.path} (in code)")
        for problem in loaded.problems
    )
    return {
        "option": option.path,
        "variable": option.env,
        "section": option.section,
        "value": None if is_invalid else _mask(option, value),
        "source": source,
        "origin": source_kind,
        "valid": not is_invalid,
        "expected": option.type.expected,
        "meaning": option.help,
    }


def _find(config: Mapping[str, Any], path: str) -> Any:
    value: Any = config
    for part in path.split("."):
        value = value[part]
    return value


def _find_source_kind(option: Option, source: str) -> str:
    if source in ("default", "in code"):
        return "code" if source == "in code" else source
    names = set(source.split(", "))
    return "file" if names <= _FILES - {option.env} else "variable"


def _mask(option: Option, value: Any) -> Any:
    if option.path == "authentication.initialAdminUser" and value:
        return {"username": value["username"], "password": MASKED}
    if option.path == "db.ssl" and value:
        return {key: MASKED if isinstance(part, str) else part for key, part in value.items()}
    if option.secret and value:
        return MASKED
    return "(a function)" if callable(value) else value


def list_risks(loaded: Loaded, database_risks: Sequence[Risk] = ()) -> list[Risk]:
    """All risks, the most severe first, except for options with invalid values."""
    invalid = {row["option"] for row in list_options(loaded) if not row["valid"]}
    all_risks = [*find_risks(loaded.config, loaded.sources), *loaded.start_risks, *database_risks]
    valid_risks = [risk for risk in all_risks if risk.option not in invalid]
    return sorted(valid_risks, key=lambda risk: -SEVERITIES.index(risk.severity))


def main(
    environ: Mapping[str, str],
    form: str = "text",
    fail_on: str = "",
    find_database_risks: Callable[[dict[str, Any]], list[Risk]] = lambda config: [],
    *,
    has_defaults: bool = False,
) -> int:
    """Prints the report. As text it leaves out the options that have their defaults, unless it
    `has_defaults`. Returns 0, 2 for invalid values, 3 for risks of `fail_on` or worse.

    `find_database_risks` gets a valid configuration and asks its database.
    """
    loaded = read_config(None, environ)
    database_risks = [] if loaded.problems else find_database_risks(loaded.config)
    rows, risks = list_options(loaded), list_risks(loaded, database_risks)
    addresses = [] if loaded.problems else list_addresses(loaded.config)
    if form == "json":
        content = {
            "ok": not loaded.problems,
            "options": rows,
            "provider": dict(addresses),
            "risks": [asdict(risk) for risk in risks],
            "problems": [_to_json(problem) for problem in loaded.problems],
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        visible = [
            row for row in rows if has_defaults or row["origin"] not in ("default", "derived")
        ]
        hidden = len(rows) - len(visible)
        text = "\n".join(_render_text(visible, addresses, risks, hidden)) + "\n"
        encoding = sys.stdout.encoding or "utf-8"  # not every terminal can print all values
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
        sys.stderr.writelines(f"sigservice: {problem}\n" for problem in loaded.problems)
    if loaded.problems:
        return 2
    grave = SEVERITIES[SEVERITIES.index(fail_on) :] if fail_on else ()
    return 3 if any(risk.severity in grave for risk in risks) else 0


def _to_json(problem: Problem) -> dict[str, str]:
    return {
        "variable": problem.variable,
        "message": str(problem),
        "expected": problem.expected,
        "example": problem.example,
    }


def _render_text(
    rows: list[dict[str, Any]],
    addresses: list[tuple[str, str]],
    risks: list[Risk],
    hidden_count: int,
) -> Iterator[str]:
    counts = [sum(risk.severity == severity for risk in risks) for severity in SEVERITIES]
    yield (
        "Risks (dangers: {2}, warnings: {1}, notes: {0})".format(*counts) if risks else "No risks."
    )
    for risk in risks:
        yield from _wrap(f"  {risk.severity:<9}", f"{risk.option}: {risk.message}", 11)
    if addresses:
        yield "\nTo be registered at the provider"
        yield from (f"  {name}: {url}" for name, url in addresses)
    for section in dict.fromkeys(row["section"] for row in rows):
        yield f"\n{section}"
        for row in rows:
            if row["section"] == section:
                yield from _render_option(row)
    if hidden_count:
        yield f"\nOptions with their defaults: {hidden_count}; --all prints them too."


def _render_option(row: dict[str, Any]) -> Iterator[str]:
    value = row["value"]
    if not row["valid"]:
        value = "(invalid)"
    elif value in (None, "", []):
        value = "-"
    elif not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    yield from _wrap(f"  {row['option']:<{_COLUMN - 3}} ", value, _COLUMN)
    where = {
        "default": f"default ({row['variable'] or 'code only'})",
        "code": "in code",
        "derived": f"derived from {row['source']}",
    }.get(row["origin"], f"{row['origin']} {row['source']}")
    yield from _wrap(" " * 6, f"{where}: {row['meaning']}", 6)


def _wrap(first: str, text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=" " * indent, break_on_hyphens=False
    )
