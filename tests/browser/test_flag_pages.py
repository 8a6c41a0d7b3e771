"""The figures of the list of flags and of the page of one flag, with many flags."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 740}
LONG_NAME = "black-friday-2026-countdown-and-banner-for-everyone-in-europe-2"
FLAGS = """
    WITH flags AS (
        INSERT INTO features (name, project, type, created_by)
        SELECT 'flag-' || n, 'default', 'release', 'ada' FROM generate_series(1, 60) AS n
        RETURNING name
    )
    INSERT INTO feature_last_seen SELECT name, 'production', now() FROM flags
"""


@pytest.fixture
def many(flags, rows):
    tags = [{"type": "simple", "value": f"team-with-a-long-name-{n}"} for n in range(3)]
    flags.create_flag(LONG_NAME, tags=tags)
    flags.add_strategy(LONG_NAME, parameters={"rollout": "25"})
    flags.switch(LONG_NAME)
    rows(FLAGS)


def overflows(page):
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_list_has_twenty_rows_of_one_line_on_a_screen(tab, many):
    page = tab("ada", viewport=DESKTOP)
    answer = page.goto("/admin/features")
    rows = page.locator("#flag-table tbody tr")
    assert rows.count() == 50
    boxes = [row.bounding_box() for row in rows.all()]
    assert {round(box["height"]) for box in boxes} == {36}
    assert sum(box["y"] + box["height"] <= 900 for box in boxes) >= 20
    name = page.get_by_role("rowheader", name=LONG_NAME)
    assert name.bounding_box()["width"] >= 320
    assert page.get_by_role("link", name=LONG_NAME).get_attribute("title") == LONG_NAME
    assert not overflows(page)
    assert len(answer.body()) < 90_000


def test_bulk_bar_appears_with_the_first_selected_flag(tab, many):
    page = tab("ada", viewport=DESKTOP)
    page.goto("/admin/features")
    assert not page.locator(".bulk").is_visible()
    page.get_by_label("Select flag-1", exact=True).check()
    page.get_by_label("Select flag-2", exact=True).check()
    page.get_by_text("2 selected:").wait_for()
    page.get_by_text("Turn on in").click()
    page.get_by_role("button", name="Turn on in development").click()
    page.get_by_text("2 flags turned on.").wait_for()
    assert page.locator("[data-in=development] [aria-checked=true]").count() == 2


def test_flag_has_two_lines_on_a_phone(tab, many):
    page = tab("ada", viewport=PHONE)
    page.goto("/admin/features")
    heights = {
        round(row.bounding_box()["height"]) for row in page.locator("#flag-table tbody tr").all()
    }
    assert max(heights) <= 73
    assert page.get_by_text("· 2 more").first.is_visible()
    assert not overflows(page)


HEIGHT = "Math.ceil(document.querySelector('main').getBoundingClientRect().bottom + scrollY)"


@pytest.fixture
def busy(flags, rows):
    """The flag checkout with two strategies, evaluations and a long history."""
    flags.create_flag(description="One page", tags=[{"type": "simple", "value": "ml"}])
    flags.add_strategy(
        parameters={"rollout": "60", "stickiness": "userId"},
        constraints=[{"contextName": "appVersion", "operator": "SEMVER_GT", "value": "4.2.0"}],
        variants=[{"name": "a"}, {"name": "b"}],
    )
    flags.add_strategy(parameters={"rollout": "10"})
    for to in ("on", "off") * 6 + ("on",):
        flags.switch(to=to)
    rows(
        """INSERT INTO client_metrics (feature, app_name, environment, hour, yes, no)
           SELECT 'checkout', 'shop', 'production',
                  date_trunc('hour', now()) - make_interval(hours => n), 100 * n, 1000
           FROM generate_series(0, 23) AS n"""
    )


def test_flag_with_two_strategies_answers_first_on_one_screen(tab, busy):
    page = tab("ada", viewport=DESKTOP)
    answer = page.goto("/admin/features/checkout")
    heading = page.get_by_role("heading", name="On for some users")
    assert heading.bounding_box()["y"] <= 320
    assert page.evaluate(HEIGHT) <= 1000
    assert page.get_by_role("switch").first.get_attribute("aria-label") == "checkout in production"
    assert not overflows(page)
    assert len(answer.body()) < 30_000


def test_why_a_user_does_not_get_it_takes_one_click(tab, busy):
    page = tab("ada", viewport=DESKTOP)
    page.goto("/admin/features/checkout")
    page.get_by_label("User", exact=True).fill("7")
    page.get_by_role("button", name="Why?").click()
    page.get_by_text("appVersion isn't known").wait_for()
    page.get_by_label("appVersion").fill("5.0.0")
    page.get_by_role("button", name="Why?").click()
    page.locator("#why", has_text="User 7").wait_for()
    assert "isn't known" not in page.locator("#why").inner_text()


def test_first_strategy_turns_the_flag_on_in_two_clicks(tab, flags):
    flags.create_flag()
    page = tab("ada", viewport=PHONE)
    page.goto("/admin/features/checkout")
    page.get_by_role("button", name="10% …").click()
    page.get_by_role("button", name="Turn on in production").click()
    page.get_by_role("heading", name="On for 10% of users").wait_for()
    assert flags.list_strategies()[0]["parameters"]["rollout"] == "10"
    assert not overflows(page)
