"""Sends mails: claimed in one transaction, sent in none, settled in another.

Killed in between, the claim runs out and the mail is sent again, as the same message.
"""

from sigservice.context import Context
from sigservice.db.statements import Row
from sigservice.errors import describe_fault
from sigservice.log import log_error
from sigservice.outgoing.smtp import MailError, MailServer
from sigservice.services.access import reset_tokens
from sigservice.services.system import mails


def run_once(context: Context) -> int:
    """How many were settled, one way or another. Ends early when the server is away: the others
    would have to wait for it one by one."""
    context.mails_waiting.clear()
    server = context.mail_server
    done = 0
    while server is not None and not context.stopping.is_set():
        with context.database.transaction() as conn:
            claimed = reset_tokens.claim_mail(
                conn, context.clock.now(), reset_lifetime=context.reset_lifetime
            )
        if claimed is None:
            break
        failed = _send(context, server, *claimed)
        _settle(context, claimed[0], failed)
        done += 1
        if failed and failed.is_unavailable:
            break
    return done


def run_quietly(context: Context) -> int:
    """For the job loop, which logs what is not 0."""
    run_once(context)
    return 0


def _send(context: Context, server: MailServer, mail: Row, secret: str) -> MailError | None:
    try:
        mails.deliver(context.render, server, mail, secret, context.clock.now())
    except MailError as failed:
        return failed
    except Exception as error:  # noqa: BLE001  a bug must not leave the others waiting
        error_id = log_error(
            context.get_logger("mails"), f"sending mail {mail['id']} failed", error
        )
        return MailError(describe_fault(error_id))
    return None


def _settle(context: Context, mail: Row, failed: MailError | None) -> None:
    with context.database.autocommit() as conn:
        result = mails.settle(conn, mail, failed, context.clock.now())
    metric_result = "failed" if result == "waiting" else result
    context.telemetry.deliveries.count_mail(mail["kind"], metric_result)
    logger = context.get_logger("mails")
    if failed is None:
        logger.info("mail %d (%s) is sent", mail["id"], mail["kind"])
    else:
        what = "is given up" if result == "given up" else "is tried again later"
        logger.warn("mail %d (%s) %s: %s", mail["id"], mail["kind"], what, failed.text)
