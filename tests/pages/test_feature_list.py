"""The list of flags: rows, filters, pages, switches."""

from __future__ import annotations

from tests.conftest import ADMIN
from tests.pages.accessibility import RULES
from tests.pages.page_reader import form_to, notice

LIST = "/admin/features"


def names(page):
    return [row.th.a.string for row in page.html.select("#flag-table tbody tr")]


def switch(page, label):
    return page.html.find("button", role="switch", attrs={"aria-label": label})


def press(person, page, label):
    """A switch of the list as the browser sends it: the form goes where the button says."""
    button = switch(page, label)
    form = button.find_parent("form")
    fields = {tag["name"]: tag["value"] for tag in form.find_all("input", type="hidden")}
    path = button.get("formaction") or form["action"]
    return person.post(path, fields | {"confirmed": "on"}, status=303).follow()


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
    row = page.html.find(id="flag-checkout")
    text = " ".join(row.get_text(" ").split())
    for part in ("experiment", "simple:it", "One page", "default", "stale"):
        assert part in text
    assert row.a["href"] == "/admin/features/checkout"
    assert row.find_all("time")[1]["datetime"] == "2026-01-02T03:04:05.000Z"
    heads = [head.get_text(strip=True) for head in page.html.select("#flag-table thead th")]
    cells = [cell.get_text(strip=True) for cell in row.select("[data-in]")]
    assert dict(zip(heads[3:], cells, strict=True)) == {
        "development": "off",
        "production": "on100%",
        "default": "off",
    }
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
        ("query=alpha%20like", ["beta"]),
        ("query=HOP%20alp", ["alpha"]),
        ("query=alpha%20none", []),
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
        ("offset=2", ["alpha", "beta"]),
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


ADD_FLAGS = """
    INSERT INTO features (name, project, type, created_by)
    SELECT 'f' || n, 'default', 'release', 'x' FROM generate_series(100, %s) AS n
"""


def test_page_past_the_last_one_shows_the_last_one(ada, rows):
    rows(ADD_FLAGS, 219)
    for offset in (120, 150, 10**9):
        page = ada.get(f"{LIST}?type=release&offset={offset}")
        assert names(page) == [f"f{n}" for n in range(190, 220)]
        assert "91–120 of 120 flags" in page.text
        before = page.goto(page.html.find("a", rel="prev")["href"])
        assert names(before) == [f"f{n}" for n in range(160, 190)]
    page = ada.get(f"{LIST}?query=none&offset=30")
    assert "No flags match your filters." in page.text
    assert not page.html.find("a", rel="prev")


def test_list_without_flags_past_the_first_page_says_what_a_flag_does(ada):
    assert ada.get(f"{LIST}?offset=30").html.find("section", class_="empty")


def test_archiving_all_flags_of_the_last_page_shows_the_page_before(ada, rows):
    rows(ADD_FLAGS, 131)
    fields = {"csrf": ada.csrf, "change": "archive", "back": "type=release&offset=30"}
    question = ada.post(LIST, fields | {"flag.f130": "on", "flag.f131": "on"})
    page = question.forms[1].submit(status=303).follow()
    assert notice(page) == "2 flags archived."
    assert names(page) == [f"f{n}" for n in range(100, 130)]


def test_page_has_thirty_flags_and_links_to_the_others(ada, flags, database):
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO features (name, project, type, created_by) SELECT 'f' || n, 'default', "
            "'release', 'x' FROM generate_series(100, 219) AS n"
        )
    conn.close()
    page = ada.get(f"{LIST}?type=release")
    assert (len(names(page)), names(page)[0]) == (30, "f100")
    assert "1–30 of 120 flags" in page.text
    assert len(page.text) < 50_000
    pages = [page]
    while link := pages[-1].html.find("a", rel="next"):
        pages.append(pages[-1].goto(link["href"]))
    assert [names(page)[0] for page in pages] == ["f100", "f130", "f160", "f190"]
    assert not pages[0].html.find("a", rel="prev")
    for rule in RULES:
        assert list(RULES[rule](pages[1].html)) == []
    back = pages[2].goto(pages[2].html.find("a", rel="prev")["href"])
    assert names(back) == names(pages[1])
    pressed = press(ada, back, "f140 in production")
    assert names(pressed) == names(back)
    assert switch(pressed, "f140 in production").string == "on"


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
        answer = ada.post(path, {"csrf": ada.csrf, "back": back, "confirmed": "on"}, status=303)
        assert answer.headers["Location"].startswith("/admin/features?")
        assert "X" not in answer.headers
        assert notice(answer.follow()) == "Enabled checkout in production."


