"""Counts the statements that a piece of work sends to the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sigservice.db import statements


def count_statements(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> int:
    calls: list[object] = []
    original = statements._execute

    def note(cursor: Any, statement: Any, *args: Any, **more: Any) -> Any:
        calls.append(statement)
        return original(cursor, statement, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(statements, "_execute", note)
        work()
    return len(calls)
