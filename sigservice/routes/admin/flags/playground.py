"""The playground, JSON: evaluates flags for a context and explains the results."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sigservice.errors import BadDataError
from sigservice.playground.evaluation_context import make_context
from sigservice.playground.explanation import ConstraintResult, Explanation, StrategyResult
from sigservice.playground.playground import check_scope, explain_flags, select_flags
from sigservice.services.identity import VIEW, Identity
from sigservice.web import AdminGuard, Context, Json, Router

MAX_FLAGS = 1000


class PlaygroundBody(msgspec.Struct):
    """`projects` is `*` for all projects."""

    environment: str
    projects: str | list[str]
    context: dict[str, Any]


router = Router(AdminGuard)


@router.post("/api/admin/playground", needs=VIEW, takes=PlaygroundBody)
def evaluate_flags(context: Context, identity: Identity, body: PlaygroundBody) -> Json:
    """Body: `{environment, projects: "*" | [id], context: {userId, …, properties}}`. `{"input",
    "features"}`: each flag, each strategy, constraint and segment with its result; 400 for more
    than 1000 flags. See [playground.md](playground.md)."""
    evaluation_context = make_context(body.context, environment=body.environment, path="context.")
    projects = _read_projects(body.projects)
    with context.database.transaction() as conn:
        check_scope(conn, body.environment, projects)
    state = context.flag_states.get_current(body.environment)
    flags = select_flags(state, projects)
    if len(flags) > MAX_FLAGS:
        raise BadDataError(
            f"At most {MAX_FLAGS} flags can be evaluated at once; these projects have "
            f"{len(flags)}. Select fewer.",
            path="projects",
        )
    with context.database.transaction() as conn:
        results = explain_flags(conn, state, flags, evaluation_context)
    features = [_to_json(it, body.environment, context.prefix) for it in results]
    return {"input": body, "features": features}


def _read_projects(projects: str | list[str]) -> list[str]:
    if projects == "*":
        return ["*"]
    if isinstance(projects, str):
        raise BadDataError("projects must be * or a list of projects.", path="projects")
    return projects


def _to_json(it: Explanation, environment: str, base: str) -> dict[str, Any]:
    strategies = f"{base}/admin/features/{it.name}/environments/{environment}/strategies"
    return {
        "name": it.name,
        "projectId": it.project,
        "isEnabled": it.is_enabled,
        "isEnabledInCurrentEnvironment": it.is_enabled_here,
        "hasUnsatisfiedDependency": it.has_unsatisfied_parent,
        "dependencies": [
            parent.parent | {"satisfied": parent.is_satisfied} for parent in it.parents
        ],
        "byLot": it.is_random,
        "strategies": {
            "result": it.result,
            "data": [
                _strategy_to_json(result, f"{strategies}/{result.strategy['id']}")
                for result in it.strategies
            ],
        },
        "variant": it.variant,
        "variants": it.variants,
    }


def _strategy_to_json(it: StrategyResult, edit: str) -> dict[str, Any]:
    keys = ("name", "id", "title", "disabled", "parameters")
    return {key: it.strategy[key] for key in keys} | {
        "links": {"edit": edit},
        "result": _result_to_json(it) | {"byLot": it.is_random},
        "constraints": _constraints_to_json(it.constraints),
        "segments": [
            {
                "id": segment.id,
                "name": segment.name,
                "result": segment.result,
                "constraints": _constraints_to_json(segment.constraints),
            }
            for segment in it.segments
        ],
    }


def _result_to_json(it: StrategyResult) -> dict[str, Any]:
    if it.strategy["disabled"]:
        return {"enabled": "unknown", "evaluationStatus": "unevaluated"}
    status = "complete" if it.is_known else "incomplete"
    return {"enabled": it.result, "evaluationStatus": status}


def _constraints_to_json(results: Sequence[ConstraintResult]) -> list[dict[str, Any]]:
    return [it.constraint | {"result": it.result} for it in results]
