"""Constraints as fields of a form that strategies and segments share: `constraints.0.operator` …

Without JavaScript a form grows by being sent: `do` names what is to be added or removed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.db.pool import Connection
from sigservice.repository.projects import context_fields
from sigservice.services.flags.constraints import TEXT_OPERATORS, Constraint
from sigservice.services.flags.strategy_summaries import OPERATORS
from sigservice.web.growing_forms import Row, find_rows, split_lines

BLANK: Row = {
    "contextName": "",
    "operator": "IN",
    "values": "",
    "inverted": False,
    "caseInsensitive": False,
}
_ITEM = re.compile(r"\[(\d+)\]")
_VALUE = re.compile(r"^(constraints\.\d+)\.values?(?:\.(\d+))?$")


def read(form: dict[str, str]) -> list[Row]:
    return [
        {
            "contextName": form.get(f"{at}.contextName", "").strip(),
            "operator": form.get(f"{at}.operator", ""),
            "values": form.get(f"{at}.values", "").replace("\r\n", "\n"),
            "inverted": f"{at}.inverted" in form,
            "caseInsensitive": f"{at}.caseInsensitive" in form,
        }
        for at in find_rows(form, "constraints")
    ]


def show(stored: Sequence[dict[str, Any]]) -> list[Row]:
    """Stored constraints as a form's rows."""
    return [
        {
            "contextName": item["contextName"],
            "operator": item["operator"],
            "values": str(item.get("value") or "\n".join(item.get("values") or [])),
            "inverted": bool(item.get("inverted")),
            "caseInsensitive": bool(item.get("caseInsensitive")),
        }
        for item in stored
    ]


def to_constraints(rows: Sequence[Row]) -> list[Constraint]:
    """Operators that compare with several take a value from each line, others the whole text."""
    return [
        Constraint(
            row["contextName"],
            row["operator"],
            values=[*split_lines(row["values"])] if row["operator"] in TEXT_OPERATORS else None,
            value=None if row["operator"] in TEXT_OPERATORS else row["values"].strip(),
            inverted=row["inverted"],
            caseInsensitive=row["caseInsensitive"],
        )
        for row in rows
    ]


def offered(conn: Connection) -> dict[str, Any]:
    """What the fields let choose from; `legal` are the values that a context field may have."""
    fields = context_fields.list_all(conn)
    legal = {row["name"]: msgspec.json.decode(row["legal_values"]) for row in fields}
    return {
        "context_fields": [row["name"] for row in fields],
        "legal": {name: [str(v["value"]) for v in values] for name, values in legal.items()},
        "stickiness": [row["name"] for row in fields if row["stickiness"]],
        "operators": [(name, f"{words[0]} ({name})") for name, words in OPERATORS.items()],
    }


def beside(details: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Problems with the names of this form's fields: `constraints[0].values[2]` is the third line
    of `constraints.0.values`."""
    found = []
    for detail in details:
        path, message = _ITEM.sub(r".\1", detail.get("path", "")), detail["message"]
        if match := _VALUE.match(path):
            path = f"{match[1]}.values"
            message = f"Line {int(match[2]) + 1}: {message}" if match[2] else message
        found.append({"message": message, "path": path} if path else {"message": message})
    return found
