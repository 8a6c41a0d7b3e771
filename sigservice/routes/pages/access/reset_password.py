"""Reset links and invite links, pages: request a link by email, open it, set a password."""

from typing import Any

from sigservice.errors import AppError, BadDataError, InvalidTokenError, UsedTokenError
from sigservice.routes.pages.access.account_fields import make_new_password_fields
from sigservice.services.access import reset_tokens
from sigservice.services.system.mails import PAGES, format_lifetime
from sigservice.web import (
    Context,
    HTTPResponse,
    Public,
    Router,
    read_query,
    request,
    reset_links,
    respond,
    session,
    sign_in,
)
from sigservice.web.body import FORM_LIMIT
from sigservice.web.forms import Field
from sigservice.web.password_attempts import require_passwords
from sigservice.web.public_forms import PublicForm

TITLES = {
    f"/{PAGES['reset']}": "Set a new password",
    f"/{PAGES['welcome']}": "Welcome - set your password",
}

router = Router(Public)


@router.get("/forgot-password")
def show_forgot_password(context: Context) -> HTTPResponse:
    is_sent = read_query(request.environ).get("done") == "sent"
    return _render_request(context, is_sent=is_sent)


@router.post("/forgot-password", limit="password_reset", body_limit=FORM_LIMIT)
def send_reset_link(context: Context) -> HTTPResponse:
    form = PublicForm(context, "forgot-password").read()
    email = form.get("email", "").strip()
    if "@" not in email:
        error = BadDataError("Enter a valid email address.", path="email")
        return _render_request(context, email, form_error=error)
    reset_links.send_reset_link(context, request.environ, email)
    return respond.redirect(context, "/forgot-password?done=sent")


@router.get(f"/{PAGES['reset']}")
@router.get(f"/{PAGES['welcome']}")
def show_link(context: Context) -> HTTPResponse:
    return _render_link(context, read_query(request.environ).get("token", ""))


@router.post(f"/{PAGES['reset']}", body_limit=FORM_LIMIT)
@router.post(f"/{PAGES['welcome']}", body_limit=FORM_LIMIT)
def set_password(context: Context) -> HTTPResponse:
    public_form = PublicForm(context, "reset-password")
    form = public_form.read()
    token, password = form.get("token", ""), form.get("password", "")
    try:
        if password != form.get("confirm", ""):
            raise BadDataError("The passwords must match.", path="confirm")
        login = reset_links.redeem_link(context, request.environ, token, password)
    except AppError as error:
        if error.status not in (400, 401, 403):
            raise
        return _render_link(context, token, error)
    try:
        _, session_id = sign_in.sign_in_by_password(
            context, request.environ, login, password, method="link"
        )
    except AppError:  # the password is set: the user can sign in later
        return public_form.clear_cookie(respond.redirect(context, "/sign-in?done=password"))
    answer = respond.redirect(context, "/?done=password")
    session.set_cookie(context, answer, session_id)
    return public_form.clear_cookie(answer)


def _render_request(context: Context, email: str = "", **more: Any) -> HTTPResponse:
    """The form for the email address of the account, or what follows it."""
    require_passwords(context)
    attributes = {"autocomplete": "email"}
    values = {
        "title": "Forgot your password?",
        "field": Field("email", "Email", email, "email", is_required=True, attributes=attributes),
        "is_sent": False,
        "sends_mail": context.mail_server is not None,
        "lifetime": format_lifetime(context.reset_lifetime),
    }
    form = PublicForm(context, "forgot-password")
    return form.render("access/reset_password/request", **(values | more))


def _render_link(context: Context, token: str, error: AppError | None = None) -> HTTPResponse:
    """The form that sets a password, or the problem with the link."""
    require_passwords(context)
    title, user = TITLES[request.environ["PATH_INFO"]], None
    try:
        with context.database.autocommit() as conn:
            user = reset_tokens.find_link(conn, token, context.clock.now())
        require_passwords(context, user)
    except (InvalidTokenError, UsedTokenError) as invalid:
        error = invalid
    return PublicForm(context, "reset-password").render(
        "access/reset_password/set",
        title=title,
        heading=title,
        token=token,
        user=user,
        fields=make_new_password_fields(),
        sends_mail=context.mail_server is not None,
        form_error=error,
    )
