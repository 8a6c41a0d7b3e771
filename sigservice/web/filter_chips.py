"""Chips of the filters that a list has, each of which removes its filter."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from sigservice.web.forms import Field


def make_chips(
    fields: Sequence[Field], page: Mapping[str, str], needs: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """{text, link} of each filter; the link is the query of the list without it, and without the
    filters that need it: `needs` has the names of such filters, each with the filter that it
    needs."""
    needs = needs or {}
    chips = []
    for field in fields:
        if not (value := page.get(field.name)):
            continue
        text = dict(field.choices).get(value, value)
        others = {
            name: other
            for name, other in page.items()
            if name != field.name and needs.get(name) != field.name
        }
        chips.append({"text": f"{field.label}: {text}", "link": urlencode(others)})
    return chips
