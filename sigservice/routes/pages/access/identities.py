"""Pages that disconnect users from the OpenID provider; connecting is a sign-in, see oidc.py."""

from sigservice.config.oidc import is_enabled
from sigservice.routes.pages.access.account_fields import make_password_field
from sigservice.services.access.oidc import users
from sigservice.services.identity import ADMIN, VIEW, Identity
from sigservice.web import Connection, Context, Page, PageGuard, Router, oidc_sign_in
from sigservice.web.form_pages import shows_errors_in
from sigservice.web.forms import NO_ENTRY, Entry, Form, read_id

PATH = "/profile/provider"

router = Router(PageGuard, is_enabled=is_enabled)


@router.get(PATH, needs=VIEW)
def show_connection(context: Context, identity: Identity, entry: Entry = NO_ENTRY) -> Page:
    is_fresh = identity.is_from_provider and oidc_sign_in.is_fresh(context, identity)
    return Page(
        "access/profile/provider",
        title=f"Disconnect {oidc_sign_in.get_provider(context).name}?",
        breadcrumbs=[("Your account", "/profile")],
        connection=oidc_sign_in.find_connection(context, identity),
        path=PATH,
        password=None
        if is_fresh
        else make_password_field("password", "Your password", autocomplete="current-password"),
    )


@router.post(PATH, needs=VIEW)
@shows_errors_in(show_connection)
def disconnect(context: Context, identity: Identity, form: Form) -> str:
    """`identity` is the ID of an identity."""
    identity_id, password = read_id(form.get("identity", "")), form.get("password", "")
    oidc_sign_in.unlink_own(context, identity, identity_id, password)
    return "/profile?done=disconnected"


@router.get("/admin/users/<user_id:id>/identities", needs=ADMIN)
def redirect_to_user(context: Context, identity: Identity, user_id: int) -> str:
    return f"/admin/users/{user_id}"


@router.post("/admin/users/<user_id:id>/identities", needs=ADMIN)
def disconnect_user(conn: Connection, identity: Identity, user_id: int, form: Form) -> str:
    users.unlink(conn, user_id, read_id(form.get("identity", "")), identity, how="admin")
    return f"/admin/users/{user_id}?done=disconnected"