def test_notice_of_a_switch_shows_names_only(ada):
    for flag in ("a b", "<b>", ""):
        page = ada.get(LIST, {"done": "on", "flag": flag, "in": "production"})
        assert notice(page) == "Flag enabled."


def test_archived_or_unknown_flag_can_not_be_switched(ada, flags):
    flags.create_flag()
    flags.archive("checkout")
    for place, status in (
        ("checkout/environments/production", 400),
        ("checkout/environments/none", 404),
        ("none/environments/production", 404),
    ):
        fields = {"csrf": ada.csrf, "confirmed": "on"}
        ada.post(f"{LIST}/{place}/on", fields, status=status)


def test_columns_sort_the_list(ada, flags, rows):
    for name in ("b", "a", "c"):
        flags.create_flag(name)
    rows("UPDATE features SET last_seen_at = '2026-01-02Z' WHERE name = 'b'")
    rows("UPDATE features SET created_at = created_at - interval '1 day' WHERE name = 'c'")
    flags.switch("c", "production")
    for query, expected in (
        ("sort=name&order=desc", "cba"),
        ("sort=createdAt", "cba"),
        ("sort=createdAt&order=desc", "abc"),
        ("sort=lastSeenAt&order=desc", "bac"),
        ("sort=state:production&order=desc", "cab"),
        ("sort=state:none", "abc"),
    ):
        page = ada.get(f"{LIST}?{query}")
        assert "".join(names(page)) == expected, query
    (head,) = page.html.select("thead th[aria-sort]") or ada.get(
        f"{LIST}?sort=createdAt"
    ).html.select("thead th[aria-sort]")
    assert (head["aria-sort"], head.a.string) == ("ascending", "Created")
    ada.get(f"{LIST}?sort=secret", status=400)


def test_a_filter_keeps_the_order(ada, flags):
    flags.create_flag("checkout")
    form = ada.get(f"{LIST}?sort=name&order=desc&query=check").forms[1]
    assert (form["sort"].value, form["order"].value) == ("name", "desc")
    assert "sort" not in ada.get(LIST).forms[1].fields


def test_favorites_come_first(ada, flags):
    for name in ("a", "b"):
        flags.create_flag(name)
    ada.post(f"{LIST}/b/favorite", {"csrf": ada.csrf}, status=303)
    assert names(ada.get(LIST)) == ["b", "a"]
    assert names(ada.get(f"{LIST}?sort=name&order=desc")) == ["b", "a"]


def test_chip_removes_its_filter(ada, flags):
    flags.create_flag("alpha", tags=[{"type": "simple", "value": "shop"}])
    page = ada.get(f"{LIST}?tag=simple:shop&state=off:production")
    chips = page.html.select(".tags a")
    assert {chip.get_text(" ", strip=True): chip["href"] for chip in chips} == {
        "Remove filter Status: Disabled in production ✕": "?tag=simple%3Ashop",
        "Remove filter Tag: simple:shop ✕": "?state=off%3Aproduction",
        "Clear": "?",
    }


def test_tags_and_projects_are_links_that_filter(ada, flags):
    flags.create_flag("alpha", tags=[{"type": "simple", "value": "shop"}])
    links = ada.get(f"{LIST}?type=release").html.select("#flag-alpha .details a")
    assert [link["href"] for link in links] == [
        "?type=release&project=default",
        "?type=release&tag=simple%3Ashop",
    ]


