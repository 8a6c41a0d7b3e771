"""What each provider gets."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from sigservice.services.integrations.integration_messages import Delivery, build_requests

NOW = datetime(2026, 11, 24, 5, 58, 52, tzinfo=UTC)
URL = "https://flags.example"
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
SENTENCE = (
    f"**ada** turned **[checkout]({URL}/admin/features/checkout)** on in **production** "
    f"(project **[web]({URL}/admin/projects/web/overview)**)"
)


def make_message(parameters, public_url=URL, **changes):
    row = {
        "event_id": 71,
        "type": "feature-environment-enabled",
        "created_by": "ada",
        "created_by_user_id": 1,
        "created_at": NOW,
        "project": "web",
        "environment": "production",
        "feature_name": "checkout",
        "data": '{"nested": {"a": 1}, "eventType": "other", "count": 2}',
        "pre_data": None,
        "tags": '[{"type": "slack", "value": "team-a"}, {"type": "simple", "value": "x"}]',
    }
    parameters = {"url": "https://hooks.example/x"} | parameters
    return Delivery(
        "msg_1", row | changes, parameters, public_url, "https://slack.example/api", NOW
    )


def build(provider, **parameters):
    return build_requests(provider, make_message(parameters))


def test_webhook_is_signed_and_custom_headers_replace_others():
    (request,) = build(
        "webhook",
        secret=SECRET,
        authorization="Bearer one",
        customHeaders='{"authorization": "Bearer two", "X-Team": "a"}',
    )
    assert request.headers["authorization"] == "Bearer two"
    assert "Authorization" not in request.headers
    assert request.headers["X-Team"] == "a"
    expected = Webhook(SECRET).sign("msg_1", NOW, request.body.decode())
    assert request.headers["webhook-signature"] == expected
    assert request.headers["User-Agent"].startswith("sigservice/")


def test_a_template_escapes_for_json():
    template = '{"text": "{{event.createdBy}}", "json": {{{eventJson}}}, "md": "{{eventMarkdown}}"}'
    message = make_message({"bodyTemplate": template}, created_by='a"b\\c\n<d>')
    body = json.loads(build_requests("webhook", message)[0].body)
    assert body["text"] == 'a"b\\c\n<d>'
    assert json.loads(body["json"])["id"] == 71
    assert "turned" in body["md"]


def test_a_template_of_another_type_escapes_html():
    message = make_message(
        {"bodyTemplate": "{{event.createdBy}}", "contentType": "text/html"}, created_by='"<'
    )
    assert build_requests("webhook", message)[0].body == b"&quot;&lt;"


def test_slack_posts_to_the_channels_of_the_tags():
    (request,) = build("slack", defaultChannel="general")
    body = json.loads(request.body)
    assert body["channel"] == "#team-a"
    assert request.recipient == "team-a"
    assert body["attachments"][0]["actions"][0]["url"] == f"{URL}/admin/features/checkout"
    assert f"*<{URL}/admin/features/checkout|checkout>*" in body["text"]


def test_slack_without_tags_and_links_uses_the_default_channel():
    message = make_message({"defaultChannel": "general"}, public_url="", tags="[]")
    body = json.loads(build_requests("slack", message)[0].body)
    assert body["channel"] == "#general"
    assert "attachments" not in body


def test_slack_app_posts_to_tags_and_defaults_once():
    requests = build("slack-app", accessToken="xoxb-1", defaultChannels="flags, team-a")
    assert [one.recipient for one in requests] == ["team-a", "flags"]
    assert requests[0].url == "https://slack.example/api/chat.postMessage"
    assert requests[0].headers["Authorization"] == "Bearer xoxb-1"
    body = json.loads(requests[0].body)
    assert [block["type"] for block in body["blocks"]] == ["section", "actions"]
    assert body["unfurl_links"] is False


def test_teams_has_a_card_with_the_sentence():
    body = json.loads(build("teams")[0].body)
    section = body["sections"][0]
    assert section["activityTitle"] == SENTENCE
    assert [one["value"] for one in section["facts"]] == ["ada", "feature-environment-enabled"]
    assert body["potentialAction"][0]["targets"][0]["uri"].startswith(URL)


@pytest.mark.parametrize("provider", ["teams", "teamsworkflow"])
def test_facts_of_cards_are_escaped(provider):
    message = make_message({}, created_by="[ada](https://evil.example/x)")
    body = json.loads(build_requests(provider, message)[0].body)
    card = body["sections"][0] if provider == "teams" else body["attachments"][0]["content"]
    facts = card["facts"] if provider == "teams" else card["body"][0]["items"][2]["facts"]
    assert facts[0]["value"] == r"\[ada\](https://evil.example/x)"


@pytest.mark.parametrize("public_url", [URL, ""])
def test_a_workflow_has_an_action_only_with_a_link(public_url):
    (request,) = build_requests("teamsworkflow", make_message({}, public_url))
    content = json.loads(request.body)["attachments"][0]["content"]
    assert content["type"] == "AdaptiveCard"
    assert ("actions" in content) == bool(public_url)


def test_datadog_has_tags_and_the_time_of_the_event():
    message = make_message({"apiKey": "k", "sourceTypeName": "flags"})
    message.parameters.pop("url")
    (request,) = build_requests("datadog", message)
    body = json.loads(request.body)
    assert request.url == "https://api.datadoghq.com/api/v1/events"
    assert request.headers["DD-API-KEY"] == "k"
    assert body["text"] == f"%%% \n {SENTENCE} \n %%%"
    assert body["tags"] == ["slack:team-a", "simple:x", "environment:production", "project:web"]
    assert body["date_happened"] == int(NOW.timestamp())
    assert body["source_type_name"] == "flags"


def test_a_template_of_datadog_replaces_the_text():
    (request,) = build("datadog", apiKey="k", bodyTemplate="{{event.type}}!")
    assert json.loads(request.body)["text"] == "feature-environment-enabled!"


@pytest.mark.parametrize("template", [{}, {"bodyTemplate": "{{event.createdBy}}"}])
def test_no_name_notifies_anyone_in_datadog(template):
    message = make_message({"apiKey": "k"} | template, created_by="@pagerduty")
    text = json.loads(build_requests("datadog", message)[0].body)["text"]
    assert "pagerduty" in text
    assert "@pagerduty" not in text


def test_new_relic_gets_flat_attributes_whose_fixed_members_win():
    (request,) = build("new-relic", licenseKey="k")
    body = json.loads(gzip.decompress(request.body))
    assert request.headers["Api-Key"] == "k"
    assert request.headers["Content-Encoding"] == "gzip"
    assert body["eventType"] == "UnleashServiceEvent"
    assert body["unleashEventType"] == "feature-environment-enabled"
    assert body["createdAt"] == int(NOW.timestamp() * 1000)
    assert body["nested"] == '{"a":1}'
    assert body["count"] == 2
    assert body["project"] == "web"
