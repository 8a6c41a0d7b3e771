"""Sends one event or a test to the receiver of an integration."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec

from sigservice.crypto.encryption import Encryption, EncryptionError
from sigservice.db.pool import Connection
from sigservice.db.statements import Row
from sigservice.log import escape_line
from sigservice.outgoing import post, smtp
from sigservice.outgoing.addresses import AddressPolicy, DestinationError
from sigservice.outgoing.post import parse_retry_after
from sigservice.outgoing.smtp import MailError, MailServer
from sigservice.repository.integrations import integrations as integration_rows
from sigservice.services import outbox
from sigservice.services.deliveries import MAX_RETRY_PAUSE, DeliveryResult, DeliverySettings
from sigservice.services.identity import Identity
from sigservice.services.integrations import integration_messages, integrations, mustache
from sigservice.services.integrations.integration_messages import Delivery, Request
from sigservice.services.system import mails

_START_SECONDS = 15  # no further recipient after this, so that a delivery ends before its lease
GONE_REASON = "The receiver responded with status 410: it wants no further events."
MAX_ANSWER = 500
UNFINISHED = "There was no time for all recipients."
_GONE, _REPEATED = 410, (408, 425, 429)
_FINAL_SLACK_ERRORS = (
    "invalid_auth", "account_inactive", "token_revoked", "channel_not_found", "not_in_channel",
    "is_archived", "msg_too_long",
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """The operator's configuration. `parameters` caches the decrypted parameters of
    integrations."""

    delivery: DeliverySettings
    encryption: Encryption
    slack_api_url: str
    mail_server: MailServer | None = None
    parameters: dict[tuple[str, bytes], dict[str, str]] = field(default_factory=dict)

    @classmethod
    def from_config(
        cls,
        config: dict[str, Any],
        encryption: Encryption,
        mail_server: MailServer | None = None,
    ) -> "Settings":
        delivery = DeliverySettings.from_config(config)
        return cls(delivery, encryption, config["integrations"]["slackApiUrl"], mail_server)

    def read_parameters(self, row: Row) -> dict[str, str]:
        """The decrypted parameters of an integration. Raises EncryptionError."""
        key = row["parameters"], bytes(row["secrets"] or b"")
        if key not in self.parameters:
            self.parameters[key] = integrations.read_parameters(row, self.encryption)
        return self.parameters[key]


@dataclass(frozen=True)
class Attempt:
    """`recipients` are the settled ones: "" if sent, else the reason for giving up. With
    `is_gone` the receiver wants no further events; an unfinished delivery has more."""

    result: DeliveryResult
    recipients: dict[str, str] = field(default_factory=dict)
    is_gone: bool = False
    is_unfinished: bool = False


def settle(conn: Connection, row: Row, attempt: Attempt, now: datetime) -> tuple[str, str | None]:
    """Stores the result of an attempt. Returns it (sent, waiting, given up or unfinished, which
    keeps the lease), and the version of the integration: None if it or the delivery was deleted, or
    a later attempt was stored."""
    result, due_at = "unfinished", row["due_at"]
    if not attempt.is_unfinished:
        result, due_at = outbox.choose_result(row, attempt.result, now)
    recipients = {"channels": attempt.recipients} if attempt.recipients else {}
    answer = {"answer": attempt.result.answer} if attempt.result.answer else {}
    version = integration_rows.settle(
        conn,
        row,
        result=result,
        error=attempt.result.error[:500] or None,
        payload=recipients | answer,
        due_at=due_at,
        now=now,
    )
    return result, version


def deliver(
    row: Row,
    settings: Settings,
    now: datetime,
    connection: post.HttpConnection,
    save: Callable[[Attempt], bool] = lambda attempt: True,
) -> Attempt:
    """Sends a leased delivery to the recipients that aren't settled. Calls `save` between two
    recipients, so a kill repeats only one; if `save` returns False, the delivery ends. Takes up to
    30 seconds, so call it outside of transactions."""
    settled: dict[str, str] = msgspec.json.decode(row["payload"]).get("channels", {})
    if row["event_id"] is None:
        return _refuse("The event was deleted.", settled)
    try:
        delivery = Delivery(
            row["message_id"],
            row,
            settings.read_parameters(row),
            settings.delivery.public_url,
            settings.slack_api_url,
            now,
        )
        requests = integration_messages.build_requests(row["provider"], delivery)
    except (mustache.TemplateError, MailError) as error:
        return _refuse(str(error), settled)
    except EncryptionError as error:
        return Attempt(DeliveryResult(str(error)), settled)
    except KeyError as error:
        return _refuse(f"The parameter {error.args[0]} is missing.", settled)
    if not requests:
        return _refuse("The event has no channel to go to.", settled)
    provider, pending = row["provider"], [one for one in requests if one.recipient not in settled]
    return _send_all(
        pending, settled, lambda one: _send(one, provider, settings, now, connection), save
    )


def make_test_row(row: Row, by: Identity, now: datetime) -> Row:
    """A delivery of the integration `row` whose event has all members."""
    data = {"name": "integration-test", "description": "Not a flag: a test of an integration."}
    text = msgspec.json.encode(data).decode()
    return {
        **row,
        "attempts": 1,
        "message_id": f"msg_test_{int(now.timestamp() * 1000)}",
        "payload": "{}",
        "event_id": 0,
        "type": "integration-test",
        "created_by": by.username,
        "created_by_user_id": by.user_id,
        "created_at": now,
        "project": "default",
        "environment": "development",
        "feature_name": "integration-test",
        "data": text,
        "pre_data": text,
        "tags": "[]",
    }


def _send_all(
    requests: list[Request],
    settled: dict[str, str],
    send: Callable[[Request], tuple[DeliveryResult, bool]],
    save: Callable[[Attempt], bool],
) -> Attempt:
    """Sends the requests; one that is given up doesn't stop the others."""
    started_at, failure, settled = time.monotonic(), DeliveryResult(), dict(settled)
    answers: list[str] = []
    for position, request in enumerate(requests):
        if position:
            unfinished = Attempt(DeliveryResult(failure.error), settled, is_unfinished=True)
            is_late = time.monotonic() - started_at > _START_SECONDS
            if not save(unfinished) or (is_late and not failure.error):
                return unfinished
            if is_late:
                break
        result, is_gone = send(request)
        if is_gone:
            return Attempt(result, settled, is_gone=True)
        if result.error and not result.is_final:
            pause = max(failure.pause, result.pause)
            failure = DeliveryResult(_add_recipient(request.recipient, result.error), pause=pause)
        elif request.recipient:
            settled[request.recipient] = result.error
            answers.append(_add_recipient(request.recipient, result.answer))
        else:
            return Attempt(result)
    errors = [_add_recipient(name, error) for name, error in settled.items() if error]
    if errors and not failure.error:
        failure = DeliveryResult(" ".join(errors), is_final=True)
    return Attempt(replace(failure, answer=" ".join(answers)[:MAX_ANSWER]), settled)


