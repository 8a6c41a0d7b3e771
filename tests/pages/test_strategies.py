"""Strategies: the form that grows without JavaScript, its problems, and what it stores."""

from __future__ import annotations

import pytest

from tests.conftest import ADMIN
from tests.pages.page_reader import alert, find_error, follow, form_to, heading, notice

PRODUCTION = "/admin/features/checkout/environments/production/strategies"
NEW = f"{PRODUCTION}/new"


@pytest.fixture(autouse=True)
def flag(flags):
    return flags.create_flag()


def fill(form, **fields):
    """`constraints__0__values` is the field constraints.0.values."""
    for name, value in fields.items():
        form[name.replace("__", ".")] = value
    return form


def values(form):
    """By field, without regard to blanks and line ends."""
    names = [name for name in form.fields if name not in (None, "csrf", "do")]
    return {name: (form[name].value or "").split() for name in names}


def test_new_strategy_defaults_to_a_rollout_to_all_users(ada, flags):
    page = follow(ada.get("/admin/features/checkout"), "Add strategy in production")
    assert heading(page) == "New strategy production"
    form = form_to(page, NEW)
    assert form["name"].value == "flexibleRollout"
    assert form["parameters.rollout"].value == "100"
    assert form["parameters.groupId"].value == "checkout"
    assert [option[0] for option in form["parameters.stickiness"].options] == [
        "default",
        "random",
        "userId",
        "sessionId",
    ]
    page = form.submit(status=303).follow()
    assert notice(page) == "Strategy saved."
    (strategy,) = flags.list_strategies()
    assert strategy["parameters"] == {
        "rollout": "100",
        "stickiness": "default",
        "groupId": "checkout",
    }
    assert (strategy["title"], strategy["disabled"], strategy["constraints"]) == (None, False, [])
    assert not flags.is_on()


def test_form_adds_and_removes_rows_and_keeps_the_values(ada, flags):
    form = form_to(ada.get(NEW), NEW)
    fill(form, parameters__rollout="12", title="For some")
    for n, (name, operator, values) in enumerate(
        (("country", "IN", "DE\r\nFR"), ("gone", "IN", "x"), ("age", "NUM_GT", "18"))
    ):
        page = form.submit("do", value="add-constraints", status=200)
        button = page.html.find("button", attrs={"value": "add-constraints"})
        assert button["formaction"] == f"{NEW}#constraints.{n + 1}"
        form = form_to(page, NEW)
        fill(
            form,
            **{
                f"constraints__{n}__contextName": name,
                f"constraints__{n}__operator": operator,
                f"constraints__{n}__values": values,
            },
        )
    form["constraints.2.inverted"] = True
    for n in range(3):
        form = form_to(form.submit("do", value="add-variants", status=200), NEW)
        fill(form, **{f"variants__{n}__name": "abc"[n]})
    fill(form, variants__2__weightType="fix", variants__2__weight="12.5")
    form = form_to(form.submit("do", value="remove-constraints.1", status=200), NEW)
    form = form_to(form.submit("do", value="remove-variants.0", status=200), NEW)
    assert "constraints.2.operator" not in form.fields
    assert (form["title"].value, form["parameters.rollout"].value) == ("For some", "12")
    assert form["constraints.0.values"].value.split() == ["DE", "FR"]
    assert form["constraints.1.contextName"].value == "age"
    assert (form["constraints.0.inverted"].checked, form["constraints.1.inverted"].checked) == (
        False,
        True,
    )
    assert (form["variants.1.name"].value, form["variants.1.weight"].value) == ("c", "12.5")
    assert flags.list_strategies() == []
    form.submit(status=303)
    (strategy,) = flags.list_strategies()
    assert strategy["title"] == "For some"
    assert strategy["constraints"] == [
        {
            "contextName": "country",
            "operator": "IN",
            "values": ["DE", "FR"],
            "inverted": False,
            "caseInsensitive": False,
        },
        {
            "contextName": "age",
            "operator": "NUM_GT",
            "values": [],
            "value": "18",
            "inverted": True,
            "caseInsensitive": False,
        },
    ]
    weights = [(v["name"], v["weight"], v["weightType"]) for v in strategy["variants"]]
    assert weights == [("b", 875, "variable"), ("c", 125, "fix")]


