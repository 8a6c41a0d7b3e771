"""The main menu of the pages."""

from typing import NamedTuple

from sigservice.services.identity import Identity


class MenuItem(NamedTuple):
    path: str
    label: str
    permission: str
    is_current: bool = False


_MAIN = (
    MenuItem("/", "Home", "VIEW"),
    MenuItem("/admin/features", "Flags", "VIEW"),
    MenuItem("/admin/segments", "Segments", "VIEW"),
    MenuItem("/admin/playground", "Playground", "VIEW"),
    MenuItem("/admin/applications", "Applications", "VIEW"),
    MenuItem("/admin/signals", "Signals", "ADMIN"),
    MenuItem("/admin/actions", "Actions", "ADMIN"),
    MenuItem("/admin/events", "Events", "ADMIN"),
)
_SETTINGS = (
    MenuItem("/admin/integrations", "Integrations", "ADMIN"),
    MenuItem("/admin/projects", "Projects", "VIEW"),
    MenuItem("/admin/environments", "Environments", "VIEW"),
    MenuItem("/admin/context", "Context fields", "VIEW"),
    MenuItem("/admin/api-tokens", "API tokens", "ADMIN"),
    MenuItem("/admin/users", "Users", "ADMIN"),
)


class Menu(NamedTuple):
    """The items that a user may open; `settings` are folded."""

    main: list[MenuItem]
    settings: list[MenuItem]
    is_in_settings: bool


def build_menu(identity: Identity, path: str) -> Menu:
    """The menu on the page at `path`."""
    main, settings = (
        [
            item._replace(is_current=_is_below(path, item.path))
            for item in items
            if identity.has_permission(item.permission)
        ]
        for items in (_MAIN, _SETTINGS)
    )
    return Menu(main, settings, any(item.is_current for item in settings))


def _is_below(path: str, item_path: str) -> bool:
    return path == item_path or (item_path != "/" and path.startswith(item_path))
