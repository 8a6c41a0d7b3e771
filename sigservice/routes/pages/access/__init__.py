"""Users, sign-in, sessions, reset links, service accounts, API and personal tokens."""

from sigservice.routes.pages.access import (
    api_tokens,
    profile,
    reset_password,
    service_accounts,
    sign_in,
    users,
)

ROUTERS = (
    api_tokens.router,
    profile.router,
    reset_password.router,
    service_accounts.router,
    sign_in.router,
    sign_in.signed_in_router,
    users.router,
)
