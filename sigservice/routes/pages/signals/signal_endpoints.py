"""Signal endpoints, pages: list, create, edit, enable, disable, delete."""

from collections import Counter
from operator import itemgetter
from typing import Any

from sigservice import senders
from sigservice.repository.actions import action_runs, action_sets
from sigservice.repository.rules import alert_rules
from sigservice.repository.signals import (
    refused_calls,
    signal_endpoint_tokens,
    signals,
)
from sigservice.repository.signals import signal_endpoints as signal_endpoint_rows
from sigservice.repository.system import home
from sigservice.routes.admin.signals.signal_endpoint_tokens import create_token_of
from sigservice.routes.admin.signals.signal_endpoints import NewEndpoint
from sigservice.routes.pages.signals import endpoint_options_form
from sigservice.routes.pages.signals.endpoint_setup import make_secret_page
from sigservice.routes.pages.signals.endpoint_tabs import (
    ONE,
    PATH,
    find_endpoint,
    make_breadcrumbs,
    make_tab_page,
)
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints
from sigservice.services.signals.endpoint_options import parse_options
from sigservice.services.signals.signal_endpoint_tokens import TokenFields
from sigservice.services.signals.signal_summaries import (
    Summarizer,
    make_summarizers,
    summarize_row,
)
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row, ShownOnce, request
from sigservice.web.form_pages import Body, Confirmation, confirms, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, locate_problems, read, to_form
from sigservice.web.links import make_signal_url
from sigservice.web.resource_limits import explain_reached_limit, make_limit_page
from sigservice.web.sparkline import build_bars, build_marks
from sigservice.web.tables import Cell, Column, make_table
from sigservice.wording import plural

MAX_COUNT = 10_000
NOTICES = {
    "saved": "Signal endpoint saved.",
    "deleted": "Signal endpoint deleted.",
    "on": "Signal endpoint enabled.",
    "off": "Signal endpoint disabled.",
}
FIELDS = [
    Field(
        "name",
        "Name",
        hint="Part of the URL; renaming breaks existing senders. "
        "Lower-case letters, digits, - and _",
        is_required=True,
    ),
    Field("description", "Description", hint="Optional. What sends here."),
    Field("enabled", "Enabled", type="checkbox"),
]
SENDER_HINT = (
    "Presets the rate limit, the idempotency key and the summary. You can change them later. "
    "Senders that aren't listed work without presets."
)
CURRENT_SENDER_HINT = (
    "What Setup shows, and what fires and resolves an alert in a release. The options below stay."
)
TOKEN_FIELD = Field(
    "token",
    "Token",
    type="radio",
    choices=(("now", "Create a token now"), ("later", "Later")),
    choice_hints={"now": "Senders need a token. It is shown once, after you create it."},
)
TOKEN_NAME_FIELD = Field("token_name", "Token name", hint="e.g. alertmanager-eu")

COLUMNS = (
    Column(
        "Name",
        lambda row: Cell(
            row["name"],
            f"{PATH}/{row['id']}/log",
            hint=row["description"] or "",
            template="signals/signal_endpoints/name_cell.tpl",
        ),
    ),
    Column("System", lambda row: Cell(badges=_list_senders(row))),
    Column(
        "Last signal",
        lambda row: Cell(
            row["last_text"],
            row["last_path"],
            at=row["last_at"],
            missing="never",
            hint="silent: an alert rule fires" if row["is_silent"] else "",
        ),
    ),
    Column("24 h", lambda _: Cell(template="signals/signal_endpoints/chart_cell.tpl")),
    Column("Switches", lambda row: Cell(plural(row["sets"], "automation") if row["sets"] else "")),
    Column("Refused", lambda row: Cell(state=_describe_refused(row), missing="")),
    Column("State", lambda _: Cell(template="signals/signal_endpoints/switch_cell.tpl")),
)

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=ADMIN)
def list_signal_endpoints(context: Context, identity: Identity) -> Page:
    with context.database.transaction() as conn:
        rows = signal_endpoint_rows.list_all(conn)
        tokens = Counter(t["signal_endpoint_id"] for t in signal_endpoint_tokens.list_all(conn))
        last = {row["endpoint_id"]: row for row in signals.list_last(conn)}
        hours = signals.count_by_hour(conn)
        run_hours = action_runs.count_by_hour(conn)
        sets = Counter(row["endpoint_id"] for row in action_sets.list_all(conn) if row["enabled"])
        refused = {row["endpoint_id"]: row["calls"] for row in refused_calls.count(conn)}
        silent_ids = {row["id"] for row in home.list_silent_endpoints(conn)}
    summarizers = make_summarizers(rows)
    endpoints = []
    for row in rows:
        id = row["id"]
        counts = {hour["hours_ago"]: hour["signals"] for hour in hours if hour["endpoint_id"] == id}
        runs = {hour["hours_ago"]: hour["runs"] for hour in run_hours if hour["endpoint_id"] == id}
        total, run_total = sum(counts.values()), sum(runs.values())
        run_text = f" and {plural(run_total, 'run')}" if run_total else ""
        endpoints.append(
            row
            | _describe_last(last.get(id), summarizers[id])
            | {
                "tokens": tokens[id],
                "sets": sets[id],
                "refused": refused.get(id, 0),
                "is_silent": id in silent_ids,
                "bars": build_bars(counts),
                "marks": build_marks(runs),
                "chart_label": f"{plural(total, 'signal')}{run_text} in the last 24 hours",
                "total": total,
            }
        )
    return Page(
        "signals/signal_endpoints/list",
        title="Signal endpoints",
        endpoints=endpoints,
        table=make_table("endpoints", COLUMNS, endpoints, _make_links, itemgetter("name")),
        limit_text=_explain_limit(context, len(endpoints)),
    )


