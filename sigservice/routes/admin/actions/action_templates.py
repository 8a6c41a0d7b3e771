"""Templates of action sets, JSON: filters, options, samples and setup for well-known systems."""

from bottle import HTTPResponse

from sigservice.context import Context
from sigservice.services.actions.action_templates import TEMPLATES, to_json
from sigservice.services.identity import ADMIN, Identity
from sigservice.web import respond
from sigservice.web.guards import AdminGuard
from sigservice.web.router import Router

router = Router(AdminGuard)


@router.get("/api/admin/action-recipes", needs=ADMIN)
def list_templates(context: Context, identity: Identity) -> HTTPResponse:
    return respond.json({"recipes": [to_json(name, item) for name, item in TEMPLATES.items()]})
