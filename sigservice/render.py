"""Renders templates of bottle's SimpleTemplate, compiled once in a process.

bottle.template() is not used: it treats a name with a brace or newline as template source, and its
cache is global. Here names are constants, files below templates/.
"""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from bottle import SimpleTemplate

from sigservice.paths import resource_dir


class Renderer:
    """`render("signals/signals/log", **values)`; all templates can use `helpers`."""

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
        """Renders a template that isn't HTML, without escaping."""
        template = self._texts.get(name)
        if template is None:
            template = _Template(name=f"{name}.tpl", lookup=[self._folder], noescape=True)
            self._texts[name] = template
        return str(template.render(**self._helpers, **values))


class _Template(SimpleTemplate):  # type: ignore[misc]
    """Compiles each file once; bottle compiles the layout for each page that includes it."""

    @property
    def co(self) -> CodeType:
        return _compile(self.filename)


@cache
def _compile(file: str) -> CodeType:
    code: CodeType = SimpleTemplate(name=os.path.basename(file), lookup=[os.path.dirname(file)]).co
    return code
