"""Templates of bodies."""

from __future__ import annotations

import html

import pytest

from sigservice.services.integrations.mustache import TemplateError, parse, render
from tests.table_tests import each

VALUES = {
    "event": {
        "type": "feature-created",
        "data": {"name": 'a"b\\c', "count": 2, "enabled": True},
        "tags": [{"type": "simple", "value": "x"}, {"type": "slack", "value": "y"}],
        "list": ["a", "b"],
        "project": None,
    }
}
RENDERED = [
    ("plain", "plain"),
    ("{{event.type}}", "feature-created"),
    ("{{ event.data.name }}", "a&quot;b\\c"),
    ("{{{event.data.name}}}|{{&event.data.name}}", 'a"b\\c|a"b\\c'),
    ("{{event.data.count}} {{event.data.enabled}}", "2 true"),
    ("{{#event.tags}}{{type}}:{{value}};{{/event.tags}}", "simple:x;slack:y;"),
    ("{{#event.list}}{{.}},{{/event.list}}", "a,b,"),
    ("{{#event.data}}{{count}}{{/event.data}}", "2"),
    ("{{^event.project}}none{{/event.project}}{{#event.project}}x{{/event.project}}", "none"),
    ("{{unknown}}{{event.unknown.more}}{{event.type.more}}", ""),
    ("{{! a comment }}{{> partial}}", ""),
    ("{{#event.tags}}{{event.type}} {{/event.tags}}", "feature-created feature-created "),
    ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
]
WRONG = ["{{#a}}", "{{/a}}", "{{#a}}{{/b}}", "{{a", "{{a}} {{b", "{{}}", "{{=<% %>=}}", "{{a b}}"]


@each("template output", RENDERED)
def test_a_template_is_rendered(template, output):
    assert render(parse(template), VALUES, html.escape) == output


@each("template", [*WRONG, "{{#a}}" * 50 + "{{/a}}" * 50])
def test_a_wrong_template_is_refused(template):
    with pytest.raises(TemplateError):
        parse(template)


@each(
    "content",
    ["{{#x}}{{/x}}", "{{^event}}{{/event}}", "{{x.a.a.a.a}}", "{{x}}", "", "a{{! comment }}"],
)
def test_repeated_sections_end_at_the_limit_of_steps(content):
    template = "{{#event.tags}}" * 4 + content * 100 + "{{/event.tags}}" * 4
    with pytest.raises(TemplateError, match="too often"):
        render(parse(template), {"event": {"tags": [{}] * 30}}, html.escape)


def test_the_parts_of_a_name_count_as_steps():
    template = "{{#event.tags}}{{event" + ".a" * 4000 + "}}{{/event.tags}}"
    with pytest.raises(TemplateError, match="too often"):
        render(parse(template), {"event": {"tags": [{}] * 30}}, html.escape)


def test_an_output_above_1_mb_is_refused():
    with pytest.raises(TemplateError, match="1 MB"):
        render(parse("{{event}}" * 20), {"event": "x" * 60_000}, html.escape)
