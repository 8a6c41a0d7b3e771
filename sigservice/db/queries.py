"""Named statements from sql/queries/*.sql: `-- name: verb_noun`, comments, one statement; hot ones
are `-- name: verb_noun, planned once`. Text that
statements of a file share is a `-- part: noun` above them, included as `{{noun}}`; those of other
files include it as `{{file.noun}}`.
"""

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from sigservice.paths import resource_dir


class Statement(str):
    """The text of a statement, with the name of its file as `store` and its own as `action`. A hot
    one is planned once for each connection, which halves its time."""

    store: str
    action: str
    is_hot: bool


_NAME = re.compile(r"^-- (name|part): ([a-z][a-z0-9_]*)(, planned once)?$", re.MULTILINE)
_INCLUDED = re.compile(r"\{\{(?:([\w/]+)\.)?(\w+)\}\}")


def load(path: str) -> Mapping[str, str]:
    """The statements of one file, such as `signals/signals`, by name. Raises ValueError for a
    duplicate name and for a statement without one, KeyError for a part that isn't above its use."""
    return _load(path)[0]


@cache
def _load(path: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The statements and the parts of a file."""
    head, *blocks = _NAME.split(
        (resource_dir("sql") / "queries" / f"{path}.sql").read_text("utf-8")
    )
    statements: dict[str, str] = {}
    parts: dict[str, str] = {}
    if _without_comments(head):
        raise ValueError(f"{path}.sql has a statement without a name")
    for kind, name, hot, text in zip(*(blocks[n::4] for n in range(4)), strict=True):
        if name in statements or name in parts:
            raise ValueError(f"{path}.sql names {name} twice")
        text = _INCLUDED.sub(
            lambda match: (_load(match[1])[1] if match[1] else parts)[match[2]],
            _without_comments(text),
        )
        if kind == "part":
            parts[name] = text
            continue
        statement = Statement(text)
        statement.store, statement.action = path.rpartition("/")[2], name
        statement.is_hot = bool(hot)
        statements[name] = statement
    return MappingProxyType(statements), parts


def _without_comments(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return "\n".join(lines).strip()