def test_every_problem_is_shown_beside_its_field_and_the_values_stay(ada, flags, read_state):
    segments = [flags.create_segment(f"s{n}") for n in range(6)]
    before = read_state()
    form = form_to(ada.get(NEW), NEW)
    for _ in range(4):
        form = form_to(form.submit("do", value="add-constraints"), NEW)
    for _ in range(3):
        form = form_to(form.submit("do", value="add-variants"), NEW)
    long = "x" * 101
    fill(
        form,
        title="t" * 201,
        parameters__rollout="101",
        constraints__0__values=f"ok\n{long}\nfine",
        constraints__1__contextName="age",
        constraints__1__operator="NUM_GT",
        constraints__1__values="1\n2",
        constraints__2__contextName="country",
        constraints__3__operator="REGEX",
        constraints__3__inverted="on",
        variants__0__name="a",
        variants__1__name="a",
        variants__1__payload__type="json",
        variants__1__payload__value="{",
        variants__2__name="c",
        variants__2__weightType="fix",
        variants__2__weight="100.01",
        variants__2__payload__type="number",
        variants__2__payload__value="x",
    )
    page = form.submit(status=400)
    for field, words in (
        ("title", "at most 200"),
        ("parameters.rollout", "from 0 to 100"),
        ("constraints.0.contextName", "1 to 100"),
        ("constraints.0.values", "Line 2: A value must have 1 to 100"),
        ("constraints.1.values", "NUM_GT must be a number"),
        ("constraints.2.values", "at least one value"),
        ("constraints.3.inverted", "REGEX can't be inverted."),
        ("variants.1.name", "Variant a already exists"),
        ("variants.1.payload.value", "must be valid JSON"),
        ("variants.2.weight", "from 0 to 100, with at most one decimal"),
        ("variants.2.payload.value", "must be a number"),
    ):
        assert words in find_error(page, field), field
    before_values, after_values = values(form), values(form_to(page, NEW))
    assert len(after_values) > 30
    assert after_values == before_values
    form = form_to(ada.get(NEW), NEW)
    for id in segments:
        form[f"segments.{id}"] = True
    page = form.submit(status=400)
    assert "more than 5 segments" in alert(page)
    assert page.html.find(id="segments").find(class_="wrong")
    assert form_to(page, NEW)[f"segments.{segments[5]}"].checked
    assert read_state() == before


def test_weights_that_do_not_fit_together_are_rejected(ada):
    form = form_to(form_to(ada.get(NEW), NEW).submit("do", value="add-variants"), NEW)
    fill(form, variants__0__name="a", variants__0__weightType="fix", variants__0__weight="50,5")
    page = form.submit(status=400)
    assert "must be variable" in page.html.find(id="variants").find(class_="wrong").get_text()
    form = form_to(form_to(page, NEW).submit("do", value="add-variants"), NEW)
    assert form["variants.0.weight"].value == "50,5"
    fill(form, variants__1__name="b", variants__1__weightType="fix", variants__1__weight="60")
    assert "more than 100%" in alert(form.submit(status=400))


def test_text_that_is_no_weight_is_rejected(ada):
    page = form_to(ada.get(NEW), NEW).submit("do", value="add-variants")
    for weight in ("", "x", "-1", "NaN", "1e999999999999", "0.05", "101"):
        form = fill(form_to(page, NEW), variants__0__name="a", variants__0__weightType="fix")
        form["variants.0.weight"] = weight
        page = form.submit(status=400)
        assert "one decimal" in find_error(page, "variants.0.weight"), weight


