"""The sentence of an event for chats, with its actor, reason and links below SERVICE_URL."""

import re
from typing import Literal, NamedTuple
from urllib.parse import quote

import msgspec

from sigservice.db import Row
from sigservice.services.identity import ADMIN_TOKEN_ID
from sigservice.services.system.event_sentences import describe_event, has_subject

MAX_LENGTH = 3000
_LIMITS = (
    MAX_LENGTH,
    2500,
    2000,
    1000,
    500,
    100,
    20,
)  # of each text, until the sentence is short enough
# Every chat takes these for a mention, Markdown chats behind Slack's format also for a link.
_MENTION, _LINK = re.compile(r"(?<![A-Za-z0-9])@"), "]("
_TAG = re.compile(r"<(?=\S)")
_BREAK = "\N{ZERO WIDTH SPACE}"
_MARKDOWN = re.compile(r"([\\`*_\[\]<>~|#&])")
_SLACK = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# The page of an event without a flag, by the first words of its type.
_PAGES = {
    "project": "/admin/projects",
    "segment": "/admin/segments",
    "context": "/admin/context",
    "environment": "/admin/environments",
    "strategy": "/admin/types",
    "tag": "/admin/types",
    "api": "/admin/api-tokens",
    "user": "/admin/users",
    "service": "/admin/users",
    "pat": "/admin/users",
    "password": "/admin/users",
    "application": "/admin/applications",
    "addon": "/admin/integrations",
    "action": "/admin/automation",
    "actions": "/admin/automation",
    "signal": "/admin/signals",
    "alert": "/admin/alert-rules",
    "metric": "/admin/integrations/metrics",
    "release": "/admin/releases",
}
_GONE = ("feature-archived", "feature-deleted")
# The beginnings of the types whose sentence names the project.
_WITH_PROJECT = (
    "project-", "feature-project-change", "features-imported", "default-strategy-updated",
)  # fmt: skip


class Style(NamedTuple):
    """How a chat writes bold text and links; `escape` escapes texts of users, cut to `limit`
    characters. Mattermost and Rocket.Chat read the style of Slack too, as Markdown, and any chat
    may read a plain text as its own markup."""

    markup: Literal["slack", "markdown", "plain"]
    limit: int = MAX_LENGTH

    def escape(self, text: str) -> str:
        text = " ".join(text.split())
        if len(text) > self.limit:
            text = f"{text[: self.limit - 1]}…"
        text = break_mentions(text)
        if self.markup == "markdown":
            return _MARKDOWN.sub(r"\\\1", text)
        text = text.replace(_LINK, _BREAK.join(_LINK))
        if self.markup == "plain":
            return _TAG.sub(f"<{_BREAK}", text)
        return "".join(_SLACK.get(letter, letter) for letter in text)

    def format(self, text: str, url: str = "") -> str:
        """The text in bold, as a link if there is a URL."""
        text = self.escape(text)
        if self.markup == "plain":
            return text
        is_slack = self.markup == "slack"
        bold = "*" if is_slack else "**"
        if url:
            text = f"<{url}|{text}>" if is_slack else f"[{text}]({url})"
        return f"{bold}{text}{bold}" if text else ""


SLACK, MARKDOWN, PLAIN = Style("slack"), Style("markdown"), Style("plain")


def render_sentence(row: Row, style: Style, public_url: str) -> str:
    """The sentence, of at most MAX_LENGTH characters (of UTF-16, as Slack counts). Without a
    `public_url` it has no links."""
    for limit in _LIMITS:
        text = _render(row, style._replace(limit=limit), public_url)
        if len(text.encode("utf-16-le")) <= 2 * MAX_LENGTH:
            break
    return text


def break_mentions(text: str) -> str:
    """The text, in which no @ begins a mention."""
    return _MENTION.sub(f"@{_BREAK}", text)


def _render(row: Row, style: Style, public_url: str) -> str:
    def mark(part: str, text: str) -> str:
        if part == "plain":
            return style.escape(text)
        has_link = part in ("flag", "project") and row["type"] not in (*_GONE, "project-deleted")
        return style.format(text, _link(public_url, part, text) if has_link else "")

    is_token = row.get("created_by_user_id") == ADMIN_TOKEN_ID
    actor = ("API token " if is_token else "") + style.format(row["created_by"])
    parts = ["" if has_subject(row) else actor, describe_event(row, mark)]
    if row["project"] and not row["type"].startswith(_WITH_PROJECT):
        parts.append(f"(project {mark('project', row['project'])})")
    data = msgspec.json.decode(row["data"] or "{}")
    run = data.get("actionRun") if isinstance(data, dict) else None
    if isinstance(run, dict):
        parts.append(f"because of the automation {style.format(str(run.get('actionSet', '')))}")
    return " ".join(part for part in parts if part)


def find_page(row: Row, public_url: str) -> str:
    """The URL of the page about the event, "" without a `public_url`."""
    if path := find_own_path(row):
        return f"{public_url}{path}" if public_url else ""
    if row["feature_name"] and row["type"] != "feature-deleted":
        return _link(public_url, "flag", row["feature_name"])
    if row["project"] and row["type"] != "project-deleted":
        return _link(public_url, "project", row["project"])
    path = _PAGES.get(row["type"].partition("-")[0], "/admin/events")
    return f"{public_url}{path}" if public_url else ""


def find_own_path(row: Row) -> str:
    """The path that the event itself names: of a run, a release or an alert rule."""
    data = msgspec.json.decode(row["data"] or "{}")
    path = data.get("url") if isinstance(data, dict) else None
    return path if isinstance(path, str) and path.startswith("/admin/") else ""


def _link(public_url: str, part: str, name: str) -> str:
    if not public_url:
        return ""
    path = quote(name, safe="")
    if part == "flag":
        return f"{public_url}/admin/features/{path}"
    return f"{public_url}/admin/projects/{path}/overview"
