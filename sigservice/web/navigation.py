"""The main menu of the pages: sections in a side bar, each with its pages."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sigservice.services.identity import Identity


class MenuItem(NamedTuple):
    path: str
    label: str
    permission: str = "VIEW"
    pages: str = ""  # a pattern of further paths that belong to the item
    is_current: bool = False
    badges: Sequence[tuple[str, str]] = ()  # a short text, and the words for it


class MenuSection(NamedTuple):
    """`groups` are the items by their heading, "" in a section without headings."""

    label: str
    icon: str
    groups: Mapping[str, Sequence[MenuItem]]
    is_current: bool = False

    @property
    def items(self) -> list[MenuItem]:
        return [item for items in self.groups.values() for item in items]


_RELEASES = "/admin/features/[^/]+/environments/[^/]+/releases"
_SECTIONS = (
    MenuSection(
        "Flags",
        "flag",
        {
            "": [
                MenuItem("/admin/features", "Flags"),
                MenuItem("/admin/releases", "Releases", pages=_RELEASES),
                MenuItem("/admin/projects", "Projects"),
                MenuItem("/admin/segments", "Segments"),
                MenuItem("/admin/playground", "Playground"),
            ]
        },
    ),
    MenuSection(
        "Signals",
        "signal",
        {
            "": [
                MenuItem("/admin/signals", "Signal endpoints", "ADMIN"),
                MenuItem("/admin/alert-rules", "Alert rules"),
            ]
        },
    ),
    MenuSection(
        "Actions",
        "action",
        {"": [MenuItem("/admin/actions", "Action sets", "ADMIN", "/admin/projects/[^/]+/actions")]},
    ),
    MenuSection(
        "Insights",
        "chart",
        {
            "": [
                MenuItem("/admin/applications", "Applications"),
                MenuItem("/admin/events", "Audit log"),
            ]
        },
    ),
    MenuSection(
        "Settings",
        "settings",
        {
            "Configure": [
                MenuItem("/admin/integrations", "Integrations"),
                MenuItem("/admin/environments", "Environments"),
                MenuItem("/admin/context", "Context fields"),
                MenuItem("/admin/types", "Types"),
            ],
            "Access": [
                MenuItem("/admin/users", "Users", "ADMIN", "/admin/service-accounts"),
                MenuItem("/admin/sign-in", "Sign-in", "ADMIN"),
                MenuItem("/admin/api-tokens", "API tokens", "ADMIN"),
            ],
        },
    ),
)


def list_pages(identity: Identity) -> list[MenuItem]:
    """The pages of the menu that the user may open."""
    return [
        item
        for section in _SECTIONS
        for item in section.items
        if identity.has_permission(item.permission)
    ]


def build_menu(
    identity: Identity,
    path: str,
    badges: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({}),
) -> list[MenuSection]:
    """The sections that the user may open, on the page at `path`. At most one item is current.
    `badges` are by the path of the item."""
    pages = list_pages(identity)
    current = max(pages, key=lambda item: _match(item, path))
    is_found = _match(current, path) > 0
    sections = []
    for section in _SECTIONS:
        groups = {
            label: [
                item._replace(
                    is_current=is_found and item is current, badges=badges.get(item.path, ())
                )
                for item in items
                if item in pages
            ]
            for label, items in section.groups.items()
        }
        visible = section._replace(
            groups={label: items for label, items in groups.items() if items}
        )
        if visible.groups:
            is_current = any(item.is_current for item in visible.items)
            sections.append(visible._replace(is_current=is_current))
    return sections


def _match(item: MenuItem, path: str) -> int:
    """The number of characters of `path` that match the item; 0 if its page doesn't belong to
    it."""
    patterns = [re.escape(item.path), *([item.pages] if item.pages else [])]
    matches = [re.match(rf"(?:{pattern})(?=/|$)", path) for pattern in patterns]
    return max((match.end() for match in matches if match), default=0)