def _describe_last(signal: Row | None, summarizer: Summarizer) -> dict[str, Any]:
    """What the newest signal says, such as `InferenceDown firing`, with its page and time."""
    if signal is None:
        return {"last_text": "", "last_path": "", "last_at": None}
    summary = summarize_row(summarizer, signal)
    return {
        "last_text": f"{summary.name_alert()[0] or 'a signal'} {summary.status}".strip(),
        "last_path": f"{PATH}/{signal['endpoint_id']}/log/{signal['id']}",
        "last_at": signal["created_at"],
    }


def _describe_refused(row: Row) -> tuple[str, str] | None:
    return (f"✕ {row['refused']:,}", "broken") if row["refused"] else None


def _make_links(row: Row) -> list[tuple[str, str]]:
    path = f"{PATH}/{row['id']}"
    refused = [("See the refused calls of", f"{path}/refused")] if row["refused"] else []
    return [
        ("View signals of", f"{path}/log"),
        *refused,
        ("Set up the sender of", f"{path}/setup"),
        ("Edit", f"{path}/settings"),
        ("Send a test signal to", f"{path}/send"),
        ("Delete", f"{path}/delete"),
    ]


@router.get(f"{PATH}/new", needs=ADMIN)
def show_new_signal_endpoint(context: Context, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    with context.database.autocommit() as conn:
        count = len(signal_endpoint_rows.list_all(conn))
    if text := _explain_limit(context, count) if not entry.form else "":
        back = ("Signal endpoints", PATH)
        return make_limit_page("New signal endpoint", text, back)
    texts = entry.form or {"enabled": "on", "token": "now"}
    url = make_signal_url(context, request.environ, texts.get("name") or "NAME")
    return Page(
        "signals/signal_endpoints/new",
        title="New signal endpoint",
        breadcrumbs=[("Signal endpoints", PATH)],
        fields=fill([_make_sender_field("No presets", SENDER_HINT), *FIELDS], texts),
        call_url=Field("call-url", "Webhook URL", url),
        token_fields=fill([TOKEN_FIELD, TOKEN_NAME_FIELD], texts),
    )


@router.post(f"{PATH}/new", needs=ADMIN)
@shows_errors_in(show_new_signal_endpoint)
def create_signal_endpoint(context: Context, identity: Identity, form: Form) -> ShownOnce | str:
    body, limits = read(form, NewEndpoint), context.config["signals"]
    token_name = form.get("token_name", "").strip() if form.get("token") == "now" else None
    body.apply_template()
    with context.database.transaction() as conn:
        endpoint = signal_endpoints.create(
            conn,
            signal_endpoints.check_fields(body, token_name=token_name),
            identity,
            limit=limits["endpointsLimit"],
        )
        if token_name is not None:
            fields = TokenFields(token_name)
            token, secret = create_token_of(context, conn, endpoint["id"], fields, identity)
    if token_name is None:
        return f"{PATH}/{endpoint['id']}/setup?done=created"
    return make_secret_page(context, endpoint["id"], token, secret)


@router.get(f"{ONE}/settings", needs=ADMIN)
def show_settings(context: Context, identity: Identity, id: int, entry: Entry = NO_ENTRY) -> Page:
    with context.database.transaction() as conn:
        endpoint = find_endpoint(conn, id)
    options = parse_options(endpoint["options"])
    existing = to_form(endpoint) | endpoint_options_form.make_form(options)
    texts = entry.form or existing
    problems = locate_problems(entry.error.details, texts) if entry.error else []
    return make_tab_page(
        "signals/signal_endpoints/settings",
        endpoint,
        "settings",
        fields=fill([*FIELDS, _make_sender_field("Not listed", CURRENT_SENDER_HINT)], texts),
        option_groups=endpoint_options_form.make_groups(texts, context.config["signals"]),
        are_options_open=endpoint_options_form.has_problems(problems),
    )


@router.post(f"{ONE}/settings", needs=ADMIN)
@shows_errors_in(show_settings)
def update_settings(context: Context, identity: Identity, id: int, form: Form) -> str:
    own = {name: text for name, text in form.items() if "." not in name}
    body = read(own, signal_endpoints.Endpoint)
    senders.check_name(body.template)
    with context.database.transaction() as conn:
        body.options = endpoint_options_form.read_options(form)
        signal_endpoints.update(conn, id, signal_endpoints.check_fields(body), identity)
    return f"{PATH}/{id}/settings?done=saved"


@router.post(f"{ONE}/<is_enabled:switch>", needs=ADMIN)
def switch_signal_endpoint(
    conn: Connection, identity: Identity, id: int, is_enabled: bool, form: Form
) -> str:
    signal_endpoints.set_enabled(conn, id, is_enabled, identity)
    return f"{PATH}?done={'on' if is_enabled else 'off'}"


@confirms(router, f"{ONE}/delete", needs=ADMIN)
def delete_signal_endpoint(conn: Connection, identity: Identity, id: int) -> Confirmation:
    endpoint = signal_endpoints.get(conn, id)
    tokens = signal_endpoint_tokens.list_for_endpoint(conn, id)
    count = signals.count_for_endpoint(conn, id, limit=MAX_COUNT)
    names = ", ".join(token["name"] for token in tokens)
    body: Body = [
        "This permanently deletes:",
        [
            ("the webhook URL; senders will get 401", ""),
            (f"{plural(len(tokens), 'token')}{f': {names}' if names else ''}", ""),
            (f"{count} or more signals" if count == MAX_COUNT else plural(count, "signal"), ""),
        ],
    ]
    rules = [row["name"] for row in alert_rules.list_all(conn) if row["endpoint_id"] == id]
    if rules:
        body = [*body, "Its alert rules are deleted too:", [(name, "") for name in rules]]
    if sets := action_sets.list_of_endpoint(conn, id):
        body = [
            *body,
            "These action sets are triggered by it and won't run again until you choose another "
            "endpoint:",
            [
                (
                    f"{row['name']} in {row['project']}{'' if row['enabled'] else ' (off)'}",
                    f"/admin/projects/{row['project']}/actions/{row['id']}",
                )
                for row in sets
            ],
        ]
    text = "To stop receiving signals but keep the existing ones, disable the endpoint instead."
    return Confirmation(
        f"Delete {endpoint['name']}?",
        [*body, text],
        "Delete signal endpoint",
        f"{PATH}/{id}/settings",
        lambda: signal_endpoints.delete(conn, id, identity),
        f"{PATH}?done=deleted",
        breadcrumbs=make_breadcrumbs(endpoint),
    )


def _explain_limit(context: Context, count: int) -> str:
    limit = context.config["signals"]["endpointsLimit"]
    return explain_reached_limit("signal endpoint", count, limit, "signals.endpointsLimit")


def _make_sender_field(blank: str, hint: str) -> Field:
    titles = [(name, sender.title) for name, sender in senders.list_external().items()]
    choices = [("", blank), *titles]
    return Field("template", "Sender", type="select", hint=hint, choices=choices)


def _list_senders(row: Row) -> list[str]:
    sender = senders.SENDERS.get(row["template"] or "")
    return [sender.title] if sender else []
