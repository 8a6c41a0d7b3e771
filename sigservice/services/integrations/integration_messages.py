"""The requests that send an event, in the format of each provider."""

import gzip
import html
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from sigservice.clock import format_iso
from sigservice.db.statements import Row
from sigservice.late import standardwebhooks
from sigservice.services.identity import name_actor
from sigservice.services.integrations import mustache
from sigservice.services.integrations.integration_checks import list_recipients
from sigservice.services.integrations.integration_providers import PROVIDERS
from sigservice.services.system.event_messages import (
    MARKDOWN,
    PLAIN,
    SLACK,
    Style,
    break_mentions,
    find_own_path,
    find_page,
    render_sentence,
)
from sigservice.version import __version__

_JSON = "application/json"
_MAX_ATTRIBUTES, _MAX_ATTRIBUTE = 254, 4096
MAX_SUBJECT = 150
_OPEN = "Open in sigservice"


class Delivery(NamedTuple):
    """The content of a delivery: the event as a row, the delivery's ID, and the time of the
    attempt."""

    id: str
    row: Row
    parameters: dict[str, str]
    public_url: str
    slack_api_url: str
    now: datetime

    @property
    def page(self) -> str:
        """The URL of the page that the message is about, "" without a public URL."""
        return find_page(self.row, self.public_url)

    def render(self, style: Style) -> str:
        """The text for a chat."""
        return render_sentence(self.row, style, self.public_url)


class Request(NamedTuple):
    """`recipient` is a channel of Slack or a mail address, "" for other providers."""

    recipient: str
    url: str
    headers: dict[str, str]
    body: bytes


def build_requests(provider: str, delivery: Delivery) -> list[Request]:
    """One request, or one for each recipient. Raises mustache.TemplateError."""
    if provider == "email":
        return _build_mails(delivery)
    requests = _BUILDERS[provider](delivery)
    return [one._replace(headers=_add_headers(one, delivery)) for one in requests]


def build_event(row: Row, public_url: str) -> dict[str, Any]:
    """The event that webhooks get, without the IP address. The path of its page becomes a URL,
    null without a `public_url`."""
    data = _decode(row["data"])
    if find_own_path(row):
        data["url"] = find_page(row, public_url) or None
    return {
        "id": row["event_id"],
        "type": row["type"],
        "createdBy": row["created_by"],
        "createdByUserId": row["created_by_user_id"],
        "createdAt": format_iso(row["created_at"]),
        "data": data,
        "preData": _decode(row["pre_data"]),
        "tags": _decode(row["tags"]),
        "featureName": row["feature_name"],
        "project": row["project"],
        "environment": row["environment"],
    }


def make_webhook_headers(id: str, body: bytes, secret: str, now: datetime) -> dict[str, str]:
    """The headers of Standard Webhooks, with a signature if there is a secret."""
    headers = {
        "User-Agent": f"sigservice/{__version__}",
        "webhook-id": id,
        "webhook-timestamp": str(int(now.timestamp())),
    }
    if secret:
        headers["webhook-signature"] = standardwebhooks.Webhook(secret).sign(id, now, body.decode())
    return headers


def render_template(
    delivery: Delivery, content_type: str, escape: Callable[[str], str] = html.escape
) -> str:
    """The body that `bodyTemplate` makes; `escape` applies to all types but JSON. Raises
    mustache.TemplateError."""
    nodes, event = (
        mustache.parse(delivery.parameters["bodyTemplate"]),
        build_event(delivery.row, delivery.public_url),
    )
    values = {
        "event": event,
        "eventJson": msgspec.json.encode(msgspec.json.encode(event).decode()).decode(),
        "eventMarkdown": render_sentence(delivery.row, MARKDOWN, delivery.public_url),
        "text": render_sentence(delivery.row, PLAIN, delivery.public_url),
        "url": delivery.page,
        "data": event["data"],
    }
    if "json" in content_type.lower():
        escape = _escape_json
    return mustache.render(nodes, values, escape)


