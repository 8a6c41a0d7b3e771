"""Cached documents of the client API: built once, never stale, limited in number."""

from __future__ import annotations

import gzip
import json
import random
import threading

import pytest
import webtest

from sigservice.delivery import client_documents
from sigservice.delivery.document_parts import PartedDocument
from sigservice.delivery.flag_groups import FlagGroups
from sigservice.delivery.flag_state import FlagState
from sigservice.repository.flags import client_features
from sigservice.services.flags.client_features import Flag, Query
from sigservice.services.revisions import Revisions
from tests.concurrency.test_shared import is_waiting
from tests.conftest import ADMIN
from tests.delivery.test_revision_cache import AS_CLIENT, FEATURES, POLL, TOKENS
from tests.server.process import until
from tests.waiting import DEADLINE_SECONDS


class Statements:
    """Counts how often flags are read from PostgreSQL."""

    def __init__(self, monkeypatch):
        self.count = 0
        original = client_features.list_items

        def counted(*args, **more):
            self.count += 1
            return original(*args, **more)

        monkeypatch.setattr(client_features, "list_items", counted)


@pytest.fixture
def statements(monkeypatch):
    return Statements(monkeypatch)


class Documents:
    """The cached documents, at the current revision."""

    def __init__(self, context):
        self._context = context

    def get(self, query):
        revisions = self._context.revision_cache.read_revisions()
        return self.get_at(query, revisions.of_environment(query.environment))

    def get_at(self, query, revision):
        return self._context.client_documents.get(query, revision)

    def list_queries(self):
        return list(self._context.client_documents._documents)

    def list_queries_with_parts(self):
        return list(self._context.client_documents._parts)


def start(make_service, **caching):
    service = make_service(TOKENS | {"clientFeatureCaching": caching} if caching else TOKENS)
    return webtest.TestApp(service.app), Documents(service.context)


def poll(web, query="", status=200, **headers):
    return web.get(POLL + query, headers=AS_CLIENT | headers, status=status)


def test_flags_are_read_once_for_each_revision(make_service, statements):
    web, _ = start(make_service)
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    first = poll(web)
    assert poll(web).body == first.body
    assert statements.count == 1
    poll(web, "?namePrefix=a")
    assert statements.count == 1
    web.put_json(f"{FEATURES}/a", {"stale": True}, headers=ADMIN)
    assert poll(web).json["features"][0]["stale"] is True
    assert poll(web, "?namePrefix=a").json["features"][0]["stale"] is True
    assert statements.count == 2


def test_not_modified_builds_no_document(make_service, statements):
    web, _ = start(make_service)
    etag = poll(web).headers["ETag"]
    assert statements.count == 1
    for header in (etag, f"W/{etag}", f'"x", {etag}', "*"):
        answer = poll(web, status=304, **{"If-None-Match": header})
        assert answer.body == b""
        assert answer.headers["ETag"] == etag
    assert statements.count == 1
    for header in ("", '"x"', etag.strip('"'), etag + "x"):
        poll(web, **{"If-None-Match": header})


def test_switched_off_each_answer_is_a_statement(make_service, statements):
    web, _ = start(make_service, enabled=False, maxAge=600)
    assert poll(web).body == poll(web).body
    assert statements.count == 2


TOGGLE = "UPDATE features SET impression_data = NOT impression_data"


def test_changes_in_the_database_are_seen_after_the_age(make_service, clock, database):
    web, documents = start(make_service, enabled=True, maxAge=2000)
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    query = Query("development")
    first = documents.get(query)
    with database.connect() as conn, conn.cursor() as cursor:
        cursor.execute(TOGGLE)
    clock.advance(2)
    assert documents.get(query) is first
    clock.advance(0.1)
    second = documents.get(query)
    assert second.etag == first.etag
    assert [json.loads(it.body)["features"][0]["impressionData"] for it in (first, second)] == [
        False,
        True,
    ]
    assert documents.get(query) is second


def test_unchanged_document_is_compared_once_for_each_age(make_service, clock, statements):
    web, documents = start(make_service, enabled=True, maxAge=2000)
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    queries = [Query("development"), Query("development", prefix="a")]
    bodies = [documents.get(query).body for query in queries]
    clock.advance(2.1)
    before = statements.count
    assert [documents.get(query).body for query in queries] == bodies
    assert statements.count == before + 1


def test_gzip_is_the_same_document(make_service, statements):
    web, _ = start(make_service)
    flag = {"name": "long", "description": "lorem ipsum " * 100}
    web.post_json("/api/admin/projects/default/features", flag, headers=ADMIN)
    plain = poll(web)
    started = []
    environ = webtest.TestRequest.blank(POLL, headers=AS_CLIENT | {"Accept-Encoding": "gzip"})
    packed = web.app(environ.environ, lambda *args: started.extend(args))  # WebTest unpacks itself
    headers = dict(started[1])
    assert headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(b"".join(packed)) == plain.body
    assert headers["Etag"] == plain.headers["ETag"] == json.loads(plain.body)["meta"]["etag"]
    assert headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
    assert statements.count == 1


