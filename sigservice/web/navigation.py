"""The main menu, the links below the heading of a section, and the list of settings."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sigservice.services.identity import Identity


class Place(NamedTuple):
    """`pages` is a pattern of further paths that belong to it. `number` is behind its label, in the
    colour of `style` if a user has to act, and `number_text` says what it counts."""

    path: str
    label: str
    permission: str = "VIEW"
    pages: str = ""
    is_current: bool = False
    number: str = ""
    number_text: str = ""
    style: str = ""


class Frame(NamedTuple):
    """What surrounds a page. `parts` are the lists of the current section, named `section`: links
    below the heading, or in the settings a list beside it."""

    menu: Sequence[Place]
    section: str
    parts: Sequence[Place]

    @property
    def has_settings(self) -> bool:
        return self.section == "Settings"


_RELEASES = "/admin/features/[^/]+/environments/[^/]+/releases"
_SETS = "/admin/projects/[^/]+/actions"
_SECTIONS = {
    "Flags": (
        Place("/admin/features", "Flags"),
        Place("/admin/segments", "Segments"),
        Place("/admin/playground", "Playground"),
    ),
    "Alerts": (
        Place("/admin/alerts", "Alerts"),
        Place("/admin/alert-rules", "Rules"),
        Place("/admin/signals", "Signals", "ADMIN"),
    ),
    "Settings": (
        Place("/admin/projects", "Projects"),
        Place("/admin/environments", "Environments"),
        Place("/admin/context", "Context fields"),
        Place("/admin/types", "Types"),
        Place("/admin/integrations", "Integrations"),
        Place("/admin/integrations/metrics", "Metric sources", "ADMIN"),
        Place("/admin/users", "Users", "ADMIN"),
        Place("/admin/sign-in", "Sign-in", "ADMIN"),
        Place("/admin/api-tokens", "API tokens", "ADMIN"),
        Place("/admin/service-accounts", "Service accounts", "ADMIN"),
        Place("/profile", "Your account"),
    ),
}
_MENU = (
    Place("/", "Home"),
    Place("/admin/features", "Flags"),
    Place("/admin/releases", "Releases", pages=_RELEASES),
    Place("/admin/automation", "Automation", pages=_SETS),
    Place("/admin/alerts", "Alerts"),
    Place("/admin/applications", "Applications"),
    Place("/admin/events", "Audit log"),
    Place("/admin/settings", "Settings"),
)


def list_pages(identity: Identity) -> list[Place]:
    """The pages of the menu and of its sections that the user may open."""
    parts = [part for section in _SECTIONS.values() for part in section]
    return [
        place
        for place in dict.fromkeys([*_MENU, *parts])
        if identity.has_permission(place.permission)
    ]


def list_settings(identity: Identity) -> list[Place]:
    return [place for place in _SECTIONS["Settings"] if identity.has_permission(place.permission)]


def build_frame(
    identity: Identity, path: str, counts: Mapping[str, tuple[str, str, str]] = MappingProxyType({})
) -> Frame:
    """The menu on the page at `path`, where at most one item is current. `counts` are the `number`,
    `number_text` and `style` of an item by its path."""
    places = [*_MENU, *(part for section in _SECTIONS.values() for part in section)]
    current = max(places, key=lambda place: _match(place, path))
    if not _match(current, path):
        current = Place("", "")
    section = next(
        (
            name
            for name, parts in _SECTIONS.items()
            if current.path in [part.path for part in parts]
        ),
        current.label,
    )
    parts = [
        part._replace(is_current=part.path == current.path)
        for part in _SECTIONS.get(section, ())
        if identity.has_permission(part.permission)
    ]
    menu = []
    for place in _MENU:
        number, text, style = counts.get(place.path, ("", "", ""))
        is_current = place.label == section
        menu.append(
            place._replace(is_current=is_current, number=number, number_text=text, style=style)
        )
    is_list = path in (place.path for place in parts)
    return Frame(menu, section, parts if is_list or section == "Settings" else ())


def _match(place: Place, path: str) -> int:
    """The number of characters of `path` that match the place; 0 if its page doesn't belong to
    it."""
    patterns = [re.escape(place.path), *([place.pages] if place.pages else [])]
    matches = [re.match(rf"(?:{pattern})(?=/|$)", path) for pattern in patterns]
    return max((match.end() for match in matches if match), default=0)