def _add_headers(request: Request, delivery: Delivery) -> dict[str, str]:
    """Adds the configured headers, which replace headers of the same name."""
    text = delivery.parameters.get("customHeaders")
    custom = msgspec.json.decode(text, type=dict[str, str]) if text else {}
    names = {name.lower() for name in custom}
    secret = delivery.parameters.get("secret", "")
    own = make_webhook_headers(delivery.id, request.body, secret, delivery.now) | request.headers
    return {name: value for name, value in own.items() if name.lower() not in names} | custom


def _build_webhook(delivery: Delivery) -> list[Request]:
    parameters = delivery.parameters
    content_type = parameters.get("contentType", _JSON)
    headers = {"Content-Type": content_type}
    if "authorization" in parameters:
        headers["Authorization"] = parameters["authorization"]
    if "bodyTemplate" not in parameters:
        body = msgspec.json.encode(build_event(delivery.row, delivery.public_url))
    else:
        body = render_template(delivery, content_type).encode()
    return [Request("", parameters["url"], headers, body)]


def _build_slack(delivery: Delivery) -> list[Request]:
    parameters = delivery.parameters
    page = delivery.page
    button = {
        "name": "sigservice", "type": "button", "style": "primary", "value": "open",
        "text": _OPEN, "url": page,
    }  # fmt: skip
    channels = _list_channels(delivery) or [parameters["defaultChannel"]]
    body = {
        "username": parameters.get("username", "sigservice"),
        "icon_emoji": parameters.get("emojiIcon", ":triangular_flag_on_post:"),
        "text": delivery.render(SLACK),
        **({"attachments": [{"actions": [button]}]} if page else {}),
    }
    return [
        _request_json(parameters["url"], {**body, "channel": _add_hash(channel)}, channel)
        for channel in channels
    ]


def _build_slack_app(delivery: Delivery) -> list[Request]:
    texts = delivery.parameters.get("defaultChannels", "").split(",")
    defaults = [text.strip() for text in texts if text.strip()]
    channels = list(dict.fromkeys([*_list_channels(delivery), *defaults]))
    text = delivery.render(SLACK)
    blocks: list[Any] = [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]
    if page := delivery.page:
        label = {"type": "plain_text", "text": _OPEN}
        button = {"type": "button", "url": page, "text": label, "style": "primary", "value": "open"}
        blocks.append({"type": "actions", "elements": [button]})
    url = f"{delivery.slack_api_url.rstrip('/')}/chat.postMessage"
    headers = {"Authorization": f"Bearer {delivery.parameters['accessToken']}"}
    body = {"text": text, "blocks": blocks, "unfurl_links": False}
    return [
        _request_json(url, {**body, "channel": channel}, channel, headers) for channel in channels
    ]


def _build_teams(delivery: Delivery) -> list[Request]:
    row, page = delivery.row, delivery.page
    facts = [{"name": name, "value": value} for name, value in _list_facts(row)]
    section = {
        "activityTitle": delivery.render(MARKDOWN),
        "activitySubtitle": "sigservice",
        "facts": facts,
    }
    action = {"@type": "OpenUri", "name": _OPEN, "targets": [{"os": "default", "uri": page}]}
    body = {
        "summary": "A change in sigservice",
        "themeColor": "1f5fbf",
        "sections": [section],
        **({"potentialAction": [action]} if page else {}),
    }
    return [_request_json(delivery.parameters["url"], body)]


def _build_workflow(delivery: Delivery) -> list[Request]:
    row, page = delivery.row, delivery.page
    sentence = delivery.render(MARKDOWN)
    facts = [{"title": name, "value": value} for name, value in _list_facts(row)]
    items = [
        {"type": "TextBlock", "text": "sigservice", "style": "heading"},
        {"type": "TextBlock", "text": sentence, "wrap": True},
        {"type": "FactSet", "facts": facts},
    ]
    content = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.5",
        "body": [{"type": "Container", "items": items}],
        **({"actions": [{"type": "Action.OpenUrl", "title": _OPEN, "url": page}]} if page else {}),
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": content}
    body = {"type": "message", "attachments": [attachment]}
    return [_request_json(delivery.parameters["url"], body)]


