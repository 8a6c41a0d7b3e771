"""Templates of bottle's SimpleTemplate, compiled once for each renderer.

Never bottle.template(): it takes a name with a brace or a newline as template source, and its
cache is global. Names here are files below templates/, written in our own code.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bottle import SimpleTemplate

from sigservice.paths import resource_dir


class Renderer:
    """`render("signals/list", **values)`; `helpers` are seen by every template."""

    def __init__(self, helpers: dict[str, Callable[..., Any]], folder: Path | None = None) -> None:
        self._folder = str(folder or resource_dir("templates"))
        self._helpers = helpers
        self._compiled: dict[str, SimpleTemplate] = {}

    def render(self, name: str, /, **values: Any) -> str:
        template = self._compiled.get(name)
        if template is None:
            template = SimpleTemplate(name=f"{name}.tpl", lookup=[self._folder])
            self._compiled[name] = template
        return str(template.render(**self._helpers, **values))
