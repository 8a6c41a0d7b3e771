"""Sign-in and sign-out, pages."""

from urllib.parse import quote

from sigservice.errors import AppError, BadDataError, ForbiddenError, PasswordMismatch
from sigservice.repository.access import sessions as session_rows
from sigservice.routes.pages.access.account_fields import make_password_field
from sigservice.services.access import sessions
from sigservice.services.identity import VIEW, Identity
from sigservice.web import (
    Context,
    HTTPResponse,
    PageGuard,
    Public,
    Router,
    oidc_sign_in,
    read_query,
    request,
    request_identity,
    respond,
    session,
    sign_in,
)
from sigservice.web.body import FORM_LIMIT, read_form
from sigservice.web.forms import Field
from sigservice.web.guards import make_next_path
from sigservice.web.public_forms import PublicForm

NOTICES = {"signed-out": "You have signed out.", "password": "Password set. Sign in to continue."}


router = Router(Public)
signed_in_router = Router(PageGuard)


@router.get("/sign-in")
def show_sign_in(context: Context) -> HTTPResponse:
    query = read_query(request.environ)
    next_path = make_next_path(query.get("next", ""))
    if request_identity.find_identity(context, request.environ):
        return respond.redirect(context, next_path)
    oidc = context.authentication.oidc
    if oidc and oidc["autoRedirect"] and not {"done", "error", "method"} & set(query):
        return respond.redirect(context, f"/auth/oidc?next={quote(next_path, safe='')}")
    values = {"next": next_path, "method": query.get("method", "")}
    return _render_form(context, values, notice=respond.find_notice(NOTICES))


@router.post("/sign-in", limit="login", body_limit=FORM_LIMIT)
def submit_sign_in(context: Context) -> HTTPResponse:
    type = context.authentication.type
    if not (type.has_passwords or type.takes_email):
        return respond.redirect(context, "/sign-in")
    environ = request.environ
    try:
        form = PublicForm(context, "sign-in").read()
    except ForbiddenError:
        if request_identity.find_identity(context, environ) is None:
            raise
        # Another tab has signed in, which used up the cookie of the form.
        return respond.redirect(context, make_next_path(read_form(environ).get("next", "")))
    values = {name: form.get(name, "") for name in ("username", "email")}
    values["next"] = make_next_path(form.get("next", ""))
    try:
        if type.takes_email:
            _, session_id = sign_in.sign_in_by_email(context, environ, values["email"])
        else:
            password, code = form.get("password", ""), form.get("code", "")
            _, session_id = sign_in.sign_in_by_password(
                context, environ, values["username"], password, code
            )
    except (PasswordMismatch, BadDataError) as error:
        return _render_form(context, values, error)
    answer = respond.redirect(context, values["next"])
    session.set_cookie(context, answer, session_id)
    return PublicForm(context, "sign-in").clear_cookie(answer)


@signed_in_router.post("/logout", needs=VIEW, while_default_password=True, for_scripts=True)
def sign_out(context: Context, identity: Identity, form: dict[str, str]) -> HTTPResponse:
    with context.database.transaction() as conn:
        token = None
        if identity.is_from_provider:
            token = session_rows.find_id_token(conn, identity.session_hash)
        sessions.sign_out(conn, identity)
    url = oidc_sign_in.make_sign_out_url(context, identity, token)
    if url:  # not a redirect: browsers apply form-action to the redirects after a form
        answer = respond.page(
            context, "access/sign_in/signed_out", None, title="You have signed out.", next_url=url
        )
        answer.set_header("Refresh", f"0;url={url}")
    else:
        answer = respond.redirect(context, "/sign-in?done=signed-out")
    session.clear_cookie(context, answer)
    return answer


def _render_form(
    context: Context, values: dict[str, str], error: AppError | None = None, notice: str = ""
) -> HTTPResponse:
    scheme, type = context.authentication, context.authentication.type
    is_by_password = error is not None or values.get("method") == "password"
    has_break_glass_form = scheme.has_password_form and is_by_password
    default_path = "email" if type.takes_email else "username"
    path = error.details[0].get("path", default_path) if error else default_path
    return PublicForm(context, "sign-in").render(
        type.form,
        title="Sign in",
        notice=notice,
        form_error=error,
        problems=[{"message": error.message, "path": path}] if error else [],
        fields=_make_fields(context, values, asks_for_code=path == "code"),
        next_path=values["next"],
        next_query=quote(values["next"], safe=""),
        custom=context.authentication.custom,
        provider_name=context.provider.name if context.provider else "",
        has_form=type.takes_email or scheme.has_passwords or has_break_glass_form,
        has_break_glass_link=scheme.has_password_form and not scheme.has_passwords,
        has_reset_link=scheme.has_passwords or has_break_glass_form,
    )


def _make_fields(context: Context, values: dict[str, str], *, asks_for_code: bool) -> list[Field]:
    by_email = context.authentication.type.takes_email
    name, label = ("email", "Email") if by_email else ("username", "Username or email")
    attributes = {"autocomplete": "username"}
    login = Field(name, label, values.get(name, ""), is_required=True, attributes=attributes)
    if by_email:
        return [login]
    code = Field(
        "code", "One-time code", is_required=True, attributes={"autocomplete": "one-time-code"}
    )
    password = make_password_field("password", "Password", autocomplete="current-password")
    return [login, password, *([code] if asks_for_code else [])]
