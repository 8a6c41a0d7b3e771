"""The default strategy of a project in an environment, page."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.errors import AppError
from sigservice.routes.pages.flags import strategy_fields
from sigservice.routes.pages.flags.strategy_fields import StrategyValues
from sigservice.routes.pages.flags.strategy_form import (
    apply_change,
    changes_form,
    make_form_parts,
)
from sigservice.services import revisions
from sigservice.services.identity import EDIT, Identity
from sigservice.services.projects import project_environments
from sigservice.web import respond
from sigservice.web.forms import Form
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.guards import PageGuard
from sigservice.web.helpers import join_path
from sigservice.web.router import Router

PATH = "/admin/projects/<project>/environments/<environment>/default-strategy"

router = Router(PageGuard)


@router.get(PATH, needs=EDIT)
def show_default_strategy(
    context: Context, identity: Identity, project: str, environment: str
) -> HTTPResponse:
    return _render_form(context, identity, project, environment)


@router.post(PATH, needs=EDIT, **GROWING_FORM)
def save_default_strategy(
    context: Context, identity: Identity, project: str, environment: str, form: Form
) -> HTTPResponse:
    with context.database.transaction() as conn:
        choices = strategy_fields.load_choices(conn)
    values = strategy_fields.read_values(form, choices)
    if changes_form(form):
        values, notice = apply_change(values, form)
        return _render_form(context, identity, project, environment, values, notice=notice)
    try:
        with context.database.transaction() as conn:
            revisions.lock(conn)  # nothing changes between the read and the write
            existing = project_environments.find_default_strategy(conn, project, environment)
            new = strategy_fields.to_strategy(values, choices, existing)
            limit = context.config["strategySegmentsLimit"]
            project_environments.set_default_strategy(
                conn, project, environment, new, identity, max_segments=limit
            )
    except AppError as error:
        if error.status >= 500:
            raise
        return _render_form(context, identity, project, environment, values, error)
    return respond.redirect(context, f"/admin/projects/{project}/edit?done=default-strategy")


def _render_form(
    context: Context,
    identity: Identity,
    project: str,
    environment: str,
    values: StrategyValues | None = None,
    error: AppError | None = None,
    notice: str = "",
) -> HTTPResponse:
    """`values` are what was submitted. Raises NotFoundError."""
    with context.database.transaction() as conn:
        strategy = project_environments.find_default_strategy(conn, project, environment)
        choices = strategy_fields.load_choices(conn)
    values = values or strategy_fields.to_values(strategy, choices, "")
    if error:
        error.details = strategy_fields.to_form_problems(error.details)
    cancel_path = join_path("/admin/projects", project, "edit")
    return respond.page(
        context,
        "projects/projects/default_strategy",
        identity,
        form_error=error,
        title=f"Default strategy of {project} in {environment}",
        notice=notice,
        breadcrumbs=[("Projects", "/admin/projects"), (project, cancel_path)],
        environment=environment,
        action=context.prefix
        + join_path("/admin/projects", project, "environments", environment, "default-strategy"),
        cancel_path=cancel_path,
        **make_form_parts(context, values, choices, project),
    )