def test_type_is_changed_before_its_fields_are_filled(ada, flags, database):
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute(
            "INSERT INTO strategy_types (name, parameters) VALUES ('moon', "
            """'[{"name": "the phase", "type": "list", "description": "Of the moon."},
                 {"name": "bright", "type": "boolean"}]')"""
        )
    conn.close()
    form = form_to(ada.get(NEW), NEW)
    form["name"] = "moon"
    for page in (form.submit("do", value="type", status=200), form.submit(status=200)):
        assert flags.list_strategies() == []
        form = form_to(page, NEW)
        assert "parameters.rollout" not in form.fields
    assert "Of the moon. One per line." in page.text
    form["parameters.the%20phase"] = "full\r\nnew"
    form["parameters.bright"] = "true"
    form.submit(status=303)
    (strategy,) = flags.list_strategies()
    assert strategy["parameters"] == {"the phase": "full,new", "bright": "true"}


@pytest.mark.parametrize(
    ("type", "field", "text", "parameter"),
    [
        ("remoteAddress", "IPs", "10.0.0.0/8\r\n ::1 ", "10.0.0.0/8,::1"),
        ("applicationHostname", "hostNames", "web1", "web1"),
        ("default", None, None, None),
    ],
)
def test_other_types_have_fields_of_their_own(ada, flags, type, field, text, parameter):
    form = form_to(ada.get(NEW), NEW)
    form["name"] = type
    form = form_to(form.submit("do", value="type"), NEW)
    fields = [name for name in form.fields if name and name.startswith("parameters.")]
    assert fields == ([f"parameters.{field}"] if field else [])
    if field:
        form[f"parameters.{field}"] = text
    form.submit(status=303)
    (strategy,) = flags.list_strategies()
    assert (strategy["name"], strategy["parameters"]) == (type, {field: parameter} if field else {})


def test_saving_an_unchanged_form_changes_nothing(ada, flags):
    segment = flags.create_segment()
    id = flags.add_strategy(
        title="One",
        disabled=True,
        parameters={"rollout": "7", "stickiness": "tenant", "groupId": "g", "extra": "kept"},
        constraints=[
            {
                "contextName": "country",
                "operator": "STR_ENDS_WITH",
                "values": ["a", "b"],
                "inverted": True,
                "caseInsensitive": True,
            },
            {
                "contextName": "app",
                "operator": "SEMVER_LT",
                "value": "1.2.3",
                "inverted": False,
                "caseInsensitive": False,
            },
        ],
        segments=[segment],
        variants=[
            {
                "name": "a",
                "weight": 333,
                "weightType": "fix",
                "stickiness": "userId",
                "payload": {"type": "json", "value": '{\n  "a": " b "\n}'},
                "overrides": [{"contextName": "userId", "values": ["1"]}],
            },
            {"name": "b", "stickiness": "userId"},
        ],
    )
    old = flags.add_strategy(name="userWithId", parameters={"userIds": "ada, bob"})
    before = flags.list_strategies()
    form = form_to(ada.get(f"{PRODUCTION}/{id}"), f"{PRODUCTION}/{id}")
    assert form["variants.0.weight"].value == "33.3"
    form.submit(status=303)
    form = form_to(ada.get(f"{PRODUCTION}/{old}"), f"{PRODUCTION}/{old}")
    assert form["parameters.userIds"].value.split() == ["ada", "bob"]
    form.submit(status=303)
    after = flags.list_strategies()
    assert after[1].pop("parameters") == {"userIds": "ada,bob"}
    assert before[1].pop("parameters") == {"userIds": "ada, bob"}
    assert after == before


def test_strategy_is_changed(ada, flags):
    id = flags.add_strategy(title="One", variants=[{"name": "a"}])
    flags.switch()
    page = follow(ada.get("/admin/features/checkout"), "Edit strategy 1 in production")
    assert heading(page) == "Strategy 1 production"
    form = form_to(page, f"{PRODUCTION}/{id}")
    fill(form, title="", parameters__rollout="5", disabled=True, variant_stickiness="random")
    question = form.submit(status=200)
    page = form_to(question, f"{PRODUCTION}/{id}").submit(status=303).follow()
    assert "disabled" in page.html.find(id="in-production").get_text()
    (strategy,) = flags.list_strategies()
    assert (strategy["title"], strategy["disabled"], strategy["parameters"]["rollout"]) == (
        "",
        True,
        "5",
    )
    assert strategy["variants"][0]["stickiness"] == "random"
    assert not flags.is_on()


