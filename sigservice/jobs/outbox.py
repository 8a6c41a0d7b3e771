"""Sends the messages of the outbox: to several targets at once, one at a time for each target.

Each is claimed in one transaction, sent outside of any, and settled in another. A slow target
doesn't delay others. After a kill the claim expires and the message is sent again with the same ID.
"""

import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import describe_fault
from sigservice.log import Logger, log_error
from sigservice.outgoing.post import HttpConnection
from sigservice.outgoing.smtp import MailError
from sigservice.repository import channels
from sigservice.repository import outbox as message_rows
from sigservice.repository.actions import notifications as notification_rows
from sigservice.services import channel_delivery, outbox
from sigservice.services.access import reset_tokens
from sigservice.services.actions import integration_delivery, integrations, notifications
from sigservice.services.actions.integration_delivery import Outcome, Settings
from sigservice.services.channel_delivery import DeliveryResult, DeliverySettings, Message
from sigservice.services.channels import INTEGRATION
from sigservice.services.releases import release_journal
from sigservice.services.rules import rule_notifications
from sigservice.services.signals import silence_changes
from sigservice.services.system import mails

MAX_CONCURRENT = 8
TIMEOUT_SECONDS = 120.0  # then the attempt has failed, even if it continues
UNAVAILABLE_SECONDS = 5.0
_MAKERS: Mapping[str, Callable[[Row, str], Message]] = {  # from the row and SERVICE_URL
    silence_changes.KIND: silence_changes.make_message,
    release_journal.KIND: release_journal.make_message,
    rule_notifications.KIND: rule_notifications.make_message,
}
_CHANNEL_KINDS = (notifications.KIND, *_MAKERS)
_POLL_SECONDS = 0.5


class _Attempt(NamedTuple):
    row: Row
    deadline: float


_Results = queue.SimpleQueue[tuple[int, DeliveryResult]]  # by ID of the message


def run_once(context: Context) -> int:
    """Returns the number of settled messages when none is due or in progress. Leaves
    messages to an unavailable target alone for UNAVAILABLE_SECONDS, or to the next run."""
    context.outbox_waiting.clear()
    results: _Results = queue.SimpleQueue()
    attempts: dict[int, _Attempt] = {}
    unavailable: dict[str, float] = {}
    settled = 0
    while True:
        _start(context, results, attempts, unavailable)
        if not attempts:
            return settled
        for id, outcome in _wait(results, attempts):
            row = attempts.pop(id).row
            if outcome.is_unavailable:
                unavailable[row["target"]] = context.clock.monotonic() + UNAVAILABLE_SECONDS
            _settle(context, row, outcome)
            settled += 1


def _start(
    context: Context,
    results: _Results,
    attempts: dict[int, _Attempt],
    unavailable: Mapping[str, float],
) -> None:
    mail_kinds = mails.KINDS if context.mail_server else ()
    while len(attempts) < MAX_CONCURRENT and not context.stopping.is_set():
        # The last place is for a mail, because receivers of notifications may be slow.
        is_last = len(attempts) == MAX_CONCURRENT - 1
        kinds = mail_kinds if is_last else (*_CHANNEL_KINDS, *mail_kinds)
        now = context.clock.monotonic()
        busy = [target for target, until in unavailable.items() if now < until]
        busy += [attempt.row["target"] for attempt in attempts.values()]
        with context.database.autocommit() as conn:
            row = outbox.claim(conn, kinds, context.clock.now(), busy)
        if row is None:
            return
        attempts[row["id"]] = _Attempt(row, time.monotonic() + TIMEOUT_SECONDS)
        # Not a thread of a pool: the process would wait for it at its end.
        arguments = (context, row, results)
        threading.Thread(target=_send, args=arguments, name="outbox", daemon=True).start()


def _send(context: Context, row: Row, results: _Results) -> None:
    try:
        outcome = deliver(context, row)
    except Exception as error:  # noqa: BLE001  a bug must not block the others
        logger, what = _get_logger(context, row), f"sending {_describe(row)} failed"
        outcome = DeliveryResult(describe_fault(log_error(logger, what, error)))
    results.put((row["id"], outcome))


