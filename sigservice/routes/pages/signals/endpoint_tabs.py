"""The page of a signal endpoint: its heading, and a tab for each of its topics."""

from typing import Any, NamedTuple

from sigservice.repository.signals import refused_calls
from sigservice.services.signals import signal_endpoints
from sigservice.web import Connection, Page, Row

PATH = "/admin/signals"
ONE = f"{PATH}/<id:id>"
TABS = {
    "log": "Signals",
    "setup": "Setup",
    "tokens": "Tokens",
    "refused": "Refused",
    "settings": "Settings",
}


class Tab(NamedTuple):
    """A `number` of 0 isn't printed."""

    label: str
    path: str
    number: int
    is_current: bool


def find_endpoint(conn: Connection, id: int) -> Row:
    """The endpoint with what its heading shows. Raises NotFoundError."""
    endpoint = signal_endpoints.get(conn, id)
    refused = refused_calls.count(conn, id)
    return endpoint | {"refused": refused[0]["calls"] if refused else 0}


def make_tab_page(
    template: str,
    endpoint: Row,
    tab: str,
    *,
    title: str = "",
    **values: Any,
) -> Page:
    """A page in a tab. `endpoint` is from `find_endpoint`, `tab` a name of TABS."""
    numbers = {"refused": endpoint["refused"]}
    return Page(
        template,
        title=title or f"{TABS[tab]}: {endpoint['name']}",
        breadcrumbs=[("Signal endpoints", PATH)],
        endpoint=endpoint,
        tabs=[
            Tab(label, f"{PATH}/{endpoint['id']}/{name}", numbers.get(name, 0), name == tab)
            for name, label in TABS.items()
        ],
        **values,
    )


def make_breadcrumbs(endpoint: Row, tab: str = "log") -> list[tuple[str, str]]:
    """Of a page below a tab of the endpoint."""
    return [
        ("Signal endpoints", PATH),
        (endpoint["name"], f"{PATH}/{endpoint['id']}/log"),
        *([(TABS[tab], f"{PATH}/{endpoint['id']}/{tab}")] if tab != "log" else []),
    ]
