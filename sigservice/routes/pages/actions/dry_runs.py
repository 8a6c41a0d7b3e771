"""Testing an action set with a stored signal or a payload, page."""

from typing import Any

import msgspec

from sigservice import payload
from sigservice.errors import BadDataError
from sigservice.repository.signals import signal_endpoints, signals
from sigservice.routes.pages.actions.action_sets import make_breadcrumbs
from sigservice.services.actions import action_sets, action_summaries, dry_runs, schedules
from sigservice.services.actions.action_filters import Filter
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_storage
from sigservice.services.signals.signal_summaries import make_summarizer, shorten, summarize_row
from sigservice.web import Connection, Context, Page, PageGuard, Router, Row, read_query, request
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill
from sigservice.web.helpers import readable

TEST = "/admin/projects/<project>/actions/<set_id:id>/test"
MAX_SIGNALS, MAX_CHOICE_LENGTH = 20, 100
PAYLOAD_FIELD = Field(
    "payload",
    "Payload",
    type="textarea",
    hint="JSON. Used if no signal is selected.",
    attributes={"rows": 8},
)

router = Router(PageGuard)


@router.get(TEST, needs=ADMIN)
def show_test(
    context: Context,
    identity: Identity,
    project: str,
    set_id: int,
    entry: Entry = NO_ENTRY,
    result: dict[str, Any] | None = None,
) -> Page:
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
        endpoint = signal_endpoints.find(conn, row["endpoint_id"])
        newest = signals.list_for_endpoint(conn, row["endpoint_id"], before=None, limit=MAX_SIGNALS)
    is_scheduled = schedules.read_schedule(row) is not None
    signal_field = _make_signal_field(endpoint, newest)
    texts = entry.form or {"signal": read_query(request.environ).get("signal", "")}
    return Page(
        "actions/action_sets/test",
        problems=[{"message": entry.error.message, "path": "payload"}] if entry.error else [],
        title=f"Test {row['name']} in {project}",
        breadcrumbs=make_breadcrumbs(project, row),
        project=project,
        row=row,
        endpoint=endpoint,
        fields=[] if is_scheduled else fill([signal_field, PAYLOAD_FIELD], texts),
        is_scheduled=is_scheduled,
        result=result,
    )


@router.post(
    TEST, needs=ADMIN, form_limit=lambda config: 4 * config["signals"]["payloadLimit"] + 1000
)
@shows_errors_in(show_test)
def test_action_set(
    context: Context, identity: Identity, project: str, set_id: int, form: Form
) -> Page:
    limit = context.config["signals"]["payloadLimit"]
    with context.database.transaction() as conn:
        row = action_sets.get(conn, project, set_id)
        is_scheduled = schedules.read_schedule(row) is not None
        value = {} if is_scheduled else _find_payload(conn, row["endpoint_id"], form, limit)
        result = dry_runs.perform_dry_run(conn, row, value)
    view = _describe_result(result, row)
    return show_test(context, identity, project, set_id, Entry(form), result=view)


def _find_payload(conn: Connection, endpoint_id: int, form: Form, limit: int) -> Any:
    """The payload of the selected signal, else of the form. Raises BadDataError, NotFoundError."""
    if text := form.get("signal", "").strip():
        id = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
        return msgspec.json.decode(signal_storage.get(conn, endpoint_id, id)["payload"])
    text = form.get("payload", "").strip()
    data = text.encode()
    if not data:
        rows = signals.list_for_endpoint(conn, endpoint_id, before=None, limit=1)
        if not rows:
            raise BadDataError("No signal received yet. Enter a payload.")
        return msgspec.json.decode(rows[0]["payload"])
    if len(data) > limit:
        raise payload.build_too_large_error(limit)
    return payload.parse_field(text, "payload")


def _describe_result(result: dict[str, Any], row: Row) -> dict[str, Any]:
    """The result of the dry run with descriptions of filters, actions and changes."""
    filters = msgspec.json.decode(row["filters"], type=list[Filter])
    return result | {
        "filters": [
            {
                "text": action_summaries.describe_filter(filter),
                "inner": [
                    {"text": action_summaries.describe_filter(inner), **inner_item}
                    for inner, inner_item in zip(filter.any or [], item.get("any", []), strict=True)
                ],
                **item,
            }
            for filter, item in zip(filters, result["filters"], strict=True)
        ],
        "actions": [
            item
            | {
                "text": action_summaries.describe_action(item),
                "changes": [action_summaries.describe_change(change) for change in item["changes"]],
            }
            for item in result["actions"]
        ],
    }


def _make_signal_field(endpoint: Row | None, newest: list[Row]) -> Field:
    choices = [("", "The payload below")]
    if endpoint:
        choices += _make_signal_choices(endpoint, newest)
    hint = f"Latest signals of {endpoint['name']}" if endpoint else "The endpoint was deleted."
    return Field("signal", "Signal", type="select", hint=hint, choices=choices)


def _make_signal_choices(endpoint: Row, newest: list[Row]) -> list[tuple[str, str]]:
    summarizer = make_summarizer(endpoint)
    choices = []
    for signal in newest:
        summary = summarize_row(summarizer, signal)
        parts = (readable(signal["created_at"]), summary.status, summary.severity, summary.text)
        text = ", ".join(part for part in parts if part)
        choices.append((str(signal["id"]), shorten(text, MAX_CHOICE_LENGTH)))
    return choices