def test_segment_of_another_project_is_not_offered(ada, flags, database):
    conn = database.connect()
    with conn.cursor() as cursor:
        cursor.execute("INSERT INTO projects (id, name) VALUES ('other', 'Other')")
    conn.close()
    ours, theirs = flags.create_segment("ours"), flags.create_segment("theirs", project="other")
    form = form_to(ada.get(NEW), NEW)
    assert f"segments.{ours}" in form.fields
    assert f"segments.{theirs}" not in form.fields


def test_removing_the_last_strategy_disables_the_flag(ada, flags):
    first, second = flags.add_strategy(), flags.add_strategy(parameters={"rollout": "5"})
    flags.switch()
    page = follow(ada.get("/admin/features/checkout"), "Remove strategy 2 in production")
    assert heading(page) == "Remove strategy 2 of checkout in production?"
    assert "5% of users" in page.text
    assert "turned off" not in page.text
    page = form_to(page, f"{PRODUCTION}/{second}/delete").submit(status=303).follow()
    assert notice(page) == "Strategy removed."
    assert flags.is_on()
    page = ada.get(f"{PRODUCTION}/{first}/delete")
    assert "nobody: it is turned off" in page.text
    form_to(page, f"{PRODUCTION}/{first}/delete").submit(status=303)
    assert (flags.list_strategies(), flags.is_on()) == ([], False)
    ada.get(f"{PRODUCTION}/{first}", status=404)
    ada.get("/admin/features/checkout/environments/none/strategies/new", status=404)


def test_forms_that_no_browser_sends_are_rejected(ada, flags, read_state):
    before = read_state()
    base = {"csrf": ada.csrf, "name": "default", "shown_type": "default"}
    for more in (
        {"constraints.0.contextName": "a", "constraints.0.operator": "NONE"},
        {"constraints.7.operator": "IN"},
        {"variants.0.name": "a", "variants.0.weightType": "none"},
        {"variants.0.name": "a", "variants.0.payload.type": "none"},
        {"segments.999999": "on"},
        {"name": "none", "shown_type": "none"},
        {f"constraints.{n}.operator": "IN" for n in range(31)},
        {"variant_stickiness": "x" * 101, "variants.0.name": "a"},
        {"title": "x" * 300},
    ):
        page = ada.post(NEW, base | more, status="4*")
        assert alert(page), more
    for more in ({"do": "remove-constraints.9"}, {"do": "x"}, {"segments.x": "on", "do": "x"}):
        ada.post(NEW, base | more, status=200)
    many = {f"x{n}": "" for n in range(1000)}
    ada.post(NEW, base | many, status=400)
    ada.post(NEW, base | {"title": "x" * 1_000_000}, status=413)
    assert read_state() == before


def test_a_payload_without_a_type_is_not_dropped(ada, flags):
    form = form_to(form_to(ada.get(NEW), NEW).submit("do", value="add-variants"), NEW)
    form["variants.0.name"], form["variants.0.payload.value"] = "a", "blue"
    page = form.submit(status=400)
    assert find_error(page, "variants.0.payload.type").startswith("Choose a type")
    form = form_to(page, NEW)
    assert form["variants.0.payload.value"].value == "blue"
    form["variants.0.payload.type"] = "string"
    form.submit(status=303)
    (variant,) = flags.list_strategies()[0]["variants"]
    assert variant["payload"] == {"type": "string", "value": "blue"}


def test_a_change_of_another_user_is_not_lost(ada, ed, flags):
    id = flags.add_strategy(name="flexibleRollout", parameters={"rollout": "50"})
    path = f"{PRODUCTION}/{id}"
    form = form_to(ada.get(path), path)
    fill(form_to(ed.get(path), path), parameters__rollout="5").submit(status=303)
    page = fill(form, title="For some").submit("do", value="add-variants", status=200)
    page = form_to(page, path).submit("do", value="remove-variants.0", status=200)
    page = form_to(page, path).submit(status=409)
    assert "The strategy has changed since you opened this form." in alert(page)
    assert flags.list_strategies()[0]["parameters"]["rollout"] == "5"
    form = form_to(page, path)
    assert (form["title"].value, form["parameters.rollout"].value) == ("For some", "50")
    form.submit(status=303)
    assert flags.list_strategies()[0]["parameters"]["rollout"] == "50"


