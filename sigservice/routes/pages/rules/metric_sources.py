"""Metric sources, pages: list, create, edit, run a query, delete."""

from operator import itemgetter
from typing import Any

from sigservice.repository.rules import metric_sources as source_rows
from sigservice.routes.admin.rules.metric_sources import run_query
from sigservice.services.deliveries import DeliverySettings
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.rules import metric_sources
from sigservice.services.rules.metric_sources import MAX_SOURCES, MetricSource
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row
from sigservice.web.form_pages import Body, Confirmation, confirms, shows_errors_in
from sigservice.web.forms import (
    NO_ENTRY,
    Entry,
    Field,
    Form,
    fill,
    format_pairs,
    read,
    read_pairs,
    to_form,
)
from sigservice.web.helpers import join_path
from sigservice.web.tables import Cell, Column, make_table

PATH = "/admin/integrations/metrics"
ONE = f"{PATH}/<source>"
BREADCRUMBS = [("Integrations", "/admin/integrations"), ("Metric sources", PATH)]
AUTH_TYPES = {"none": "None", "basic": "Basic", "bearer": "Bearer token"}
NOTICES = {
    "created": "Metric source created.",
    "saved": "Metric source saved.",
    "deleted": "Metric source deleted.",
}
NAME_FIELD = Field("name", "Name", is_required=True, hint="Letters, digits, and - . _ ~")
QUERY_FIELD = Field(
    "query",
    "Query",
    type="textarea",
    hint="An instant query, such as sum(rate(http_requests_total[5m])).",
    is_required=True,
)
COLUMNS = (
    Column("Name", lambda row: Cell(row["name"], row["path"])),
    Column("URL", lambda row: Cell(row["url"])),
    Column("Authentication", lambda row: Cell(row["auth_text"])),
    Column("Queried by", lambda row: Cell(row["uses_text"], missing="nothing")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=ADMIN)
def list_metric_sources(conn: Connection, identity: Identity) -> Page:
    rows = source_rows.list_all(conn)
    uses = source_rows.list_uses(conn)
    sources = [
        row
        | {
            "path": join_path(PATH, row["name"], "edit"),
            "auth_text": AUTH_TYPES[metric_sources.read(row).auth.type],
            "uses_text": ", ".join(use["text"] for use in uses if use["source"] == row["name"]),
        }
        for row in rows
    ]
    return Page(
        "rules/metric_sources/list",
        title="Metric sources",
        breadcrumbs=BREADCRUMBS[:1],
        table=make_table("metric-sources", COLUMNS, sources, _make_links, itemgetter("name")),
        limit=MAX_SOURCES,
    )


@router.get(f"{PATH}/new", needs=ADMIN)
@router.get(f"{ONE}/edit", needs=ADMIN)
@router.get(f"{ONE}/query", needs=ADMIN)
def show_metric_source(
    context: Context,
    identity: Identity,
    source: str = "",
    entry: Entry = NO_ENTRY,
    result: dict[str, Any] | None = None,
) -> Page:
    """The form of a source, with the form of a query; `entry` is either."""
    form: Form = {"auth.type": "none", "timeoutSeconds": "5"}
    if source:
        with context.database.autocommit() as conn:
            row = metric_sources.get(conn, source)
        settings = metric_sources.to_json(row)
        form = to_form(settings) | {"headers": format_pairs(settings["headers"])}
    has_secret = "auth.hasSecret" in form
    form = entry.form if "url" in entry.form else form | entry.form
    fields = _make_fields(has_secret=has_secret)
    return Page(
        "rules/metric_sources/form",
        title=f"Metric source {source}" if source else "New metric source",
        breadcrumbs=BREADCRUMBS,
        name=source,
        fields=fill(fields if source else [NAME_FIELD, *fields], form),
        query=fill([QUERY_FIELD], form),
        result=result,
        action=join_path(PATH, source, "edit") if source else f"{PATH}/new",
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_metric_source)
def create_metric_source(context: Context, identity: Identity, form: Form) -> str:
    body = read(form, MetricSource, headers=read_pairs(form, "headers"))
    policy = DeliverySettings.from_config(context.config).policy
    with context.database.transaction() as conn:
        metric_sources.create(conn, body, identity, context.encryption, policy)
    return f"{join_path(PATH, body.name, 'edit')}?done=created"


@router.post(f"{ONE}/edit", needs=ADMIN)
@shows_errors_in(show_metric_source)
def update_metric_source(context: Context, identity: Identity, source: str, form: Form) -> str:
    body = read(form, MetricSource, headers=read_pairs(form, "headers"))
    policy = DeliverySettings.from_config(context.config).policy
    with context.database.transaction() as conn:
        metric_sources.update(conn, source, body, identity, context.encryption, policy)
    return f"{join_path(PATH, source, 'edit')}?done=saved"


@router.post(f"{ONE}/query", needs=ADMIN)
@shows_errors_in(show_metric_source)
def query_metric_source(context: Context, identity: Identity, source: str, form: Form) -> Page:
    start = context.clock.monotonic()
    answer = run_query(context, source, form.get("query", "").strip())
    milliseconds = round((context.clock.monotonic() - start) * 1000)
    result = {**answer._asdict(), "milliseconds": milliseconds}
    return show_metric_source(context, identity, source, Entry(form), result)


@confirms(router, f"{ONE}/delete", needs=ADMIN)
def delete_metric_source(
    _context: Context, conn: Connection, identity: Identity, source: str
) -> Confirmation:
    metric_sources.get(conn, source)
    uses = metric_sources.list_uses(conn, source)
    body: Body = ["Its URL and secret are deleted. This can't be undone."]
    if uses:
        body = ["It can't be deleted while these query it:", [(text, "") for text in uses]]
    return Confirmation(
        f"Delete the metric source {source}?",
        body,
        "" if uses else "Delete metric source",
        join_path(PATH, source, "edit"),
        lambda: metric_sources.delete(conn, source, identity),
        f"{PATH}?done=deleted",
        cancel="Back" if uses else "Cancel",
        breadcrumbs=BREADCRUMBS,
    )


def _make_fields(*, has_secret: bool) -> list[Field]:
    hint = "A secret is stored. Leave this empty to keep it." if has_secret else ""
    secret = {"autocomplete": "new-password"}
    return [
        Field(
            "url",
            "URL",
            is_required=True,
            hint="Of Prometheus, VictoriaMetrics, Thanos or Mimir, with its path before /api/v1.",
            attributes={"placeholder": "https://prometheus.example.com", "spellcheck": "false"},
        ),
        Field("auth.type", "Authentication", type="select", choices=list(AUTH_TYPES.items())),
        Field("auth.username", "Username", hint="Of Basic."),
        Field(
            "auth.password",
            "Password",
            type="password",
            hint=hint or "Of Basic.",
            attributes=secret,
        ),
        Field(
            "auth.token", "Token", type="password", hint=hint or "Of a bearer.", attributes=secret
        ),
        Field(
            "headers",
            "Headers",
            type="textarea",
            hint="Optional, one per line, such as X-Scope-OrgID: shop. Every admin can read them.",
        ),
        Field(
            "timeoutSeconds",
            "Timeout (seconds)",
            type="number",
            attributes={"min": 1, "max": 30},
        ),
    ]


def _make_links(row: Row) -> list[tuple[str, str]]:
    return [("Edit", row["path"]), ("Delete", join_path(PATH, row["name"], "delete"))]