def test_lists_and_pages_have_the_order_of_the_page_environments(ada, web, flags):
    flags.create_flag()
    for name, type in (("staging", "preproduction"), ("qa", "test")):
        body = {"name": name, "type": type}
        web.post_json("/api/admin/environments", body, headers=ADMIN, status=201)
        path = "/api/admin/projects/default/environments"
        web.post_json(path, {"environment": name}, headers=ADMIN, status=200)

    def columns():
        return [head.a.string for head in ada.get(LIST).html.select("#flag-table thead th")][3:]

    def list_texts(page, selector):
        return [node.get_text(" ").split()[0] for node in page.html.select(selector)]

    names = ["production", "staging", "qa", "development", "default"]
    assert columns() == names
    assert list_texts(ada.get("/admin/environments"), "#environments tbody th") == names
    flags.switch("checkout", "default")
    assert columns() == names
    assert list_texts(ada.get(f"{LIST}/checkout"), "section.card h3") == names
    assert list_texts(ada.get("/admin/playground"), "#environment option") == names
    ada.post("/admin/environments/default/move", {"csrf": ada.csrf, "to": "up"}, status=303)
    assert columns() == ["production", "staging", "qa", "default", "development"]


def test_switch_in_production_is_asked_for(ada, flags):
    flags.create_flag()
    path = f"{LIST}/checkout/environments/production/on"
    page = ada.post(path, {"csrf": ada.csrf, "back": "type=release"}, status=200)
    assert page.html.h1.string == "Turn on checkout in production?"
    assert not flags.is_on()
    done = page.forms[1].submit(status=303).follow()
    assert notice(done).startswith("Enabled checkout in production.")
    assert flags.is_on()


def test_project_can_switch_without_a_question(ada, flags):
    flags.create_flag()
    form = ada.get("/admin/projects/default/edit").forms[1]
    form["confirmsProduction"] = False
    form.submit(status=303)
    path = f"{LIST}/checkout/environments/production/on"
    ada.post(path, {"csrf": ada.csrf}, status=303)
    assert flags.is_on()


def test_undo_takes_a_switch_back_and_is_offered_once(ada, flags):
    flags.create_flag()
    page = press(ada, ada.get(LIST), "checkout in production")
    (undo,) = page.html.select("#notice form")
    assert undo["data-swap"] == "flag-table"
    fields = {tag["name"]: tag["value"] for tag in undo.find_all("input")}
    page = ada.post(undo["action"], fields, status=303).follow()
    assert notice(page) == "Disabled checkout in production."
    assert not flags.is_on()
    assert not page.html.select("#notice form")


def test_selected_flags_are_changed_together(ada, web, flags):
    for name in ("a", "b", "c"):
        flags.create_flag(name)
    fields = {"csrf": ada.csrf, "flag.a": "on", "flag.b": "on", "back": "type=release"}

    def change(what, **more):
        return ada.post(LIST, fields | {"change": what} | more)

    assert notice(change("stale").follow()) == "2 flags marked as stale."
    assert names(ada.get(f"{LIST}?life=stale")) == ["a", "b"]
    assert notice(change("tag", tag="simple:shop").follow()) == "2 flags tagged."
    assert names(ada.get(f"{LIST}?tag=simple:shop")) == ["a", "b"]
    assert notice(change("on:development").follow()) == "2 flags enabled."
    assert flags.is_on("b", "development")
    question = change("on:production")
    assert question.html.h1.string == "Turn on 2 flags in production?"
    assert not flags.is_on("a")
    done = question.forms[1].submit(status=303)
    assert done.headers["Location"].endswith("?type=release&done=bulk&done.change=on&done.count=2")
    assert flags.is_on("a")
    question = change("archive")
    assert question.html.h1.string == "Archive 2 flags?"
    question.forms[1].submit(status=303)
    assert names(ada.get(LIST)) == ["c"]