def test_largest_strategy_fits_the_form(ada, flags):
    values = [f"value-{n}" for n in range(250)]
    constraints = [
        {"contextName": "country", "operator": "IN", "values": values} for _ in range(30)
    ]
    variants = [{"name": f"v{n}"} for n in range(100)]
    id = flags.add_strategy(constraints=constraints, variants=variants)
    form = form_to(ada.get(f"{PRODUCTION}/{id}"), f"{PRODUCTION}/{id}")
    form["title"] = "Large"
    form.submit(status=303)
    (strategy,) = flags.list_strategies()
    assert strategy["title"] == "Large"
    assert [c["values"] for c in strategy["constraints"]] == [values] * 30
    assert len(strategy["variants"]) == 100


def test_save_with_a_new_type_says_that_nothing_is_saved_and_keeps_the_rest(ada, flags):
    path = "/admin/features/checkout/environments/production/strategies/new"
    form = form_to(ada.get(path), path)
    form["name"], form["title"] = "remoteAddress", "for ada"
    page = form.submit(status=200)
    assert notice(page).startswith("Nothing is saved yet")
    assert flags.list_strategies() == []
    form = form_to(page, path)
    assert form["title"].value == "for ada"
    form["parameters.IPs"] = "10.0.0.1"
    form.submit(status=303)
    assert flags.list_strategies()[0]["title"] == "for ada"


def test_a_complete_constraint_is_one_line_with_its_values(ada, flags):
    constraint = {"contextName": "country", "operator": "IN", "values": ["DE", "FR"]}
    id = flags.add_strategy(constraints=[constraint | {"inverted": True}])
    page = ada.get(f"{PRODUCTION}/{id}")
    row = page.html.find(id="constraints.0").find_parent("details")
    assert not row.has_attr("open")
    assert " ".join(row.summary.get_text(" ").split()) == "country NOT IN DE FR"


def test_a_new_constraint_and_one_with_an_error_are_open(ada):
    form = fill(form_to(ada.get(NEW), NEW))
    page = form.submit("do", value="add-constraints")
    assert not page.html.find(id="constraints.0").find_parent("details")
    form = fill(
        form_to(page, NEW),
        constraints__0__contextName="age",
        constraints__0__operator="NUM_GT",
        constraints__0__values="many",
    )
    page = form.submit(status=400)
    assert page.html.find(id="constraints.0").find_parent("details").has_attr("open")


def test_weights_are_a_bar_that_sums_to_100_percent(ada, flags):
    variants = [
        {"name": "a", "weight": 500, "weightType": "fix"},
        {"name": "b"},
        {"name": "c"},
    ]
    id = flags.add_strategy(variants=variants)
    path = f"{PRODUCTION}/{id}"
    page = ada.get(path)
    assert page.html.find("figcaption").string == "a 50%, b 25%, c 25% = 100%"
    bars = [int(bar["width"]) for bar in page.html.find(class_="weights").find_all("rect")]
    assert bars == [500, 250, 250]
    form = fill(form_to(page, path), variants__0__weight="10")
    page = form.submit("do", value="weights")
    assert page.html.find("figcaption").string == "a 10%, b 45%, c 45% = 100%"
    form = fill(form_to(page, path), variants__0__weight="120")
    page = form.submit("do", value="weights")
    assert page.html.find("figcaption").string == "The weights must add up to 100%."


def evaluate(ada, path=NEW, **fields):
    form = fill(form_to(ada.get(path), path), **fields)
    return form.submit("do", value="evaluate", status=200)


