"""Imports of thousands of flags into tables that nothing has analyzed yet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
import webtest

from sigservice.testing import TemporaryDatabase
from tests.conftest import ADMIN, MakeService
from tests.repository.kit import run

pytestmark = pytest.mark.external

FLAGS_PER_REQUEST = 500
REQUESTS = 4
CONSTRAINT = {"contextName": "userId", "operator": "IN", "values": ["1", "2", "3"]}
IMPORTED = "feature_strategies"
HAS_STATISTICS = f"SELECT EXISTS (SELECT FROM pg_stats WHERE tablename = '{IMPORTED}')"
# ANALYZE evaluates the expressions of indexes.
TIMEOUT_IN_ANALYZE = """
CREATE FUNCTION cancel_analyze(name text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF starts_with(current_query(), 'ANALYZE') THEN RAISE query_canceled; END IF;
    RETURN name;
END $$;
CREATE INDEX ON features (cancel_analyze(name))
"""

_numbers = itertools.count()


class Installation:
    """A service on a database of its own, which autovacuum doesn't analyze."""

    def __init__(self, web: webtest.TestApp, conn: Any) -> None:
        self.web, self.conn = web, conn

    def import_flags(self, first: int, count: int, status: int = 200) -> None:
        data = build_document(first, count)
        body = {"project": "default", "environment": "development", "data": data}
        path = "/api/admin/features-batch/import"
        self.web.post_json(path, body, headers=ADMIN, status=status)

    def create_token(self, project: str) -> str:
        token = {"tokenName": project, "type": "client", "environment": "development"}
        body = token | {"projects": [project]}
        answer = self.web.post_json("/api/admin/api-tokens", body, headers=ADMIN, status=201)
        return str(answer.json["secret"])

    def count_flags(self, token: str) -> int:
        headers = {"Authorization": token}
        answer = self.web.get("/api/client/features", headers=headers, status=200)
        return len(answer.json["features"])

    def has_statistics(self) -> bool:
        return bool(run(self.conn, HAS_STATISTICS)[0][0])


def build_document(first: int, count: int) -> dict[str, Any]:
    """Flags with three strategies each."""
    names = [f"flag-{n}" for n in range(first, first + count)]
    return {
        "features": [{"name": name} for name in names],
        "featureEnvironments": [{"featureName": name, "enabled": True} for name in names],
        "featureStrategies": [
            {
                "featureName": name,
                "name": "flexibleRollout",
                "parameters": {"rollout": "50", "stickiness": "default", "groupId": name},
                "constraints": [CONSTRAINT],
            }
            for name in names
            for _ in range(3)
        ],
    }


@pytest.fixture
def install(
    temporary_database: TemporaryDatabase, make_service: MakeService
) -> Iterator[Callable[[], Installation]]:
    """`install()`: a new installation."""
    conns = []

    def create() -> Installation:
        name = f"import_{next(_numbers)}"
        options = temporary_database.create_database(name)
        web = webtest.TestApp(make_service({"db": options}).app)
        conns.append(conn := temporary_database.connect(name))
        run(conn, f"ALTER TABLE {IMPORTED} SET (autovacuum_enabled = false)")
        return Installation(web, conn)

    yield create
    for conn in conns:
        conn.close()


def test_sdks_get_thousands_of_flags_right_after_their_import(install):
    service = install()
    for n in range(REQUESTS):
        service.import_flags(n * FLAGS_PER_REQUEST, FLAGS_PER_REQUEST)
    for project in ("*", "default"):
        assert service.count_flags(service.create_token(project)) == FLAGS_PER_REQUEST * REQUESTS


def test_import_of_many_flags_analyzes_their_tables(install):
    service = install()
    service.import_flags(0, FLAGS_PER_REQUEST)
    assert service.has_statistics()


def test_import_of_few_flags_analyzes_nothing(install):
    service = install()
    service.import_flags(0, 10)
    assert not service.has_statistics()


def test_a_table_that_is_locked_is_not_analyzed(install):
    service = install()
    with closing(service.conn.cursor()) as cursor:
        cursor.execute(f"BEGIN; LOCK TABLE {IMPORTED} IN SHARE UPDATE EXCLUSIVE MODE")
        service.import_flags(0, FLAGS_PER_REQUEST)
        cursor.execute("COMMIT")
    assert not service.has_statistics()
    assert run(service.conn, "SELECT count(*) FROM features") == [(FLAGS_PER_REQUEST,)]


def test_a_timeout_of_the_analysis_does_not_fail_the_import(install):
    service = install()
    run(service.conn, TIMEOUT_IN_ANALYZE)
    service.import_flags(0, FLAGS_PER_REQUEST)
    assert not service.has_statistics()
    assert run(service.conn, "SELECT count(*) FROM features") == [(FLAGS_PER_REQUEST,)]
