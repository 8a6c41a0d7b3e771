"""Silence of an endpoint, page: its state, the rule, the last notifications."""

from sigservice.repository import channels
from sigservice.repository import outbox as message_rows
from sigservice.routes.pages.signals import silence_form
from sigservice.routes.pages.signals.channel_section import describe_notification
from sigservice.routes.pages.signals.endpoint_tabs import ONE, find_endpoint, make_tab_page
from sigservice.services.channel_delivery import DeliverySettings
from sigservice.services.identity import ADMIN, Identity
from sigservice.services.signals import signal_endpoints
from sigservice.services.signals.endpoint_options import parse_options
from sigservice.services.signals.silence_changes import KIND
from sigservice.web import Connection, Context, Page, PageGuard, Router
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form
from sigservice.web.growing_forms import GROWING_FORM

PATH = f"{ONE}/silence"
MAX_LISTED = 20
NOTICES = {"saved": "Saved. The state follows within five seconds."}

router = Router(PageGuard, notices=NOTICES)


@router.get(PATH, needs=ADMIN)
def show_silence(conn: Connection, identity: Identity, id: int, entry: Entry = NO_ENTRY) -> Page:
    endpoint = find_endpoint(conn, id)
    rows = message_rows.list_newest(conn, KIND, id, limit=MAX_LISTED)
    integrations = channels.list_all(conn)
    rule = parse_options(endpoint["options"]).silence
    return make_tab_page(
        "signals/silence/form",
        endpoint,
        "silence",
        notifications=[describe_notification(row) for row in rows],
        **silence_form.make_parts(entry.form or silence_form.make_form(rule), integrations),
    )


@router.post(PATH, needs=ADMIN, **GROWING_FORM)
@shows_errors_in(show_silence)
def update_silence(context: Context, identity: Identity, id: int, form: Form) -> str:
    policy = DeliverySettings.from_config(context.config).policy
    rule = silence_form.read_rule(form)
    with context.database.transaction() as conn:
        signal_endpoints.set_silence(conn, id, rule, identity, policy=policy)
    return f"/admin/signals/{id}/silence?done=saved"
