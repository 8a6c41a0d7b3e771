"""The sentences of events in chats."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sigservice.services
from sigservice.routes import find_routers
from sigservice.services.integrations.integration_events import KNOWN, RECORDED
from sigservice.services.releases import release_texts
from sigservice.services.releases.release_journal import name_audit_event
from sigservice.services.system.event_messages import MARKDOWN, SLACK, find_page, render_sentence
from tests.table_tests import each

URL = "https://flags.example/sub"
SERVICES = Path(sigservice.services.__file__).parent


def make_row(type, *, data=None, before=None, **more):
    row = {
        "type": type,
        "created_by": "ada",
        "project": None,
        "environment": None,
        "feature_name": None,
        "data": data and json.dumps(data),
        "pre_data": before and json.dumps(before),
    }
    return row | more


def render(row, style=MARKDOWN, url=""):
    return render_sentence(row, style, url)


def make_strategy(rollout="50", **more):
    parameters = {"rollout": rollout, "stickiness": "default", "groupId": "f"}
    strategy = {"name": "flexibleRollout", "title": "Beta", "parameters": parameters}
    return strategy | {"constraints": [], "segments": [], "variants": []} | more


PLACE = {"feature_name": "f1", "environment": "production", "project": "web"}


def test_a_percentage_says_from_what_to_what():
    row = make_row(
        "feature-strategy-update", data=make_strategy("50"), before=make_strategy("30"), **PLACE
    )
    assert render(row) == (
        "**ada** changed the rollout of **f1** from 30% to 50% in **production** (project **web**)"
    )


def test_constraints_say_what_differs():
    constraint = {"contextName": "country", "operator": "IN", "values": ["DE"], "inverted": True}
    row = make_row(
        "feature-strategy-update",
        data=make_strategy(constraints=[constraint]),
        before=make_strategy(segments=[3]),
        **PLACE,
    )
    assert render(row, SLACK) == (
        "*ada* changed the strategy *Beta* of *f1* in *production*: segment 3 → "
        "country NOT IN [DE] (project *web*)"
    )


def test_a_run_of_an_action_set_is_the_reason():
    data = {"actionRun": {"id": 1, "actionSetId": 2, "actionSet": "kill checkout"}}
    row = make_row("feature-environment-disabled", data=data, **PLACE)
    assert render(row).endswith("because of the automation **kill checkout**")


def test_texts_of_users_are_escaped():
    hostile = make_strategy(title="<!channel> & *x* [a](b)")
    row = make_row("feature-strategy-add", data=hostile, **PLACE)
    assert "<!channel>" not in render(row, SLACK)
    assert "&lt;!channel&gt; &amp;" in render(row, SLACK)
    assert "\\*x\\* \\[a\\](b)" in render(row)


def test_each_sentence_names_the_project_once():
    data = {"id": "web", "name": "web", "text": "Held f1.", "ruleName": "errors"}
    texts = [
        render(make_row(type, data=data, project="web", environment="production"))
        for types in RECORDED.values()
        for type in types
    ]
    assert [text for text in texts if text.count("project **web**") != 1] == []


def test_archived_flags_have_no_link_in_the_sentence():
    row = make_row("feature-archived", feature_name="f1", project="web")
    assert "features/f1" not in render(row, MARKDOWN, URL)
    assert find_page(row, URL) == f"{URL}/admin/features/f1"


def test_other_events_lead_to_their_page():
    assert find_page(make_row("segment-created"), URL) == f"{URL}/admin/segments"
    assert find_page(make_row("user-created"), "") == ""


def test_every_type_leads_to_a_page_that_exists():
    pages = {
        route.path for router in find_routers() for route in router.routes if route.method == "GET"
    }
    for type in (type for types in RECORDED.values() for type in types):
        assert find_page(make_row(type), URL).removeprefix(URL) in pages, type
    types = RECORDED["Signals and actions"] + RECORDED["Releases"]
    without = {type for type in types if find_page(make_row(type), URL).endswith("/events")}
    assert without == {"safeguard-triggered"}, "it always has a flag"


def test_every_type_that_is_recorded_can_be_chosen():
    source = "".join(path.read_text() for path in SERVICES.rglob("*.py"))
    types = set(re.findall(r'(?:record(?:_many)?\(\s*conn,\s*|Event\()"([a-z]+-[a-z-]+)"', source))
    types |= {name_audit_event(type) for type in release_texts._TEXTS}
    assert len(types) >= 90
    assert types <= KNOWN


def test_the_parts_of_a_sentence_are_bold_in_both_styles():
    row = make_row("feature-strategy-add", data=make_strategy(), **PLACE)
    parts = ("ada", "Beta", "f1", "production", "web")
    assert re.findall(r"\*\*(.+?)\*\*", render(row)) == list(parts)
    assert re.findall(r"\*(.+?)\*", render(row, SLACK)) == list(parts)


def test_flag_and_project_are_links_below_the_public_url():
    row = make_row("feature-environment-enabled", **PLACE)
    assert render(row, SLACK, URL) == (
        f"*ada* turned *<{URL}/admin/features/f1|f1>* on in *production* "
        f"(project *<{URL}/admin/projects/web/overview|web>*)"
    )
    assert find_page(row, URL) == f"{URL}/admin/features/f1"
    deleted = make_row("feature-deleted", feature_name="f1", project="web")
    assert find_page(deleted, URL) == f"{URL}/admin/projects/web/overview"


@each("style", [SLACK, MARKDOWN])
@each("letter", ["f", "<", "&", "_", "😀"])
def test_long_texts_are_cut_before_they_are_escaped(letter, style):
    reason = letter * 9000
    row = make_row("feature-environment-disabled", data={"reason": reason}, **PLACE)
    text = render(row, style, URL)
    assert len(text.encode("utf-16-le")) <= 2 * 3000
    visible = re.search(r"“[*]{1,2}(.*)…[*]{1,2}”", text)[1]
    escaped = style.escape(letter)
    assert visible == escaped * (len(visible) // len(escaped))
    assert text.endswith(")"), "what follows the text is complete"


@each("style", [SLACK, MARKDOWN])
@each("name", ["@all", "@here", "<@U123>", "mail (@channel)"])
def test_no_text_of_a_user_mentions_anyone(name, style):
    place = PLACE | {"feature_name": name, "project": name, "environment": name, "created_by": name}
    row = make_row("feature-environment-disabled", data={"reason": name}, **place)
    assert not re.search(r"@[a-zA-Z]", render(row, style, URL))
    assert "ada@example.com" in render(row | {"created_by": "ada@example.com"}, style)


@pytest.mark.parametrize("type", ["project-created", "segment-created", "actions-created"])
def test_no_name_is_a_link_in_chats_that_read_markdown_in_the_format_of_slack(type):
    row = make_row(type, data={"name": "[sign in](https://evil.example)"})
    assert "](" not in render(row, SLACK, URL)
    assert "](https://evil" not in render(row, MARKDOWN, URL).replace("\\](", "")


HOSTILE = "<!channel>"
MEMBERS = (
    "name",
    "text",
    "title",
    "type",
    "value",
    "id",
    "reason",
    "username",
    "provider",
    "project",
)


@each("type", sorted(type for types in RECORDED.values() for type in types), name=str)
def test_no_sentence_of_any_type_has_a_text_of_a_user_as_it_is(type):
    data = json.dumps(dict.fromkeys(MEMBERS, HOSTILE) | {"actionRun": {"actionSet": HOSTILE}})
    row = {"type": type, "created_by": HOSTILE, "data": data, "pre_data": data}
    row |= dict.fromkeys(("project", "environment", "feature_name"), HOSTILE)
    assert HOSTILE not in render_sentence(row, SLACK, "https://flags.example")
    assert HOSTILE not in render_sentence(row, MARKDOWN, "")
    assert type not in render_sentence(row, SLACK, ""), "a type is no text for people"


def test_an_api_token_is_no_user_of_its_name():
    row = make_row("feature-created", **PLACE, created_by_user_id=-42)
    assert render(row, SLACK).startswith("API token *ada* created")


def test_a_sentence_with_a_subject_has_no_actor():
    data = {"text": "A guard of the release of f1 fires."}
    row = make_row("release-guard-fired", data=data, **PLACE)
    assert render(row, SLACK).startswith("A guard of the release of f1 fires")
