"""The form of a new release, and what would have happened in the last two days."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice.errors import BadDataError
from sigservice.repository.projects import environments
from sigservice.repository.rules import metric_sources
from sigservice.repository.signals import signal_endpoints
from sigservice.repository.transfer import definitions
from sigservice.routes.admin.releases.releases import (
    read_for_guards,
    read_surroundings,
    store_release,
)
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.releases import release_form_fields as fields
from sigservice.routes.pages.releases import release_form_values as values
from sigservice.routes.pages.releases.guard_preview import make_preview_view
from sigservice.routes.pages.releases.release_form_fields import GuardChoices
from sigservice.routes.pages.releases.releases import PLACE, make_breadcrumbs, name_strategy
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.identity import EDIT, Identity
from sigservice.services.releases import releases
from sigservice.services.releases.edits import ROLLOUT_TYPE
from sigservice.services.releases.step_patterns import CAREFUL, PATTERNS, StepPattern
from sigservice.web import Connection, Context, Page, PageGuard, Router, read_query, request
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, fill, make_choices, read_id
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path

NEW = f"{PLACE}/new"
MAX_SUGGESTED = 1000  # names of flags
BUTTONS = (values.ADD, values.USE)

router = Router(PageGuard)


@router.get("/admin/releases/new", needs=EDIT)
def choose_flag(conn: Connection, identity: Identity) -> Page | str:
    """Leads to the form of the flag and environment of the query."""
    query = read_query(request.environ)
    name, environment = query.get("flag", "").strip(), query.get("environment", "")
    names = definitions.list_feature_names(conn)
    places = environments.list_enabled_names(conn)
    error = None
    if "flag" in query and name not in names:
        error = BadDataError("There is no flag with this name.", path="flag")
    elif "flag" in query and environment not in places:
        error = BadDataError("There is no such environment.", path="environment")
    elif "flag" in query:
        place = ("/admin/features", name, "environments", environment, "releases", "new")
        return join_path(*place)
    return Page(
        "releases/new",
        form_error=error,
        title="New release",
        breadcrumbs=[("Releases", "/admin/releases")],
        fields=fill(fields.make_flag_fields(places), query),
        names=names[:MAX_SUGGESTED],
    )


@router.get(NEW, needs=EDIT)
def show_new_release(
    context: Context,
    identity: Identity,
    name: str,
    environment: str,
    entry: Entry = NO_ENTRY,
    preview: Mapping[str, Any] | None = None,
) -> Page:
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        existing = strategies.list_strategies(conn, target)
        endpoints = [(str(row["id"]), row["name"]) for row in signal_endpoints.list_all(conn)]
        sources = make_choices(row["name"] for row in metric_sources.list_all(conn))
        rollouts = [strategy for strategy in existing if strategy["name"] == ROLLOUT_TYPE]
        form = entry.form or _make_form(conn, target, rollouts)
    form = values.apply_button(form, environment)
    return Page(
        "releases/form",
        title=f"New release of {name} in {environment}",
        heading="New release",
        breadcrumbs=make_breadcrumbs(name),
        flag_environment=target,
        path=flag_path(name),
        patterns=[_describe_pattern(pattern) for pattern in PATTERNS],
        strategy=fields.make_strategy_field(
            [(strategy["id"], name_strategy(strategy)) for strategy in rollouts], form
        ),
        steps=fields.make_steps_section(form),
        guards=fields.make_guards_section(form, GuardChoices(endpoints, sources)),
        no_data=fill([fields.NO_DATA_FIELD], form),
        start=fill(fields.START_FIELDS, form),
        days=fill(fields.DAY_FIELDS, form),
        hours=fill(fields.HOUR_FIELDS, form),
        preview=preview,
    )


@router.post(NEW, needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_new_release)
def create_release(
    context: Context, identity: Identity, name: str, environment: str, form: Form
) -> Page | str:
    do = form.get("do", "")
    if do.startswith(BUTTONS):
        return show_new_release(context, identity, name, environment, Entry(form))
    body = values.read_body(form, environment)
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
    if do == "preview":
        readings = read_for_guards(context, target, body.guards, identity, is_preview=True)
        surroundings = read_surroundings(context, readings)
        with context.database.transaction() as conn:
            preview = releases.preview(conn, target, body, surroundings)
            endpoints = {str(row["id"]): row["name"] for row in signal_endpoints.list_all(conn)}
        guards = msgspec.to_builtins(body.guards)
        view = make_preview_view(preview, guards, endpoints, context.clock.now())
        return show_new_release(context, identity, name, environment, Entry(form), view)
    row = store_release(context, target, body, identity)
    path = join_path("/admin/features", name, "environments", environment, "releases", row["id"])
    return f"{path}?done=release-created"


def _make_form(conn: Connection, target: FeatureEnvironment, rollouts: list[Any]) -> Form:
    """The texts of a new release; `like` of the query is the ID of one to start again."""
    id = read_id(read_query(request.environ).get("like", ""))
    if id:
        return values.make_form(releases.make_plan(releases.get(conn, target, id)))
    texts = [str(strategy["parameters"].get("rollout", "")) for strategy in rollouts]
    numbers = [int(text) for text in texts if text.isdecimal()]
    return values.make_new_form(CAREFUL.steps, numbers[0] if len(numbers) == 1 else 0)


def _describe_pattern(pattern: StepPattern) -> tuple[str, str, str]:
    """(name, percentages, description)."""
    percentages = ", ".join(str(step.rollout) for step in pattern.steps)
    return pattern.name, f"{percentages}%", pattern.description
