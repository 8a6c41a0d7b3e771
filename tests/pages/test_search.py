"""The search page, whose results the search dialog shows."""

import pytest

from tests.conftest import ADMIN_TOKEN

ADMIN = {"Authorization": ADMIN_TOKEN}


@pytest.fixture
def search(cast, flags, endpoint):
    for name in ("checkout-one-page", "one-click", "old-checkout", "a_b", "a-b"):
        flags.create_flag(name)
    flags.archive("old-checkout")

    def list_results(user, text):
        page = cast.signed_in(user).get("/admin/search", {"q": text})
        return [link.get_text(" ", strip=True) for link in page.html.select("#results a")]

    return list_results


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("page check", ["checkout-one-page Flag"]),
        ("ONE", ["one-click Flag", "checkout-one-page Flag"]),
        ("a_b", ["a_b Flag"]),
        ("audit", ["Audit log Page"]),
        ("no such name", []),
    ],
    ids=["words in any order", "shortest first", "no wildcard", "page", "nothing"],
)
def test_names_with_all_words_are_found(search, text, expected):
    assert search("ada", text) == expected


def test_action_sets_are_found_by_admins_only(sets, search):
    sets.set("kill switch")
    assert search("ada", "kill") == ["kill switch Action set"]
    assert search("vera", "kill") == []


def test_endpoints_are_found_by_admins_only(search, endpoint):
    assert f"{endpoint['name']} Signal endpoint" in search("ada", endpoint["name"])
    assert search("vera", endpoint["name"]) == []


@pytest.mark.parametrize("user", ["ada", "vera"])
def test_result_leads_to_its_page(cast, flags, search, user):
    flags.create_segment("volunteers")
    web = cast.signed_in(user)
    for text in ("click", "default", "audit", "volunteers"):
        (link,) = web.get("/admin/search", {"q": text}).html.select("#results a")
        assert web.get(link["href"], status=200)