def _add_recipient(recipient: str, error: str) -> str:
    return f"{escape_line(recipient)}: {error}" if recipient else error


def _send(
    request: Request,
    provider: str,
    settings: Settings,
    now: datetime,
    connection: post.HttpConnection,
) -> tuple[DeliveryResult, bool]:
    """The result, and whether the receiver wants no further events."""
    if provider == "email":
        return _send_mail(request, settings.mail_server, now), False
    policy, started_at = settings.delivery.policy, time.monotonic()
    if provider == "slack-app":  # the operator sets this URL
        hosts = (urlsplit(request.url).hostname or "", "0.0.0.0/0", "::/0")
        policy = AddressPolicy(allow_private=True, allowed_hosts=hosts)
    try:
        response = connection.request(
            request.url,
            request.body,
            request.headers,
            policy=policy,
            proxies=settings.delivery.proxies,
        )
    except DestinationError as error:
        return DeliveryResult(str(error), is_final=True), False
    except post.DeliveryError as error:
        return DeliveryResult(str(error)), False
    result, ms = _read_response(response, provider, now), (time.monotonic() - started_at) * 1000
    if not result.error:
        text = f"The receiver answered {response.status} in {ms:,.0f} ms."
        result = replace(result, answer=text)
    return result, response.status == _GONE


def _send_mail(request: Request, server: MailServer | None, now: datetime) -> DeliveryResult:
    if server is None:
        return DeliveryResult(integrations.NO_MAIL_SERVER)
    started_at, headers = time.monotonic(), request.headers
    mail = mails.make_message(
        server, request.recipient, headers["Subject"], headers["Message-ID"], now
    )
    mail.set_content(request.body.decode())
    try:
        smtp.send(server, mail, request.recipient, post.TOTAL_SECONDS)
    except MailError as error:
        return DeliveryResult(error.text, error.is_final)
    ms = (time.monotonic() - started_at) * 1000
    return DeliveryResult(answer=f"The mail server accepted it in {ms:,.0f} ms.")


def _read_response(response: post.Response, provider: str, now: datetime) -> DeliveryResult:
    status = response.status
    pause = parse_retry_after(response.retry_after, now, MAX_RETRY_PAUSE)
    if 200 <= status < 300:
        return _read_slack_answer(response.body) if provider == "slack-app" else DeliveryResult()
    if 300 <= status < 400:
        return DeliveryResult(f"The server redirects ({status}); redirects are not followed.")
    is_final = 400 <= status < 500 and status not in _REPEATED
    return DeliveryResult(f"The server responded with status {status}.", is_final, pause)


def _read_slack_answer(body: bytes) -> DeliveryResult:
    """The result of an answer with status 200, which Slack also sends for refused messages."""
    try:
        answer = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.DecodeError:
        return DeliveryResult("The response is not from Slack.")
    if answer.get("ok") is True:
        return DeliveryResult()
    error = escape_line(str(answer.get("error"))[:100])
    return DeliveryResult(f"Slack responded: {error}.", error in _FINAL_SLACK_ERRORS)


def _refuse(text: str, settled: dict[str, str]) -> Attempt:
    return Attempt(DeliveryResult(text, is_final=True), settled)