def test_archiving_says_when_flags_were_evaluated_and_offers_to_revive_them(
    ada, flags, rows, clock
):
    for name in ("a", "b", "c"):
        flags.create_flag(name)
    rows("UPDATE features SET last_seen_at = now() WHERE name = 'a'")
    fields = {"csrf": ada.csrf, "flag.a": "on", "flag.b": "on", "change": "archive"}
    question = ada.post(LIST, fields)
    text = question.html.main.get_text()
    assert "Applications still use 1 of these" in text
    assert "b: never evaluated" in text
    assert question.html.find("button", class_="danger").string == "Archive"
    page = question.forms[1].submit(status=303).follow()
    assert notice(page) == "2 flags archived."
    assert names(page) == ["c"]
    assert page.html.find(id="notice").button.string == "Revive"  # not the state before: no undo
    (undo,) = [form for form in page.forms.values() if "flag.a" in form.fields]
    page = undo.submit(status=303).follow()
    assert notice(page) == "2 flags revived; disabled in every environment."
    assert names(page) == ["a", "b", "c"]


def test_archived_flags_are_revived_together(ada, flags):
    for name in ("a", "b"):
        flags.create_flag(name)
        flags.archive(name)
    page = ada.get(f"{LIST}?life=archived")
    assert page.html.title.string.startswith("Archived flags")
    form = form_to(page, LIST)
    form["flag.a"], form["flag.b"] = "on", "on"
    page = form.submit(status=303).follow()
    assert notice(page) == "2 flags revived; disabled in every environment."
    assert names(ada.get(LIST)) == ["a", "b"]


def test_change_of_selected_flags_is_whole_or_an_error(ada, web, flags):
    for name in ("a", "b"):
        flags.create_flag(name)
    fields = {"csrf": ada.csrf, "flag.a": "on", "flag.b": "on"}
    for change, status in (
        ({"change": "fly"}, 400),
        ({"change": "tag", "tag": "shop"}, 400),
        ({"change": "tag", "tag": "none:shop"}, 400),
        ({"change": "on:none"}, 404),
        ({"change": "stale", "flag.none": "on"}, 404),
    ):
        ada.post(LIST, fields | change, status=status)
    ada.post(LIST, {"csrf": ada.csrf, "change": "stale"}, status=400)
    many = {f"flag.{n}": "on" for n in range(51)}
    ada.post(LIST, {"csrf": ada.csrf, "change": "stale"} | many, status=400)
    assert names(ada.get(f"{LIST}?life=stale")) == []
    flags.set_parent("a", "b")
    fields = {"csrf": ada.csrf, "flag.b": "on", "change": "archive", "confirmed": "on"}
    ada.post(LIST, fields, status=403)
    assert names(ada.get(LIST)) == ["a", "b"]


def test_selected_flags_stay_selected_after_an_error(ada, flags):
    for name in ("a", "b", "other"):
        flags.create_flag(name)
    fields = {"csrf": ada.csrf, "flag.a": "on", "back": "query=&sort=name&order=desc"}
    for change, tag, field, message in (
        ("tag", "shop", "bulk-tag", '"shop" must be in the form type:value.'),
        ("tag", "none:shop", "bulk-tag", "none"),
        ("fly", "", "change", "Choose what to change."),
    ):
        page = ada.post(LIST, fields | {"change": change, "tag": tag}, status=400)
        assert page.html.find(role="alert").a["href"] == f"#{field}"
        assert message in page.html.find(id=f"{field}-problem").string
        assert not page.html.find(id="tag-problem")
        form = form_to(page, LIST)
        assert names(page) == ["other", "b", "a"]
        assert [form[f"flag.{name}"].checked for name in "ab"] == [True, False]
        assert form["tag"].value == tag
        assert form["back"].value == "sort=name&order=desc"
        assert page.html.find(id="bulk-tag").find_parent("details").has_attr("open")
    page = ada.post(LIST, {"csrf": ada.csrf, "change": "tag", "tag": "simple:it"}, status=400)
    assert "Select 1 to 50 flags." in page.html.find(role="alert").get_text()
    assert page.html.find(id="bulk-tag")["value"] == "simple:it"
