"""The switch of the project in the frame, and the first page of the settings."""

from sigservice.services.identity import VIEW, Identity
from sigservice.web import Context, HTTPResponse, PageGuard, Router, respond
from sigservice.web.forms import Form
from sigservice.web.guards import make_next_path
from sigservice.web.navigation import list_settings
from sigservice.web.session import set_project

router = Router(PageGuard)


@router.post("/project", needs=VIEW)
def choose_project(context: Context, identity: Identity, form: Form) -> HTTPResponse:
    answer = respond.redirect(context, make_next_path(form.get("back", "")))
    set_project(context, answer, form.get("project", ""))
    return answer


@router.get("/admin/settings", needs=VIEW)
def show_settings(context: Context, identity: Identity) -> str:
    return list_settings(identity)[0].path
