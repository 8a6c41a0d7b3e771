"""The kinds of integrations: their parameters as data, for the API, the checks and the forms."""

from dataclasses import dataclass, field
from typing import Any

from sigservice.services.integrations import integration_events

DATADOG_URL = "https://api.datadoghq.com/api/v1/events"


@dataclass(frozen=True)
class Parameter:
    """`type` is text, url or textfield (several lines). Sensitive ones are encrypted and masked."""

    name: str
    label: str
    type: str = "text"
    description: str = ""
    placeholder: str = ""
    is_required: bool = False
    is_sensitive: bool = False

    def to_json(self) -> dict[str, Any]:
        texts = {"description": self.description, "placeholder": self.placeholder}
        return {
            "name": self.name,
            "displayName": self.label,
            "type": self.type,
            "required": self.is_required,
            "sensitive": self.is_sensitive,
            **{name: text for name, text in texts.items() if text},
        }


@dataclass(frozen=True)
class Provider:
    """`tag_type` is the type of the tags that a message has or goes to."""

    name: str
    label: str
    description: str
    parameters: tuple[Parameter, ...]
    tag_type: str = ""
    tag_description: str = ""
    deprecated: str = ""
    default_url: str = ""
    by_name: dict[str, Parameter] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {one.name: one for one in self.parameters})

    def to_json(self) -> dict[str, Any]:
        tag_type = {"name": self.tag_type, "description": self.tag_description, "icon": "#"}
        return {
            "name": self.name,
            "displayName": self.label,
            "description": self.description,
            "documentationUrl": f"/docs/guide/integrations#{self.name}",
            "parameters": [one.to_json() for one in self.parameters],
            "events": integration_events.list_offered(self.name),
            **({"tagTypes": [tag_type]} if self.tag_type else {}),
            **({"deprecated": self.deprecated} if self.deprecated else {}),
        }


_HEADERS = Parameter(
    "customHeaders",
    "Extra HTTP Headers",
    "textfield",
    "A JSON object with a text for each header.",
    '{"X-Team": "checkout"}',
    is_sensitive=True,
)
_TEMPLATE = Parameter(
    "bodyTemplate",
    "Body template",
    "textfield",
    "Mustache with event, text, url, data, eventJson and eventMarkdown. Empty: the default format.",
    '{"text": "{{eventMarkdown}}"}',
)


def _secret_url(label: str, placeholder: str) -> Parameter:
    text = "Where the events are posted. The URL is kept secret."
    return Parameter("url", label, "url", text, placeholder, is_required=True, is_sensitive=True)


_ALL = (
    Provider(
        "webhook",
        "Webhook",
        "Posts each event as JSON, or in a format of your own, to a URL.",
        (
            _secret_url("Webhook URL", "https://example.com/flags"),
            Parameter(
                "contentType",
                "Content-Type",
                description="Of the body. Not set: application/json.",
                placeholder="application/json",
            ),
            Parameter(
                "authorization",
                "Authorization",
                description="The value of the header Authorization.",
                placeholder="Bearer …",
                is_sensitive=True,
            ),
            _HEADERS,
            _TEMPLATE,
            Parameter(
                "secret",
                "Signing secret",
                description="whsec_ and 24 to 64 bytes in base64: signs as Standard Webhooks do.",
                placeholder="whsec_…",
                is_sensitive=True,
            ),
        ),
    ),
    Provider(
        "slack",
        "Slack",
        "Posts to an incoming webhook of Slack, Mattermost or Rocket.Chat.",
        (
            _secret_url("Slack webhook URL", "https://hooks.slack.com/services/…"),
            Parameter("username", "Username", description="Shown as the sender."),
            Parameter("emojiIcon", "Emoji Icon", placeholder=":triangular_flag_on_post:"),
            Parameter(
                "defaultChannel",
                "Default channel",
                description="For flags without a tag of the type slack.",
                placeholder="#flags",
                is_required=True,
            ),
            _HEADERS,
        ),
        "slack",
        "The channel that messages about the flag go to",
        "Slack replaces these webhooks by apps: use App for Slack there. "
        "Mattermost and Rocket.Chat still use this format.",
    ),
    Provider(
        "slack-app",
        "App for Slack",
        "Posts as an app of your Slack workspace.",
        (
            Parameter(
                "accessToken",
                "Access token",
                description="The bot token of the app, with the scope chat:write.",
                placeholder="xoxb-…",
                is_required=True,
                is_sensitive=True,
            ),
            Parameter(
                "defaultChannels",
                "Channels",
                description="Separated by commas; flags with tags of the type slack add theirs.",
                placeholder="flags,checkout",
            ),
        ),
        "slack",
        "A channel that messages about the flag go to",
    ),
    Provider(
        "teams",
        "Microsoft Teams",
        "Posts cards to an incoming webhook connector.",
        (_secret_url("Microsoft Teams webhook URL", "https://….webhook.office.com/…"), _HEADERS),
        deprecated="Microsoft retires connectors: use Microsoft Teams - Workflow.",
    ),
    Provider(
        "teamsworkflow",
        "Microsoft Teams - Workflow",
        "Posts adaptive cards to a workflow of a Teams channel.",
        (_secret_url("Workflow URL", "https://….logic.azure.com/…"), _HEADERS),
    ),
    Provider(
        "datadog",
        "Datadog",
        "Posts to the event stream of Datadog.",
        (
            Parameter(
                "url",
                "Datadog Events URL",
                "url",
                f"Not set: {DATADOG_URL}",
                DATADOG_URL,
            ),
            Parameter("apiKey", "Datadog API key", is_required=True, is_sensitive=True),
            Parameter("sourceTypeName", "Datadog Source Type Name"),
            _HEADERS,
            _TEMPLATE,
        ),
        "datadog",
        "A tag for the events in Datadog",
        default_url=DATADOG_URL,
    ),
    Provider(
        "email",
        "Email",
        "Sends a mail for each event, over the mail server of the service.",
        (
            Parameter(
                "to",
                "Recipients",
                description="At most 20 addresses, separated by commas. Each gets its own mail.",
                placeholder="oncall@example.com, ada@example.com",
                is_required=True,
            ),
        ),
    ),
    Provider(
        "new-relic",
        "New Relic",
        "Posts custom events to New Relic.",
        (
            Parameter(
                "url",
                "New Relic Event URL",
                "url",
                placeholder="https://insights-collector.newrelic.com/v1/accounts/…/events",
                is_required=True,
            ),
            Parameter("licenseKey", "New Relic License Key", is_required=True, is_sensitive=True),
            _HEADERS,
            _TEMPLATE,
        ),
        "new-relic",
        "A tag for the events in New Relic",
    ),
)
PROVIDERS = {one.name: one for one in _ALL}
