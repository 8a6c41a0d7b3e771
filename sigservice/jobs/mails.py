"""Sends the mails to users, one after the other: all go to the same mail server.

Each is leased in one transaction, sent outside of any, and settled in another. After a kill the
lease expires and the mail is sent again with the same ID.
"""

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import describe_fault
from sigservice.log import log_error
from sigservice.outgoing.smtp import MailError, MailServer
from sigservice.services import outbox
from sigservice.services.access import reset_tokens
from sigservice.services.deliveries import DeliveryResult
from sigservice.services.system import mails


def run_once(context: Context) -> int:
    """Sends the mails that are due; ends early if the mail server is unavailable. Returns how many
    were tried."""
    context.mails_waiting.clear()
    count, server = 0, context.mail_server
    while server is not None and not context.stopping.is_set():
        with context.database.autocommit() as conn:
            row = outbox.lease_mail(conn, context.clock.now())
        if row is None:
            break
        result = _try(context, server, row)
        _settle(context, row, result)
        count += 1
        if result.is_unavailable:
            break
    return count


def deliver(context: Context, server: MailServer, row: Row) -> DeliveryResult:
    """Sends a leased mail. Takes up to a minute, so call it without a transaction."""
    now = context.clock.now()
    with context.database.transaction() as conn:
        mail = reset_tokens.prepare_mail(conn, row, now, reset_lifetime=context.reset_lifetime)
    if mail is None:
        return DeliveryResult("The user was deleted.", is_final=True)
    try:
        mails.deliver(context.render, server, mail, now)
    except MailError as error:
        return DeliveryResult(error.text, error.is_final, is_unavailable=error.is_unavailable)
    return DeliveryResult()


def _try(context: Context, server: MailServer, row: Row) -> DeliveryResult:
    try:
        return deliver(context, server, row)
    except Exception as error:  # noqa: BLE001  a bug must not block the other mails
        what = f"sending mail {row['id']} failed"
        return DeliveryResult(describe_fault(log_error(context.get_logger("mails"), what, error)))


def _settle(context: Context, row: Row, attempt: DeliveryResult) -> None:
    with context.database.autocommit() as conn:
        result = outbox.settle_mail(conn, row, attempt, context.clock.now())
    metric_result = "failed" if result == "waiting" else result
    context.telemetry.deliveries.count_mail(row["kind"], metric_result)
    logger, mail = context.get_logger("mails"), f"mail {row['id']} ({row['kind']})"
    if result == "given up":
        logger.warn("%s was given up: %s", mail, attempt.error)
    elif result == "waiting":
        logger.warn("%s is tried again later: %s", mail, attempt.error)
    else:
        logger.info("%s was sent", mail)
