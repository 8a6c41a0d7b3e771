"""Applications and instances, statistics, and the validation of tokens for relays."""

from __future__ import annotations

import json

import pytest

from sigservice.repository.access import token_validation
from sigservice.repository.usage import client_applications, statistics
from tests.repository.kit import run


@pytest.fixture
def environments(conn):
    for n, name in enumerate(("dev", "prod")):
        run(conn, "INSERT INTO environments VALUES (%s, 'test', %s)", name, n)


def upsert(conn, *rows):
    """Rows of (application, environment, strategies)."""
    names, environments, strategies = map(list, zip(*rows, strict=True))
    return client_applications.upsert(
        conn, app_names=names, environments=environments, strategies=strategies
    )


def upsert_instances(conn, *rows, client_ip="::1", limit=99):
    """Rows of (application, instance, environment, SDK, type); returns how many were dropped."""
    names = ("app_names", "instance_ids", "environments", "sdk_versions", "sdk_types")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return client_applications.upsert_instances(conn, client_ip=client_ip, limit=limit, **columns)


def test_application_is_updated_once_a_minute_and_keeps_its_strategies(conn, environments):
    rows = ("shop", "dev", None), ("shop", "dev", '["a"]'), ("lost", "nowhere", None)
    assert upsert(conn, *rows) == 1
    assert upsert(conn, ("shop", "prod", None)) == 0
    assert upsert(conn, ("shop", "prod", '["b"]')) == 1
    run(conn, "UPDATE client_applications SET seen_at = now() - interval '2 minutes'")
    assert upsert(conn, ("shop", "dev", None)) == 1
    row = client_applications.find(conn, "shop")
    assert json.loads(row["strategies"]) == ["b"]
    assert row["missing_strategies"] == ["b"]
    assert client_applications.find(conn, "lost") is None


def test_instance_is_updated_and_keeps_its_sdk(conn, environments):
    instance = ("shop", "a", "dev", "py:1", "backend")
    assert upsert_instances(conn, instance, ("shop", "a", "dev", None, None)) == 0
    run(conn, "UPDATE client_instances SET last_seen = 'epoch'")
    assert upsert_instances(conn, ("shop", "a", "dev", None, None), client_ip=None) == 0
    (row,) = client_applications.list_instances(conn, "shop", environment=None, limit=9)
    assert (row["sdk_version"], row["sdk_type"], row["client_ip"]) == ("py:1", "backend", None)
    assert row["last_seen"].year > 2000
    assert upsert_instances(conn, ("shop", "a", "nowhere", None, None)) == 0
    assert len(client_applications.list_instances(conn, "shop", environment=None, limit=9)) == 1


def accept(conn, *names, environment="dev", sdk_type="backend", limit=2):
    accepted = client_applications.accept_names(
        conn,
        environments=[environment] * len(names),
        app_names=list(names),
        sdk_type=sdk_type,
        limit=limit,
    )
    assert {where for where, _ in accepted} <= {environment}
    return sorted(name for _, name in accepted)


def test_application_names_are_accepted_up_to_the_limit(conn, environments):
    assert accept(conn, "b", "b") == ["b"]
    assert accept(conn, "d", "c", "b") == ["b", "c"]
    assert accept(conn, "d", "e") == []
    assert accept(conn, "c") == ["c"]
    assert run(conn, "SELECT count(*) FROM client_application_environments") == [(2,)]


def test_each_environment_and_sdk_type_has_its_own_names(conn, environments):
    assert accept(conn, "a", "b", "c") == ["a", "b"]
    assert accept(conn, "c", environment="prod") == ["c"]
    assert accept(conn, "c", sdk_type="frontend") == ["c"]
    assert accept(conn, "c", environment="nowhere") == []


def test_name_without_reports_for_days_does_not_count_for_the_limit(conn, environments):
    accept(conn, "old", "used")
    run(conn, "UPDATE client_application_environments SET seen_at = now() - interval '3 days'")
    assert accept(conn, "used") == ["used"]
    assert client_applications.delete_old_names(conn, days=2, chunk=9) == 1
    assert accept(conn, "new", "newer") == ["new"]


def test_new_instances_beyond_the_limit_of_the_environment_are_dropped(conn, environments):
    def instance(name, sdk_type="backend", environment="dev"):
        return ("shop", name, environment, None, sdk_type)

    assert upsert_instances(conn, instance("a"), instance("b"), instance("c"), limit=2) == 1
    assert upsert_instances(conn, instance("c"), instance("a"), limit=2) == 1
    assert upsert_instances(conn, instance("x", "frontend"), limit=2) == 0
    assert upsert_instances(conn, instance("x", environment="prod"), limit=2) == 0
    rows = run(conn, "SELECT instance_id, environment FROM client_instances ORDER BY 2, 1")
    assert rows == [("a", "dev"), ("b", "dev"), ("x", "dev"), ("x", "prod")]


def test_applications_are_listed_with_their_instances(conn, environments):
    upsert(conn, ("b%_", "dev", '["x"]'), ("a", "dev", None))
    upsert_instances(
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


def test_delete_removes_the_instances_of_the_application(conn, environments):
    upsert(conn, ("a", "dev", None), ("b", "dev", None))
    upsert_instances(conn, ("a", "1", "dev", None, None), ("b", "1", "dev", None, None))
    accept(conn, "a", "b")
    assert client_applications.delete(conn, "a") is True
    assert accept(conn, "c", "d") == ["c"]
    assert client_applications.delete(conn, "a") is False
    assert run(conn, "SELECT app_name FROM client_instances") == [("b",)]


def test_old_instances_are_deleted(conn, environments):
    upsert_instances(conn, *(("a", str(n), "dev", None, None) for n in range(4)))
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
    rows = token_validation.list_valid_tokens(conn, [b"a", b"b", b"c", b"d"])
    assert sorted(bytes(row["secret_hash"]) for row in rows) == [b"a", b"b"]
    assert rows[0]["projects"] == ["p", "q"]
    assert token_validation.list_valid_tokens(conn, []) == []


def test_statistics_of_an_empty_database_are_zero(conn):
    row = statistics.count_everything(conn)
    assert row.pop("instance_id") is None
    assert row.pop("roles") == 3
    assert set(row.values()) == {0}


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
