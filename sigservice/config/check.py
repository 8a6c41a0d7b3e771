"""`sigservice check-config`: each option's value, where it came from, and what is risky."""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from sigservice.config.load import Loaded, read_config
from sigservice.config.options import OPTIONS, Option
from sigservice.config.risks import SEVERITIES, Risk, judge
from sigservice.errors import Problem

MASKED = "(set, not shown)"
WIDTH = 100
_COLUMN = 52
# Options whose value, where none is given, follows from another option.
_DERIVED = {"signals.burst": "signals.maxPerSecond", "email.secure": "email.port"}
_FILES = {
    "DATABASE_URL_FILE",
    "DATABASE_SSL_CA_FILE",
    "DATABASE_SSL_CERT_FILE",
    "DATABASE_SSL_KEY_FILE",
}


def report(loaded: Loaded) -> list[dict[str, Any]]:
    """A row for each option, as docs/operations.md describes it; secrets are masked."""
    return [_row(loaded, option) for option in OPTIONS if option.in_code]


def _row(loaded: Loaded, option: Option) -> dict[str, Any]:
    value, source = _find(loaded.config, option.path), loaded.sources[option.path]
    origin = _origin(option, source)
    if option.path in _DERIVED and value is None and source == "default":
        origin, source = "derived", _DERIVED[option.path]
        value = _find(loaded.config, source)
        value = value == 465 if option.path == "email.secure" else value
    wrong = any(
        problem.variable in (*source.split(", "), f"{option.path} (in code)")
        for problem in loaded.problems
    )
    return {
        "option": option.path,
        "variable": option.env,
        "section": option.section,
        "value": None if wrong else _shown(option, value),
        "source": source,
        "origin": origin,
        "valid": not wrong,
        "expected": option.kind.expected,
        "meaning": option.help,
    }


def _find(config: Mapping[str, Any], path: str) -> Any:
    found: Any = config
    for part in path.split("."):
        found = found[part]
    return found


def _origin(option: Option, source: str) -> str:
    if source in ("default", "in code"):
        return "code" if source == "in code" else source
    names = set(source.split(", "))
    return "file" if names <= _FILES - {option.env} else "variable"


def _shown(option: Option, value: Any) -> Any:
    if option.path == "authentication.initialAdminUser" and value:
        return {"username": value["username"], "password": MASKED}
    if option.path == "db.ssl" and value:
        return {key: MASKED if isinstance(part, str) else part for key, part in value.items()}
    if option.secret and value:
        return MASKED
    return "(a function)" if callable(value) else value


def risks(loaded: Loaded) -> list[Risk]:
    """The gravest first. What is wrong is a problem, and no risk besides."""
    wrong = {row["option"] for row in report(loaded) if not row["valid"]}
    found = [*judge(loaded.config, loaded.sources), *loaded.notes]
    kept = [risk for risk in found if risk.option not in wrong]
    return sorted(kept, key=lambda risk: -SEVERITIES.index(risk.severity))


def main(environ: Mapping[str, str], form: str = "text", fail_on: str = "") -> int:
    """Prints the report; 0 fine, 2 wrong values, 3 risks of severity `fail_on` or graver."""
    loaded = read_config(None, environ)
    rows, found = report(loaded), risks(loaded)
    if form == "json":
        content = {
            "ok": not loaded.problems,
            "options": rows,
            "risks": [asdict(risk) for risk in found],
            "problems": [_problem(problem) for problem in loaded.problems],
        }
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
    else:
        text = "\n".join(_text(rows, found)) + "\n"
        encoding = sys.stdout.encoding or "utf-8"  # a value may hold what the terminal can't show
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
        sys.stderr.writelines(f"sigservice: {problem}\n" for problem in loaded.problems)
    if loaded.problems:
        return 2
    grave = SEVERITIES[SEVERITIES.index(fail_on) :] if fail_on else ()
    return 3 if any(risk.severity in grave for risk in found) else 0


def _problem(problem: Problem) -> dict[str, str]:
    return {
        "variable": problem.variable,
        "message": str(problem),
        "expected": problem.expected,
        "example": problem.example,
    }


def _text(rows: list[dict[str, Any]], found: list[Risk]) -> Iterator[str]:
    for section in dict.fromkeys(row["section"] for row in rows):
        yield section
        for row in rows:
            if row["section"] == section:
                yield from _option_lines(row)
        yield ""
    yield "Risks" if found else "No risks."
    for risk in found:
        yield from _wrapped(f"  {risk.severity:<9}", f"{risk.option}: {risk.message}", 11)
    counts = [sum(risk.severity == severity for risk in found) for severity in SEVERITIES]
    if found:
        yield "\nnotes: {}, warnings: {}, dangers: {}".format(*counts)


def _option_lines(row: dict[str, Any]) -> Iterator[str]:
    value = row["value"]
    if not row["valid"]:
        value = "(wrong)"
    elif value in (None, "", []):
        value = "-"
    elif not isinstance(value, str):
        value = json.dumps(value, ensure_ascii=False)
    yield from _wrapped(f"  {row['option']:<{_COLUMN - 3}} ", value, _COLUMN)
    where = {
        "default": f"default ({row['variable'] or 'code only'})",
        "code": "in code",
        "derived": f"derived from {row['source']}",
    }.get(row["origin"], f"{row['origin']} {row['source']}")
    yield from _wrapped(" " * 6, f"{where}: {row['meaning']}", 6)


def _wrapped(first: str, text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=" " * indent, break_on_hyphens=False
    )
