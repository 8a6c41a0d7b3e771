"""The summaries of signals in lists: a few values of the payload, the status and the severity.

They are computed when a list is read, so that a new summary of an endpoint applies to its old
signals too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from sigservice.db import Row
from sigservice.services.signals import signal_states, signal_storage
from sigservice.services.signals.automatic_summaries import summarize_payload
from sigservice.services.signals.endpoint_options import EndpointOptions, parse_options
from sigservice.services.signals.payload_paths import find_values, to_text

MAX_TEXT_LENGTH = 200
MAX_VALUES = 5
MAX_VISITED = 50
_CUT = "…"
_STATE_LABELS = ("status", "state", "severity")  # shown as words elsewhere
# Control characters, line breaks, and characters that are invisible or change the direction of the
# text around them. Joiners stay: emojis and some scripts need them.
_UNREADABLE = re.compile(
    r"[\s\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+"
)


class SummaryText(msgspec.Struct, frozen=True):
    """The label can be ""."""

    label: str
    text: str


@dataclass(frozen=True)
class SignalSummary:
    """`status` and `severity` are words of signal_states, or ""."""

    fields: list[SummaryText]
    status: str
    severity: str

    @property
    def text(self) -> str:
        """One line."""
        return " · ".join(
            f"{field.label}: {field.text}" if field.label else field.text for field in self.fields
        )

    def name_alert(self) -> tuple[str, str]:
        """(name, text) of the alert: the first values that aren't its state, or ""."""
        texts = [it.text for it in self.fields if it.label.lower() not in _STATE_LABELS]
        name, text = [*texts, "", ""][:2]
        return name, text

    def to_json(self) -> dict[str, Any]:
        return {"summary": self.fields, "status": self.status, "severity": self.severity}


class Summarizer:
    """Summarizes the signals of one endpoint. With `names_only`, for users who may not read
    payloads, an automatic summary has no value that could be anything."""

    def __init__(self, options: EndpointOptions, *, names_only: bool = False) -> None:
        self._options, self._names_only = options, names_only

    @property
    def labels(self) -> list[str]:
        """The labels of the endpoint's summary."""
        return [field.label for field in self._options.summary]

    def summarize(self, payload: Any) -> SignalSummary:
        """The endpoint's summary; an automatic one if the endpoint has none or the payload has no
        value of it."""
        texts = [
            SummaryText(label, text)
            for label, text in zip(self.labels, self.list_texts(payload), strict=True)
            if text
        ]
        return SignalSummary(
            texts
            or [
                SummaryText(clean_text(label), join_values(values))
                for label, values in summarize_payload(payload, names_only=self._names_only)
            ],
            self.find_status(payload),
            self.find_severity(payload),
        )

    def list_texts(self, payload: Any) -> list[str]:
        """The text of each field of the endpoint's summary, "" without a value."""
        return [join_values(find_values(payload, it.path)) for it in self._options.summary]

    def find_status(self, payload: Any) -> str:
        if path := self._options.statusPath:
            return signal_states.classify_status(find_values(payload, path))
        return signal_states.recognize_status(payload)

    def find_severity(self, payload: Any) -> str:
        if path := self._options.severityPath:
            return signal_states.classify_severity(find_values(payload, path))
        return signal_states.recognize_severity(payload)


def make_summarizer(endpoint: Row, *, names_only: bool = False) -> Summarizer:
    return Summarizer(parse_options(endpoint["options"]), names_only=names_only)


def make_summarizers(
    endpoints: Iterable[Row], *, names_only: bool = False
) -> dict[int, Summarizer]:
    """The summarizers by the ID of the endpoint."""
    return {row["id"]: make_summarizer(row, names_only=names_only) for row in endpoints}


def decode_payload(row: Row) -> Any:
    """The payload of a stored signal; None if it is not one that the service would accept now."""
    try:
        return msgspec.json.decode(row["payload"])
    except msgspec.DecodeError:
        return None


def summarize_row(summarizer: Summarizer, row: Row) -> SignalSummary:
    """`row` is a stored signal."""
    return summarizer.summarize(decode_payload(row))


def to_json(row: Row, summarizer: Summarizer) -> dict[str, Any]:
    """A signal of an endpoint in JSON, as in lists."""
    return (
        signal_storage.to_json(row)
        | {
            "tokenName": row["token_name"],
            "sentBy": row["sent_by"],
            "replayOf": row["replay_of"],
        }
        | summarize_row(summarizer, row).to_json()
    )


def join_values(values: list[Any]) -> str:
    """The different values in one line of at most MAX_TEXT_LENGTH characters; null is no value."""
    texts = dict.fromkeys(
        clean_text(to_text(value)) for value in values[:MAX_VISITED] if value is not None
    )
    texts.pop("", None)
    more = ""
    if len(values) > MAX_VISITED:
        more = " and more"
    elif len(texts) > MAX_VALUES:
        more = f" and {len(texts) - MAX_VALUES} more"
    joined = ", ".join(list(texts)[:MAX_VALUES])
    return shorten(joined, MAX_TEXT_LENGTH - len(more)) + more


def clean_text(text: str) -> str:
    """The beginning of the text in one line, without characters that are invisible or change the
    direction of other text."""
    return shorten(_UNREADABLE.sub(" ", text[: 2 * MAX_TEXT_LENGTH]).strip(), MAX_TEXT_LENGTH)


def shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + _CUT
