"""The form that changes the guards of a release."""

from sigservice.errors import ConflictError
from sigservice.repository.rules import metric_sources
from sigservice.repository.signals import signal_endpoints
from sigservice.routes.admin.releases.releases import store_guards
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.releases import release_form_fields as fields
from sigservice.routes.pages.releases import release_form_values as values
from sigservice.routes.pages.releases.release_form_fields import GuardChoices
from sigservice.routes.pages.releases.release_questions import REASON, find_back
from sigservice.routes.pages.releases.releases import RELEASE, make_breadcrumbs
from sigservice.services.identity import EDIT, Identity
from sigservice.services.releases import releases
from sigservice.services.releases.guard_edits import GuardChanges
from sigservice.web import Context, Page, PageGuard, Router, read_query, request
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill, make_choices, read_id
from sigservice.web.growing_forms import GROWING_FORM

GUARDS = f"{RELEASE}/guards/edit"
HIDDEN = ("step", "guardIds", "back")

router = Router(PageGuard)


@router.get(GUARDS, needs=EDIT)
def show_guard_form(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    release_id: int,
    entry: Entry = NO_ENTRY,
) -> Page:
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        release = releases.to_json(releases.get(conn, target, release_id))
        endpoints = [(str(row["id"]), row["name"]) for row in signal_endpoints.list_all(conn)]
        sources = make_choices(row["name"] for row in metric_sources.list_all(conn))
    if release["state"] not in releases.ACTIVE:
        raise ConflictError("The release has ended.")
    form = values.apply_button(entry.form, environment) or {
        **values.make_guards_form(release["guards"]),
        "step": str(release["step"]),
        "guardIds": " ".join(str(guard["id"]) for guard in release["guards"]),
        "back": read_query(request.environ).get("back", ""),
    }
    return Page(
        "releases/guard_form",
        title=f"Edit guards of release {release_id} of {name} in {environment}",
        breadcrumbs=make_breadcrumbs(name),
        environment=environment,
        guards=fields.make_guards_section(form, GuardChoices(endpoints, sources)),
        reason=fill([REASON], form),
        hidden={name: form.get(name, "") for name in HIDDEN},
        path=find_back(name, environment, release_id, form.get("back", "")),
    )


@router.post(GUARDS, needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_guard_form)
def update_guards(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    release_id: int,
    form: Form,
) -> Page | str:
    if form.get("do", "").startswith(values.ADD):
        return show_guard_form(context, identity, name, environment, release_id, Entry(form))
    body = values.read_guards(
        form, GuardChanges, guardIds=[read_id(id) for id in form.get("guardIds", "").split()]
    )
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
    store_guards(context, target, release_id, body, identity)
    back = form.get("back", "")
    return find_back(name, environment, release_id, back, done="release-guards")
