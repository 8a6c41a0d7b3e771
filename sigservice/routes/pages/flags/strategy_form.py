"""The form of a strategy, of a flag or as the default of a project."""

from typing import Any

from sigservice.context import Context
from sigservice.routes.pages.flags import constraint_fields, strategy_fields
from sigservice.routes.pages.flags.strategy_fields import StrategyChoices, StrategyValues
from sigservice.services.flags.strategies import ROLLOUT_TYPES
from sigservice.web.forms import Form

NOT_SAVED = "Nothing is saved yet: fill in the fields of the new strategy type, then save."


def make_form_parts(
    context: Context, values: StrategyValues, choices: StrategyChoices, project: str
) -> dict[str, Any]:
    """What templates/flags/feature_strategies/fields.tpl prints."""
    return {
        "type": strategy_fields.make_type_field(values.type, choices),
        "parameters": strategy_fields.make_parameter_fields(values, choices),
        "parameters_legend": "Rollout" if values.type.startswith(ROLLOUT_TYPES) else "Parameters",
        "constraints": constraint_fields.make_section(
            values.constraints, choices.context_fields, "All constraints must match (AND)."
        ),
        "context_fields": choices.context_fields,
        "segments": strategy_fields.make_segment_fields(values, choices, project),
        "max_segments": context.config["strategySegmentsLimit"],
        "variants": strategy_fields.make_variant_section(values, choices),
        "general": strategy_fields.make_general_fields(values),
    }


def changes_form(form: Form) -> bool:
    """Whether a button changes the form, or the type is new and its parameters aren't filled in
    yet, so that nothing is to be saved."""
    return bool(form.get("do")) or form.get("shown_type") != form.get("name")


def apply_change(values: StrategyValues, form: Form) -> tuple[StrategyValues, str]:
    """The values of the changed form, and the notice above it."""
    changed = strategy_fields.apply_button(values, form.get("do", ""))
    return changed, "" if form.get("do") else NOT_SAVED