def test_gzip_is_ready_before_the_first_reader(make_service, monkeypatch):
    _, documents = start(make_service)
    document = documents.get(Query("development"))
    monkeypatch.setattr(gzip, "compress", None)
    assert gzip.decompress(document.gzipped) == document.body


def test_number_of_documents_is_limited(make_service, monkeypatch):
    monkeypatch.setattr(client_documents, "MAX_DOCUMENTS", 3)
    _, documents = start(make_service)
    for prefix in "abcde":
        documents.get(Query("development", prefix=prefix))
    assert [query.prefix for query in documents.list_queries()] == ["c", "d", "e"]


def test_the_bytes_are_bounded(make_service, monkeypatch):
    _, documents = start(make_service)
    size = documents.get(Query("development", prefix="a")).size
    monkeypatch.setattr(client_documents, "MAX_BYTES", 3 * size)
    for prefix in "bcde":
        documents.get(Query("development", prefix=prefix))
    assert [query.prefix for query in documents.list_queries()] == ["c", "d", "e"]
    monkeypatch.setattr(client_documents, "MAX_BYTES", size - 1)
    assert documents.get(Query("development", prefix="f")).body
    assert not documents.list_queries()


def test_the_bytes_of_inlined_segments_are_bounded(make_service, monkeypatch):
    _, documents = start(make_service)
    size = documents.get(Query("development", prefix="a", inline=True)).size
    monkeypatch.setattr(client_documents, "MAX_BYTES", 3 * size)
    for prefix in "bcde":
        documents.get(Query("development", prefix=prefix, inline=True))
    assert documents.list_queries_with_parts() == documents.list_queries()
    documents.get(Query("development"))
    assert len(documents.list_queries_with_parts()) == 4


def test_expired_documents_are_removed_when_new_ones_are_cached(make_service, clock):
    _, documents = start(make_service, enabled=True, maxAge=1000)
    for prefix in "abc":
        documents.get(Query("development", prefix=prefix))
    clock.advance(5)
    documents.get(Query("development", prefix="d"))
    assert [query.prefix for query in documents.list_queries()] == ["d"]


def test_document_of_another_revision_is_not_returned(make_service):
    web, documents = start(make_service)
    query = Query("development")
    old = documents.get(query)
    web.post_json(FEATURES, {"name": "a"}, headers=ADMIN)
    new = documents.get(query)
    assert new.revision > old.revision
    assert f'"revisionId":{new.revision},"etag":{json.dumps(new.etag)}'.encode() in new.body
    assert documents.get(query) is new
    # A request that read the revision before the change.
    assert documents.get_at(query, old.revision).etag == new.etag


def test_after_a_flip_one_poll_builds_and_the_others_wait_for_it(make_service, monkeypatch):
    _, documents = start(make_service)
    begun, gate, builds = threading.Event(), threading.Event(), []
    original = client_features.list_items

    def slow(*args, **more):
        builds.append(True)
        begun.set()
        assert gate.wait(DEADLINE_SECONDS)
        return original(*args, **more)

    monkeypatch.setattr(client_features, "list_items", slow)
    query, answers = Query("development"), []
    threads = [threading.Thread(target=lambda: answers.append(documents.get(query)))]
    threads[0].start()
    assert begun.wait(DEADLINE_SECONDS)
    threads += [
        threading.Thread(target=lambda: answers.append(documents.get(query))) for _ in range(15)
    ]
    for thread in threads[1:]:
        thread.start()
    until(lambda: all(map(is_waiting, threads[1:])), "polls that wait")
    gate.set()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    assert len(builds) == 1
    assert len({id(body) for body in answers}) == 1
    assert len(answers) == 16


def test_a_failing_build_fails_its_polls_and_not_the_next_one(make_service, monkeypatch):
    _, documents = start(make_service)
    query = Query("development")
    with monkeypatch.context() as patch:
        patch.setattr(client_features, "list_items", lambda *args, **more: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            documents.get(query)
    assert documents.get(query).body


@pytest.mark.parametrize("count", [100, 1000])
def test_gzip_in_groups_is_at_most_8_percent_larger_than_of_the_whole(count):
    flags = [build_flag(f"flag-{n:05}") for n in range(count)]
    state = FlagState("development", Revisions(), FlagGroups.from_flags(flags), {}, {})
    document = PartedDocument(Query("development"), state, None)
    assert len(document.compress()) <= 1.08 * len(gzip.compress(document.join(), 5))


def build_flag(name):
    """With three gradual rollouts, whose IDs are random."""
    numbers = random.Random(name)
    strategies = [
        {
            "id": f"{numbers.getrandbits(128):032x}",
            "name": "flexibleRollout",
            "parameters": {"rollout": str(numbers.randrange(101)), "groupId": name},
            "constraints": [{"contextName": "userId", "operator": "IN", "values": [name[-2:]]}],
        }
        for _ in range(3)
    ]
    text = json.dumps({"name": name, "enabled": True, "strategies": strategies}).encode()
    return Flag(name, text, "default")
