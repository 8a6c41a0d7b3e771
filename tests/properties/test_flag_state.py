"""After any changes, a state that was moved equals one that was read whole, in each form."""

from __future__ import annotations

import gzip
import json
import re

import pytest
import webtest

from sigservice.db import queries, statements
from sigservice.delivery import flag_groups
from sigservice.delivery.delta import build_message
from sigservice.delivery.document_parts import PartedDocument
from sigservice.evaluation.flags import evaluate
from sigservice.evaluation.ofrep import OfrepFlags
from sigservice.paths import resource_dir
from sigservice.services import revisions
from sigservice.services.flags.client_features import Query
from tests.delivery.kit import compile_document, context
from tests.properties.flag_changes import ENVIRONMENTS, Changes
from tests.routes.test_delta import Delta
from tests.samples import sample

QUERIES = [
    {},
    {"inline": True},
    {"projects": ("shop",)},
    {"prefix": "flag-1"},
    {"tags": (("simple", "red"), ("kind", "pink"))},
    {"projects": ("default",), "tags": (("simple", "blue"),), "inline": True},
]
CONTEXTS = [{}, {"userId": "7"}, {"userId": "8", "plan": "free"}, {"region": "é\n"}]
VISIBLE = (
    "features|feature_environments|feature_strategies|strategy_segments|segments|"
    "feature_dependencies|feature_tags"
)
CASCADING = "environments|projects|tags|tag_types|project_environments"
WRITE = re.compile(
    rf"\b(INSERT INTO|UPDATE|DELETE FROM) ({VISIBLE})\b|\bDELETE FROM ({CASCADING})\b"
)
NOT_SEEN = {
    "features.fill_feature_created_by",  # the creator isn't in documents
    "definitions.delete_project_environments",  # of projects without flags
}
FORMER_BUMP = """
INSERT INTO revisions (topic, id)
SELECT topic, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
FROM unnest(ARRAY['', 'all']) AS topic
ORDER BY topic
ON CONFLICT (topic) DO UPDATE SET id = greatest(revisions.id + 1, excluded.id)
"""


@pytest.fixture
def services(make_service, monkeypatch):
    monkeypatch.setattr(flag_groups, "MEAN_SIZE", 3)
    return [make_service() for _ in range(2)]


@pytest.fixture
def executed(monkeypatch):
    """`path.name` of each executed statement."""
    names = set()
    original = statements._execute

    def record(cursor, statement, *arguments, **more):
        if isinstance(statement, queries.Statement):
            names.add(f"{statement.store}.{statement.action}")
        return original(cursor, statement, *arguments, **more)

    monkeypatch.setattr(statements, "_execute", record)
    return names


class Comparison:
    """What a process has in memory, against the database."""

    def __init__(self, service):
        self._context = service.context

    def check(self):
        for environment in ENVIRONMENTS:
            moved = self._context.flag_states.get_current(environment)
            whole = self._context.flag_states.read_all(environment)
            assert moved.revision == whole.revision
            assert list(moved.flags) == list(whole.flags)
            assert [group.flags for group in moved.flags.groups] == [
                group.flags for group in whole.flags.groups
            ]
            assert list(moved.segments.items()) == list(whole.segments.items())
            assert moved.uses == whole.uses
            assert self._context.flag_states.find_drift(moved) == []
            for values in QUERIES:
                self._check_document(Query(environment, **values), moved, whole)
            self._check_compiled(environment, whole)

    def _check_document(self, query, moved, whole):
        document = self._context.client_documents.get(query, moved.revision)
        assert document.body == PartedDocument(query, whole, None).join()
        assert document.size == len(document.body)
        assert document.gzipped == PartedDocument(query, whole, None).compress()
        assert gzip.decompress(document.gzipped) == document.body
        assert build_message(moved, query, None) == build_message(whole, query, None)

    def _check_compiled(self, environment, whole):
        compiled = self._context.compiled_flags.get(environment, whole.revision)
        expected = compile_document(
            {
                "features": [json.loads(flag.text) for flag in whole.flags],
                "segments": [json.loads(text) for text in whole.segments.values()],
            }
        )
        assert compiled.flags.field_names == expected.field_names
        for fields in CONTEXTS:
            values = context(sessionId="5", **fields)
            for own, other in (
                (compiled.flags, expected),
                (compiled.ofrep_flags, OfrepFlags(expected)),
            ):
                for projects in (("*",), ("shop",)):
                    entries, other_entries = (
                        own.list_entries(projects),
                        other.list_entries(projects),
                    )
                    assert evaluate(entries, values) == evaluate(other_entries, values)


@pytest.mark.parametrize("seed", sample(range(3), 1))
def test_moved_states_equal_those_that_are_read_whole(services, seed):
    changes = Changes(services, seed)
    for _ in range(30):
        for _ in range(changes.random.randrange(1, 4)):
            changes.make()
        Comparison(changes.random.choice(services)).check()
    for service in services:
        Comparison(service).check()


def test_delta_clients_have_what_documents_have(services):
    changes = Changes(services, 7)
    token = changes.create_token("shop")
    sdks = [Delta(webtest.TestApp(service.app), token) for service in services]
    for _ in range(40):
        changes.make()
        sdk = changes.random.choice(sdks)
        sdk.poll()
        sdk.assert_is_current()


@pytest.mark.external
def test_every_statement_that_sdks_see_is_compared(services, executed):
    """A new statement that writes what SDKs see needs a change in flag_changes.py."""
    changes, missing = Changes(services, 3), list_writes() - NOT_SEEN
    for _ in range(20):
        for kind in changes.kinds if missing else ():
            for needed in ("change_create", "change_revive", "change_add_strategy"):
                changes.make(needed)
            changes.make(kind)
            if missing & executed:  # the next comparison covers the others too
                Comparison(services[1]).check()
                missing -= executed
    assert missing == set()


def list_writes():
    """`file.statement` of each statement that writes what SDKs see."""
    folder = resource_dir("sql") / "queries"
    paths = [str(file.relative_to(folder))[: -len(".sql")] for file in folder.rglob("*.sql")]
    return {
        f"{path.rpartition('/')[2]}.{name}"
        for path in paths
        for name, text in queries.load(path).items()
        if WRITE.search(text)
    }


def test_a_version_that_records_nothing_may_run_beside_this_one(services):
    changes = Changes(services, 2)
    changes.make("change_create")
    for is_stale in (True, False, True):
        Comparison(services[1]).check()
        with services[0].context.database.transaction() as conn, conn.cursor() as cursor:
            revisions.lock(conn)
            cursor.execute("UPDATE features SET stale = %s", (is_stale,))
            cursor.execute(FORMER_BUMP)
        changes.make("change_metadata")
        for service in services:
            Comparison(service).check()


def test_a_state_is_read_whole_when_the_record_is_gone(services):
    changes = Changes(services, 3)
    for _ in range(5):
        changes.make("change_create")
        Comparison(services[1]).check()
        for _ in range(10):
            changes.make()
        with services[0].context.database.transaction() as conn, conn.cursor() as cursor:
            cursor.execute("DELETE FROM revision_changes WHERE revision % 2 = 0")
        Comparison(services[1]).check()
