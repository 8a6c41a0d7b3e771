"""All routes of the service: what SDKs and senders call, the admin API, the pages."""

import importlib
import pkgutil
from collections.abc import Iterator

from sigservice.web.router import Router


def find_routers() -> Iterator[Router]:
    """Every Router that a module of this package declares, in the order of the modules' names."""
    for module_info in pkgutil.walk_packages(__path__, f"{__name__}."):
        module = importlib.import_module(module_info.name)
        yield from (value for value in vars(module).values() if isinstance(value, Router))
