"""The emergency, pages: it lists what changes before it acts."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from sigservice.crypto import secrets
from sigservice.errors import BadDataError, ConflictError
from sigservice.services.identity import ADMIN, EDIT, Identity
from sigservice.services.releases import emergency_orders
from sigservice.services.releases.emergency_orders import Order
from sigservice.services.system import emergency
from sigservice.web import Connection, Context, Page, PageGuard, Router, ShownOnce
from sigservice.web.form_pages import Confirmation, confirms, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Field, Form, fill, read
from sigservice.web.links import flag_path
from sigservice.wording import plural

PATH = "/admin/emergency"
ADMIN_FIELDS = (
    Field("freezeReleases", "Freeze releases: none starts or goes on", type="checkbox"),
    Field(
        "pauseAutomation",
        "Pause automation: alerts are stored, no flag is switched",
        type="checkbox",
    ),
)
MINUTES = {"min": 1, "max": emergency_orders.MAX_MINUTES, "step": 1}
FIELDS = (
    Field("undo", "Undo what automation did", type="checkbox"),
    Field("undoMinutes", "in the last (minutes)", type="number", attributes=MINUTES),
    Field(
        "reason",
        "Reason",
        is_required=True,
        attributes={"maxlength": "500", "autofocus": "autofocus"},
    ),
)
END_FIELD = Field(
    "endsAfterMinutes",
    "Ends after (minutes)",
    type="number",
    hint="Empty = when someone ends it.",
    attributes=MINUTES,
)
DEFAULTS = {
    "rollBackReleases": "on",
    "freezeReleases": "on",
    "undoMinutes": "60",
    "endsAfterMinutes": "60",
}

router = Router(PageGuard, notices={"ended": "It has ended."})


@router.get(PATH, needs=EDIT)
def show_emergency(context: Context, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    form = entry.form or DEFAULTS
    with context.database.transaction() as conn:
        changes = emergency_orders.list_changes(conn, _read_order(form), context.clock.now())
    count = len({change["releaseId"] for change in changes} - {None})
    roll_back = Field(
        "rollBackReleases", f"Roll back all running releases ({count})", type="checkbox"
    )
    is_admin = identity.has_permission(ADMIN)
    fields = [roll_back, *(ADMIN_FIELDS if is_admin else ()), *FIELDS]
    return Page(
        "releases/emergency",
        title="Emergency",
        fields=fill([*fields, *([END_FIELD] if is_admin else [])], form),
        list_version=_find_version(changes),
        changes=_make_views(changes),
        flag_path=flag_path,
    )


@router.post(PATH, needs=EDIT)
@shows_errors_in(show_emergency)
def act(context: Context, identity: Identity, form: Form) -> Page | ShownOnce:
    if form.get("do") != "act":
        return show_emergency(context, identity, Entry(form))
    order = _read_order(form)
    emergency_orders.check(order, identity)
    with context.database.transaction() as conn:
        changes = emergency_orders.list_changes(conn, order, context.clock.now())
    if form.get("list", "") != _find_version(changes):
        raise ConflictError("The list has changed. Check it again, then act.")
    result = emergency_orders.perform(context.database.transaction, order, identity, context.clock)
    context.signals_waiting.set()
    with context.database.autocommit() as conn:
        context.release_watch.read_emergency(conn)
    views = _make_views(result["changes"])
    page = Page(
        "releases/emergency_done",
        title="Emergency",
        sentence=_describe_result(order, result["changes"]),
        failures=[
            after
            for before, after in zip(changes, views, strict=False)
            if before["changed"] and not after["changed"]
        ],
        changes=views,
        flag_path=flag_path,
    )
    return ShownOnce(page, PATH)


@confirms(router, f"{PATH}/end", needs=ADMIN, has_form=True)
def end_emergency(
    context: Context, conn: Connection, identity: Identity, form: Form
) -> Confirmation:
    what, now = form.get("what", "freeze"), context.clock.now()
    if what not in emergency.MEMBERS:
        raise BadDataError("what must be freeze or pause.", path="what")
    noun = "freeze of releases" if what == "freeze" else "pause of automation"

    def perform() -> None:
        emergency.end(conn, what, identity, now)
        context.release_watch.read_emergency(conn)

    effect = "Releases start and go on again." if what == "freeze" else "Alerts switch flags again."
    return Confirmation(
        f"End the {noun}?",
        [effect, "Nothing is made up for."],
        "End it",
        "/",
        perform,
        "/",
        hidden={"what": what},
        is_dangerous=False,
    )


def _read_order(form: Form) -> Order:
    """Raises BadDataError."""
    undo_minutes = form.get("undoMinutes") or "0" if "undo" in form else "0"
    return read({**form, "undoMinutes": undo_minutes}, Order, dryRun=False, project=None)


def _find_version(changes: Sequence[Mapping[str, Any]]) -> str:
    return secrets.sha256(msgspec.json.encode(changes).decode()).hex()


def _make_views(changes: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            **change,
            "text": _describe_change(change),
            "cause": f"release {change['releaseId']} rolls back"
            if change["releaseId"]
            else f"undo of run {change['runId']}",
        }
        for change in changes
    ]


def _describe_change(change: Mapping[str, Any]) -> str:
    """Such as "25% → 10%", "off → on" or "stays off"."""
    before, after = change["from"], change["to"]
    state = "on" if before["enabled"] else "off"
    if before["rollout"] != after["rollout"]:
        suffix = "" if before["enabled"] else ", is off now, stays off"
        return f"{before['rollout']}% → {after['rollout']}%{suffix}"
    if before["enabled"] != after["enabled"]:
        return f"{state} → {'on' if after['enabled'] else 'off'}"
    return f"stays {state}"


def _describe_result(order: Order, changes: Sequence[Mapping[str, Any]]) -> str:
    done = [change for change in changes if change["changed"]]
    releases = sum(change["releaseId"] is not None for change in done)
    flags = {
        (change["feature"], change["environment"])
        for change in done
        if change["runId"] and change["to"]["enabled"]
    }
    duration = f" for {order.endsAfterMinutes} min" if order.endsAfterMinutes else ""
    parts = [
        f"{plural(releases, 'release')} rolled back" if order.rollBackReleases else "",
        f"{plural(len(flags), 'flag')} on" if order.undoMinutes else "",
        f"releases frozen{duration}" if order.freezeReleases else "",
        f"automation paused{duration}" if order.pauseAutomation else "",
    ]
    return f"Done: {', '.join(filter(None, parts))}."
