"""Users, sign-in, sessions, reset links, service accounts, API and personal tokens."""

from sigservice.routes.access import (
    reset_password,
    sign_in,
    token_validation,
)

ROUTERS = (
    reset_password.router,
    sign_in.router,
    token_validation.router,
)
