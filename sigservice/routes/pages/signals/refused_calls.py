"""Refused calls of signal endpoints, pages: of one endpoint, and of names that no endpoint has."""

from collections.abc import Sequence
from operator import itemgetter

from sigservice.repository.signals import refused_calls
from sigservice.routes.pages.signals.endpoint_tabs import ONE, PATH, find_endpoint, make_tab_page
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import Connection, Page, PageGuard, Router, Row
from sigservice.web.tables import Cell, Column, Table, make_list_page, make_table

HINT = (
    "Calls that stored no signal, counted by caller and reason. New ones appear after a few"
    " seconds."
)
COLUMNS = (
    Column("Reason", lambda row: Cell(row["reason"])),
    Column("Status", lambda row: Cell(str(row["status"]))),
    Column("Calls", lambda row: Cell(f"{row['calls']:,}")),
    Column("Last", lambda row: Cell(at=row["last_at"])),
    Column("First", lambda row: Cell(at=row["first_at"])),
    Column("Token", lambda row: Cell(f"{row['secret_prefix']}…" if row["secret_prefix"] else "")),
    Column("From", lambda row: Cell(row["address"] or "", hint=row["user_agent"] or "")),
)
NAME_COLUMN = Column("Name", lambda row: Cell(row["endpoint_name"] or ""))

router = Router(PageGuard)


@router.get(f"{ONE}/refused", needs=ADMIN)
def list_refused_calls_of_endpoint(conn: Connection, identity: Identity, id: int) -> Page:
    endpoint = find_endpoint(conn, id)
    rows = refused_calls.list_of_endpoint(conn, id)
    return make_tab_page(
        "signals/refused_calls/list",
        endpoint,
        "refused",
        hint=HINT,
        table=_make_table(COLUMNS, rows),
    )


@router.get(f"{PATH}/refused", needs=ADMIN, autocommit=True)
def list_refused_calls_of_unknown_names(conn: Connection, identity: Identity) -> Page:
    rows = refused_calls.list_of_endpoint(conn, None)
    return make_list_page(
        [_make_table([*COLUMNS[:1], NAME_COLUMN, *COLUMNS[1:]], rows)],
        title="Refused calls of unknown endpoints",
        hint=HINT,
        breadcrumbs=[("Signal endpoints", PATH)],
    )


def _make_table(columns: Sequence[Column], rows: list[Row]) -> Table:
    return make_table(
        "calls", columns, rows, None, itemgetter("reason"), empty="No calls were refused."
    )
