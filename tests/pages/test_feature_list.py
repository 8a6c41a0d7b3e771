"""The list of flags: rows, filters, pages, switches."""

from __future__ import annotations

from tests.conftest import ADMIN
from tests.pages.accessibility import RULES
from tests.pages.page_reader import notice

LIST = "/admin/features"


def names(page):
    return [row.strong.string for row in page.html.find_all("li", id=True)]


def switch(page, label):
    return page.html.find("button", role="switch", attrs={"aria-label": label})


def press(person, page, label):
    """A switch of the list as the browser sends it: the form goes where the button says."""
    button = switch(page, label)
    form = button.find_parent("form")
    fields = {tag["name"]: tag["value"] for tag in form.find_all("input", type="hidden")}
    return person.post(button.get("formaction") or form["action"], fields, status=303).follow()


def test_empty_list_says_what_a_flag_does(ada, vera):
    page = ada.get(LIST)
    empty = page.html.find("section", class_="empty")
    assert "Turn features on or off at runtime" in empty.get_text()
    assert empty.find("a", href="/admin/features/new")
    assert not vera.get(LIST).html.find("a", href="/admin/features/new")


def test_row_shows_metadata_and_states(vera, flags, database):
    flags.create_flag(
        type="experiment", description="One page", tags=[{"type": "simple", "value": "it"}]
    )
    flags.switch()
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("UPDATE features SET last_seen_at = '2026-01-02 03:04:05Z', stale = true")
    conn.close()
    page = vera.get(LIST)
    row = page.html.find("li", id="flag-checkout")
    text = " ".join(row.get_text(" ").split())
    for part in ("experiment", "simple:it", "One page", "default · Last evaluated", "stale"):
        assert part in text
    assert row.a["href"] == "/admin/features/checkout"
    assert row.time["datetime"] == "2026-01-02T03:04:05.000Z"
    assert text.endswith("default off development off production on")
    assert not page.html.find(role="switch")
    assert "1 flag" in page.text


def test_filters_narrow_the_list(ada, web, flags):
    flags.create_flag("alpha", type="experiment", tags=[{"type": "simple", "value": "shop"}])
    flags.create_flag("beta", description="like Alpha")
    flags.create_flag("gone")
    flags.archive("gone")
    path = "/api/admin/projects/default/features/beta"
    web.put_json(path, {"stale": True}, headers=ADMIN)
    flags.switch("beta", "production")
    for query, expected in (
        ("", ["alpha", "beta"]),
        ("query=ALPHA", ["alpha", "beta"]),
        ("query=%20alpha%20&type=release", ["beta"]),
        ("tag=simple:shop", ["alpha"]),
        ("tag=simple", []),
        ("type=experiment", ["alpha"]),
        ("type=none", []),
        ("project=default", ["alpha", "beta"]),
        ("project=none", []),
        ("state=on:production", ["beta"]),
        ("state=off:production", ["alpha"]),
        ("state=off:development", ["alpha", "beta"]),
        ("state=on:none", []),
        ("life=stale", ["beta"]),
        ("life=archived", ["gone"]),
        ("offset=2", []),
    ):
        page = ada.get(f"{LIST}?{query}")
        assert names(page) == expected, query
        if not expected:
            assert "No flags match your filters." in page.text
    form = ada.get(f"{LIST}?query=x&state=on:production&life=stale&tag=a:b").forms[1]
    values = {name: form[name].value for name in ("query", "state", "life", "tag", "type")}
    assert values == {
        "query": "x",
        "state": "on:production",
        "life": "stale",
        "tag": "a:b",
        "type": "",
    }
    for query in ("offset=x", "offset=-1", "query=%FF", "query=%00"):
        ada.get(f"{LIST}?{query}", status=400)


def test_page_has_fifty_flags_and_links_to_the_others(ada, flags, database):
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO features (name, project, type, created_by) SELECT 'f' || n, 'default', "
            "'release', 'x' FROM generate_series(100, 219) AS n"
        )
    conn.close()
    page = ada.get(f"{LIST}?type=release")
    assert (len(names(page)), names(page)[0]) == (50, "f100")
    assert "1–50 of 120 flags" in page.text
    assert len(page.text) < 250_000
    pages = [page]
    while link := pages[-1].html.find("a", rel="next"):
        pages.append(pages[-1].goto(link["href"]))
    assert [names(page)[0] for page in pages] == ["f100", "f150", "f200"]
    assert not pages[0].html.find("a", rel="prev")
    for rule in RULES:
        assert list(RULES[rule](pages[1].html)) == []
    back = pages[2].goto(pages[2].html.find("a", rel="prev")["href"])
    assert names(back) == names(pages[1])
    pressed = press(ada, back, "f160 in production")
    assert names(pressed) == names(back)
    assert switch(pressed, "f160 in production").string == "on"


def test_switch_redirects_to_the_same_list(ed, flags):
    flags.create_flag()
    flags.create_flag("other")
    page = ed.get(f"{LIST}?query=check&type=release&done=deleted")
    for state, aria, verb in (("on", "true", "Enabled"), ("off", "false", "Disabled")):
        page = press(ed, page, "checkout in production")
        assert names(page) == ["checkout"]
        assert notice(page) == f"{verb} checkout in production."
        button = switch(page, "checkout in production")
        assert (button.string, button["aria-checked"]) == (state, aria)
        assert flags.is_on() is (state == "on")
        assert page.request.query_string.startswith("query=check&type=release&done=")
    (strategy,) = flags.list_strategies()
    assert strategy["parameters"]["rollout"] == "100"


def test_switch_redirects_to_the_list_whatever_the_form_says(ada, flags):
    flags.create_flag()
    path = f"{LIST}/checkout/environments/production/on"
    for back in ("https://evil.example/", "//evil.example", "a=1&done=%3Cb%3E", "\r\nX: y", "é"):
        answer = ada.post(path, {"csrf": ada.csrf, "back": back}, status=303)
        assert answer.headers["Location"].startswith("/admin/features?")
        assert "X" not in answer.headers
        assert notice(answer.follow()) == "Enabled checkout in production."


def test_notice_of_a_switch_shows_names_only(ada):
    for flag in ("a b", "<b>", ""):
        page = ada.get(LIST, {"done": "on", "flag": flag, "environment": "production"})
        assert notice(page) == "Flag enabled."


def test_archived_or_unknown_flag_can_not_be_switched(ada, flags):
    flags.create_flag()
    flags.archive("checkout")
    for place, status in (
        ("checkout/environments/production", 400),
        ("checkout/environments/none", 404),
        ("none/environments/production", 404),
    ):
        ada.post(f"{LIST}/{place}/on", {"csrf": ada.csrf}, status=status)
