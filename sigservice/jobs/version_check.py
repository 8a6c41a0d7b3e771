"""Fetches the latest version; each process keeps the result in memory."""

from sigservice.context import Context
from sigservice.outgoing.addresses import DestinationError
from sigservice.outgoing.post import DeliveryError
from sigservice.outgoing.proxies import Proxies
from sigservice.services.system import settings, version_check


def run_once(context: Context) -> None:
    logger = context.get_logger("version")
    with context.database.autocommit() as conn:
        instance_id = settings.find_instance_id(conn)
    try:
        url = context.config["versionCheck"]["url"]
        report = version_check.fetch_versions(url, instance_id, Proxies.from_config(context.config))
    except (DestinationError, DeliveryError) as error:
        logger.info("version check failed: %s", error)
        return
    context.version_status.update(report)
    if newer_version := context.version_status.newer_version:
        logger.info("version %s is available", newer_version)
