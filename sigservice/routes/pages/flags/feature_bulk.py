"""Changes of several flags at once, from the list of flags."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository.flags import features as feature_rows
from sigservice.routes.pages.flag_questions import REASON_FIELD, add_reason, settle_alerts
from sigservice.routes.pages.flags.feature_fields import parse_tag
from sigservice.routes.pages.flags.feature_page import BULK_CHANGES, FLAG, find_feature, list_path
from sigservice.routes.pages.flags.features import list_features
from sigservice.services.flags import feature_switches, feature_tags, features
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web import Connection, Context, PageGuard, Router, Row
from sigservice.web.form_pages import Confirmation, ask_first, shows_errors_in
from sigservice.web.forms import Form, report_at
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.helpers import format_time
from sigservice.web.links import flag_path
from sigservice.wording import plural

MAX_FLAGS = 50  # of a page
MAX_UNDO_LENGTH = 2000  # of the names in the URL after flags were archived
RECENT = timedelta(hours=1)

router = Router(PageGuard)


@router.post("/admin/features", needs=EDIT, **GROWING_FORM)
@shows_errors_in(list_features)
def change_features(context: Context, identity: Identity, form: Form) -> str:
    names = [name.removeprefix("flag.") for name in form if name.startswith("flag.")]
    change, _, environment = form.get("change", "").partition(":")
    if not names or len(names) > MAX_FLAGS:
        raise BadDataError(f"Select 1 to {MAX_FLAGS} flags.")
    if change not in BULK_CHANGES:
        raise BadDataError("Choose what to change.", path="change")
    identity, now = add_reason(identity, form), context.clock.now()
    with context.database.transaction() as conn:
        by_project = _group_by_project(conn, names)
        if change == "on":
            targets = [
                FeatureEnvironment(project, name, environment)
                for project, group in by_project.items()
                for name in group
            ]
            back = list_path(form.get("back", ""))
            if not settle_alerts(conn, identity, form, targets, now, back):
                return back
        needs_confirmation = change == "archive" or (
            change in ("on", "off") and must_confirm(conn, environment, [*by_project])
        )
        if needs_confirmation and "confirmed" not in form:
            flags = feature_rows.list_by_name(conn, names)
            ask_first(form, _make_question(form, flags, change, environment, now))
        for project, group in by_project.items():
            if change == "archive":
                features.archive(conn, project, group, identity)
            elif change == "revive":
                features.revive(conn, group, identity)
            elif change == "permanent":
                features.mark_permanent(conn, project, group, identity)
            elif change != "tag":
                is_on = change == "on"
                feature_switches.switch_all(conn, project, environment, group, is_on, identity)
        if change == "tag":
            with report_at("bulk-tag"):
                feature_tags.change(conn, names, identity, add=[parse_tag(form.get("tag", ""))])
    done = {"done": "bulk", "done.change": change, "done.count": str(len(names))}
    if change == "archive" and len(",".join(names)) <= MAX_UNDO_LENGTH:
        done["done.archived"] = ",".join(names)
    return list_path(form.get("back", ""), **done)


@router.post(f"{FLAG}/permanent", needs=EDIT)
def mark_permanent(conn: Connection, identity: Identity, name: str, form: Form) -> str:
    features.mark_permanent(conn, find_feature(conn, name)["project"], [name], identity)
    if "back" in form:
        return list_path(form["back"], **{"done": "bulk", "done.change": "permanent"})
    return f"{flag_path(name)}?done=permanent"


def _group_by_project(conn: Connection, names: Sequence[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    rows = feature_rows.list_by_name(conn, list(names))
    for row in rows:
        groups.setdefault(row["project"], []).append(row["name"])
    if missing := set(names) - {row["name"] for row in rows}:
        raise NotFoundError(f"Flag {min(missing)} not found.")
    return groups


def _describe_evaluation(row: Row, now: datetime) -> str:
    seen_at = row["last_seen_at"]
    return f"last evaluated {format_time(seen_at, now)}" if seen_at else "never evaluated"


def _make_question(
    form: Form, flags: Sequence[Row], change: str, environment: str, now: datetime
) -> Confirmation:
    """Before flags are archived, it says when they were last evaluated."""
    items: list[tuple[str, str]] = [(row["name"], "") for row in flags]
    warnings = []
    if change == "archive":
        items = [(f"{row['name']}: {_describe_evaluation(row, now)}", "") for row in flags]
        count = sum(bool(t) and now - t < RECENT for t in [row["last_seen_at"] for row in flags])
        if count:
            warnings.append(
                f"Applications still use {count} of these: evaluated within the last hour."
            )
        warnings.append(
            "SDKs will evaluate archived flags as disabled. Revived flags come back disabled in"
            " every environment."
        )
    verb = {"archive": "Archive", "on": "Turn on", "off": "Turn off"}[change]
    place = f" in {environment}" if environment else ""
    return Confirmation(
        f"{verb} {plural(len(flags), 'flag')}{place}?",
        [*warnings, items],
        verb,
        list_path(form.get("back", "")),
        fields=[REASON_FIELD] if place else [],
        is_dangerous=change == "archive",
        breadcrumbs=[("Flags", "/admin/features")],
    )
