"""The page of single sign-on: what the variables say, a check of the provider and a trial sign-in.

Nothing is configured here.
"""

from typing import Any

from sigservice.concurrency.workers import release_turn
from sigservice.config.oidc import list_addresses
from sigservice.services.access.oidc.check import find_problems
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import Context, Page, PageGuard, Router
from sigservice.web.forms import Form
from sigservice.web.oidc_flow import TRY, derive_token

PATH = "/admin/sign-in"

router = Router(PageGuard)


@router.get(PATH, needs=ADMIN)
def show_settings(context: Context, identity: Identity, problems: list[str] | None = None) -> Page:
    """`problems` are the result of a check; None without one."""
    note = context.authentication.note or "Users sign in with a password."
    return Page(
        "access/sign_in/settings",
        title="Sign-in",
        rows=_list_settings(context.config) if context.provider else [],
        note=note,
        problems=problems,
        try_token=derive_token(identity, TRY),
    )


@router.post(f"{PATH}/check", needs=ADMIN)
def check_provider(context: Context, identity: Identity, form: Form) -> Page | str:
    if (provider := context.provider) is None:
        return PATH
    release_turn()
    return show_settings(context, identity, find_problems(provider.settings, provider.client))


def _list_settings(config: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(label, value, variable)."""
    block = config["authentication"]
    oidc = block["oidc"]
    has_secret = bool(oidc["clientSecret"] or oidc["clientSecretFile"])
    new_users = f"created as {oidc['defaultRole']}" if oidc["createUsers"] else "only invited ones"
    groups = [
        (f"Groups of {role}s", _join(oidc[f"{role.lower()}Groups"]), variable)
        for role, variable in (
            ("Admin", "SERVICE_OIDC_ADMIN_GROUPS"),
            ("Editor", "SERVICE_OIDC_EDITOR_GROUPS"),
            ("Viewer", "SERVICE_OIDC_VIEWER_GROUPS"),
        )
    ]
    passwords = "allowed" if block["passwordSignIn"] else "only break-glass accounts"
    return [
        ("Name on the button", oidc["name"], "SERVICE_OIDC_NAME"),
        ("Issuer", oidc["issuer"], "SERVICE_OIDC_ISSUER"),
        ("Client ID", oidc["clientId"], "SERVICE_OIDC_CLIENT_ID"),
        ("Client secret", "set" if has_secret else "none", "SERVICE_OIDC_CLIENT_SECRET"),
        *((name[0].upper() + name[1:], url, "SERVICE_URL") for name, url in list_addresses(config)),
        ("Scopes", _join(oidc["scopes"]), "SERVICE_OIDC_SCOPES"),
        ("New users", new_users, "SERVICE_OIDC_CREATE_USERS"),
        ("Email domains", _join(oidc["emailDomains"]), "SERVICE_OIDC_EMAIL_DOMAINS"),
        ("Groups claim", oidc["groupsClaim"], "SERVICE_OIDC_GROUPS_CLAIM"),
        *groups,
        ("Passwords", passwords, "SERVICE_PASSWORD_SIGN_IN"),
        ("Break-glass accounts", _join(block["breakGlassUsers"]), "SERVICE_BREAK_GLASS_USERS"),
    ]


def _join(values: list[str]) -> str:
    return ", ".join(values) or "none"
