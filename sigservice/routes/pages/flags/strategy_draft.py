"""The page that evaluates a strategy before it is saved, for an evaluation context. The form of a
strategy opens it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sigservice import payload
from sigservice.errors import AppError, BadDataError
from sigservice.playground.playground import explain_draft
from sigservice.playground.reasons import Reasons, build_reasons
from sigservice.routes.pages.flags.feature_page import find_target
from sigservice.routes.pages.flags.playground import (
    CONTEXT_FIELDS,
    make_context_fields,
    make_properties_field,
    name_fields,
    read_context,
)
from sigservice.services import strategy_summaries
from sigservice.services.flags import strategies
from sigservice.services.flags.feature_states import FeatureEnvironment
from sigservice.services.flags.strategies import Strategy
from sigservice.services.identity import EDIT, Identity
from sigservice.web import Context, Page, PageGuard, Router
from sigservice.web.body import to_struct
from sigservice.web.forms import Form
from sigservice.web.growing_forms import GROWING_FORM
from sigservice.web.helpers import join_path
from sigservice.web.links import flag_path

PATH = "/admin/features/<name>/environments/<environment>/evaluate"

router = Router(PageGuard)


@router.post(PATH, needs=EDIT, **GROWING_FORM)
def evaluate_draft(
    context: Context, identity: Identity, name: str, environment: str, form: Form
) -> Page:
    with context.database.transaction() as conn:
        target = find_target(conn, name, environment)
        strategies.list_strategies(conn, target)  # raises NotFoundError
    draft = to_struct(payload.parse_field(form.get("draft", ""), "draft"), Strategy)
    return render_draft(context, target, draft, form.get("strategy") or None, form)


def render_draft(
    context: Context,
    target: FeatureEnvironment,
    draft: Strategy,
    strategy_id: str | None,
    form: Mapping[str, str],
) -> Page:
    """The page for the draft of a strategy, of a new one if `strategy_id` is None. Raises
    BadDataError for an invalid draft, NotFoundError."""
    values = {name: form.get(name, "").strip() for name in ("properties", *CONTEXT_FIELDS)}
    limit = context.config["strategySegmentsLimit"]
    reasons: Reasons | None = None
    error: AppError | None = None
    state = context.flag_states.get_current(target.environment)
    with context.database.transaction() as conn:
        fields = strategies.validate(
            conn, draft, target.feature, project=target.project, max_segments=limit
        )
        strategy: dict[str, Any] = {"id": strategy_id or "", "title": None, "disabled": False}
        strategy |= fields | {"sortOrder": 0}
        try:
            evaluation_context = read_context(values, target.environment)
            explanation = explain_draft(
                conn, state, target, strategy, strategy_id, evaluation_context
            )
            reasons = build_reasons(explanation, target.environment)
        except BadDataError as problem:
            error = name_fields(problem)
    return Page(
        "flags/playground/draft",
        form_error=error,
        title=f"Evaluate a draft of {target.feature} in {target.environment}",
        breadcrumbs=[("Flags", "/admin/features"), (target.feature, flag_path(target.feature))],
        target=target,
        action=join_path(
            "/admin/features", target.feature, "environments", target.environment, "evaluate"
        ),
        draft=msgspec.json.encode(draft).decode(),
        strategy_id=strategy_id or "",
        chips=strategy_summaries.list_strategy_chips(strategy, {}),
        fields=make_context_fields(values),
        properties=make_properties_field(values),
        flag=reasons,
    )
