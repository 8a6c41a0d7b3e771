"""Applications and instances, statistics, and the validation of tokens for relays."""

from __future__ import annotations

from sigservice.repository.access import api_tokens
from sigservice.repository.usage import client_applications
from tests.repository.kit import run


def add_applications(conn, *names):
    for name in names:
        run(conn, "INSERT INTO client_applications (app_name) VALUES (%s)", name)


def add_instances(conn, *rows):
    """Rows of (application, instance, environment, SDK, type)."""
    for row in rows:
        run(
            conn,
            "INSERT INTO client_instances "
            "(app_name, instance_id, environment, sdk_version, sdk_type) "
            "VALUES (%s, %s, %s, %s, %s)",
            *row,
        )


def test_applications_are_listed_with_their_instances(conn):
    add_applications(conn, "b%_", "a")
    add_instances(
        conn,
        ("b%_", "1", "dev", "py:2", "backend"),
        ("b%_", "1", "prod", "py:1", None),
        ("b%_", "2", "dev", "js:1", "frontend"),
    )
    first, second = client_applications.list_page(conn, pattern=None, limit=9)
    assert (first["app_name"], first["instances"], first["sdk_versions"]) == ("a", 0, [])
    assert (second["instances"], second["environments"]) == (3, ["dev", "prod"])
    assert second["sdk_versions"] == ["js:1", "py:1", "py:2"]
    assert client_applications.list_page(conn, pattern=r"%\%\_%", limit=9) == [second]
    assert client_applications.list_page(conn, pattern=None, limit=9, offset=1) == [second]
    assert client_applications.count(conn, pattern=None) == 2
    assert client_applications.count(conn, pattern=r"%\%\_%") == 1
    dev, prod = client_applications.summarize_instances(conn, "b%_")
    assert (dev["environment"], dev["instances"]) == ("dev", 2)
    assert (dev["frontend_sdks"], dev["backend_sdks"]) == (["js:1"], ["py:2"])
    assert (prod["frontend_sdks"], prod["backend_sdks"]) == ([], ["py:1"])
    instances = client_applications.list_instances(conn, "b%_", environment="dev", limit=9)
    assert [row["instance_id"] for row in instances] == ["1", "2"]
    assert len(client_applications.list_instances(conn, "b%_", environment=None, limit=2)) == 2


def test_delete_removes_the_instances_of_the_application(conn):
    add_applications(conn, "a", "b")
    add_instances(conn, ("a", "1", "dev", None, None), ("b", "1", "dev", None, None))
    run(
        conn,
        "INSERT INTO client_application_environments VALUES "
        "('dev', 'backend', 'a'), ('dev', 'frontend', 'a'), ('dev', 'backend', 'b')",
    )
    assert client_applications.delete(conn, "a") is True
    names = run(conn, "SELECT app_name FROM client_application_environments")
    assert names == [("b",)]
    assert client_applications.delete(conn, "a") is False
    assert run(conn, "SELECT app_name FROM client_instances") == [("b",)]


def test_old_instances_are_deleted(conn):
    add_instances(conn, *(("a", str(n), "dev", None, None) for n in range(4)))
    run(conn, "UPDATE client_instances SET last_seen = now() - instance_id::int * interval '1 day'")
    assert client_applications.delete_old_instances(conn, days=1, chunk=1) == 1
    assert run(conn, "SELECT max(instance_id) FROM client_instances") == [("2",)]
    assert client_applications.delete_old_instances(conn, days=1, chunk=9) == 1


def test_valid_tokens_are_found_together(conn):
    for secret, expires in (("a", None), ("b", "2100-01-01"), ("c", "2000-01-01")):
        run(
            conn,
            "INSERT INTO api_tokens (secret_hash, secret_prefix, token_name, type, environment, "
            "projects, expires_at) VALUES (%s, 'x', 'x', 'client', 'dev', '{p,q}', %s)",
            secret.encode(),
            expires,
        )
    rows = api_tokens.list_valid(conn, [b"a", b"b", b"c", b"d"])
    assert sorted(bytes(row["secret_hash"]) for row in rows) == [b"a", b"b"]
    assert rows[0]["projects"] == ["p", "q"]
    assert api_tokens.list_valid(conn, []) == []


def test_old_applications_without_instances_are_deleted(conn):
    for name, age in (("old", "40 days"), ("old with an instance", "40 days"), ("new", "1 day")):
        run(
            conn,
            "INSERT INTO client_applications (app_name, seen_at) VALUES (%s, now() - %s::interval)",
            name,
            age,
        )
    run(
        conn,
        "INSERT INTO client_instances (app_name, instance_id, environment) "
        "VALUES ('old with an instance', 'i', 'development')",
    )
    assert client_applications.delete_old(conn, days=30, chunk=9) == 1
    rows = run(conn, "SELECT app_name FROM client_applications ORDER BY 1")
    assert rows == [("new",), ("old with an instance",)]
