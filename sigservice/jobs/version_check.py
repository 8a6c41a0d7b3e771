"""Asks for the latest version; each process for itself, and what it learns it keeps in memory."""

from __future__ import annotations

from sigservice.context import Context
from sigservice.outgoing.addresses import Refused
from sigservice.outgoing.post import Failed
from sigservice.outgoing.proxies import Proxies
from sigservice.services.system import settings, version_check


def run_once(context: Context) -> int:
    logger = context.get_logger("version")
    with context.database.autocommit() as conn:
        instance_id = settings.instance_id(conn)
    try:
        url = context.config["versionCheck"]["url"]
        answer = version_check.ask(url, instance_id, Proxies.of(context.config))
    except (Refused, Failed) as error:
        logger.info("the latest version is not known: %s", error)
        return 0
    context.latest.take(answer)
    if context.latest.newer:
        logger.info("a newer version is available: %s", context.latest.newer)
    return 0
