"""Context fields: order, updates, and the strategies that use one."""

from __future__ import annotations

import pytest

from sigservice.db.errors import UniqueViolation
from sigservice.repository.projects import context_fields
from tests.repository.kit import attempt

VALUES = {"description": None, "stickiness": False, "sort_order": 1, "legal_values": "[]"}


def test_a_context_field_is_inserted_updated_and_deleted(conn):
    assert context_fields.list_all(conn) == []
    context_fields.insert(conn, name="b", **VALUES)
    context_fields.insert(conn, name="a", **VALUES)
    with pytest.raises(UniqueViolation), attempt(conn):
        context_fields.insert(conn, name="a", **VALUES)
    assert [row["name"] for row in context_fields.list_all(conn)] == ["a", "b"]
    changed = {
        "description": "d",
        "stickiness": True,
        "sort_order": 0,
        "legal_values": '[{"value": "x"}]',
    }
    context_fields.update(conn, "b", **changed)
    (row,) = context_fields.list_all(conn, "b")
    assert changed.items() <= row.items()
    assert (row["built_in"], row["feature_count"], row["project_count"]) == (False, 0, 0)
    assert context_fields.list_strategies(conn, "b") == []
    context_fields.delete(conn, "a")
    assert context_fields.list_all(conn) == [row]
