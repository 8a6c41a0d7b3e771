"""Reports: what one statement stores of them, and what it drops."""

import threading

import pytest

from sigservice.db.errors import DatabaseUnavailable
from sigservice.repository.usage import client_applications
from tests.repository.kit import run, set_variants, store_reports
from tests.waiting import DEADLINE_SECONDS


@pytest.fixture
def flags(conn):
    """Flags `one` and `two`, environments `dev` and `prod`."""
    add_flags(conn)


def add_flags(conn):
    run(conn, "INSERT INTO projects (id, name) VALUES ('p', 'p')")
    for n, name in enumerate(("dev", "prod")):
        run(conn, "INSERT INTO environments VALUES (%s, 'test', %s)", name, n)
    for name in ("one", "two"):
        run(
            conn,
            "INSERT INTO features (name, project, type, created_by) "
            "VALUES (%s, 'p', 'release', 't')",
            name,
        )
        run(
            conn, "INSERT INTO feature_environments (feature, environment) VALUES (%s, 'dev')", name
        )


def make_instance(app="shop", name="a", environment="dev", version=None, kind="backend", **more):
    return (app, name, environment, version, kind, more.get("ip"), more.get("strategies"))


def list_sums(conn):
    return run(
        conn, "SELECT feature, app_name, environment, yes, no FROM client_metrics ORDER BY 1, 2, 3"
    )


def list_names(conn):
    return run(
        conn,
        "SELECT environment, sdk_type, app_name FROM client_application_environments "
        "ORDER BY 1, 2, 3",
    )


def accept(conn, *app_names, **more):
    """Which of the applications are accepted; the limit is 2."""
    environment = more.pop("environment", "dev")
    result = store_reports(
        conn,
        instances=[make_instance(name, environment=environment) for name in app_names],
        backend_limit=2,
        frontend_limit=2,
        **more,
    )
    return sorted(app_name for _, _, app_name in result.names)


def test_counts_of_one_key_are_summed_in_a_statement_and_across_statements(conn, flags):
    store_reports(conn, usages=[("one", "shop", "dev", 0, 1, 2), ("one", "shop", "dev", 0, 3, 4)])
    store_reports(conn, usages=[("one", "shop", "dev", 0, 10, 0), ("two", "shop", "dev", 0, 0, 1)])
    store_reports(conn, usages=[("one", "shop", "dev", 0, 10, 0)], token_type="frontend")
    assert list_sums(conn) == [("one", "shop", "dev", 24, 6), ("two", "shop", "dev", 0, 1)]
    set_variants(conn, "one", "dev", '[{"name": "blue"}]')
    variants = [("one", "shop", "dev", 0, "blue", 2), ("one", "shop", "dev", 0, "blue", 3)]
    store_reports(conn, variants=variants)
    store_reports(conn, variants=variants)
    assert run(conn, "SELECT variant, count FROM client_metrics_variants") == [("blue", 10)]


def test_each_environment_and_sdk_type_has_its_own_names(conn, flags):
    assert accept(conn, "a", "b", "c") == ["a", "b"]
    assert accept(conn, "c", environment="prod") == ["c"]
    assert accept(conn, "c", token_type="frontend") == ["c"]
    assert accept(conn, "c", environment="nowhere") == []
    assert len(list_names(conn)) == 4


def test_name_without_reports_for_days_does_not_count_for_the_limit(conn, flags):
    accept(conn, "old", "used")
    run(conn, "UPDATE client_application_environments SET seen_at = now() - interval '3 days'")
    assert accept(conn, "used") == ["used"]
    assert client_applications.delete_old_names(conn, days=2, chunk=9) == 1
    assert accept(conn, "new", "newer") == ["new"]


def test_application_is_updated_once_a_minute_and_keeps_its_strategies(conn, flags):
    def store(age, environment="dev", strategies=None):
        """Whether the application was updated."""
        run(conn, f"UPDATE client_applications SET seen_at = now() - interval '{age} seconds'")
        instance = make_instance(environment=environment, strategies=strategies)
        store_reports(conn, instances=[instance, make_instance("lost", environment="nowhere")])
        query = "SELECT app_name, seen_at = now(), strategies::text FROM client_applications"
        ((name, is_updated, text),) = run(conn, query)
        assert name == "shop"
        return is_updated, text

    assert store(0, strategies=["a"]) == (True, '["a"]')
    assert store(59, "prod") == (False, '["a"]')
    assert store(59, "prod", ["a"]) == (False, '["a"]')
    assert store(61) == (True, '["a"]')
    assert store(59, strategies=["b"]) == (True, '["b"]')
    row = client_applications.find(conn, "shop")
    assert row["missing_strategies"] == ["b"]


def test_new_instances_beyond_the_limit_of_the_environment_are_dropped(conn, flags):
    def store(*instances, **more):
        result = store_reports(conn, instances=instances, instance_limit=2, **more)
        return {name for _, name, _ in result.dropped_instances}

    assert store(*(make_instance(name=name) for name in "abc")) == {"c"}
    assert store(*(make_instance(name=name) for name in "ca")) == {"c"}
    assert store(make_instance(name="x", kind="frontend")) == set()
    assert store(make_instance(name="x", environment="prod")) == set()
    rows = run(conn, "SELECT instance_id, environment FROM client_instances ORDER BY 2, 1")
    assert rows == [("a", "dev"), ("b", "dev"), ("x", "dev"), ("x", "prod")]


def test_concurrent_statements_with_the_same_keys_do_not_deadlock(pool):
    with pool.transaction() as conn:
        add_flags(conn)
    errors = []

    def store(direction):
        keys = [(flag, app) for flag in ("one", "two") for app in ("a", "b", "c")][::direction]
        for _ in range(50):
            try:
                with pool.autocommit() as conn:
                    store_reports(
                        conn,
                        instances=[make_instance(app, name=flag) for flag, app in keys],
                        usages=[(flag, app, "dev", 0, 1, 0) for flag, app in keys],
                        variants=[(flag, app, "dev", 0, "disabled", 1) for flag, app in keys],
                    )
            except DatabaseUnavailable as error:
                errors.append(error.sqlstate)

    threads = [threading.Thread(target=store, args=(n,)) for n in (1, -1, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    assert errors == []
    with pool.autocommit() as conn:
        sums = run(conn, "SELECT sum(yes), sum(count) FROM client_metrics JOIN "
                         "client_metrics_variants USING (feature, app_name)")  # fmt: skip
        assert sums == [(900, 900)]
