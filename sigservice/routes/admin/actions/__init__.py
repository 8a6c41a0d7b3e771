"""Action sets, filters, evaluation, runs, undo and auto-revert, templates, notifications."""

from sigservice.routes.admin.actions import (
    action_recipes,
    action_runs,
    action_sets,
    notifications,
)

ROUTERS = (
    action_recipes.router,
    action_runs.router,
    action_sets.router,
    notifications.router,
)