def _build_mails(delivery: Delivery) -> list[Request]:
    """One for each recipient; the headers are those of the mail."""
    sentence, row = render_sentence(delivery.row, PLAIN, delivery.public_url), delivery.row
    names = {"project": "Project", "environment": "Environment", "feature_name": "Flag"}
    facts = {"User": _name_user(row), "Event": row["type"]}
    facts |= {label: row[name] for name, label in names.items() if row[name]}
    lines = [f"{label}: {' '.join(text.split())}" for label, text in facts.items()]
    body = "\n".join([sentence, "", *lines, *(["", delivery.page] if delivery.page else [])])
    headers = {"Subject": f"sigservice: {sentence}"[:MAX_SUBJECT], "Message-ID": delivery.id}
    return [
        Request(address, "", headers, body.encode())
        for address in list_recipients(delivery.parameters["to"])
    ]


def _build_datadog(delivery: Delivery) -> list[Request]:
    row, parameters = delivery.row, delivery.parameters
    if "bodyTemplate" in parameters:
        text = render_template(
            delivery, "text/plain", lambda text: break_mentions(html.escape(text))
        )
    else:
        text = f"%%% \n {delivery.render(MARKDOWN)} \n %%%"
    tags = [f"{tag['type']}:{tag['value']}" for tag in _decode(row["tags"])]
    tags += [f"{name}:{row[name]}" for name in ("environment", "project") if row[name]]
    body = {
        "title": "A change in sigservice",
        "text": text,
        "tags": tags,
        "date_happened": int(row["created_at"].timestamp()),
    }
    if "sourceTypeName" in parameters:
        body["source_type_name"] = parameters["sourceTypeName"]
    url = parameters.get("url") or PROVIDERS["datadog"].default_url
    return [_request_json(url, body, headers={"DD-API-KEY": parameters["apiKey"]})]


def _build_new_relic(delivery: Delivery) -> list[Request]:
    row, data = delivery.row, build_event(delivery.row, delivery.public_url)["data"]
    fixed = {
        "eventType": "UnleashServiceEvent",
        "unleashEventType": row["type"],
        "featureName": row["feature_name"],
        "environment": row["environment"],
        "project": row["project"],
        "createdBy": row["created_by"],
        "createdByUserId": row["created_by_user_id"],
        "createdAt": int(row["created_at"].timestamp() * 1000),
    }
    more = [(name, value) for name, value in data.items() if name not in fixed] if data else []
    body = fixed | {name: _flatten(value) for name, value in more[: _MAX_ATTRIBUTES - len(fixed)]}
    headers = {"Api-Key": delivery.parameters["licenseKey"], "Content-Encoding": "gzip"}
    request = _request_json(delivery.parameters["url"], body, headers=headers)
    return [request._replace(body=gzip.compress(request.body, mtime=0))]


_BUILDERS: dict[str, Callable[[Delivery], list[Request]]] = {
    "webhook": _build_webhook,
    "slack": _build_slack,
    "slack-app": _build_slack_app,
    "teams": _build_teams,
    "teamsworkflow": _build_workflow,
    "datadog": _build_datadog,
    "new-relic": _build_new_relic,
}


def _request_json(
    url: str, body: dict[str, Any], recipient: str = "", headers: dict[str, str] | None = None
) -> Request:
    all_headers = {"Content-Type": _JSON, **(headers or {})}
    return Request(recipient, url, all_headers, msgspec.json.encode(body))


def _list_channels(delivery: Delivery) -> list[str]:
    """The values of the flag's tags of the type slack."""
    tags = _decode(delivery.row["tags"]) or []
    return [tag["value"] for tag in tags if tag["type"] == "slack"]


def _list_facts(row: Row) -> list[tuple[str, str]]:
    """In Markdown."""
    return [("User", MARKDOWN.escape(_name_user(row))), ("Event", row["type"])]


def _name_user(row: Row) -> str:
    return name_actor(row["created_by"], row["created_by_user_id"])


def _add_hash(channel: str) -> str:
    return channel if channel.startswith(("#", "@")) else f"#{channel}"


def _flatten(value: Any) -> Any:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:_MAX_ATTRIBUTE] if isinstance(value, str | list | dict) else value


def _escape_json(text: str) -> str:
    return msgspec.json.encode(text).decode()[1:-1]


def _decode(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)
