"""Reasons to remove a flag."""

from __future__ import annotations

import pytest

from sigservice.services.flags import removal
from tests.conftest import ADMIN
from tests.pages.flags import FEATURES, Flags


@pytest.fixture
def flags(web):
    return Flags(web)


@pytest.fixture
def read(service):
    """`read()`: {flag: (reason, value to keep)}."""

    def read():
        with service.context.database.transaction() as conn:
            names = removal.list_names(conn, 30, None)
            removals = removal.list_removals(
                conn, 30, service.context.clock.now(), [*names], "https://x/admin/features"
            )
        assert {*removals} == names
        return {name: (one.reason, one.keep) for name, one in removals.items()}

    return read


@pytest.fixture
def age(rows):
    """`age(days)`: everything that exists is older by so many days."""

    def age(days):
        past = f"interval '{days} days 1 hour'"
        rows(f"UPDATE features SET created_at = created_at - {past}")
        rows(
            "INSERT INTO feature_last_seen SELECT name, 'production', now() FROM features "
            "ON CONFLICT (feature, environment) DO UPDATE SET seen_at = now()"
        )
        rows(f"UPDATE events SET created_at = created_at - {past}")

    return age


def test_a_new_flag_has_no_reason(flags, read):
    flags.create_flag()
    assert read() == {}


def test_one_answer_for_everyone_is_a_reason_when_nothing_changes(flags, read, age):
    flags.create_flag("on")
    flags.switch("on")
    flags.create_flag("off")
    flags.create_flag("part")
    flags.add_strategy("part", parameters={"rollout": "50"})
    flags.switch("part")
    age(31)
    flags.create_flag("changed")
    flags.switch("changed")
    assert read() == {
        "on": ("on for everyone, unchanged for 31 d", "on"),
        "off": ("off for everyone, unchanged for 31 d", "off"),
    }
    flags.switch("on", to="off")
    assert "on" not in read()


def test_variants_and_several_production_environments_have_no_one_answer(flags, read, age):
    flags.create_flag("variants")
    variants = [{"name": "a", "weight": 1000, "weightType": "variable", "stickiness": "default"}]
    flags.add_strategy("variants", parameters={"rollout": "100"}, variants=variants)
    flags.switch("variants")
    flags.create_flag("differs")
    flags.add_strategy("differs", "default", parameters={"rollout": "50"})
    for environment in ("production", "default"):
        flags.switch("differs", environment)
    age(31)
    assert read() == {}


def test_a_flag_that_nobody_evaluates_has_a_reason(flags, read, age, rows):
    flags.create_flag("part")
    flags.add_strategy("part", parameters={"rollout": "50"})
    flags.switch("part")
    age(35)
    assert read() == {}
    rows("DELETE FROM feature_last_seen")
    assert read() == {"part": ("not evaluated for 35 d", "?")}


def test_a_flag_older_than_its_type_lives_has_a_reason(flags, read, age):
    flags.create_flag()
    flags.add_strategy(parameters={"rollout": "50"})
    flags.switch()
    age(41)
    assert read() == {"checkout": ("older than release flags live (40 d)", "?")}


def test_a_marked_flag_has_a_reason(web, flags, read):
    flags.create_flag()
    body = {"features": ["checkout"], "stale": True}
    web.post_json("/api/admin/projects/default/stale", body, headers=ADMIN, status=202)
    assert read() == {"checkout": ("marked by API token admin 0 d ago", "off")}


def test_a_permanent_flag_has_no_reason(flags, read, age):
    flags.create_flag("kill", type="kill-switch")
    flags.create_flag("kept", permanent=True)
    flags.create_flag("temporary", type="permission", permanent=False)
    age(41)
    assert {*read()} == {"temporary"}


def test_the_task_names_the_applications_that_evaluate_the_flag(service, flags, rows):
    flags.create_flag()
    flags.add_strategy(parameters={"rollout": "50"})
    flags.switch()
    rows("UPDATE features SET stale = true")
    rows("INSERT INTO client_applications (app_name) VALUES ('web'), ('api'), ('other')")
    for name in ("web", "api"):
        rows(
            "INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no)"
            " VALUES ('checkout', %s, 'production', now(), 1, 1)",
            name,
        )
    with service.context.database.transaction() as conn:
        now, url = service.context.clock.now(), "https://x/admin/features"
        task = removal.list_removals(conn, 30, now, ["checkout"], url)["checkout"].task
    assert task == (
        "Remove the flag checkout. Keep: ?. Marked; used by api, web. 1. Decide which code to keep,"
        " and delete the check. 2. Deploy; its page shows when nobody asks any longer:"
        " https://x/admin/features/checkout. 3. Archive it."
    )


def test_an_archived_flag_has_no_reason(web, flags, read):
    flags.create_flag()
    web.put_json(f"{FEATURES}/checkout", {"stale": True}, headers=ADMIN)
    assert read() == {"checkout": ("marked", "off")}
    flags.archive("checkout")
    assert read() == {}
