"""The default strategy of a project in an environment, page."""

from dataclasses import replace
from typing import Any

from sigservice.routes.pages.flag_questions import (
    add_reason,
    compare_strategies,
    make_change_question,
)
from sigservice.routes.pages.flags.strategy_form import (
    changes_form,
    load_choices,
    make_form,
    make_form_parts,
    read_strategy,
)
from sigservice.services import revisions
from sigservice.services.flags import strategies
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import project_environments
from sigservice.services.projects.project_settings import must_confirm
from sigservice.web import Context, Page, PageGuard, Router
from sigservice.web.form_pages import ask_first, shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.helpers import join_path

PATH = "/admin/projects/<project>/environments/<environment>/default-strategy"
EFFECT = "Flags that are turned on there without a strategy get it."
EMPTY: dict[str, Any] = {"parameters": {}, "constraints": [], "segments": [], "variants": []}

router = Router(PageGuard)


@router.get(PATH, needs=EDIT)
def show_default_strategy(
    context: Context, identity: Identity, project: str, environment: str, entry: Entry = NO_ENTRY
) -> Page:
    with context.database.transaction() as conn:
        strategy = project_environments.find_default_strategy(conn, project, environment)
        choices = load_choices(conn)
    texts = entry.form or make_form(strategy, choices, "")
    parts = make_form_parts(context, texts, choices, project, entry.error)
    parts["general"] = [field for field in parts["general"] if field.name != "disabled"]
    cancel_path = join_path("/admin/projects", project, "edit")
    return Page(
        "projects/projects/default_strategy",
        title=f"Default strategy of {project} in {environment}",
        breadcrumbs=[("Projects", "/admin/projects"), (project, cancel_path)],
        environment=environment,
        cancel_path=cancel_path,
        **parts,
    )


@router.post(PATH, needs=EDIT, **GROWING_FORM)
@shows_errors_in(show_default_strategy)
def save_default_strategy(
    context: Context, identity: Identity, project: str, environment: str, form: Form
) -> Page | str:
    if changes_form(form):
        return show_default_strategy(context, identity, project, environment, Entry(form))
    limit = context.config["strategySegmentsLimit"]
    with context.database.transaction() as conn:
        revisions.lock(conn)  # nothing changes between the read and the write
        existing = project_environments.find_default_strategy(conn, project, environment)
        new = read_strategy(form, load_choices(conn), existing)
        changes = compare_strategies(
            conn,
            [EMPTY | existing] if existing else [],
            [strategies.validate(conn, new, "", max_segments=limit, project=project)],
        )
        if changes and must_confirm(conn, environment, [project]):
            question = make_change_question("new flags", environment, EFFECT, changes)
            ask_first(
                form, replace(question, cancel_path=join_path("/admin/projects", project, "edit"))
            )
        by = add_reason(identity, form)
        project_environments.set_default_strategy(
            conn, project, environment, new, by, max_segments=limit
        )
    return f"/admin/projects/{project}/edit?done=default-strategy"
