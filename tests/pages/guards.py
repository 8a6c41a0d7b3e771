"""Every page and form there is, by who may see and send it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.conftest import Cast

STRATEGIES = "/admin/features/{name}/environments/{environment}/strategies"
RUNS = "/admin/projects/{project}/actions/{set_id}/runs"
VIEW_PAGES = (
    "/",
    "/profile",
    "/admin/applications",
    "/admin/projects",
    "/admin/environments",
    "/admin/context",
    "/admin/playground",
    "/admin/search",
    "/docs",
    "/docs/guide",
    "/docs/guide/{name}",
    "/admin/features",
    "/admin/features/{name}",
    "/admin/features/{name}/flag",
    "/admin/segments",
    "/admin/types",
    "/admin/projects/{project}/overview",
    "/admin/projects/{project}/export",
    "/profile/tokens",
)
EDIT_PAGES = (
    "/admin/types/tags/new",
    "/admin/types/tags/{tag_type}/edit",
    "/admin/types/tags/{tag_type}/delete",
    "/admin/types/strategies/new",
    "/admin/types/strategies/{strategy_type}/edit",
    "/admin/types/strategies/{strategy_type}/delete",
    "/admin/projects/{project}/import",
    "/admin/projects/{project}/edit",
    "/admin/projects/{project}/environments/{environment}/default-strategy",
    "/admin/context/new",
    "/admin/context/{field}/edit",
    "/admin/context/{field}/delete",
    "/admin/features/new",
    "/admin/features/{name}/archive",
    "/admin/features/{name}/delete",
    f"{STRATEGIES}/new",
    f"{STRATEGIES}/{{strategy_id}}",
    f"{STRATEGIES}/{{strategy_id}}/delete",
    "/admin/segments/new",
    "/admin/segments/{segment_id}",
    "/admin/segments/{segment_id}/delete",
)
ADMIN_PAGES = (
    "/admin/types/flags/{feature_type}/edit",
    "/admin/signals",
    "/admin/signals/new",
    "/admin/signals/{id}",
    "/admin/signals/{id}/delete",
    "/admin/signals/{id}/silence",
    "/admin/signals/refused",
    "/admin/signals/{id}/refused",
    "/admin/signals/{id}/log",
    "/admin/signals/{id}/log/{signal_id}",
    "/admin/signals/{id}/send",
    "/admin/actions",
    "/admin/projects/{project}/actions",
    "/admin/projects/{project}/actions/new",
    "/admin/projects/{project}/actions/{set_id}",
    "/admin/projects/{project}/actions/{set_id}/delete",
    "/admin/projects/{project}/actions/{set_id}/test",
    f"{RUNS}",
    f"{RUNS}/{{run_id}}",
    f"{RUNS}/{{run_id}}/undo",
    f"{RUNS}/{{run_id}}/undo-and-disable",
    "/admin/signals/{id}/tokens/new",
    "/admin/signals/{id}/tokens/{token_id}",
    "/admin/signals/{id}/tokens/{token_id}/rotate",
    "/admin/signals/{id}/tokens/{token_id}/delete",
    "/admin/events",
    "/admin/integrations",
    "/admin/api-tokens",
    "/admin/api-tokens/new",
    "/admin/api-tokens/{api_token_id}/delete",
    "/admin/sign-in",
    "/admin/users",
    "/admin/users/new",
    "/admin/users/{user_id}",
    "/admin/users/{user_id}/delete",
    "/admin/service-accounts/new",
    "/admin/service-accounts/{account_id}",
    "/admin/service-accounts/{account_id}/delete",
    "/admin/service-accounts/{account_id}/tokens/{personal_token_id}/delete",
    "/admin/projects/new",
    "/admin/projects/{project}/delete",
    "/admin/environments/new",
    "/admin/environments/{environment}/delete",
)
VIEW_FORMS = {
    "/admin/features/{name}/favorite": {},
    "/admin/features/{name}/favorite/remove": {},
    "/logout": {},
    "/profile/password": {
        "oldPassword": Cast.PASSWORD,
        "password": "Other-Horse-8",
        "confirm": "Other-Horse-8",
    },
    "/profile/sessions": {"session": "others"},
    "/profile/tokens": {
        "description": "mine",
        "expiresAt": (datetime.now(UTC) + timedelta(30)).date().isoformat(),
        "password": Cast.PASSWORD,
    },
    "/profile/tokens/delete": {"token": "{own_token_id}"},
}
STRATEGY = {"name": "userWithId", "shown_type": "userWithId", "parameters.userIds": "eve"}
ACTION_SET = {
    "name": "kill",
    "match.sourceId": "{id}",
    "actorId": "{account_id}",
    "actions.0.shown": "TOGGLE_FEATURES_OFF_BY_TAG",
    "actions.0.action": "TOGGLE_FEATURES_OFF_BY_TAG",
    "actions.0.executionParams.environment": "production",
    "actions.0.executionParams.tag": "simple:shop",
}
EDIT_FORMS = {
    "/admin/types/tags/new": {"name": "team"},
    "/admin/types/tags/{tag_type}/edit": {"description": "Who owns it"},
    "/admin/types/tags/{tag_type}/delete": {},
    "/admin/types/strategies/new": {"name": "byPlan"},
    "/admin/types/strategies/{strategy_type}/edit": {"description": "By plan"},
    "/admin/types/strategies/{strategy_type}/off": {},
    "/admin/types/strategies/{strategy_type}/on": {},
    "/admin/types/strategies/{strategy_type}/delete": {},
    "/admin/projects/{project}/edit": {"name": "New", "defaultStickiness": "random"},
    "/admin/projects/{project}/import": {
        "environment": "production",
        "data": '{{"features": [{{"name": "imported"}}]}}',
        "do": "import",
    },
    "/admin/projects/{project}/environments/{environment}/on": {},
    "/admin/projects/{project}/environments/{environment}/off": {},
    "/admin/projects/{project}/environments/{environment}/default-strategy": STRATEGY,
    "/admin/context/new": {"name": "region"},
    "/admin/context/{field}/edit": {"description": "What is paid"},
    "/admin/context/{field}/delete": {},
    "/admin/features/new": {"name": "added", "project": "default", "type": "release"},
    "/admin/features/{name}/edit": {"type": "experiment", "description": "other"},
    "/admin/features/{name}/clone": {"name": "copy"},
    "/admin/features/{name}/tags": {"tag": "simple:other"},
    "/admin/features/{name}/tags/remove": {"tag": "simple:shop"},
    "/admin/features/{name}/parent": {"feature": "parent", "state": "off"},
    "/admin/features/{name}/parent/remove": {},
    "/admin/features/{name}/archive": {},
    "/admin/features/{name}/revive": {},
    "/admin/features/{name}/delete": {},
    "/admin/features/bulk": {"flag.parent": "on", "change": "stale"},
    "/admin/features/{name}/environments/{environment}/on": {"confirmed": "on"},
    "/admin/features/{name}/environments/{environment}/off": {"back": "query=x", "confirmed": "on"},
    f"{STRATEGIES}/new": STRATEGY,
    f"{STRATEGIES}/{{strategy_id}}": STRATEGY,
    f"{STRATEGIES}/{{strategy_id}}/delete": {},
    "/admin/features/{name}/environments/{environment}/evaluate": {
        "draft": '{{"name": "default"}}'
    },
    f"{STRATEGIES}/{{strategy_id}}/move": {"to": "up"},
    f"{STRATEGIES}/{{strategy_id}}/on": {},
    f"{STRATEGIES}/{{strategy_id}}/off": {},
    f"{STRATEGIES}/{{strategy_id}}/copy": {"environment": "production"},
    "/admin/segments/new": {"name": "added"},
    "/admin/segments/{segment_id}": {"name": "renamed"},
    "/admin/segments/{segment_id}/delete": {},
}
ARCHIVED_ONLY = ("/admin/features/{name}/revive", "/admin/features/{name}/delete")
ADMIN_FORMS = {
    "/admin/types/flags/{feature_type}/edit": {"lifetimeDays": "41"},
    "/admin/projects/new": {"name": "Other", "defaultStickiness": "default"},
    "/admin/projects/{project}/delete": {},
    "/admin/environments/new": {"name": "other", "type": "test"},
    "/admin/environments/{environment}/on": {},
    "/admin/environments/{environment}/off": {},
    "/admin/environments/{environment}/move": {"to": "up"},
    "/admin/environments/{environment}/delete": {},
    "/admin/signals/new": {"name": "builds", "token": "now", "token_name": "ci"},
    "/admin/signals/{id}": {"name": "renamed", "description": "", "enabled": "on"},
    "/admin/signals/{id}/on": {},
    "/admin/signals/{id}/off": {},
    "/admin/signals/{id}/delete": {},
    "/admin/signals/{id}/silence": {"schedule": "every", "options.silence.everySeconds": "60"},
    "/admin/signals/{id}/send": {"payload": "[1]"},
    "/admin/signals/{id}/log/{signal_id}/replay": {},
    "/admin/projects/{project}/actions/new": ACTION_SET,
    "/admin/projects/{project}/actions/{set_id}": ACTION_SET,
    "/admin/projects/{project}/actions/{set_id}/on": {},
    "/admin/projects/{project}/actions/{set_id}/off": {},
    "/admin/projects/{project}/actions/{set_id}/arm": {},
    "/admin/projects/{project}/actions/{set_id}/delete": {},
    "/admin/projects/{project}/actions/{set_id}/test": {"payload": "[1]"},
    f"{RUNS}/{{run_id}}/undo": {},
    f"{RUNS}/{{run_id}}/undo-and-disable": {},
    f"{RUNS}/{{run_id}}/cancel-restore": {},
    "/admin/signals/{id}/tokens": {"token_name": "second"},
    "/admin/signals/{id}/tokens/{token_id}": {"name": "renamed"},
    "/admin/signals/{id}/tokens/new": {"signature.scheme": "github", "name": "third"},
    "/admin/signals/{id}/tokens/{token_id}/rotate": {"graceHours": "24"},
    "/admin/signals/{id}/tokens/{token_id}/previous-secret/delete": {},
    "/admin/signals/{id}/tokens/{token_id}/delete": {},
    "/admin/api-tokens/new": {
        "tokenName": "sdk",
        "type": "client",
        "environment": "production",
        "projects": "all",
    },
    "/admin/api-tokens/{api_token_id}/delete": {},
    "/admin/sign-in/check": {},
    "/admin/users/new": {"username": "al", "rootRole": "Viewer", "password": "Other-Horse-8"},
    "/admin/users/{user_id}": {"username": "bob", "rootRole": "Viewer"},
    "/admin/users/{user_id}/password": {"password": "Other-Horse-8"},
    "/admin/users/{user_id}/link": {},
    "/admin/users/{user_id}/delete": {},
    "/admin/service-accounts/new": {"username": "cron", "rootRole": "Viewer"},
    "/admin/service-accounts/{account_id}": {"username": "bot", "rootRole": "Viewer"},
    "/admin/service-accounts/{account_id}/delete": {},
    "/admin/service-accounts/{account_id}/tokens": {
        "description": "second",
        "expiresAt": "2999-01-01",
    },
    "/admin/service-accounts/{account_id}/tokens/{personal_token_id}/delete": {},
}
FOR_STRANGERS = ("/forgot-password", "/reset-password", "/new-user")
OPEN = {
    ("GET", "/sign-in"),
    ("POST", "/sign-in"),
    *((method, path) for method in ("GET", "POST") for path in FOR_STRANGERS),
    ("GET", "/static/{name}"),
    ("GET", "/docs/openapi.json"),
}
FORMS = VIEW_FORMS | EDIT_FORMS | ADMIN_FORMS
PAGES = VIEW_PAGES + EDIT_PAGES + ADMIN_PAGES
JSON_PATHS = ("/api", "/auth", "/edge", "/internal-backstage", "/health", "/ofrep", "/ready")
# What is so already.
UNCHANGING = (
    "/admin/sign-in/check",
    "/admin/types/strategies/{strategy_type}/on",
    "/admin/features/{name}/environments/{environment}/evaluate",
    "/admin/features/{name}/favorite/remove",
    "/admin/signals/{id}/on",
    "/admin/signals/{id}/tokens/{token_id}/previous-secret/delete",
    "/admin/environments/{environment}/off",
    "/admin/projects/{project}/environments/{environment}/off",
    "/admin/features/{name}/environments/{environment}/on",
    "/admin/projects/{project}/actions/{set_id}/on",
    "/admin/projects/{project}/actions/{set_id}/arm",
    "/admin/projects/{project}/actions/{set_id}/test",
    "/profile/sessions",
)
# Addresses that a browser may be left at, because the answer of the POST is a page.
LEFT_AT = (
    "/admin/signals/{id}/tokens",
    "/admin/users/{user_id}/password",
    "/admin/users/{user_id}/link",
    "/admin/service-accounts/{account_id}/tokens",
    "/profile/password",
    "/profile/sessions",
    "/admin/features/{name}/edit",
    "/admin/features/{name}/clone",
    "/admin/features/{name}/tags",
    "/admin/features/{name}/parent",
    f"{RUNS}/{{run_id}}/cancel-restore",
)

FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:80"},
    {"Origin": "https://evil.example"},
    {"Origin": "http://localhost.evil.example"},
)


def at(path, place, **other):
    """The address; flags are looked at where they are on, default strategies where they exist."""
    in_production = path.startswith("/admin/features") or path.endswith("/default-strategy")
    here = {"environment": "production"} if in_production else {}
    here |= {"project": "default"} if "/actions" in path else {}
    here |= {"name": "quickstart"} if path.startswith("/docs/guide") else {}
    return path.format(**(place | here | other))