def test_a_draft_is_evaluated_and_not_saved(ada, flags):
    page = evaluate(ada, name="flexibleRollout", parameters__rollout="0")
    assert page.html.find(id="result").find(class_="tag").string == "off"
    page = evaluate(ada, parameters__rollout="100")
    assert page.html.find(id="result").find(class_="tag").string == "on"
    assert flags.list_strategies() == []
    assert not flags.is_on()


def test_a_draft_is_evaluated_for_a_context(ada, flags):
    constraint = {"contextName": "country", "operator": "IN", "values": ["DE"]}
    id = flags.add_strategy(constraints=[constraint])
    page = evaluate(ada, f"{PRODUCTION}/{id}", constraints__0__values="FR")
    action = "/admin/features/checkout/environments/production/evaluate"
    for country, state in (("DE", "off"), ("FR", "on")):
        form = fill(form_to(page, action), properties=f"country={country}")
        page = form.submit(status=200)
        assert page.html.find(id="result").find(class_="tag").string == state


def test_a_draft_of_an_archived_flag_is_refused(ada, flags):
    page = evaluate(ada)
    flags.archive("checkout")
    form = form_to(page, "/admin/features/checkout/environments/production/evaluate")
    assert "Flag checkout is archived." in form.submit(status=404)


def test_a_wrong_context_of_a_draft_is_named(ada):
    page = evaluate(ada)
    form = fill(form_to(page, "/admin/features/checkout/environments/production/evaluate"))
    page = fill(form, properties="country").submit(status=400)
    assert "must be in the form key=value" in find_error(page, "properties")


DRAFTS = {
    "empty": "",
    "no JSON": "x",
    "a list": "[]",
    "unknown": '{"name": "unknown"}',
    "a number": '{"name": 1}',
    "nested": "[" * 3000 + "]" * 3000,
    "NUL": '{"name": "flexible\\u0000"}',
}


@pytest.mark.parametrize("draft", DRAFTS.values(), ids=DRAFTS)
def test_an_invalid_draft_is_refused(ada, draft):
    body = {"csrf": ada.csrf, "draft": draft}
    ada.post("/admin/features/checkout/environments/production/evaluate", body, status=400)


def test_an_invalid_draft_of_the_form_shows_its_problems(ada):
    form = fill(form_to(ada.get(NEW), NEW), parameters__rollout="101")
    page = form.submit("do", value="evaluate", status=400)
    assert find_error(page, "parameters.rollout")


def test_a_draft_may_have_a_segment_that_no_active_strategy_uses(ada, flags):
    drafted, disabled = flags.create_segment("drafted"), flags.create_segment("disabled")
    flags.add_strategy(disabled=True, segments=[disabled])
    page = evaluate(ada, **{f"segments.{drafted}": True})
    texts = page.html.main.get_text(" ", strip=True)
    assert "segment drafted : no userId IN [ada] : no" in texts
    assert "segment disabled : no userId IN [ada] : no" in texts


def test_a_form_keeps_what_it_can_not_show(ada, web, flags):
    web.post_json(
        "/api/admin/strategies",
        {"name": "own", "parameters": [{"name": "sure", "type": "boolean"}]},
        headers=ADMIN,
    )
    values = [" Inc", "x,y", "two\nlines", " "]
    constraint = {"contextName": "company", "operator": "STR_ENDS_WITH", "values": values}
    variants = [{"name": "a", "stickiness": "userId"}, {"name": "b", "stickiness": "sessionId"}]
    parts = {"constraints": [constraint], "variants": variants, "parameters": {"sure": "yes"}}
    path = f"{PRODUCTION}/{flags.add_strategy(name='own', **parts)}"
    (before,) = flags.list_strategies()
    form = form_to(ada.get(path), path)
    form["title"] = "Careful"
    form.submit(status=303)
    assert flags.list_strategies() == [before | {"title": "Careful"}]
    form = form_to(ada.get(path), path)
    form["constraints.0.values"], form["variant_stickiness"] = " Ltd \nGmbH", "random"
    form.submit(status=303)
    (after,) = flags.list_strategies()
    assert after["constraints"][0]["values"] == ["Ltd", "GmbH"]
    assert [variant["stickiness"] for variant in after["variants"]] == ["random", "random"]
