"""All routes of the service: what SDKs and senders call, the admin API, the pages."""

import importlib
import pkgutil
from functools import cache

from sigservice.web.router import Router


@cache
def find_routers() -> tuple[Router, ...]:
    """Every Router that a module of this package declares, in the order of the modules' names."""
    modules = [
        importlib.import_module(module_info.name)
        for module_info in pkgutil.walk_packages(__path__, f"{__name__}.")
    ]
    return tuple(
        value for module in modules for value in vars(module).values() if isinstance(value, Router)
    )