def deliver(context: Context, row: Row) -> DeliveryResult:
    """Sends a claimed message. Takes long, so call it without a transaction."""
    if row["kind"] in mails.KINDS:
        return _deliver_mail(context, row)
    settings = DeliverySettings.from_config(context.config)
    if row["kind"] in _MAKERS:
        message = _MAKERS[row["kind"]](row, settings.public_url)
    else:
        with context.database.autocommit() as conn:
            run = notification_rows.find_run(conn, row["subject_id"])
        if run is None:
            return DeliveryResult("The run was deleted.", is_final=True)
        message = notifications.make_message(row, run, settings.public_url)
    channel = msgspec.json.decode(row["target"])
    if channel["type"] == INTEGRATION:
        return _deliver_by_name(context, row, channel["name"], message)
    now = context.clock.now()
    return channel_delivery.deliver(row["target"], message, settings, context.sender, now)


def _deliver_by_name(context: Context, row: Row, name: str, message: Message) -> DeliveryResult:
    """With the configuration that the integration has now."""
    with context.database.autocommit() as conn:
        integration = channels.find(conn, name)
    if integration is None:
        return DeliveryResult(f"No integration has the name {name}.", is_final=True)
    if not integration["enabled"]:
        return DeliveryResult(f"The integration {name} is disabled.", is_final=True)

    def save(outcome: Outcome) -> bool:
        with context.database.autocommit() as conn:
            return message_rows.save_channels(conn, row, outcome.channels)

    settings, now = Settings.from_config(context.config, context.encryption), context.clock.now()
    notification = integration_delivery.make_notification_row(integration, message, row["payload"])
    with HttpConnection() as connection:
        outcome = integration_delivery.deliver(notification, settings, now, connection, save)
    save(outcome)
    if outcome.is_gone:
        with context.database.transaction() as conn:
            integrations.disable(
                conn,
                integration["id"],
                integration_delivery.GONE_REASON,
                version=integration["version"],
            )
    if outcome.is_unfinished and not outcome.result.error:
        return DeliveryResult(integration_delivery.UNFINISHED)
    return outcome.result


def _deliver_mail(context: Context, row: Row) -> DeliveryResult:
    now, server = context.clock.now(), context.mail_server
    assert server is not None
    with context.database.transaction() as conn:
        mail = reset_tokens.prepare_mail(conn, row, now, reset_lifetime=context.reset_lifetime)
    if mail is None:
        return DeliveryResult("The user was deleted.", is_final=True)
    try:
        mails.deliver(context.render, server, mail, now)
    except MailError as error:
        return DeliveryResult(error.text, error.is_final, is_unavailable=error.is_unavailable)
    return DeliveryResult()


def _wait(results: _Results, attempts: dict[int, _Attempt]) -> list[tuple[int, DeliveryResult]]:
    """The next result, those that timed out, or none after a moment: others may be due by then."""
    try:
        id, outcome = results.get(timeout=_POLL_SECONDS)
        return [(id, outcome)] if id in attempts else []
    except queue.Empty:
        now, text = time.monotonic(), f"No result within {TIMEOUT_SECONDS:.0f} s."
        late = [id for id, attempt in attempts.items() if now > attempt.deadline]
        return [(id, DeliveryResult(text)) for id in late]


def _settle(context: Context, row: Row, outcome: DeliveryResult) -> None:
    with context.database.autocommit() as conn:
        result = outbox.settle(conn, row, outcome, context.clock.now())
    metric_result, logger = "failed" if result == "waiting" else result, _get_logger(context, row)
    if is_mail := row["kind"] in mails.KINDS:
        context.telemetry.deliveries.count_mail(row["kind"], metric_result)
    else:
        context.telemetry.deliveries.count_notification(_get_type(row), metric_result)
    if result == "given up":
        logger.warn("%s was given up: %s", _describe(row), outcome.error)
    elif result == "waiting":
        log = logger.warn if is_mail else logger.info
        log("%s is tried again later: %s", _describe(row), outcome.error)
    else:
        log = logger.info if is_mail else logger.debug
        log("%s was sent", _describe(row))


def _get_logger(context: Context, row: Row) -> Logger:
    return context.get_logger("mails" if row["kind"] in mails.KINDS else "notifications")


def _describe(row: Row) -> str:
    if row["kind"] in mails.KINDS:
        return f"mail {row['id']} ({row['kind']})"
    return f"notification {row['id']} ({_get_type(row)})"


def _get_type(row: Row) -> str:
    return str(msgspec.json.decode(row["target"])["type"])
