"""An area: a small bottle app of one column's routes, with its doors as plugins.

Hooks and error handlers of a merged app are ignored by bottle; plugins are kept, so whatever
guards a route is a plugin here.
"""

from __future__ import annotations

from typing import Any

from bottle import Bottle

from sigservice.context import Context
from sigservice.web.body import BodyPlugin
from sigservice.web.errors import ErrorPlugin
from sigservice.web.limits import LimitPlugin


def new_app() -> Bottle:
    """A bare Bottle with the `id` filter: bottle's own `int` takes signs and foreign digits."""
    app = Bottle()
    app.uninstall(True)
    app.router.add_filter("id", _id_filter)
    return app


def new_area(context: Context, door: Any) -> Bottle:
    """Errors outside, then the door, then limits: a refused stranger uses up nobody's limit
    except where the door is open. The body is read last."""
    area = new_app()
    area.install(ErrorPlugin(context))
    area.install(door)
    area.install(LimitPlugin(context))
    area.install(BodyPlugin())
    return area


def _id_filter(_config: str) -> tuple[str, Any, Any]:
    return r"[0-9]{1,19}", _to_id, str


def _to_id(text: str) -> int:
    """0, which finds no row, for what is larger than any column holds."""
    number = int(text)
    return number if number < 2**63 else 0
