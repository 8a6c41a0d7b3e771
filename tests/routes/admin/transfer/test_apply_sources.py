"""Sources of applied files: what they manage, adopt and prune."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.routes.admin.transfer.test_apply import FLAGS, flags, list_events, read

SHOP = {"source": "acme/shop", "revision": "4f2c1ab09"}


@pytest.fixture
def apply(web):
    def send(*documents, status=200, **options):
        body = {"documents": list(documents)} | SHOP | options
        return web.post_json("/api/admin/apply", body, headers=ADMIN, status=status).json

    return send


def get_sources(web):
    return web.get("/api/admin/sources", headers=ADMIN).json["sources"]


def release(web, status=200, **body):
    path = "/api/admin/sources/release"
    return web.post_json(path, body, headers=ADMIN, status=status).json


def test_a_flag_of_a_source_says_who_manages_it(service, web, apply, cast):
    apply(flags(checkout=None) | {"segments": {"beta": None}})
    managed = read(web)["managed"]
    assert (managed["source"], managed["revision"]) == ("acme/shop", "4f2c1ab09")
    (source,) = get_sources(web)
    assert source["appliedBy"]
    assert source["counts"] == {"flag": 1, "segment": 1}
    text = cast.signed_in("ada").get("/admin/features/checkout").text
    assert "Managed in acme/shop" in text


def test_other_flags_are_managed_by_nothing(web):
    web.post_json(FLAGS, {"name": "checkout"}, headers=ADMIN)
    assert read(web)["managed"] is None


def test_an_apply_without_changes_stores_only_the_revision(web, apply, rows):
    apply(flags(checkout=None))
    before = rows("SELECT max(id) FROM revisions"), len(list_events(web))
    assert apply(flags(checkout=None), revision="next")["changes"] == []
    assert get_sources(web)[0]["revision"] == "next"
    assert (rows("SELECT max(id) FROM revisions"), len(list_events(web))) == before


def test_what_exists_must_be_adopted(web, apply):
    web.post_json(FLAGS, {"name": "checkout"}, headers=ADMIN)
    error = apply(flags(checkout=None), status=409)
    assert error["details"][0]["reason"] == "unmanaged"
    answer = apply(flags(checkout=None), adopt=True)
    (change,) = answer["changes"]
    assert (change["change"], change["adopted"], answer["counts"]["adopt"]) == ("adopt", True, 1)
    assert apply(flags(checkout={"description": "New"}))["counts"]["update"] == 1


def test_a_flag_of_another_source_is_refused(web, apply):
    apply(flags(checkout={"description": "Old"}))
    new = flags(checkout={"description": "New"})
    other = {"source": "acme/other", "revision": None}
    for options in (other, other | {"adopt": True}, {"source": None, "revision": None}):
        error = apply(new, status=409, **options)
        assert error["details"][0]["reason"] == "otherSource"
    answer = apply(new, conflicts="skip", source=None, revision=None)
    assert (answer["changes"], answer["skipped"][0]["reason"]) == ([], "otherSource")
    same = flags(checkout={"description": "Old"})
    assert apply(same, source=None, revision=None)["changes"] == []


def test_events_name_the_source(web, apply):
    apply(flags(checkout=None))
    events = {event["type"]: event["data"] for event in list_events(web)}
    assert events["feature-created"]["apply"] == SHOP
    assert events["features-applied"]["source"] == "acme/shop"


def test_what_the_files_no_longer_have_is_a_note_until_it_is_pruned(web, apply):
    apply(flags(checkout=None, old=None) | {"segments": {"beta": None}})
    answer = apply(flags(checkout=None))
    assert [note["reason"] for note in answer["notes"]] == ["undeclared", "undeclared"]
    answer = apply(flags(checkout=None), prune="unused")
    (change,) = answer["changes"]
    assert (change["name"], change["change"]) == ("old", "archive")
    assert change["text"] == "flag old in default: archived"
    web.get(f"{FLAGS}/old", headers=ADMIN, status=404)
    assert get_sources(web)[0]["counts"] == {"flag": 1, "segment": 0}
    assert apply(flags(checkout=None), prune="unused")["changes"] == []


def test_a_flag_that_is_evaluated_is_not_pruned(rows, web, apply):
    apply(flags(checkout=None, old=None))
    rows("INSERT INTO feature_last_seen VALUES ('old', 'production', now())")
    answer = apply(flags(checkout=None), prune="unused")
    assert (answer["changes"], answer["held"][0]["reason"]) == ([], "used")
    assert apply(flags(checkout=None), prune="all")["counts"]["archive"] == 1


def test_a_parent_is_pruned_with_its_children_or_not_at_all(web, apply):
    apply(flags(parent=None, child={"parent": "parent"}))
    answer = apply(flags(child=None), prune="unused")
    assert (answer["changes"], answer["held"][0]["reason"]) == ([], "parent")
    answer = apply(flags(other=None), prune="unused")
    assert answer["counts"]["archive"] == 2


def test_a_flag_that_an_alert_holds_is_not_pruned(apply, alerts):
    apply(flags(checkout=None, other=None), adopt=True)
    alerts.set(options={"restoreWhenResolved": {"path": "s", "values": ["ok"], "key": "id"}})
    alerts.send({"id": "1", "s": "bad"})
    alerts.work()
    answer = apply(flags(other=None), prune="all")
    assert (answer["changes"], answer["held"][0]["reason"]) == ([], "alert")


def test_a_definition_that_was_changed_here_is_drift(web, apply, rows):
    apply(flags(checkout={"description": "One page"}))
    path = f"{FLAGS}/checkout"
    web.put_json(path, {"description": "Two pages", "type": "release"}, headers=ADMIN)
    (change,) = apply(flags(checkout={"description": "One page"}))["changes"]
    assert change["drift"] is True
    assert ", changed here by " in change["text"]
    (change,) = apply(flags(checkout={"description": "Three"}))["changes"]
    assert change["drift"] is False


def test_a_source_releases_what_it_manages(web, apply):
    apply(flags(checkout=None, other=None))
    items = [{"kind": "flag", "name": "checkout", "project": "default"}]
    assert release(web, source="acme/shop", items=items) == {"released": 1}
    assert read(web)["managed"] is None
    release(web, status=404, source="acme/shop", items=items)
    assert release(web, source="acme/shop") == {"released": 1}
    assert get_sources(web) == []
    release(web, status=404, source="acme/shop")
    assert "features-released" in {event["type"] for event in list_events(web)}


@pytest.mark.parametrize(
    "options",
    [{"source": ""}, {"source": " a"}, {"source": "file"}, {"source": "a\nb"},
     {"source": "a" * 201}, {"source": None}, {"source": None, "revision": None, "adopt": True},
     {"source": None, "revision": None, "prune": "all"}, {"prune": "some"}],
)  # fmt: skip
def test_an_invalid_source_is_refused(apply, options):
    apply(flags(checkout=None), status=400, **options)
