"""Templates of bodies."""

from __future__ import annotations

import html

import pytest

from sigservice.services.actions.mustache import TemplateError, parse, render

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


@pytest.mark.parametrize(("template", "output"), RENDERED)
def test_a_template_is_rendered(template, output):
    assert render(parse(template), VALUES, html.escape) == output


@pytest.mark.parametrize("template", [*WRONG, "{{#a}}" * 50 + "{{/a}}" * 50])
def test_a_wrong_template_is_refused(template):
    with pytest.raises(TemplateError):
        parse(template)


def test_nested_sections_end_at_the_limit_of_the_output():
    template = "{{#event.tags}}" * 20 + "{{/event.tags}}" * 20
    with pytest.raises(TemplateError, match="1 MB"):
        render(parse(template), {"event": {"tags": [{}] * 10}}, html.escape)
