"""Named statements from sql/queries/*.sql: `-- name: verb_noun`, comments, one statement."""

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from sigservice.paths import resource_dir


class Statement(str):
    """The text of a statement, with the name of its file as `store` and its own as `action`."""

    store: str
    action: str


_NAME = re.compile(r"^-- name: ([a-z][a-z0-9_]*)$", re.MULTILINE)


@cache
def load(path: str) -> Mapping[str, str]:
    """The statements of one file, such as `signals/signals`, by name. Raises ValueError for a
    duplicate name and for a statement without one."""
    parts = _NAME.split((resource_dir("sql") / "queries" / f"{path}.sql").read_text("utf-8"))
    statements: dict[str, str] = {}
    if _without_comments(parts[0]):
        raise ValueError(f"{path}.sql has a statement without a name")
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        if name in statements:
            raise ValueError(f"{path}.sql names {name} twice")
        statement = Statement(_without_comments(text))
        statement.store, statement.action = path.rpartition("/")[2], name
        statements[name] = statement
    return MappingProxyType(statements)


def _without_comments(text: str) -> str:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return "\n".join(lines).strip()
