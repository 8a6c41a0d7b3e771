"""What people on call do about an alert that holds flags: turn them back on, keep them off."""

from dataclasses import replace
from urllib.parse import urlencode

from sigservice.db import Connection
from sigservice.routes.pages.flag_questions import (
    BREADCRUMBS,
    LEAVE,
    REASON_FIELD,
    add_reason,
    join_names,
    make_alert_question,
    settle_alerts,
)
from sigservice.services.actions import action_runs, firing_alerts, held_flags
from sigservice.services.actions.firing_alerts import MAX_HELD
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.feature_switches import SwitchBatch
from sigservice.services.identity import EDIT, Identity
from sigservice.web import Context, PageGuard, Router
from sigservice.web.form_pages import Confirmation, confirms
from sigservice.web.forms import Form, fill
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path

RUN = "/admin/projects/<project>/actions/<set_id:id>/runs/<run_id:id>"

router = Router(PageGuard)


@confirms(router, f"{RUN}/turn-on", needs=EDIT, has_form=True)
def turn_back_on(
    context: Context,
    conn: Connection,
    identity: Identity,
    project: str,
    set_id: int,
    run_id: int,
    form: Form,
) -> Confirmation:
    """Asks as the switch does if the alert still fires."""
    targets, by = _list_targets(conn, identity, project, set_id, run_id), add_reason(identity, form)
    now = context.clock.now()
    names = join_names(sorted({target.feature for target in targets}))
    places = join_names(sorted({target.environment for target in targets}))

    def turn_on() -> None:
        if not settle_alerts(conn, by, form, targets, now, "/"):
            return
        batch = SwitchBatch(conn, targets)
        for target in targets:
            batch.switch(target, True, by)
        batch.write()

    done = "/" if form.get("alert") == LEAVE else "/?done=turned-on"
    if rows := firing_alerts.list_firing(conn, identity, targets):
        question = make_alert_question(by, rows, now, "/")
        fields = fill(question.fields, {"alert": LEAVE} | form)
        return replace(question, perform=turn_on, done=done, fields=fields)
    return Confirmation(
        f"Turn {names} back on in {places}?" if targets else "The alert holds no flag off.",
        ["The alert is over." if targets else "They are on, or a user keeps them off."],
        "Turn back on" if targets else "",
        "/",
        turn_on,
        done,
        fields=fill([REASON_FIELD], form),
        is_dangerous=False,
        breadcrumbs=BREADCRUMBS,
    )


def _list_targets(
    conn: Connection, by: Identity, project: str, set_id: int, run_id: int
) -> list[FeatureEnvironment]:
    """The flags that the alert of the run holds off."""
    run = action_runs.get(conn, project, set_id, run_id)
    rows = held_flags.list_held_flags(conn, by, limit=MAX_HELD)
    places = {
        (row["feature"], row["environment"])
        for row in rows
        if (row["action_set_id"], row["key"]) == (set_id, run["alert_key"]) and not row["enabled"]
    }
    return [FeatureEnvironment(project, *place) for place in sorted(places)]


@router.post(f"{RUN}/keep-off", needs=EDIT)
def keep_flags_off(
    conn: Connection, identity: Identity, project: str, set_id: int, run_id: int, form: Form
) -> str:
    """All flags of the alert, or the one that the form of its page names."""
    run = action_runs.get(conn, project, set_id, run_id)
    feature, environment = form.get("feature"), form.get("environment")
    held_flags.keep_off(conn, run, identity, feature=feature, environment=environment)
    if feature:
        return f"{flag_path(feature)}?{urlencode({'env': environment or '', 'done': 'kept-off'})}"
    return "/?done=kept-off"


@router.get(f"{RUN}/keep-off", needs=EDIT)
def redirect_to_run(
    conn: Connection, identity: Identity, project: str, set_id: int, run_id: int
) -> str:
    """For a reload after a conflict."""
    return join_path("/admin/projects", project, "actions", set_id, "runs", run_id)
