"""The filter of the page View signals: its fields, and their values as parameters of the API."""

from collections.abc import Mapping, Sequence
from typing import Any

from sigservice.db import Row
from sigservice.services.signals.signal_states import SEVERITIES, STATUSES
from sigservice.web.forms import Field, make_choices

MORE = ("path", "value", "severity", "from", "to")  # the fields behind "More filters"
NAMES = ("query", "token", "status", *MORE)
_ALL = ("", "all")


def read_values(query: Mapping[str, str]) -> dict[str, str]:
    """The values that aren't empty, by the name of the field."""
    values = {name: query.get(name, "").strip() for name in NAMES}
    return {name: value for name, value in values.items() if value}


def make_parameters(values: Mapping[str, str]) -> dict[str, str]:
    """The parameters of the API that lists and exports the same signals."""
    parameters = dict(values)
    if "token" in parameters:
        parameters["tokenId"] = parameters.pop("token")
    days = {name: f"IS:{values[name]}" for name in ("from", "to") if name in values}
    return parameters | days


def name_fields(problems: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The problems of the parameters as problems of the fields."""
    return [
        {**problem, "path": "token"} if problem.get("path") == "tokenId" else dict(problem)
        for problem in problems
    ]


def make_fields(values: Mapping[str, str], tokens: Sequence[Row]) -> dict[str, Any]:
    """`filters` are always visible, `more_filters` can be opened."""
    token_choices = [_ALL, *((str(token["id"]), token["name"]) for token in tokens)]

    def make(name: str, label: str, type: str = "text", **more: Any) -> Field:
        return Field(name, label, values.get(name, ""), type, **more)

    return {
        "filters": [
            make("query", "Search payload"),
            make("token", "Token", "select", choices=token_choices),
            make("status", "Status", "select", choices=make_choices(STATUSES, _ALL)),
        ],
        "more_filters": [
            make("severity", "Severity", "select", choices=make_choices(SEVERITIES, _ALL)),
            make("path", "Path", attributes={"placeholder": "alerts[*].labels.team"}),
            make("value", "Value", attributes={"placeholder": "any"}),
            make("from", "From (UTC)", "date"),
            make("to", "To (UTC)", "date"),
        ],
        "has_more_filters": any(name in values for name in MORE),
    }
