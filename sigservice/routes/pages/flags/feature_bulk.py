"""Changes of several flags at once, from the list of flags."""

from collections.abc import Sequence

from sigservice.db.pool import Connection
from sigservice.errors import BadDataError, NotFoundError
from sigservice.repository.flags import features as feature_rows
from sigservice.routes.pages.flags.feature_page import BULK_CHANGES, list_path
from sigservice.services.flags import feature_switches, feature_tags, features
from sigservice.services.flags.feature_tags import Tag
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond
from sigservice.web.form_pages import Confirmation, render_confirmation
from sigservice.web.forms import Form
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.wording import plural

MAX_FLAGS = 50  # of a page

router = Router(PageGuard)


@router.post("/admin/features/bulk", needs=EDIT, **GROWING_FORM)
def change_features(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    names = [name.removeprefix("flag.") for name in form if name.startswith("flag.")]
    change, _, environment = form.get("change", "").partition(":")
    if not names or len(names) > MAX_FLAGS:
        raise BadDataError(f"Select 1 to {MAX_FLAGS} flags.")
    if change not in BULK_CHANGES:
        raise BadDataError("Choose what to change.", path="change")
    with context.database.transaction() as conn:
        by_project = _group_by_project(conn, names)
        needs_confirmation = change == "archive" or (
            change in ("on", "off") and must_confirm(conn, environment, [*by_project])
        )
        if needs_confirmation and "confirmed" not in form:
            return _ask_first(context, identity, form, names, change, environment)
        for project, group in by_project.items():
            if change == "archive":
                features.archive(conn, project, group, identity)
            elif change in ("stale", "active"):
                features.set_stale(conn, project, group, change == "stale", identity)
            elif change != "tag":
                is_on = change == "on"
                feature_switches.switch_all(conn, project, environment, group, is_on, identity)
        if change == "tag":
            feature_tags.change(conn, names, identity, add=[_parse_tag(form.get("tag", ""))])
    done = {"done": "bulk", "change": change, "count": str(len(names))}
    return respond.redirect(context, list_path(form.get("back", ""), **done))


def _group_by_project(conn: Connection, names: Sequence[str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    rows = feature_rows.list_by_name(conn, list(names))
    for row in rows:
        groups.setdefault(row["project"], []).append(row["name"])
    if missing := set(names) - {row["name"] for row in rows}:
        raise NotFoundError(f"Flag {min(missing)} not found.")
    return groups


def _parse_tag(text: str) -> Tag:
    type, colon, value = text.strip().partition(":")
    if not colon:
        raise BadDataError(f'"{text}" must be in the form type:value.', path="tag")
    return Tag(type.strip(), value.strip())


def _ask_first(
    context: Context,
    identity: Identity,
    form: Form,
    names: Sequence[str],
    change: str,
    environment: str,
) -> HTTPResponse:
    verb = {"archive": "Archive", "on": "Enable", "off": "Disable"}[change]
    place = f" in {environment}" if environment else ""
    back = form.get("back", "")
    hidden = {"confirmed": "on", "change": form["change"], "back": back}
    confirmation = Confirmation(
        f"{verb} {plural(len(names), 'flag')}{place}?",
        [[(name, "") for name in names]],
        verb,
        list_path(back),
        hidden=hidden | {f"flag.{name}": "on" for name in names},
        is_dangerous=False,
        breadcrumbs=[("Flags", "/admin/features")],
    )
    return render_confirmation(context, identity, confirmation)
