"""Templates of bottle's SimpleTemplate, compiled once in a process.

Never bottle.template(): it takes a name with a brace or a newline as template source, and its
cache is global. Names here are files below templates/, written in our own code.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from bottle import SimpleTemplate

from sigservice.paths import resource_dir


class Renderer:
    """`render("signals/signals/log", **values)`; `helpers` are seen by every template."""

    def __init__(self, helpers: dict[str, Callable[..., Any]], folder: Path | None = None) -> None:
        self._folder = str(folder or resource_dir("templates"))
        self._helpers = helpers
        self._templates: dict[str, SimpleTemplate] = {}
        self._texts: dict[str, SimpleTemplate] = {}

    def render(self, name: str, /, **values: Any) -> str:
        template = self._templates.get(name)
        if template is None:
            template = _Template(name=f"{name}.tpl", lookup=[self._folder])
            self._templates[name] = template
        return str(template.render(**self._helpers, **values))

    def text(self, name: str, /, **values: Any) -> str:
        """A template that makes no HTML: nothing is escaped in it."""
        template = self._texts.get(name)
        if template is None:
            template = _Template(name=f"{name}.tpl", lookup=[self._folder], noescape=True)
            self._texts[name] = template
        return str(template.render(**self._helpers, **values))


class _Template(SimpleTemplate):  # type: ignore[misc]
    """bottle's compiles the layout anew for each page that includes it."""

    @property
    def co(self) -> CodeType:
        return _compiled(self.filename)


@cache
def _compiled(file: str) -> CodeType:
    code: CodeType = SimpleTemplate(name=os.path.basename(file), lookup=[os.path.dirname(file)]).co
    return code
