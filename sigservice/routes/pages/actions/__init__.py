"""Action sets, filters, evaluation, runs, undo and auto-revert, templates, notifications."""

from sigservice.routes.pages.actions import (
    action_form,
    action_runs,
    action_sets,
    dry_runs,
)

ROUTERS = (
    action_form.router,
    action_runs.router,
    action_sets.router,
    dry_runs.router,
)
