"""Users, sign-in, sessions, reset links, service accounts, API and personal tokens."""

from sigservice.routes.admin.access import (
    api_tokens,
    current_user,
    personal_tokens,
    project_api_tokens,
    service_accounts,
    sessions,
    users,
)

ROUTERS = (
    api_tokens.router,
    current_user.router,
    personal_tokens.router,
    project_api_tokens.router,
    service_accounts.router,
    sessions.router,
    users.router,
)
