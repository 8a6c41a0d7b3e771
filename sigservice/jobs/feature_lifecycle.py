"""Stores the stages that flags have reached, apart from the reports of SDKs that show it."""

from sigservice.context import Context
from sigservice.repository.flags import feature_lifecycle


def run_once(context: Context) -> int:
    """Returns 0, so that nothing is logged."""
    with context.database.autocommit() as conn:
        feature_lifecycle.add_reached(conn)
    return 0
