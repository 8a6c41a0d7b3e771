"""Context fields: order, updates, and the strategies that use one."""

from __future__ import annotations

from sigservice.repository.projects import context_fields

VALUES = {"description": None, "stickiness": False, "sortOrder": 1, "legalValues": []}


def test_a_context_field_is_inserted_updated_and_deleted(conn):
    assert context_fields.list_all(conn) == []
    context_fields.put(conn, [{"name": name} | VALUES for name in ("b", "a")])
    assert [row["name"] for row in context_fields.list_all(conn)] == ["a", "b"]
    changed = {"description": "d", "stickiness": True, "sortOrder": 0}
    context_fields.put(conn, [{"name": "b", "legalValues": [{"value": "x"}]} | changed])
    row = context_fields.find(conn, "b")
    assert (row["description"], row["stickiness"], row["sort_order"]) == ("d", True, 0)
    assert row["legal_values"] == '[{"value": "x"}]'
    assert (row["built_in"], row["feature_count"], row["project_count"]) == (False, 0, 0)
    assert context_fields.list_strategies(conn, "b") == []
    context_fields.delete(conn, "a")
    assert context_fields.list_with_uses(conn) == [row]
    assert context_fields.find(conn, "a") is None
